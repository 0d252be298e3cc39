"""The pass over pairs of spheres: which of the candidates touch, and what forces they exert.

Those that touch are gathered, some at a time, in an array in which the law is a few vector loops, and written back to
their records. What acts on the sphere in whose row a contact is, is summed here, in the order of slots; the other one
sums its own from the records. So no two threads write to one place, and the bits do not depend on how many there are.

Works are booked here. A force F acts from one half step to the next, in two half kicks, and does in them the work
½ h F·(v + v'), with v and v' the velocities at its own evaluation and at the next one: so each evaluation adds the
power of the force that was and of the force that is.
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
    NEW_FORCE,
    NEW_NORMAL,
    OLD,
    RADII,
    SLID,
    SLIDES_NOW,
    SPIN_I,
    SPIN_J,
    STRIDE,
    TABLE,
    act,
    book_old,
    find_velocities,
    get,
    measure,
    put,
    turn,
)
from articulon.forces.contact.laws import (
    KINETIC,
    NEVER,
)
from articulon.forces.contact.powers import add_powers, surface_velocity
from articulon.forces.contact.tables import (
    ARM,
    BEGUN,
    CLOSING,
    DEEP_FIRST,
    DEEP_OTHER,
    DEEPEST,
    DURATIONS,
    EASE,
    ENDED,
    FORCE,
    FREE,
    KIND,
    LIGHT,
    LONGEST,
    NORMAL,
    OTHER_ARM,
    PLACES,
    RADIUS,
    RECORD,
    SEEN,
    SLIDES,
    SPIN,
    STICKS,
    TORQUE,
    V,
    X,
)
from articulon.kernels import jit

ONE_KIND = False
"""Whether there is but one kind."""


@jit
def write_back(batch, slots, count, order, candidates, load, seen):
    """What the law has found, to the record of each contact, and to the sphere in whose row it is."""
    first, touches, record = candidates.first, candidates.touches, candidates.record
    deepest, at = seen[DEEPEST], np.uint64(0)
    for k in range(count):
        slot = slots[np.uint64(k)]
        for a in range(RECORD):
            record[slot, a] = get(batch, NEW + a, k)
        touches[slot] = SLIDES if get(batch, SLIDES_NOW, k) > 0.5 else STICKS
        deeper = get(batch, DEEP, k) > deepest
        deepest, at = (get(batch, DEEP, k), slot) if deeper else (deepest, at)
        f = get(batch, NEW_FORCE, k), get(batch, NEW + FORCE + 1, k), get(batch, NEW + FORCE + 2, k)
        n = get(batch, NEW_NORMAL, k), get(batch, NEW + NORMAL + 1, k), get(batch, NEW + NORMAL + 2, k)
        add_to_load(load, np.uint64(first[slot]), 1.0, get(batch, NEW_ARM, k), f, n)
    if deepest > seen[DEEPEST]:
        seen[DEEPEST], seen[DEEP_FIRST], seen[DEEP_OTHER] = deepest, order[first[at]], order[candidates.root[at]]


@jit
def add_to_load(load, p, s, arm, f, n):
    """Adds a contact to the force and the torque on a sphere, the first of it where s is 1, the second where it is
    −1."""
    load[p, 0] += s * f[0]
    load[p, 1] += s * f[1]
    load[p, 2] += s * f[2]
    load[p, TORQUE] -= arm * (n[1] * f[2] - n[2] * f[1])
    load[p, TORQUE + 1] -= arm * (n[2] * f[0] - n[0] * f[2])
    load[p, TORQUE + 2] -= arm * (n[0] * f[1] - n[1] * f[0])


@jit
def end_contact(slot, time, dv, wi, wj, candidates, seen):
    """Ends a contact: books what its last forces do in this half step."""
    record, touches = candidates.record, candidates.touches
    n = record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2]
    ai, aj = record[slot, ARM], record[slot, OTHER_ARM]
    ux, uy, uz = surface_velocity(
        dv[0], dv[1], dv[2], ai, wi[0], wi[1], wi[2], aj, wj[0], wj[1], wj[2], n[0], n[1], n[2]
    )
    add_powers(record, slot, touches[slot] == SLIDES, ux, uy, uz, seen)
    lasted = time - candidates.since[slot]
    seen[ENDED] += 1.0
    seen[DURATIONS] += lasted
    seen[LONGEST] = max(seen[LONGEST], lasted)
    touches[slot] = FREE


@jit
def begin_contact(slot, time, candidates, seen):
    """Begins a contact, which has had no forces so far."""
    for a in range(RECORD):
        candidates.record[slot, a] = 0.0
    candidates.record[slot, CLOSING] = NEVER
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
def find_slots(spheres, candidates, at, end, slots, found):
    """Appends those slots from ``at`` on, LANES at most, whose spheres touch or did; without a branch, which none could
    foresee. Returns how many there are then."""
    motion, first, second, touches = spheres.motion, candidates.first, candidates.second, candidates.touches
    for k in range(at, min(at + LANES, end)):
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
    motion, record, touches, kinds = spheres.motion, candidates.record, candidates.touches, table.kinds[0]
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
            end_contact(slot, time, dv, wi, wj, candidates, seen)
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
        put(batch, SLID, count, 1.0 if touches[slot] == SLIDES else 0.0)
        for a in range(RECORD):
            put(batch, OLD + a, count, record[slot, a])
        if not ONE_KIND:
            row = kinds * int(motion[p, KIND]) + int(motion[j, KIND])
            for a in range(KINETIC + 1):
                put(batch, TABLE + a, count, table.rows[row, a])
        count += 1
    return count


@jit
def pair_block(order, spheres, candidates, table, first, last, time, h, batch, slots, seen):
    """The contacts in the rows of some places."""
    load, rows = spheres.load, table.rows
    for a in range(SEEN):
        seen[a] = 0.0
    for p in range(first, last):
        for a in range(EASE):
            load[p, a] = 0.0
    at, end, found = candidates.start[first], candidates.start[last], 0
    while at < end or found > 0:
        while at < end and found < LANES:
            found = find_slots(spheres, candidates, at, end, slots, found)
            at += LANES
        taken = min(found, LANES)
        count = gather(spheres, candidates, table, slots, taken, time, batch, seen)
        book_old(batch, count, seen)
        measure(batch, count, rows)
        find_velocities(batch, count)
        turn(batch, count, h)
        act(batch, count, h, rows, seen)
        write_back(batch, slots, count, order, candidates, load, seen)
        found -= taken
        for m in range(found):
            slots[np.uint64(m)] = slots[np.uint64(m + taken)]


def share_pairs(order, spheres, candidates, table, time, h):
    """The rows of all places, block by block. Loops that are shared out take no tuples of tuples."""
    n, seen = spheres.load.shape[0], candidates.block
    for b in prange(seen.shape[0]):
        batch, slots = np.zeros(FIELDS * STRIDE), np.zeros(2 * LANES, np.uint64)
        first = PLACES * np.int64(b)
        last = min(first + PLACES, n)
        pair_block(order, spheres, candidates, table, first, last, time, h, batch, slots, seen[np.int64(b)])


SHARE: Any = None
"""Stands for this, compiled."""


def pair_pass(system, time, h):
    """Records of all pairs of spheres that touch, at a time, a time h after the last pass."""
    SHARE(system.particles.order, system.spheres, system.candidates, system.table, time, h)
