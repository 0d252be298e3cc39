"""Which pairs of spheres are within reach, and how contacts outlive a list.

The full list of neighbours (``forces/sites/neighbours.py``) has one reach, that of the two largest spheres. Of it each
pair is taken once, if its own radii and the skin bring it within reach. What contacts remember is kept by pair, in the
numbers of the model, while slots change.
"""

from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.tables import (
    ARM,
    COUPLE,
    CROWDED,
    FORCE,
    FREE,
    LISTED,
    MEMORY,
    NORMAL,
    OTHER_ARM,
    PLACES,
    RECORD,
    RESISTANCE,
    SINCE,
    STANDING,
    TANGENTIAL_VISCOUS,
)
from articulon.kernels import jit


@jit
def shorten_row(particles, neighbours, spheres, skin, p):
    """Leaves in the row of a place those within reach that it is the first of; returns how many."""
    x, y, z, radius, order, parent = (
        particles.x,
        particles.y,
        particles.z,
        particles.charge,  # in whose column spheres have their radii
        particles.order,
        particles.parent,
    )
    n, row = order.size, neighbours.places[p]
    own, reach, found = spheres.owner[order[p]], radius[p] + skin, 0
    for k in range(neighbours.number[p]):
        q = np.int64(row[k])
        j = q if q < n else np.int64(parent[q - n])
        dx, dy, dz = x[p] - x[q], y[p] - y[q], z[p] - z[q]
        most = reach + radius[q]
        if j > p and dx * dx + dy * dy + dz * dz < most * most and spheres.owner[order[j]] != own:
            row[found] = row[k]
            found += 1
    neighbours.number[p] = found
    return found


@jit
def count_block(particles, neighbours, spheres, candidates, skin, first, last):
    """Candidates of some places, each at its place's end."""
    start = candidates.start
    for p in range(first, last):
        start[p + 1] = shorten_row(particles, neighbours, spheres, skin, p)


@jit
def sum_starts(candidates):
    """Where rows start from how long they are; whether there is room."""
    start = candidates.start
    start[0] = 0
    for p in range(start.size - 1):
        start[p + 1] += start[p]
    candidates.counts[LISTED] = start[start.size - 1]
    candidates.counts[CROWDED] = candidates.counts[LISTED] > candidates.second.size
    return candidates.counts[CROWDED] == 0


@jit
def find_kept(kept, low, high):
    """Where a pair is kept, −1 for nowhere."""
    for k in range(kept.start[low], kept.start[low + 1]):
        if kept.other[k] == high:
            return k
    return -1


@jit
def load_contact(kept, k, flips, slot, touches, memory, record, resistance):
    """Gives a slot what is kept of its contact; ``flips`` where the slot's first sphere is the kept one's second."""
    s, column = (-1.0 if flips else 1.0), kept.column
    for a in range(MEMORY):
        memory[slot, a] = (s if a < SINCE else 1.0) * column[k, a]
    for a in range(RECORD):
        record[slot, a] = column[k, MEMORY + a]
    turn_record(record, slot, flips)
    touches[slot] = np.int8(column[k, STANDING])
    if resistance.shape[0] > 0:
        # Swapping the two turns the normal and their relative spin, so that only the couple changes its sign.
        for a in range(RESISTANCE):
            resistance[slot, a] = (s if a < COUPLE + 3 else 1.0) * column[k, STANDING + 1 + a]


@jit
def turn_record(record, slot, flips):
    """A record as the second sphere has it; n × F_t is the same for both."""
    if flips:
        for a in range(3):
            record[slot, FORCE + a] = -record[slot, FORCE + a]
            record[slot, NORMAL + a] = -record[slot, NORMAL + a]
            record[slot, TANGENTIAL_VISCOUS + a] = -record[slot, TANGENTIAL_VISCOUS + a]
        swapped = record[slot, ARM]
        record[slot, ARM] = record[slot, OTHER_ARM]
        record[slot, OTHER_ARM] = swapped


@jit
def clear_contact(slot, touches, memory, record, resistance):
    """Leaves nothing in a slot."""
    touches[slot] = FREE
    for a in range(MEMORY):
        memory[slot, a] = 0.0
    for a in range(RECORD):
        record[slot, a] = 0.0
    if resistance.shape[0] > 0:
        for a in range(RESISTANCE):
            resistance[slot, a] = 0.0


