"""Contact history that outlives a list and is loaded from and stored in a state: by pair, with the model's numbers of
the spheres, because slots change."""

from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.contact_columns import COUNTS, HISTORY, KEPT, MEMORY, RECORD, RESISTANCE
from articulon.forces.contact.contact_tables import FREE, PLACES
from articulon.kernels import jit

LIST_PAIRS, LIST_WALLS, KEEP, KEEP_RECORDS = range(4)
"""Passes that list and keep contacts, as in ``Contacts.lists``."""


@jit
def swap_record(record, slot):
    """Return a record as seen from the other sphere of the pair."""
    for a in range(3):
        record[slot, RECORD.displacement + a] = -record[slot, RECORD.displacement + a]
        record[slot, RECORD.force + a] = -record[slot, RECORD.force + a]
        record[slot, RECORD.normal + a] = -record[slot, RECORD.normal + a]
        record[slot, RECORD.tangential_viscous + a] = -record[slot, RECORD.tangential_viscous + a]
    swapped = record[slot, RECORD.arm]
    record[slot, RECORD.arm] = record[slot, RECORD.other_arm]
    record[slot, RECORD.other_arm] = swapped


@jit
def copy_memory(source, row, target, into, swapped):
    """Copy the contact history that the law needs, the first columns of a record; ``swapped`` if source and target have
    the two spheres in opposite order."""
    s = -1.0 if swapped else 1.0
    for a in range(3):
        target[into, MEMORY.displacement + a] = s * source[row, MEMORY.displacement + a]
    target[into, MEMORY.closing] = source[row, MEMORY.closing]


@jit
def copy_resistance(source, row, first, target, into, start, swapped):
    """Copy the rolling and twisting resistance from column ``first`` on to column ``start`` on. Swapping the two bodies
    reverses the normal and their relative angular velocity, so only the couple changes sign."""
    s = -1.0 if swapped else 1.0
    for a in range(RESISTANCE.width):
        target[into, start + a] = (s if a < RESISTANCE.couple + 3 else 1.0) * source[row, first + a]


@jit
def store_record(record, touches, since, resistance, slot, column, k, swapped):
    """Store the whole record of a contact; ``swapped`` if the slot's first sphere becomes the second."""
    for a in range(RECORD.width):
        column[k, a] = record[slot, a]
    if swapped:
        swap_record(column, k)
    column[k, KEPT.since], column[k, KEPT.friction_state] = since[slot], touches[slot]
    if resistance.shape[0] > 0:
        copy_resistance(resistance, slot, 0, column, k, KEPT.resistance, swapped)


@jit
def load_wall_contact(kept, k, walls, slot):
    """Restore the kept history of a contact with a wall to its slot."""
    column = kept.column
    for a in range(RECORD.width):
        walls.record[slot, a] = column[k, a]
    walls.since[slot], walls.touches[slot] = column[k, KEPT.since], np.int8(column[k, KEPT.friction_state])
    if walls.resistance.shape[0] > 0:
        copy_resistance(column, k, KEPT.resistance, walls.resistance, slot, 0, False)


@jit
def store_history(candidates, slot, kept, k, swapped):
    """Store the history of a contact between spheres, as far as the law and the rolling and twisting resistance need
    it."""
    history = kept.history
    copy_memory(candidates.memory, slot, history, k, swapped)
    history[k, HISTORY.since], history[k, HISTORY.friction_state] = candidates.since[slot], candidates.touches[slot]
    if candidates.resistance.shape[0] > 0:
        copy_resistance(candidates.resistance, slot, 0, kept.column, k, KEPT.resistance, swapped)


@jit
def load_history(kept, k, swapped, candidates, slot):
    """Restore the kept history of a contact to its slot; the record needs no copy, because it is written before it is
    read."""
    history = kept.history
    copy_memory(history, k, candidates.memory, slot, swapped)
    candidates.since[slot], candidates.touches[slot] = (
        history[k, HISTORY.since],
        np.int8(history[k, HISTORY.friction_state]),
    )
    if candidates.resistance.shape[0] > 0:
        copy_resistance(kept.column, k, KEPT.resistance, candidates.resistance, slot, 0, swapped)


@jit
def clear_contact(slot, touches, resistance):
    """Clear the contact of a slot."""
    touches[slot] = FREE
    if resistance.shape[0] > 0:
        for a in range(RESISTANCE.width):
            resistance[slot, a] = 0.0


@jit
def count_block(candidates, walls, first, last):
    """Count the contacts in the rows of some places, including those with walls."""
    found = 0
    for slot in range(candidates.start[first], candidates.start[last]):
        found += candidates.touches[slot] != FREE
    for slot in range(walls.start[first], walls.start[last]):
        found += walls.touches[slot] != FREE
    return found


