"""The pass over pairs of spheres: which of the candidates touch, and what forces they exert.

Those that touch are gathered, some at a time, in an array in which the law is a few vector loops; what it finds goes
back to what is remembered of each, and to the rows of the two spheres in ``Spheres.load``. A thread takes the places of
a strip in their order, and adds what a contact does to a sphere of a later strip to a row of that contact's own: so no
two threads write to one place, and the bits do not depend on how many there are.
"""

from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.batches import (
    APART,
    CLOSING_IN,
    DEEP,
    FIELDS,
    LANES,
    LIGHTS,
    NEW,
    NEW_ARM,
    NEW_OTHER_ARM,
    OLD,
    RADII,
    SLIDES_NOW,
    SPIN_I,
    SPIN_J,
    STRIDE,
    TABLE,
    act,
    find_velocities,
    get,
    list_loads,
    measure,
    put,
    sum_forces,
    turn,
)
from articulon.forces.contact.laws import (
    KINETIC,
    NEVER,
)
from articulon.forces.contact.rows import add_loads
from articulon.forces.contact.tables import (
    BEGUN,
    CLOSING,
    DEEP_FIRST,
    DEEP_OTHER,
    DEEPEST,
    DURATIONS,
    ENDED,
    FREE,
    KIND,
    LIGHT,
    LISTED,
    LOAD,
    LONGEST,
    MEMORY,
    MOTION,
    PLACES,
    RADIUS,
    RECORD,
    SEEN,
    SLIDES,
    SPIN,
    STICKS,
    V,
    X,
)
from articulon.forces.sites.prefetching import LINE, prefetch
from articulon.kernels import jit

AHEAD = 96
"""Slots before a contact is looked at that its spheres are asked for."""
ONE_KIND = False
"""Whether there is but one kind."""


@jit
def write_back(batch, slots, count, order, candidates, load, loads, whole, seen):
    """What the law has found, to what is remembered of each contact, and to the rows of its spheres; to the records
    too, where they are asked for ``whole``."""
    first, into, touches, memory = candidates.first, candidates.into, candidates.touches, candidates.memory
    deepest, at = seen[DEEPEST], np.uint64(0)
    for k in range(count):
        slot = slots[np.uint64(k)]
        for a in range(MEMORY):
            memory[slot, a] = get(batch, NEW + a, k)
        touches[slot] = SLIDES if get(batch, SLIDES_NOW, k) > 0.5 else STICKS
        deeper = get(batch, DEEP, k) > deepest
        deepest, at = (get(batch, DEEP, k), slot) if deeper else (deepest, at)
        arm, other_arm = get(batch, NEW_ARM, k), get(batch, NEW_OTHER_ARM, k)
        add_loads(load, np.uint64(first[slot]), np.uint64(into[slot]), loads, np.uint64(k), arm, other_arm)
    if whole:
        sum_forces(batch, count)
        for k in range(count):
            slot = slots[np.uint64(k)]
            for a in range(RECORD):
                candidates.record[slot, a] = get(batch, NEW + a, k)
    if deepest > seen[DEEPEST]:
        seen[DEEPEST], seen[DEEP_FIRST], seen[DEEP_OTHER] = deepest, order[first[at]], order[candidates.root[at]]


@jit
def add_across(candidates, load, p):
    """Adds to the row of a place what contacts in earlier strips do, and leaves nothing of it."""
    for c in range(candidates.across[p], candidates.across[p + 1]):
        row = candidates.across.shape[0] - 1 + c
        for a in range(LOAD):
            load[p, a] += load[row, a]
            load[row, a] = 0.0


@jit
def end_contact(slot, time, candidates, seen):
    """Ends a contact."""
    lasted = time - candidates.since[slot]
    seen[ENDED] += 1.0
    seen[DURATIONS] += lasted
    seen[LONGEST] = max(seen[LONGEST], lasted)
    candidates.touches[slot] = FREE


@jit
def begin_contact(slot, time, candidates, seen):
    """Begins a contact, of which nothing is remembered."""
    for a in range(MEMORY):
        candidates.memory[slot, a] = 0.0
    candidates.memory[slot, CLOSING] = NEVER
    candidates.since[slot] = time
    candidates.touches[slot] = STICKS
    seen[BEGUN] += 1.0


@jit
def difference(motion, column, p, q):
    """Of a vector of two spheres."""
    return (
        motion[p, column] - motion[q, column],
        motion[p, column + 1] - motion[q, column + 1],
        motion[p, column + 2] - motion[q, column + 2],
    )


