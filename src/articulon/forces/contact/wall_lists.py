"""Lists of walls near each sphere, rebuilt with the spheres' neighbour list or when a wall has moved too far.

The lists only decide which pairs are examined. Contacts are in the order of their features, so results do not depend in
any bit on when a list was built, and the lists are not part of the state.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from articulon.algebra.vectors import add, apply, dot, load, load_from, sub
from articulon.forces.contact.contact_columns import COUNTS, WALL_MOTION, WALL_POSE
from articulon.forces.contact.contact_history import clear_contact, load_wall_contact
from articulon.forces.contact.contact_tables import LEFT, PLACES
from articulon.forces.contact.wall_motion import largest_displacement, rotation_of
from articulon.forces.contact.wall_shapes import MESH, OUTSIDE, triangle_gap
from articulon.forces.contact.wall_touching import in_wall_frame, smooth_gap
from articulon.forces.sites.cells import fractions
from articulon.kernels import jit

MOST = 16
"""Largest number of points of one mesh that a sphere can touch at once."""


@jit
def walls_moved(walls, lists, skin):
    """Whether a wall has moved more than half the skin since the lists were built."""
    moved = False
    for w in range(walls.shape.size):
        moved = moved or not largest_displacement(walls, lists.listed, w, lists.far2[w]) <= 0.5 * skin
    return moved


@jit
def image(cell, d, k):
    """Lattice vector that moves d to its k-th image: the nearest image for k = 0, and up to one period further in each
    direction."""
    f = fractions(cell, d[0] + cell.origin[0], d[1] + cell.origin[1], d[2] + cell.origin[2])
    steps = (k % 3, k // 3 % 3, k // 9)
    s = (0.0, 0.0, 0.0)
    for a in range(3):
        if cell.periodic[a] != 0:
            step = steps[a] if steps[a] < 2 else -1
            m = step - math.floor(f[a] + 0.5)
            s = (
                s[0] + m * cell.vectors[a, 0],
                s[1] + m * cell.vectors[a, 1],
                s[2] + m * cell.vectors[a, 2],
            )
    return s


@jit
def repeats(walls, cell, w, k):
    """Whether the k-th image of a wall differs from the wall itself: planes and the insides of cylinders extend along
    all periodic directions, and a bar may do so too."""
    found = True
    for a in range(3):
        step = k % 3 if a == 0 else k // 3 % 3 if a == 1 else k // 9
        if step != 0:
            edge, axis = load(cell.vectors, a), load_from(walls.constants, w, 0)
            along = dot(edge, axis)
            across = walls.shape[w] == MESH or (walls.shape[w] == OUTSIDE and along * along < 0.5 * dot(edge, edge))
            found = found and cell.periodic[a] != 0 and across
    return found


@jit
def cell_of(walls, w, y):
    """Number of the mesh cell that contains a point of the mesh's frame, −1 outside all cells."""
    edge = walls.grid[w, 3]
    number = 0
    for a in range(3):
        f = (y[a] - walls.grid[w, a]) / edge
        if not (f >= 0.0 and f < walls.size[w, a]):
            return -1
        number = number * walls.size[w, a] + int(f)
    return number + walls.cell[w]


@jit
def list_group(walls, lists, w, x, shift, reach, group, entry, writes):
    """List the triangles of a wall within reach of a point that has been shifted to the image. Return an upper bound of
    the number of points where it may be touched, and the number of triangles."""
    places, triangles = 0, 0
    if walls.shape[w] == MESH:
        y = in_wall_frame(walls, w, x)
        c = cell_of(walls, w, y)
        if c >= 0:
            for m in range(walls.start[c], walls.start[c + 1]):
                if triangle_gap(walls.corners, walls.near[m], y)[0] <= reach:
                    if writes:
                        lists.entry[entry + triangles] = walls.near[m]
                    triangles += 1
        places = min(triangles, MOST)
    elif smooth_gap(walls, w, x)[0] <= reach:
        places = 1
    if places > 0 and writes:
        lists.wall[group] = w
        lists.shift[group, 0], lists.shift[group, 1], lists.shift[group, 2] = shift
        lists.entry_start[group], lists.entry_start[group + 1] = entry, entry + triangles
    return places, triangles


@jit
def list_place(walls, lists, cell, particles, spheres, skin, p, group, entry, writes):
    """List the walls near the sphere at a place, at the sphere's position in the last list. Return an upper bound of
    the wall places that it may touch, and the numbers of groups and triangles."""
    s = particles.order[p]
    slots, groups, entries = 0, 0, 0
    if spheres.inverse_mass[s] > 0.0:
        reference, wrap, reach = particles.reference, particles.wrap, spheres.radius[s] + skin
        x = (reference[0, s] + wrap[0, p], reference[1, s] + wrap[1, p], reference[2, s] + wrap[2, p])
        for w in range(walls.shape.size):
            wraps = walls.shape[w] == MESH or walls.shape[w] == OUTSIDE
            middle = (0.0, 0.0, 0.0)
            if wraps:
                middle = add(load(walls.pose, w), apply(rotation_of(walls.pose, w), load(walls.centre, w)))
            for k in range(27 if wraps else 1):
                shift = (0.0, 0.0, 0.0)
                if wraps:
                    if not repeats(walls, cell, w, k):
                        continue
                    shift = image(cell, sub(x, middle), k)
                y, at = add(x, shift), group + groups
                places, triangles = list_group(walls, lists, w, y, shift, reach, at, entry + entries, writes)
                if places > 0:
                    slots, groups, entries = slots + places, groups + 1, entries + triangles
    return slots, groups, entries


