"""The steps of ``bead_lanes.py`` with the groups distributed over threads: the results are the same to the last bit."""

import numpy as np
from numba import prange

from articulon.integrate.bead_lanes import draw_noise, fill_copies, fly_group, kick_group, langevin_group
from articulon.integrate.bead_tables import Beads
from articulon.kernels import kernel
from articulon.model.state import POTENTIAL, THERMOSTAT
from articulon.passes import Bound, Program, pass_at, pass_of, run_at
from articulon.thermostats.base import FRICTION, SEED, STREAM
from articulon.thermostats.langevin import decay_and_noise
from articulon.thermostats.schedule import target

SHARED = 4096
"""Smallest number of beads that are distributed over threads; with fewer beads, starting threads costs more than it
saves. The choice does not depend on the number of threads."""
GROUPS, DRAWN = 4, 512
"""Numbers of groups, and of beads for which noise is drawn, that a thread takes at a time."""


@pass_at
def fly_some(part, beads, span, found):
    """Free flights of some groups; writes their status to ``found`` (groups, 2)."""
    for g in range(part * GROUPS, min(part * GROUPS + GROUPS, found.shape[0])):
        found[g, 0] = fly_group(beads, span[0], g)


@pass_at
def kick_some(part, beads, half, found):
    """Kicks of some groups; writes their power and Σ m v² to ``found`` (groups, 2)."""
    for g in range(part * GROUPS, min(part * GROUPS + GROUPS, found.shape[0])):
        found[g, 0], found[g, 1] = kick_group(beads, half[0], g)


@pass_at
def draw_some(part, beads, bath, number):
    """Draw the noise of some beads."""
    first = part * DRAWN
    draw_noise(beads, bath.choice[SEED], bath.choice[STREAM], number[0], first, min(first + DRAWN, beads.link.size))


@pass_at
def langevin_some(part, beads, bath, clock, found):
    """Friction and noise of some groups; writes the energy that they gain to ``found`` (groups, 2)."""
    time, h = clock[0], clock[1]
    c, s = decay_and_noise(bath.constants[FRICTION], h, target(bath, time + 0.5 * h))
    for g in range(part * GROUPS, min(part * GROUPS + GROUPS, found.shape[0])):
        found[g, 0] = langevin_group(beads, c, s, g)


@kernel(parallel=True)
def run_parts(code, parts):
    """Run the pass of a program for every part, distributed over threads."""
    for part in prange(parts):
        run_at(code, 0, part)


@pass_of
def fly_shared_groups(flights, found, status):
    """Free flight of all groups as in ``fly_beads``, distributed over threads."""
    run_parts(flights, (found.shape[0] + GROUPS - 1) // GROUPS)
    for g in range(found.shape[0]):
        status[0] = max(status[0], np.int64(found[g, 0]))


@pass_of
def kick_shared_groups(kicks, found, half, work, size):
    """Kicks of all groups as in ``kick_beads``, distributed over threads."""
    run_parts(kicks, (found.shape[0] + GROUPS - 1) // GROUPS)
    done, moving = 0.0, 0.0
    for g in range(found.shape[0]):
        done += found[g, 0]
        moving += found[g, 1]
    work[POTENTIAL] += 0.5 * half[0] * done
    size[0] = moving


@pass_of
def langevin_shared_groups(draws, langevin, found, beads, work):
    """Friction and noise of all groups as in ``langevin_beads``, distributed over threads."""
    run_parts(draws, (beads.link.size + DRAWN - 1) // DRAWN)
    fill_copies(beads, beads.noise_numbers)
    run_parts(langevin, (found.shape[0] + GROUPS - 1) // GROUPS)
    gained = 0.0
    for g in range(found.shape[0]):
        gained += found[g, 0]
    work[THERMOSTAT] += 0.5 * gained


def shared_flights(beads: Beads, half: np.ndarray, status: np.ndarray) -> Bound:
    """The pass ``fly_beads``, bound for threads."""
    found = np.zeros((beads.group.size - 1, 2))
    return fly_shared_groups.bind(Program([fly_some.bind(beads, half, found)]), found, status)


def shared_kicks(beads: Beads, half: np.ndarray, work: np.ndarray, size: np.ndarray) -> Bound:
    """The pass ``kick_beads``, bound for threads."""
    found = np.zeros((beads.group.size - 1, 2))
    return kick_shared_groups.bind(Program([kick_some.bind(beads, half, found)]), found, half, work, size)


def shared_langevin(beads: Beads, bath: object, clock: np.ndarray, number: np.ndarray, work: np.ndarray) -> Bound:
    """The pass ``langevin_beads``, bound for threads."""
    found = np.zeros((beads.group.size - 1, 2))
    draws = Program([draw_some.bind(beads, bath, number)])
    langevin = Program([langevin_some.bind(beads, bath, clock, found)])
    return langevin_shared_groups.bind(draws, langevin, found, beads, work)
