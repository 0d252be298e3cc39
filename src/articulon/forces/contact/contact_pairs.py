"""The pass over pairs of spheres: it finds the candidates that touch, and computes their forces.

Places, slots and strips are explained in ``contact_tables.py``. Pairs that touch, or touched at the last evaluation,
are gathered in batches, and a few vector loops evaluate the law for a batch. The results are written to the history of
each contact and added to the rows of the two spheres in ``Spheres.load``. A thread processes the places of a strip in
order. If the other sphere is in a later strip, or much later in the same strip, its load goes to a separate row for
that contact. So two threads never write to the same row, and results do not depend on the number of threads in any bit.
"""

from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.contact_batches import (
    LANES,
    STRIDE,
    act,
    book,
    find_velocities,
    get,
    list_loads,
    measure,
    put,
    sum_forces,
    turn,
)
from articulon.forces.contact.contact_columns import BATCH, COUNTS, LAW, LOAD, MEMORY, MOTION, RECORD, STATISTICS
from articulon.forces.contact.contact_law import NEVER
from articulon.forces.contact.contact_tables import FREE, PARTS, PLACES, SLIDES, STICKS
from articulon.forces.contact.row_exchange import LANES as FOUR
from articulon.forces.contact.row_exchange import add_columns, add_row, find_near, put_columns, take_columns
from articulon.forces.sites.prefetching import LINE, prefetch
from articulon.kernels import jit

AHEAD = 96
"""Number of slots by which spheres are prefetched ahead of their contact."""
MINE, OTHERS, FROM, INTO = range(0, 4 * LANES, LANES)
"""Start indices of the index arrays of a batch, LANES entries each: the places of the two spheres, and the rows that
receive the contact's loads."""
ROWS = 4 * LANES
BITS = (1 << FOUR) - 1
"""Bit mask of a group of four slots."""
BY_PLACE = 0, -1
"""Used in place of a ring if the row of each place is its own number. A ring is described by its first row and a bit
mask that maps a place to its row in the ring."""
ONE_KIND = False
"""Whether there is only one kind of sphere."""


@jit
def find_deepest(batch, count, slots, order, candidates, statistics):
    """Return the largest overlap of a block so far, and its pair."""
    deeper = 0.0
    for k in range(count):
        deeper += 1.0 if batch[BATCH.relative_depth * STRIDE + k] > statistics[STATISTICS.deepest] else 0.0
    if deeper > 0.0:
        for k in range(count):
            deep, slot = get(batch, BATCH.relative_depth, k), slots[np.uint64(k)]
            if deep > statistics[STATISTICS.deepest]:
                statistics[STATISTICS.deepest] = deep
                statistics[STATISTICS.deep_first] = order[candidates.first[slot]]
                statistics[STATISTICS.deep_other] = order[candidates.root[slot]]


@jit
def write_back(batch, slots, rows, count, order, candidates, load, whole, statistics):
    """Write the results of the law to the history of each contact and to the load rows of its spheres; also to the
    records if they are requested with ``whole``."""
    touches, memory, full = candidates.touches, candidates.memory, count - count % FOUR
    for k in range(0, full, FOUR):
        put_columns(memory, MEMORY.width, slots, k, 0, batch, BATCH.new * STRIDE + k, STRIDE)
    for k in range(full, count):
        slot = slots[np.uint64(k)]
        for a in range(MEMORY.width):
            memory[slot, a] = get(batch, BATCH.new + a, k)
    for k in range(count):
        now = SLIDES if get(batch, BATCH.slides, k) > 0.5 else STICKS
        touches[slots[np.uint64(k)]] = now if get(batch, BATCH.touches, k) < PARTS else FREE
    find_deepest(batch, count, slots, order, candidates, statistics)
    if whole:
        sum_forces(batch, count)
        for k in range(count):
            slot = slots[np.uint64(k)]
            for a in range(RECORD.width):
                candidates.record[slot, a] = get(batch, BATCH.new + a, k)
    for k in range(0, count, FOUR):
        arms = BATCH.new_arm * STRIDE + k, BATCH.new_other_arm * STRIDE + k
        add_columns(load, rows, FROM + k, INTO + k, batch, BATCH.load_force * STRIDE + k, STRIDE, arms[0], arms[1])