@jit
def count_block(walls, lists, cell, particles, spheres, slots, skin, first, last):
    """Count the walls, images and triangles near the spheres at some places; each count is stored at the end of its
    place."""
    for p in range(first, last):
        slots.start[p + 1], lists.group_start[p + 1], lists.entry_first[p + 1] = list_place(
            walls, lists, cell, particles, spheres, skin, p, 0, 0, False
        )


@jit
def sum_walls(slots, lists):
    """Convert row lengths to row starts; return whether the capacity suffices."""
    slots.start[0], lists.group_start[0], lists.entry_first[0] = 0, 0, 0
    n = slots.start.size - 1
    for p in range(n):
        slots.start[p + 1] += slots.start[p]
        lists.group_start[p + 1] += lists.group_start[p]
        lists.entry_first[p + 1] += lists.entry_first[p]
    slots.counts[COUNTS.listed] = slots.start[n]
    lists.needed[0], lists.needed[1] = lists.group_start[n], lists.entry_first[n]
    fits = (
        slots.start[n] <= slots.feature.size
        and lists.group_start[n] <= lists.wall.size
        and lists.entry_first[n] <= lists.entry.size
    )
    slots.counts[COUNTS.exceeded] = 0 if fits else 1
    return fits


@jit
def wall_of(walls, feature):
    """Return the wall that has a feature."""
    w = 0
    while w + 1 < walls.shape.size and walls.feature[w + 1] <= feature:
        w += 1
    return w


@jit
def fill_block(walls, lists, cell, particles, spheres, slots, kept, skin, first, last):
    """Write the lists of the spheres at some places (indices in the order of cells), with the kept contacts in the
    first slots."""
    order = particles.order
    n = order.size
    for p in range(first, last):
        group, entry = lists.group_start[p], lists.entry_first[p]
        if lists.group_start[p + 1] == group:
            continue
        list_place(walls, lists, cell, particles, spheres, skin, p, group, entry, True)
        slot, end = slots.start[p], slots.start[p + 1]
        for k in range(slot, end):
            slots.place[k] = p
        for k in range(kept.start[order[p]], kept.stop[order[p]]):
            if kept.other[k] >= n and slot < end:
                load_wall_contact(kept, k, slots, slot)
                slots.feature[slot] = kept.other[k] - n
                slots.wall[slot] = wall_of(walls, slots.feature[slot])
                slot += 1
        for empty in range(slot, end):
            clear_contact(empty, slots.touches, slots.resistance)


@jit
def outside_block(cell, particles, first, last):
    """First sphere of some places that was outside the box, in a non-periodic direction, when the spheres were listed;
    −1 for none."""
    reference = particles.reference
    for p in range(first, last):
        s = particles.order[p]
        f = fractions(cell, reference[0, s], reference[1, s], reference[2, s])
        for a in range(3):
            if cell.periodic[a] == 0 and not (f[a] >= 0.0 and f[a] <= 1.0):
                return s
    return -1


@jit
def remember_poses(system):
    """Store the poses of the walls, and for each wall the largest distance of a relevant point from its reference
    point."""
    walls, lists, particles, radius = system.shapes, system.near_walls, system.particles, system.spheres.radius
    reference, skin = particles.reference, system.skin[0]
    for w in range(walls.shape.size):
        for k in range(WALL_POSE.width):
            lists.listed[w, k] = walls.pose[w, k]
        lists.far2[w] = 0.0
        turns = load_from(walls.motion, w, WALL_MOTION.angular_velocity)
        if dot(turns, turns) > 0.0 and walls.shape[w] != MESH:
            p, far = load_from(walls.pose, w, WALL_POSE.place), 0.0
            for s in range(radius.size):
                d = sub((reference[0, s], reference[1, s], reference[2, s]), p)
                far = max(far, math.sqrt(dot(d, d)) + radius[s] + 2.0 * skin)
            lists.far2[w] = far * far


def find_outside(cell, particles, lists):
    """Find a sphere outside the box in each block. Numba's parallel loops accept no tuples of tuples, and lose values
    that they write to an array that is not named before the loop."""
    n, outside = particles.order.size, lists.outside
    for b in prange(outside.size):
        first = PLACES * np.int64(b)
        outside[np.int64(b)] = outside_block(cell, particles, first, min(first + PLACES, n))


def count_walls(walls, lists, cell, particles, spheres, slots, skin):
    """Count the walls, images and triangles near all spheres."""
    n = particles.order.size
    for b in prange(lists.outside.size):
        first = PLACES * np.int64(b)
        last = min(first + PLACES, n)
        count_block(walls, lists, cell, particles, spheres, slots, skin, first, last)


def fill_walls(walls, lists, cell, particles, spheres, slots, kept, skin):
    """Write the lists of all places."""
    n = particles.order.size
    for b in prange(lists.outside.size):
        first = PLACES * np.int64(b)
        last = min(first + PLACES, n)
        fill_block(walls, lists, cell, particles, spheres, slots, kept, skin, first, last)


FIND: Any = None
COUNT: Any = None
FILL: Any = None
"""Placeholders for the compiled passes."""


def list_walls(system):
    """List the walls near all spheres, for the sphere positions of the last list and the walls at ``pose``; ``counts``
    records an exceeded capacity and a sphere outside the box."""
    slots, walls, lists, skin = system.walls, system.shapes, system.near_walls, system.skin[0]
    cell, particles, spheres = system.cell, system.particles, system.spheres
    if walls.bounded[0] != 0:
        FIND(cell, particles, lists)
        for b in range(lists.outside.size):
            if lists.outside[b] >= 0:
                slots.counts[COUNTS.fault], slots.counts[COUNTS.sphere] = LEFT, lists.outside[b]
    COUNT(walls, lists, cell, particles, spheres, slots, skin)
    if sum_walls(slots, lists):
        FILL(walls, lists, cell, particles, spheres, slots, system.kept, skin)
        remember_poses(system)
