"""Velocity Verlet for free spheres in contact.

A step is half a kick, the drift, the contacts at the velocities of the half step, and half a kick by the same forces,
as in granular codes. Tangential displacements are thus summed by the midpoint rule, and damping is half a step late.
"""

import math

import numpy as np

from articulon.forces.contact.carried_spheres import capacity_exceeded
from articulon.forces.contact.contact_columns import COUNTS, STATISTICS, TIMES
from articulon.forces.contact.contact_history import KEEP, LIST_PAIRS, LIST_WALLS
from articulon.forces.contact.contact_tables import FRICTION_WORK, NORMAL_WORK, SPRING_WORK, VISCOUS_WORK
from articulon.forces.contact.wall_motion import walls_stand
from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.integrate.grain_columns import GRAIN_LINE, GRAIN_PARTIAL, GRAIN_REQUEST, LINES
from articulon.integrate.status import CAPACITY_EXCEEDED, DIVERGED, REACHED
from articulon.kernels import jit
from articulon.model.state import EVALUATIONS, STEPS, WINDOW
from articulon.passes import pass_of

WALL_PASS, RESISTANCE_PASS = range(2)
"""Indices of the passes over contacts."""
SWEEP, COLLECT, DISTRIBUTE = range(3)
"""Indices of the passes over grains."""


@jit
def list_contacts(system, grains, moving, lists, refresh):
    """Rebuild the lists of neighbours and walls, and load the grains from ``line``, which is in the order of the model.
    The history of all contacts is kept."""
    particles = system.particles
    particles.reference[0, 0] = np.nan
    refresh[0](system.cell, particles, system.neighbours, system.grid, system.numbers, system.spheres.radius)
    if particles.counts[OVERFLOW] + particles.counts[LOST] == 0:
        lists[LIST_PAIRS](system)
        lists[LIST_WALLS](system)
        moving[DISTRIBUTE](system, grains)


@jit
def farthest(grains):
    """Square of the largest displacement of any grain, relative to ``middle``; NaN if one is not finite."""
    worst = 0.0
    for b in range(grains.partial.shape[0]):
        d = grains.partial[b, GRAIN_PARTIAL.displacement]
        if not d < np.inf:
            return np.nan
        worst = max(worst, d)
    return worst


@jit
def list_again(system, grains, gone):
    """Whether two grains, or a grain and a wall, may have approached each other by the skin since the last list."""
    middle, reach2 = grains.middle, system.grid.reach[1]
    common = math.sqrt(middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2])
    return gone > reach2 or math.sqrt(gone) + common > 2.0 * math.sqrt(reach2)


@jit
def forget_middle(grains):
    """Set ``middle`` to zero, so that displacements of grains are absolute."""
    for a in range(3):
        grains.middle[a] = 0.0


@jit
def find_middle(system, grains):
    """Set ``middle`` from the grains in ``line``. If walls move, set it to zero: half of the skin is then reserved for
    the motion of walls, so that grains may only move by the other half."""
    line, reference = grains.line, system.particles.reference
    for a in range(3):
        low, high = np.inf, -np.inf
        for s in range(line.shape[0]):
            displacement = line[s, GRAIN_LINE.place + a] - reference[a, s]
            low, high = min(low, displacement), max(high, displacement)
        grains.middle[a] = 0.5 * (low + high)
    if not walls_stand(system.shapes):
        forget_middle(grains)


@jit
def follow_middle(system, grains):
    """Set ``middle`` after a drift; to zero if walls move."""
    partial = grains.partial
    for a in range(3):
        low, high = np.inf, -np.inf
        for b in range(partial.shape[0]):
            low, high = min(low, partial[b, GRAIN_PARTIAL.low + a]), max(high, partial[b, GRAIN_PARTIAL.high + a])
        grains.middle[a] = 0.5 * (low + high)
    if not walls_stand(system.shapes):
        forget_middle(grains)


@jit
def sum_statistics(statistics, times):
    """Add the statistics of contacts that begin and end, from the blocks of a pass."""
    for b in range(statistics.shape[0]):
        times[TIMES.begun] += statistics[b, STATISTICS.begun]
        times[TIMES.ended] += statistics[b, STATISTICS.ended]
        times[TIMES.durations] += statistics[b, STATISTICS.durations]
        times[TIMES.longest] = max(times[TIMES.longest], statistics[b, STATISTICS.longest])
        if statistics[b, STATISTICS.deepest] > times[TIMES.deepest]:
            times[TIMES.deepest] = statistics[b, STATISTICS.deepest]
            times[TIMES.deep_first], times[TIMES.deep_other] = (
                statistics[b, STATISTICS.deep_first],
                statistics[b, STATISTICS.deep_other],
            )


@jit
def sweep(system, grains, moving, touches, time, h, whole, kicks, done, due, drift):
    """Run a sweep; for the request see ``Grains.request``."""
    request = grains.request
    request[GRAIN_REQUEST.touches], request[GRAIN_REQUEST.time], request[GRAIN_REQUEST.lasts] = touches, time, h
    request[GRAIN_REQUEST.records], request[GRAIN_REQUEST.kicks], request[GRAIN_REQUEST.drifts] = whole, kicks, drift
    request[GRAIN_REQUEST.done_time], request[GRAIN_REQUEST.due_time] = done, due
    moving[SWEEP](system, grains)


