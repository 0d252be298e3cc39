"""Velocity Verlet for free spheres in contact.

Half a kick, the drift, the contacts at the velocities of the half step, and half a kick by the same forces, as granular
codes have it: tangential displacements are then summed by the midpoint rule, and damping is half a step late.
"""

import numpy as np

from articulon.forces.contact.candidates import keep_contacts
from articulon.forces.contact.tables import BEGUN, CROWDED, DURATIONS, ENDED, FAULT, LONGEST
from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.integrate.grain_passes import (
    DRAG_LINE,
    GRAVITY_LINE,
    LINES,
    OMEGA,
    PLACE,
    PUSH,
    ROW,
    TURN,
    TWIST,
    WALL_LINE,
)
from articulon.integrate.status import DIVERGED, REACHED
from articulon.kernels import jit, kernel
from articulon.model.state import CONTACT, DAMPING, EVALUATIONS, EXTERNAL, STEPS, WINDOW

TOO_NARROW = 100
"""Beside the values of ``status``: a list needs more room."""
PAIRS, WALLS, RESISTANCE = range(3)
"""Passes over contacts."""
DRIFT, KICK, COLLECT, DISTRIBUTE = range(4)
"""Passes over grains."""


@jit
def list_contacts(system, grains, moving, lists, refresh):
    """Lists anew what is near to what, with all that contacts remember: from the order of the model, in which the
    grains lie in ``line``."""
    particles = system.particles
    particles.reference[0, 0] = np.nan
    refresh[0](system.cell, particles, system.neighbours, system.grid, system.numbers, particles.charge)
    if particles.counts[OVERFLOW] + particles.counts[LOST] == 0:
        lists[0](system)
        lists[1](system)
        moving[DISTRIBUTE](system, grains, 0.0, 0.0)


@jit
def crowded(system):
    """Whether some list had too little room."""
    return system.particles.counts[OVERFLOW] + system.candidates.counts[CROWDED] + system.walls.counts[CROWDED] > 0


@jit
def farthest(grains):
    """The square of the longest way that any grain has gone; NaN where one has."""
    worst = 0.0
    for b in range(grains.partial.shape[0]):
        d = grains.partial[b, 0]
        if not d < np.inf:
            return np.nan
        worst = max(worst, d)
    return worst


@jit
def count_contacts(seen, times):
    """Adds what blocks have seen of contacts that begin and end."""
    for b in range(seen.shape[0]):
        times[BEGUN] += seen[b, BEGUN]
        times[ENDED] += seen[b, ENDED]
        times[DURATIONS] += seen[b, DURATIONS]
        times[LONGEST] = max(times[LONGEST], seen[b, LONGEST])
        times[4] = max(times[4], seen[b, 4])


@jit
def evaluate(system, contacts, time, h, times):
    """All contacts, at a time and a time h after they were last evaluated."""
    contacts[PAIRS](system, time, h)
    contacts[WALLS](system, time, h)
    contacts[RESISTANCE](system, time, h)
    count_contacts(system.candidates.block, times)
    count_contacts(system.walls.block, times)


@jit
def book(grains, done, due):
    """Books the works of a half kick, and puts down those of the next; whether all accelerations are finite."""
    works, partial = grains.works, grains.partial
    finite = 0.0
    for line in range(LINES):
        works[1, line] = 0.0
    for b in range(partial.shape[0]):
        finite += partial[b, 1]
        for line in range(LINES):
            works[0, line] += done * partial[b, 2 + line]
            works[1, line] += due * partial[b, 2 + LINES + line]
    return finite < np.inf


@jit
def take_pending(works):
    """Books the works of the half kick that begins a step."""
    for line in range(LINES):
        works[0, line] += works[1, line]
        works[1, line] = 0.0


@kernel
def load_state(system, grains, moving, lists, refresh, state):
    """Takes all from a state whose lists were made at ``particles.site``, with contacts in ``kept``."""
    line, q, u, acceleration = grains.line, state.q, state.u, state.acceleration
    site, particles = state.contact_rebuild, system.particles
    n = line.shape[0]
    for s in range(n):
        for a in range(3):
            particles.site[a, s] = site[a, s] if site[a, s] == site[a, s] else q[7 * s + a]
            line[s, PLACE + a], line[s, ROW + a], line[s, OMEGA + a] = q[7 * s + a], u[6 * s + a], u[6 * s + 3 + a]
            line[s, PUSH + a], line[s, TWIST + a] = acceleration[6 * s + a], acceleration[6 * s + 3 + a]
        for a in range(4):
            line[s, TURN + a] = q[7 * s + 3 + a]
    for r in range(2):
        for k in range(LINES):
            grains.works[r, k] = state.contact_work[r, k]
    list_contacts(system, grains, moving, lists, refresh)


@kernel
def store_state(system, grains, moving, state):
    """Gives all back to a state but the contacts, which lie in ``kept``."""
    moving[COLLECT](system, grains, 0.0, 0.0)
    line, q, u, acceleration, reference = (
        grains.line,
        state.q,
        state.u,
        state.acceleration,
        system.particles.reference,
    )
    for s in range(line.shape[0]):
        for a in range(3):
            q[7 * s + a], u[6 * s + a], u[6 * s + 3 + a] = line[s, PLACE + a], line[s, ROW + a], line[s, OMEGA + a]
            acceleration[6 * s + a], acceleration[6 * s + 3 + a] = line[s, PUSH + a], line[s, TWIST + a]
            state.contact_rebuild[a, s] = reference[a, s]
        for a in range(4):
            q[7 * s + 3 + a] = line[s, TURN + a]
    works = grains.works
    for r in range(2):
        for k in range(LINES):
            state.contact_work[r, k] = works[r, k]
    state.work[CONTACT] = works[0, 0] + works[0, 1] + works[0, 2] + works[0, 3]
    state.work[EXTERNAL] = works[0, GRAVITY_LINE] + works[0, WALL_LINE]
    state.work[DAMPING] = works[0, DRAG_LINE]
    keep_contacts(system)


@kernel
def advance_grains(contacts, moving, lists, refresh, system, grains, h, counters, clock, times, steps):
    """Advances the grains by a number of steps of length h: REACHED, DIVERGED where a number is no longer finite, or
    TOO_NARROW."""
    particles, half = system.particles, 0.5 * h
    for _ in range(steps):
        step = counters[STEPS]
        if step == 0 and grains.held[0] == 0:
            evaluate(system, contacts, 0.0, 0.0, times)
            moving[KICK](system, grains, 0.0, half)
            book(grains, 0.0, half)
            grains.held[0] = 1
        take_pending(grains.works)
        moving[DRIFT](system, grains, h, 0.0)
        gone = farthest(grains)
        if not gone < np.inf:
            return DIVERGED
        if gone > system.grid.reach[1]:
            moving[COLLECT](system, grains, 0.0, 0.0)
            keep_contacts(system)
            list_contacts(system, grains, moving, lists, refresh)
            if crowded(system):
                return TOO_NARROW
            if particles.counts[LOST] > 0:
                return DIVERGED
        time = h * (step + 1)
        evaluate(system, contacts, time, h, times)
        if crowded(system):  # a wall has moved, and more is near it
            return TOO_NARROW
        if system.walls.counts[FAULT] != 0:
            return DIVERGED
        moving[KICK](system, grains, half, half)
        if not book(grains, half, half):
            return DIVERGED
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        clock[0] = time
    return REACHED
