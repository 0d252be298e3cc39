"""Velocity Verlet for free spheres in contact.

Half a kick, the drift, the contacts at the velocities of the half step, and half a kick by the same forces, as granular
codes have it: tangential displacements are then summed by the midpoint rule, and damping is half a step late.
"""

import math

import numpy as np

from articulon.algebra.rotations import matrix
from articulon.algebra.vectors import apply, apply_t
from articulon.forces.contact.candidates import keep_contacts
from articulon.forces.contact.carried import crowded
from articulon.forces.contact.tables import (
    BEGUN,
    DEEP_FIRST,
    DEEP_OTHER,
    DEEPEST,
    DURATIONS,
    ENDED,
    FAULT,
    FRICTION_TO_COME,
    FRICTION_WORK,
    LONGEST,
    NORMAL_WORK,
    SPRING_WORK,
    VISCOUS_TO_COME,
    VISCOUS_WORK,
    WALL_WORK,
)
from articulon.forces.contact.wall_motion import walls_stand
from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.integrate.grain_passes import (
    DONE,
    DONE_TIME,
    DRAGS,
    DRIFTS,
    DUE,
    DUE_TIME,
    FALLS,
    FINITE,
    HIGH,
    KICKS,
    LASTS,
    LINES,
    LOW,
    PLACE,
    PUSH,
    PUSHED,
    RECORDS,
    SPEED,
    TIME,
    TOUCHES,
    TURN,
    TURNING,
    WAY,
    at,
)
from articulon.integrate.status import DIVERGED, REACHED
from articulon.kernels import jit, kernel
from articulon.model.state import CONTACT, DAMPING, EVALUATIONS, EXTERNAL, STEPS, WINDOW

TOO_NARROW = 100
"""Beside the values of ``status``: a list needs more room."""
WALLS, RESISTANCE = range(2)
"""Passes over contacts."""
SWEEP, COLLECT, DISTRIBUTE = range(3)
"""Passes over grains."""


@jit
def list_contacts(system, grains, moving, lists, refresh):
    """Lists anew what is near to what, with all that contacts remember: from the order of the model, in which the
    grains lie in ``line``."""
    particles = system.particles
    particles.reference[0, 0] = np.nan
    refresh[0](system.cell, particles, system.neighbours, system.grid, system.numbers, system.spheres.radius)
    if particles.counts[OVERFLOW] + particles.counts[LOST] == 0:
        lists[0](system)
        lists[1](system)
        moving[DISTRIBUTE](system, grains)


@jit
def farthest(grains):
    """The square of the longest way that any grain has gone, ``middle`` taken off; NaN where one has no number."""
    worst = 0.0
    for b in range(grains.partial.shape[0]):
        d = grains.partial[b, WAY]
        if not d < np.inf:
            return np.nan
        worst = max(worst, d)
    return worst


@jit
def list_again(system, grains, gone):
    """Whether two grains may have come nearer to each other by the skin since the last list, or one to a wall."""
    middle, reach2 = grains.middle, system.grid.reach[1]
    common = math.sqrt(middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2])
    return gone > reach2 or math.sqrt(gone) + common > 2.0 * math.sqrt(reach2)


@jit
def forget_middle(grains):
    """Nothing is taken off the ways of grains."""
    for a in range(3):
        grains.middle[a] = 0.0


@jit
def find_middle(system, grains):
    """Sets ``middle`` in the order of the model; to nothing where walls move, whose lists leave half the skin to
    them."""
    line, reference = grains.line, system.particles.reference
    for a in range(3):
        low, high = np.inf, -np.inf
        for s in range(line.shape[0]):
            way = line[s, PLACE + a] - reference[a, s]
            low, high = min(low, way), max(high, way)
        grains.middle[a] = 0.5 * (low + high)
    if not walls_stand(system.shapes):
        forget_middle(grains)


@jit
def follow_middle(system, grains):
    """The same after a drift."""
    partial = grains.partial
    for a in range(3):
        low, high = np.inf, -np.inf
        for b in range(partial.shape[0]):
            low, high = min(low, partial[b, LOW + a]), max(high, partial[b, HIGH + a])
        grains.middle[a] = 0.5 * (low + high)
    if not walls_stand(system.shapes):
        forget_middle(grains)