@jit
def add_across(candidates, load, p, mine):
    """Add the loads of distant contacts to ``mine``, the row of a place, and reset them."""
    for c in range(candidates.across[p], candidates.across[p + 1]):
        if candidates.touches[candidates.source[c]] != FREE:
            add_row(load, np.uint64(mine), np.uint64(candidates.across.shape[0] - 1 + c))


@jit
def is_by_place(ring):
    """Whether rows are indexed by place, without a ring."""
    return ring[1] < 0


@jit
def row_in(ring, p):
    """Return the row of a place in a ring."""
    return ring[0] + (p & ring[1])


@jit
def row_into(ring, into, places):
    """Return the row to which the contact of a slot adds the load on its other sphere."""
    return into if into >= places else row_in(ring, into)


@jit
def end_contact(slot, time, candidates, statistics):
    """End a contact; its last work is still to be added."""
    lasted = time - candidates.since[slot]
    statistics[STATISTICS.ended] += 1.0
    statistics[STATISTICS.durations] += lasted
    statistics[STATISTICS.longest] = max(statistics[STATISTICS.longest], lasted)
    candidates.touches[slot] += PARTS


@jit
def begin_contact(slot, time, candidates, statistics):
    """Begin a contact, without history."""
    for a in range(MEMORY.width):
        candidates.memory[slot, a] = 0.0
    candidates.memory[slot, MEMORY.closing] = NEVER
    candidates.since[slot] = time
    statistics[STATISTICS.begun] += 1.0


