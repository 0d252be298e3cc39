"""Pairs of spheres within reach: the candidates for contacts.

Places, slots and strips are explained in ``contact_tables.py``.

The neighbour list (``forces/sites/neighbours.py``), here with each pair once, has a single reach, which is that of the
two largest spheres. A pair of the list is a candidate if its distance is at most the sum of its own two radii and the
skin.
"""

from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.contact_columns import COUNTS, LOAD
from articulon.forces.contact.contact_history import clear_contact, load_history
from articulon.forces.contact.contact_tables import PLACES, RING
from articulon.kernels import jit


@jit
def shorten_row(particles, neighbours, spheres, skin, p):
    """Keep, in the row of a place, the pairs within reach that belong to it; return their number."""
    x, y, z, radius, order, parent = (
        particles.x,
        particles.y,
        particles.z,
        particles.charge,  # for spheres this column holds the radii
        particles.order,
        particles.parent,
    )
    n, row = order.size, neighbours.places[p]
    owner, reach, found = spheres.owner, radius[p] + skin, 0
    shared = owner.size > 0
    for k in range(neighbours.number[p]):
        q = np.int64(row[k])
        j = q if q < n else np.int64(parent[q - n])
        dx, dy, dz = x[p] - x[q], y[p] - y[q], z[p] - z[q]
        most = reach + radius[q]
        near = j > p and dx * dx + dy * dy + dz * dz < most * most
        if near and not (shared and owner[order[j]] == owner[order[p]]):
            row[found] = row[k]
            found += 1
    neighbours.number[p] = found
    return found


@jit
def count_block(particles, neighbours, spheres, candidates, skin, first, last):
    """Count the candidates of some places; each count is stored at the end of its place."""
    start = candidates.start
    for p in range(first, last):
        start[p + 1] = shorten_row(particles, neighbours, spheres, skin, p)


@jit
def sum_starts(candidates):
    """Convert row lengths to row starts; return whether the capacity suffices."""
    start = candidates.start
    start[0] = 0
    for p in range(start.size - 1):
        start[p + 1] += start[p]
    candidates.counts[COUNTS.listed] = start[start.size - 1]
    candidates.counts[COUNTS.exceeded] = candidates.counts[COUNTS.listed] > candidates.root.size
    return candidates.counts[COUNTS.exceeded] == 0


@jit
def end_of_strip(candidates, p):
    """Return one past the last place of the strip that contains a place."""
    strip, k = candidates.strip, 1
    while PLACES * strip[k] <= p:
        k += 1
    return PLACES * strip[k]


@jit
def fill_block(particles, neighbours, spheres, candidates, first, last):
    """Write the candidates of some places, all in the state "not touching"."""
    n, end = particles.order.size, end_of_strip(candidates, first)
    start, root = candidates.start, candidates.root
    for p in range(first, last):
        for a in range(LOAD.width):
            spheres.load[p, a] = 0.0
        for slot in range(start[p], start[p + 1]):
            q = np.int64(neighbours.places[p, slot - start[p]])
            j = q if q < n else np.int64(particles.parent[q - n])
            candidates.first[slot], candidates.second[slot], root[slot] = p, q, j
            candidates.into[slot] = j if j < end and j - first < RING else -1
            clear_contact(slot, candidates.touches, candidates.resistance)


@jit
def return_block(particles, candidates, kept, first, last):
    """Restore some kept contacts to their slots; no two contacts share a slot."""
    place, order, n = particles.place, particles.order, particles.order.size
    start, root = candidates.start, candidates.root
    for k in range(first, last):
        if kept.other[k] >= n:  # contact with a wall
            continue
        i, j = np.int64(place[kept.first[k]]), np.int64(place[kept.other[k]])
        p, q = min(i, j), max(i, j)
        for slot in range(start[p], start[p + 1]):
            if root[slot] == q:
                load_history(kept, k, order[p] > order[q], candidates, slot)
                break


@jit
def list_across(spheres, candidates):
    """Assign separate load rows to the slots whose other sphere is in a later strip or too far behind. The rows are
    grouped by the place of the other sphere, in the order of slots; ``counts`` records an exceeded capacity."""
    across, into, root, places = candidates.across, candidates.into, candidates.root, spheres.radius.shape[0]
    for p in range(places + 1):
        across[p] = 0
    total, strips, earliest = candidates.counts[COUNTS.listed], candidates.strip.size - 1, candidates.earliest
    for b in range(earliest.size):
        earliest[b] = strips
    for slot in range(total):
        if into[slot] < 0:
            across[root[slot] + 1] += 1
            source, b = candidates.belongs[candidates.first[slot] // PLACES], root[slot] // PLACES
            earliest[b] = min(earliest[b], source)
    for p in range(places):
        across[p + 1] += across[p]
    if places + across[places] > spheres.load.shape[0] - RING * strips:
        candidates.counts[COUNTS.exceeded] = 1
        return
    for slot in range(total):
        if into[slot] < 0:
            p = root[slot]
            row = places + across[p]
            candidates.source[across[p]] = slot
            across[p] += 1
            into[slot] = row
            for a in range(LOAD.width):
                spheres.load[row, a] = 0.0
    for p in range(places, 0, -1):
        across[p] = across[p - 1]
    across[0] = 0


def count_all(particles, neighbours, spheres, candidates, skin):
    """Count the candidates of all places."""
    n = spheres.radius.shape[0]
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        count_block(particles, neighbours, spheres, candidates, skin, first, min(first + PLACES, n))


def fill_all(particles, neighbours, spheres, candidates):
    """Write the candidates of all places."""
    n = particles.order.size
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        fill_block(particles, neighbours, spheres, candidates, first, min(first + PLACES, n))


def return_all(particles, candidates, kept):
    """Restore all kept contacts to their slots."""
    count = kept.counts[COUNTS.listed]
    for b in prange((count + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        return_block(particles, candidates, kept, first, min(first + PLACES, count))


COUNT: Any = None
FILL: Any = None
RETURN: Any = None
"""Placeholders for the compiled passes."""


def list_pairs(system):
    """List the candidates of all places; ``counts`` records an exceeded capacity."""
    skin = system.skin[0]
    COUNT(system.particles, system.neighbours, system.spheres, system.candidates, skin)
    if sum_starts(system.candidates):
        FILL(system.particles, system.neighbours, system.spheres, system.candidates)
        RETURN(system.particles, system.candidates, system.kept)
        list_across(system.spheres, system.candidates)