@jit
def sum_seen(seen, times):
    """Adds what the blocks of a pass have seen of contacts that begin and end."""
    for b in range(seen.shape[0]):
        times[0] += seen[b, BEGUN]
        times[1] += seen[b, ENDED]
        times[2] += seen[b, DURATIONS]
        times[3] = max(times[3], seen[b, LONGEST])
        if seen[b, DEEPEST] > times[4]:
            times[4], times[5], times[6] = seen[b, DEEPEST], seen[b, DEEP_FIRST], seen[b, DEEP_OTHER]


@jit
def sweep(system, grains, moving, touches, time, h, whole, kicks, done, due, drift):
    """Asks for a sweep; see ``Grains.ask``."""
    ask = grains.ask
    ask[TOUCHES], ask[TIME], ask[LASTS], ask[RECORDS] = touches, time, h, whole
    ask[KICKS], ask[DONE_TIME], ask[DUE_TIME], ask[DRIFTS] = kicks, done, due, drift
    moving[SWEEP](system, grains)


@jit
def evaluate(system, contacts, grains, moving, time, h, whole, done, due, drift, times):
    """All contacts, at a time and a time h after they were last evaluated; the second half kick by them, for a time
    ``done``, with the works of it and of the next one, for a time ``due``; and the first half kick and the drift over
    a time ``drift``, unless that is zero. What walls do has to be known; what resists rolling comes between."""
    if system.candidates.resistance.shape[0] > 0:
        sweep(system, grains, moving, 1.0, time, h, 1.0, 0.0, 0.0, 0.0, 0.0)
        contacts[RESISTANCE](system, time, h)
        sweep(system, grains, moving, 0.0, time, h, 0.0, 1.0, done, due, drift)
    else:
        sweep(system, grains, moving, 1.0, time, h, whole, 1.0, done, due, drift)
    sum_seen(system.candidates.block, times)
    sum_seen(system.walls.block, times)


@jit
def summed(grains, column):
    """The sum of a column of the blocks, in order."""
    total = 0.0
    for b in range(grains.partial.shape[0]):
        total += grains.partial[b, column]
    return total


@jit
def sort_works(seen, works):
    """Takes from the work of all contacts between spheres, which is in the line of elastic forces, what the last pass
    has seen of other lines."""
    for b in range(seen.shape[0]):
        for line in (SPRING_WORK, VISCOUS_WORK, FRICTION_WORK):
            works[line] += seen[b, line]
            works[NORMAL_WORK] -= seen[b, line]


@jit
def sort_works_to_come(seen, works, time):
    """The same of what it has seen to come, within a time."""
    for b in range(seen.shape[0]):
        for line, column in ((VISCOUS_WORK, VISCOUS_TO_COME), (FRICTION_WORK, FRICTION_TO_COME)):
            works[line] += time * seen[b, column]
            works[NORMAL_WORK] -= time * seen[b, column]


@kernel
def load_state(system, grains, moving, lists, refresh, state):
    """Takes all from a state whose lists were made at ``particles.site``, with contacts in ``kept``."""
    line, q, u, history = grains.line, state.q, state.u, state.history
    site, particles = state.contact_rebuild, system.particles
    n = line.shape[0]
    for s in range(n):
        e = (q[7 * s + 3], q[7 * s + 4], q[7 * s + 5], q[7 * s + 6])
        w = apply(matrix(e), (u[6 * s + 3], u[6 * s + 4], u[6 * s + 5]))
        for a in range(3):
            particles.site[a, s] = site[a, s] if site[a, s] == site[a, s] else q[7 * s + a]
            line[s, PLACE + a], line[s, SPEED + a] = q[7 * s + a], u[6 * s + a]
            # What turning into the grain's frame and back has rounded is not what goes on.
            line[s, TURNING + a] = history[1 + 9 * s + a] if history[0] != 0.0 else w[a]
        for a in range(4):
            line[s, TURN + a] = e[a]
    for k in range(LINES):
        # Where the rule begins anew, the half kick that was to come never does.
        grains.works[1, k] = state.contact_work[1 if history[0] != 0.0 else 0, k]
    list_contacts(system, grains, moving, lists, refresh)
    find_middle(system, grains)
    for p in range(n):
        for a in range(PUSHED):
            grains.push[at(PUSHED, p, PUSH + a)] = history[4 + 9 * particles.order[p] + a]