@jit
def evaluate(system, contacts, grains, moving, time, h, whole, done, due, drift, times):
    """Evaluate all contacts at a time, a time h after their last evaluation. Apply the half kick that ends the step, of
    length ``done``. Sum the powers of this half kick, and of the one that begins the next step, of length ``due``.
    Then, unless ``drift`` is zero, apply that next half kick and drift for a time ``drift``. Contacts with walls must
    have been found before. Rolling resistance is evaluated after the contacts and before the half kick."""
    if system.candidates.resistance.shape[0] > 0:
        sweep(system, grains, moving, 1.0, time, h, 1.0, 0.0, 0.0, 0.0, 0.0)
        contacts[RESISTANCE_PASS](system, time, h)
        sweep(system, grains, moving, 0.0, time, h, 0.0, 1.0, done, due, drift)
    else:
        sweep(system, grains, moving, 1.0, time, h, whole, 1.0, done, due, drift)
    sum_statistics(system.candidates.block, times)
    sum_statistics(system.walls.block, times)


@jit
def summed(grains, column):
    """Sum of a column over the blocks, in order."""
    total = 0.0
    for b in range(grains.partial.shape[0]):
        total += grains.partial[b, column]
    return total


@jit
def sort_works(statistics, works):
    """Move the works of tangential springs, viscous forces and friction, as summed by the last pass, to their own
    ledger lines. The work of all contacts between spheres was booked as that of elastic normal forces."""
    for b in range(statistics.shape[0]):
        for line in (SPRING_WORK, VISCOUS_WORK, FRICTION_WORK):
            works[line] += statistics[b, line]
            works[NORMAL_WORK] -= statistics[b, line]


@jit
def sort_works_to_come(statistics, works, time):
    """Move the works of viscous forces and friction of the next half kick, of length ``time``, as :func:`sort_works`
    does."""
    for b in range(statistics.shape[0]):
        for line, column in ((VISCOUS_WORK, STATISTICS.viscous_to_come), (FRICTION_WORK, STATISTICS.friction_to_come)):
            works[line] += time * statistics[b, column]
            works[NORMAL_WORK] -= time * statistics[b, column]


@jit
def meet_walls(contacts, lists, system, time, h):
    """Find the contacts with walls at a time, a time h after the last one. If a wall has moved far, the lists are
    rebuilt; the contacts are not found if the lists overflow."""
    contacts[WALL_PASS](system, time, h)
    counts = system.walls.counts
    if counts[COUNTS.moved] == 0:
        return
    lists[KEEP](system)
    lists[LIST_WALLS](system)
    if counts[COUNTS.exceeded] == 0:
        contacts[WALL_PASS](system, time, h)


@pass_of
def begin_grains(contacts, moving, lists, system, grains, h, clock, times):
    """Compute forces at the time of the clock, before the first step from there."""
    half, time = 0.5 * h, clock[0]
    meet_walls(contacts, lists, system, time, 0.0)
    if capacity_exceeded(system):
        return
    evaluate(system, contacts, grains, moving, time, 0.0, 0.0, 0.0, half, 0.0, times)
    for k in range(LINES):
        grains.works[1, k] += half * summed(grains, GRAIN_PARTIAL.due + k)
    sort_works_to_come(system.candidates.block, grains.works[1], half)


@pass_of
def advance_grains(contacts, moving, lists, refresh, system, grains, h, counters, clock, times, chunk):
    """Advance the grains by ``chunk[0]`` steps of length h, and write the status to ``chunk[1]``: REACHED, DIVERGED if
    a number is no longer finite, or CAPACITY_EXCEEDED."""
    steps = chunk[0]
    particles, works, half = system.particles, grains.works[1], 0.5 * h
    if steps > 0:
        sweep(system, grains, moving, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, h)
    for left in range(steps, 0, -1):
        step = counters[STEPS]
        gone = farthest(grains)
        if not gone < np.inf:
            chunk[1] = DIVERGED
            return
        if list_again(system, grains, gone):
            moving[COLLECT](system, grains)
            lists[KEEP](system)
            list_contacts(system, grains, moving, lists, refresh)
            if capacity_exceeded(system):
                chunk[1] = CAPACITY_EXCEEDED
                return
            if particles.counts[LOST] > 0:
                chunk[1] = DIVERGED
                return
            forget_middle(grains)
        else:
            follow_middle(system, grains)
        time, last = h * (step + 1), left == 1
        meet_walls(contacts, lists, system, time, h)
        if capacity_exceeded(system):  # a wall has moved, and the list near it has overflowed
            chunk[1] = CAPACITY_EXCEEDED
            return
        if system.walls.counts[COUNTS.fault] != 0:
            chunk[1] = DIVERGED
            return
        whole, drift = (1.0, 0.0) if last else (0.0, h)
        evaluate(system, contacts, grains, moving, time, h, whole, half, half, drift, times)
        for k in range(LINES):
            works[k] += half * (summed(grains, GRAIN_PARTIAL.done + k) + summed(grains, GRAIN_PARTIAL.due + k))
        sort_works(system.candidates.block, works)
        sort_works_to_come(system.candidates.block, works, half)
        if not summed(grains, GRAIN_PARTIAL.finite) < np.inf:
            chunk[1] = DIVERGED
            return
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        clock[0] = time
    chunk[1] = REACHED