@jit
def ask_for(spheres, candidates, slot):
    """Asks for the rows of the other sphere of a slot, which lies in another layer of cells, and may have left the
    cache since the last contact there."""
    at, into = MOTION * np.int64(candidates.second[slot]), LOAD * np.int64(candidates.into[slot])
    prefetch(spheres.motion, at)
    prefetch(spheres.motion, at + LINE // 8)
    for line in range(3):
        prefetch(spheres.load, into + line * (LINE // 8))


@jit
def find_slots(spheres, candidates, at, end, slots, found):
    """Appends those slots from ``at`` on, LANES at most, whose spheres touch or did; without a branch, which none could
    foresee. Returns how many there are then."""
    motion, first, second, touches = spheres.motion, candidates.first, candidates.second, candidates.touches
    last = candidates.counts[LISTED] - 1
    for k in range(at, min(at + LANES, end)):
        ask_for(spheres, candidates, min(k + AHEAD, last))
        slot = np.uint64(k)
        p, q = np.uint64(first[slot]), np.uint64(second[slot])
        dx, dy, dz = (
            motion[p, X] - motion[q, X],
            motion[p, X + 1] - motion[q, X + 1],
            motion[p, X + 2] - motion[q, X + 2],
        )
        reach = motion[p, RADIUS] + motion[q, RADIUS]
        slots[np.uint64(found)] = slot
        found += (dx * dx + dy * dy + dz * dz < reach * reach) | (touches[slot] != FREE)
    return found


@jit
def gather(spheres, candidates, table, slots, number, time, batch, seen):
    """Gathers some contacts, ends those that touch no longer, and leaves the slots of the others in front; returns how
    many these are."""
    motion, memory, touches, kinds = spheres.motion, candidates.memory, candidates.touches, table.kinds[0]
    first, second = candidates.first, candidates.second
    count = 0
    for m in range(number):
        slot = slots[np.uint64(m)]
        p, j = np.uint64(first[slot]), np.uint64(second[slot])
        dx, dy, dz = (
            motion[p, X] - motion[j, X],
            motion[p, X + 1] - motion[j, X + 1],
            motion[p, X + 2] - motion[j, X + 2],
        )
        Ri, Rj = motion[p, RADIUS], motion[j, RADIUS]
        dv = difference(motion, V, p, j)
        wi = motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2]
        wj = motion[j, SPIN], motion[j, SPIN + 1], motion[j, SPIN + 2]
        if not dx * dx + dy * dy + dz * dz < (Ri + Rj) * (Ri + Rj):
            if touches[slot] != FREE:  # this sum of squares may be rounded in another way than that of ``find_slots``
                end_contact(slot, time, candidates, seen)
            continue
        if touches[slot] == FREE:
            begin_contact(slot, time, candidates, seen)
        slots[np.uint64(count)] = slot
        put(batch, APART, count, dx)
        put(batch, APART + 1, count, dy)
        put(batch, APART + 2, count, dz)
        put(batch, RADII, count, Ri)
        put(batch, RADII + 1, count, Rj)
        put(batch, LIGHTS, count, motion[p, LIGHT] + motion[j, LIGHT])
        for a in range(3):
            put(batch, CLOSING_IN + a, count, dv[a])
            put(batch, SPIN_I + a, count, wi[a])
            put(batch, SPIN_J + a, count, wj[a])
        for a in range(MEMORY):
            put(batch, OLD + a, count, memory[slot, a])
        if not ONE_KIND:
            row = kinds * int(motion[p, KIND]) + int(motion[j, KIND])
            for a in range(KINETIC + 1):
                put(batch, TABLE + a, count, table.rows[row, a])
        count += 1
    return count


@jit
def pair_block(order, spheres, candidates, table, first, last, time, h, whole, batch, loads, slots, seen):
    """The contacts in the rows of some places."""
    load, rows = spheres.load, table.rows
    for a in range(SEEN):
        seen[a] = 0.0
    at, end, found = candidates.start[first], candidates.start[last], 0
    while at < end or found > 0:
        while at < end and found < LANES:
            found = find_slots(spheres, candidates, at, end, slots, found)
            at += LANES
        taken = min(found, LANES)
        count = gather(spheres, candidates, table, slots, taken, time, batch, seen)
        measure(batch, count, rows)
        find_velocities(batch, count)
        turn(batch, count, h)
        act(batch, count, h, rows)
        list_loads(batch, count, loads)
        write_back(batch, slots, count, order, candidates, load, loads, whole, seen)
        found -= taken
        for m in range(found):
            slots[np.uint64(m)] = slots[np.uint64(m + taken)]


@jit
def pair_strip(order, spheres, candidates, table, s, time, h, batch, loads, slots):
    """The contacts in the rows of a strip, with whole records."""
    n, strip = spheres.radius.shape[0], candidates.strip
    for b in range(strip[s], strip[s + 1]):
        first = PLACES * b
        last = min(first + PLACES, n)
        pair_block(
            order, spheres, candidates, table, first, last, time, h, True, batch, loads, slots, candidates.block[b]
        )


def share_pairs(order, spheres, candidates, table, time, h):
    """All strips. Loops that are shared out take no tuples of tuples."""
    strips = candidates.strip.shape[0] - 1
    for s in prange(strips):
        batch, loads, slots = np.zeros(FIELDS * STRIDE), np.zeros((LANES, LOAD)), np.zeros(2 * LANES, np.uint64)
        pair_strip(order, spheres, candidates, table, np.int64(s), time, h, batch, loads, slots)


SHARE: Any = None
"""Stands for this, compiled."""


def pair_pass(system, time, h):
    """All pairs of spheres that touch, with whole records, at a time, a time h after the last pass."""
    SHARE(system.particles.order, system.spheres, system.candidates, system.table, time, h)