@jit
def fill_block(particles, neighbours, candidates, kept, first, last):
    """Writes the candidates of some places, with what is kept of those that touch."""
    order, n = particles.order, particles.order.size
    start, root, touches = candidates.start, candidates.root, candidates.touches
    for p in range(first, last):
        for slot in range(start[p], start[p + 1]):
            q = np.int64(neighbours.places[p, slot - start[p]])
            candidates.second[slot] = q
            root[slot] = q if q < n else np.int64(particles.parent[q - n])
            i, j = order[p], order[root[slot]]
            k = find_kept(kept, min(i, j), max(i, j))
            clear_contact(slot, touches, candidates.memory, candidates.record, candidates.resistance)
            if k >= 0:
                load_contact(kept, k, i > j, slot, touches, candidates.memory, candidates.record, candidates.resistance)


@jit
def list_back(candidates):
    """The slots in which each place is the other sphere, in their order."""
    back_start, back, root, places = candidates.back_start, candidates.back, candidates.root, candidates.start.size - 1
    for p in range(places + 1):
        back_start[p] = 0
    total = candidates.counts[LISTED]
    for slot in range(total):
        back_start[root[slot] + 1] += 1
    for p in range(places):
        back_start[p + 1] += back_start[p]
    for slot in range(total):
        p = root[slot]
        back[back_start[p]] = slot
        back_start[p] += 1
    for p in range(places, 0, -1):
        back_start[p] = back_start[p - 1]
    back_start[0] = 0


def count_all(particles, neighbours, spheres, candidates, skin):
    """Counts the candidates of all places."""
    n = spheres.motion.shape[0]
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        count_block(particles, neighbours, spheres, candidates, skin, first, min(first + PLACES, n))


def fill_all(particles, neighbours, candidates, kept):
    """Writes the candidates of all places."""
    n = particles.order.size
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        fill_block(particles, neighbours, candidates, kept, first, min(first + PLACES, n))


COUNT: Any = None
FILL: Any = None
"""Stand for these, compiled."""


def list_pairs(system):
    """Lists the candidates of all places; ``counts`` says where there is too little room."""
    skin = system.skin[0]
    COUNT(system.particles, system.neighbours, system.spheres, system.candidates, skin)
    if sum_starts(system.candidates):
        FILL(system.particles, system.neighbours, system.candidates, system.kept)
        list_back(system.candidates)


@jit
def store_contact(kept, k, other, flips, slot, touches, memory, record, resistance):
    """Keeps the contact of a slot."""
    s, column = (-1.0 if flips else 1.0), kept.column
    kept.other[k] = other
    for a in range(MEMORY):
        column[k, a] = (s if a < SINCE else 1.0) * memory[slot, a]
    turn_record(record, slot, flips)
    for a in range(RECORD):
        column[k, MEMORY + a] = record[slot, a]
    turn_record(record, slot, flips)
    column[k, STANDING] = touches[slot]
    if resistance.shape[0] > 0:
        for a in range(RESISTANCE):
            column[k, STANDING + 1 + a] = (s if a < COUPLE + 3 else 1.0) * resistance[slot, a]


@jit
def keep_contacts(system):
    """Keeps all contacts by pair, the ones of each sphere in the order of their slots, with walls last; ``counts`` says
    how many there are, and where there is too little room."""
    candidates, walls, kept, order = system.candidates, system.walls, system.kept, system.particles.order
    start, n, spheres = kept.start, candidates.start.size - 1, order.size
    for s in range(spheres + 1):
        start[s] = 0
    for p in range(n):
        for slot in range(candidates.start[p], candidates.start[p + 1]):
            if candidates.touches[slot] != FREE:
                start[min(order[p], order[candidates.root[slot]]) + 1] += 1
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] != FREE:
                start[order[p] + 1] += 1
    for s in range(spheres):
        start[s + 1] += start[s]
    kept.counts[LISTED] = start[spheres]
    kept.counts[CROWDED] = start[spheres] > kept.other.size
    if kept.counts[CROWDED] != 0:
        return
    for p in range(n):
        for slot in range(candidates.start[p], candidates.start[p + 1]):
            if candidates.touches[slot] != FREE:
                i, j = order[p], order[candidates.root[slot]]
                low, high = min(i, j), max(i, j)
                memory, record, resistance = candidates.memory, candidates.record, candidates.resistance
                store_contact(kept, start[low], high, i > j, slot, candidates.touches, memory, record, resistance)
                start[low] += 1
    for p in range(n):
        i = order[p]
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] != FREE:
                other = spheres + walls.feature[slot]
                memory, record, resistance = walls.memory, walls.record, walls.resistance
                store_contact(kept, start[i], other, False, slot, walls.touches, memory, record, resistance)
                start[i] += 1
    for s in range(spheres, 0, -1):
        start[s] = start[s - 1]
    start[0] = 0