@kernel
def store_state(system, grains, moving, h, state):
    """Gives all back to a state after a step, but the contacts, which then lie in ``kept``."""
    moving[COLLECT](system, grains)
    line, q, u, history, particles = grains.line, state.q, state.u, state.history, system.particles
    history[0] = 1.0
    for s in range(line.shape[0]):
        e = (line[s, TURN], line[s, TURN + 1], line[s, TURN + 2], line[s, TURN + 3])
        w = apply_t(matrix(e), (line[s, TURNING], line[s, TURNING + 1], line[s, TURNING + 2]))
        for a in range(3):
            q[7 * s + a], u[6 * s + a], u[6 * s + 3 + a] = line[s, PLACE + a], line[s, SPEED + a], w[a]
            history[1 + 9 * s + a] = line[s, TURNING + a]
            state.contact_rebuild[a, s] = particles.reference[a, s]
        for a in range(4):
            q[7 * s + 3 + a] = e[a]
    for p in range(line.shape[0]):
        for a in range(PUSHED):
            history[4 + 9 * particles.order[p] + a] = grains.push[at(PUSHED, p, PUSH + a)]
    keep_contacts(system, True)
    works, half = grains.works, 0.5 * h
    for k in range(LINES):
        works[0, k] = works[1, k] - half * summed(grains, DUE + k)  # what is to come is not done yet
    sort_works_to_come(system.candidates.block, works[0], -half)
    for k in range(LINES):
        state.contact_work[0, k], state.contact_work[1, k] = works[0, k], works[1, k]
    state.work[CONTACT] = works[0, 0] + works[0, 1] + works[0, 2] + works[0, 3]
    state.work[EXTERNAL] = works[0, FALLS] + works[0, WALL_WORK]
    state.work[DAMPING] = works[0, DRAGS]


@kernel
def begin_grains(contacts, moving, system, grains, time, h, times):
    """Forces at a time, before any step from there."""
    half = 0.5 * h
    contacts[WALLS](system, time, 0.0)
    if crowded(system):
        return
    evaluate(system, contacts, grains, moving, time, 0.0, 0.0, 0.0, half, 0.0, times)
    for k in range(LINES):
        grains.works[1, k] += half * summed(grains, DUE + k)
    sort_works_to_come(system.candidates.block, grains.works[1], half)


@kernel
def advance_grains(contacts, moving, lists, refresh, system, grains, h, counters, clock, times, steps):
    """Advances the grains by a number of steps of length h: REACHED, DIVERGED where a number is no longer finite, or
    TOO_NARROW."""
    particles, works, half = system.particles, grains.works[1], 0.5 * h
    if steps > 0:
        sweep(system, grains, moving, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, h)
    for left in range(steps, 0, -1):
        step = counters[STEPS]
        gone = farthest(grains)
        if not gone < np.inf:
            return DIVERGED
        if list_again(system, grains, gone):
            moving[COLLECT](system, grains)
            keep_contacts(system, False)
            list_contacts(system, grains, moving, lists, refresh)
            if crowded(system):
                return TOO_NARROW
            if particles.counts[LOST] > 0:
                return DIVERGED
            forget_middle(grains)
        else:
            follow_middle(system, grains)
        time, last = h * (step + 1), left == 1
        contacts[WALLS](system, time, h)
        if crowded(system):  # a wall has moved, and more is near it
            return TOO_NARROW
        if system.walls.counts[FAULT] != 0:
            return DIVERGED
        whole, drift = (1.0, 0.0) if last else (0.0, h)
        evaluate(system, contacts, grains, moving, time, h, whole, half, half, drift, times)
        for k in range(LINES):
            works[k] += half * (summed(grains, DONE + k) + summed(grains, DUE + k))
        sort_works(system.candidates.block, works)
        sort_works_to_come(system.candidates.block, works, half)
        if not summed(grains, FINITE) < np.inf:
            return DIVERGED
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        clock[0] = time
    return REACHED