@jit
def keep_block(particles, candidates, walls, kept, first, last, whole, k):
    """Store the contacts in the rows of some places, from the k-th on; in each row, contacts with walls come last."""
    order, spheres = particles.order, particles.order.size
    for p in range(first, last):
        i = order[p]
        kept.start[i] = k
        for slot in range(candidates.start[p], candidates.start[p + 1]):
            if candidates.touches[slot] != FREE:
                j = order[candidates.root[slot]]
                kept.first[k], kept.other[k] = i, j
                if whole:
                    record, resistance = candidates.record, candidates.resistance
                    store_record(record, candidates.touches, candidates.since, resistance, slot, kept.column, k, i > j)
                else:
                    store_history(candidates, slot, kept, k, i > j)
                k += 1
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] != FREE:
                kept.first[k], kept.other[k] = i, spheres + walls.feature[slot]
                store_record(walls.record, walls.touches, walls.since, walls.resistance, slot, kept.column, k, False)
                k += 1
        kept.stop[i] = k


@jit
def sum_blocks(kept):
    """Convert the numbers of contacts of all blocks to the index of the first contact of each block. The capacity is
    the number of slots."""
    block = kept.block
    block[0] = 0
    for b in range(1, block.size):
        block[b] += block[b - 1]
    kept.counts[COUNTS.listed] = block[block.size - 1]


def count_all(candidates, walls, kept):
    """Count the contacts of all places."""
    n, block = candidates.start.size - 1, kept.block
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        block[b + 1] = count_block(candidates, walls, first, min(first + PLACES, n))


def keep_all(particles, candidates, walls, kept, whole):
    """Store the contacts of all places."""
    n, block = candidates.start.size - 1, kept.block
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        keep_block(particles, candidates, walls, kept, first, min(first + PLACES, n), whole, block[b])


COUNT: Any = None
SHARE: Any = None
"""Placeholders for the compiled passes."""
WHOLE = False
"""Whether records of pairs of spheres are stored too."""


def keep(system):
    """Store all contacts, those in the row of each place contiguously. A state receives whole records; a list receives
    only the history that the law needs for contacts between spheres."""
    COUNT(system.candidates, system.walls, system.kept)
    sum_blocks(system.kept)
    SHARE(system.particles, system.candidates, system.walls, system.kept, WHOLE)


@jit
def take_block(memory, source, column, history, first, last):
    """Load some contacts from a state."""
    for k in range(first, last):
        s = source[k]
        for a in range(column.shape[1]):
            column[k, a] = memory[s, a]
        for a in range(MEMORY.width):
            history[k, a] = memory[s, a]
        history[k, HISTORY.since], history[k, HISTORY.friction_state] = (
            memory[s, KEPT.since],
            memory[s, KEPT.friction_state],
        )


def take_pairs(memory, source, kept):
    """Load contacts from a state, the k-th from row ``source[k]``."""
    column, history = kept.column, kept.history
    for b in prange((source.size + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        take_block(memory, source, column, history, first, min(first + PLACES, source.size))


def order_pairs(first, other, order, spheres):
    """Write into ``order`` the order of the kept contacts by the lower, then by the higher number of their pair."""
    begin, end = np.zeros(spheres + 1, np.int64), np.zeros(spheres, np.int64)
    for k in range(order.size):
        begin[min(first[k], other[k]) + 1] += 1
    for s in range(spheres):
        begin[s + 1] += begin[s]
        end[s] = begin[s]
    for k in range(order.size):
        low, high = min(first[k], other[k]), max(first[k], other[k])
        at = end[low]
        end[low] += 1
        while at > begin[low] and max(first[order[at - 1]], other[order[at - 1]]) > high:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@jit
def give_block(first, other, column, order, sites, walls, pairs, memory, begin, end):
    """Store some contacts in a state, in order."""
    for k in range(begin, end):
        m = order[k]
        low, high = min(first[m], other[m]), max(first[m], other[m])
        pairs[k, 0] = sites[low]
        pairs[k, 1] = sites[high] if high < sites.size else walls + high - sites.size
        for a in range(column.shape[1]):
            memory[k, a] = column[m, a]


def give_pairs(kept, order, sites, walls, pairs, memory):
    """Store contacts in a state in the order of ``order_pairs``: sites, or ``walls`` and the feature of a wall, and the
    contact history."""
    first, other, column = kept.first, kept.other, kept.column
    for b in prange((order.size + PLACES - 1) // PLACES):
        begin = PLACES * np.int64(b)
        give_block(first, other, column, order, sites, walls, pairs, memory, begin, min(begin + PLACES, order.size))