@jit
def ask_ahead(spheres, candidates, ring, at):
    """Prefetch, for some slots from ``at`` on, data that may no longer be in the cache: the contact history, the motion
    of the other sphere, and the row for its load."""
    last, places = candidates.counts[COUNTS.listed] - 1, spheres.radius.shape[0]
    for k in range(at, at + LANES, LINE // (8 * MEMORY.width)):
        prefetch(candidates.memory, MEMORY.width * k)
    for k in range(at, min(at + LANES, last)):
        slot = np.uint64(k)
        other, into = MOTION.width * np.int64(candidates.second[slot]), np.int64(candidates.into[slot])
        prefetch(spheres.motion, other)
        prefetch(spheres.motion, other + LINE // 8)
        if into >= places or is_by_place(ring):  # the rows of a ring are in the cache
            for line in range(LOAD.width * 8 // LINE):
                prefetch(spheres.load, LOAD.width * into + line * (LINE // 8))


@jit
def find_slots(spheres, candidates, at, end, time, slots, found, statistics):
    """Append those slots from ``at`` on, at most LANES, whose spheres touch or touched at the last evaluation. Begin
    and end contacts, without unpredictable branches. Return the new number of appended slots."""
    for k in range(at, min(at + LANES, end), FOUR):
        bits = find_near(
            spheres.motion, MOTION.width, candidates.first, candidates.second, candidates.touches, k, end, slots, found
        )
        near, touched = bits & BITS, bits >> FOUR & BITS
        found += bits >> (2 * FOUR)
        if near != touched:
            for m in range(FOUR):
                slot, bit = np.uint64(k + m), 1 << m
                if near & bit and not touched & bit:
                    begin_contact(slot, time, candidates, statistics)
                elif touched & bit and not near & bit:
                    end_contact(slot, time, candidates, statistics)
    return found


@jit
def padded(count):
    """Round up to the next multiple of four."""
    return (count + FOUR - 1) // FOUR * FOUR


@jit
def gather(spheres, candidates, table, ring, slots, rows, count, batch):
    """Gather some contacts, padded with copies of the last one to a multiple of four."""
    motion, kinds, full, places = spheres.motion, table.kinds[0], padded(count), spheres.radius.shape[0]
    for k in range(count, full):
        slots[np.uint64(k)] = slots[np.uint64(count - 1)]
    for k in range(full):
        slot = slots[np.uint64(k)]
        p, into = np.int64(candidates.first[slot]), np.int64(candidates.into[slot])
        rows[np.uint64(MINE) + np.uint64(k)] = np.uint64(p)
        rows[np.uint64(OTHERS) + np.uint64(k)] = np.uint64(candidates.second[slot])
        rows[np.uint64(FROM) + np.uint64(k)] = np.uint64(row_in(ring, p))
        rows[np.uint64(INTO) + np.uint64(k)] = np.uint64(row_into(ring, into, places))
        put(batch, BATCH.touches, k, candidates.touches[slot])
    for k in range(count, full):
        put(batch, BATCH.touches, k, PARTS)
    for k in range(0, full, FOUR):
        mine, others = MINE + k, OTHERS + k
        take_columns(motion, MOTION.width, rows, mine, MOTION.position, batch, BATCH.position_i * STRIDE + k, STRIDE)
        take_columns(motion, MOTION.width, rows, mine, MOTION.velocity, batch, BATCH.velocity_i * STRIDE + k, STRIDE)
        take_columns(
            motion,
            MOTION.width,
            rows,
            mine,
            MOTION.angular_velocity,
            batch,
            BATCH.angular_velocity_i * STRIDE + k,
            STRIDE,
        )
        take_columns(motion, MOTION.width, rows, others, MOTION.position, batch, BATCH.position_j * STRIDE + k, STRIDE)
        take_columns(motion, MOTION.width, rows, others, MOTION.velocity, batch, BATCH.velocity_j * STRIDE + k, STRIDE)
        take_columns(
            motion,
            MOTION.width,
            rows,
            others,
            MOTION.angular_velocity,
            batch,
            BATCH.angular_velocity_j * STRIDE + k,
            STRIDE,
        )
        take_columns(candidates.memory, MEMORY.width, slots, k, 0, batch, BATCH.old * STRIDE + k, STRIDE)
    if not ONE_KIND:
        for k in range(full):
            row = kinds * int(get(batch, BATCH.kind_i, k)) + int(get(batch, BATCH.kind_j, k))
            for a in range(LAW.rolling):
                put(batch, BATCH.law + a, k, table.rows[row, a])


@jit
def pair_block(order, spheres, candidates, table, ring, first, last, time, h, whole, batch, slots, rows, statistics):
    """Evaluate the contacts in the rows of some places; loads are summed in a ring, or by place."""
    load, law = spheres.load, table.rows
    for a in range(STATISTICS.width):
        statistics[a] = 0.0
    at, end, found = candidates.start[first], candidates.start[last], 0
    while at < end or found > 0:
        while at < end and found < LANES:
            ask_ahead(spheres, candidates, ring, at + AHEAD)
            found = find_slots(spheres, candidates, at, end, time, slots, found, statistics)
            at += LANES
        count = min(found, LANES)
        gather(spheres, candidates, table, ring, slots, rows, count, batch)
        full = padded(count)
        measure(batch, full, law)
        find_velocities(batch, full)
        turn(batch, full, h)
        act(batch, full, h, law)
        book(batch, full, h, law, statistics)
        list_loads(batch, full)
        write_back(batch, slots, rows, count, order, candidates, load, whole, statistics)
        found -= count
        for k in range(found):
            slots[np.uint64(k)] = slots[np.uint64(k + count)]


@jit
def pair_strip(order, spheres, candidates, table, s, time, h, batch, slots, rows):
    """Evaluate the contacts in the rows of a strip, with whole records."""
    n, strip, statistics = spheres.radius.shape[0], candidates.strip, candidates.block
    for b in range(strip[s], strip[s + 1]):
        first = PLACES * b
        last = min(first + PLACES, n)
        pair_block(
            order, spheres, candidates, table, BY_PLACE, first, last, time, h, True, batch, slots, rows, statistics[b]
        )


def share_pairs(order, spheres, candidates, table, time, h):
    """Evaluate all strips in parallel. Numba's parallel loops accept no tuples of tuples."""
    strips = candidates.strip.shape[0] - 1
    for s in prange(strips):
        batch, slots, rows = np.zeros(BATCH.width * STRIDE), np.zeros(2 * LANES, np.uint64), np.zeros(ROWS, np.uint64)
        pair_strip(order, spheres, candidates, table, np.int64(s), time, h, batch, slots, rows)


SHARE: Any = None
"""Placeholder for the compiled function."""


def pair_pass(system, time, h):
    """Evaluate all pairs of spheres that touch, with whole records, at a time, a time h after the last pass."""
    SHARE(system.particles.order, system.spheres, system.candidates, system.table, time, h)
