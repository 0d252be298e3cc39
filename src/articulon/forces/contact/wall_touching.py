"""Wall places: the points of walls that a sphere touches."""

from articulon.algebra.vectors import apply, apply_t, dot, load_from, scale, store_from, sub
from articulon.forces.contact.contact_columns import WALL_NUMBER, WALL_PLACE, WALL_POSE
from articulon.forces.contact.wall_motion import rotation_of
from articulon.forces.contact.wall_shapes import (
    CORNER_A,
    EDGE_AB,
    FACE,
    INSIDE,
    MESH,
    PLANE,
    cylinder_gap,
    plane_gap,
    triangle_gap,
)
from articulon.kernels import jit

TOUCHED = 64
"""Largest number of triangles that a sphere may overlap at once; rows of the scratch arrays."""


@jit
def in_wall_frame(walls, w, x):
    """Transform a point of the world into the frame of a wall."""
    return apply_t(rotation_of(walls.pose, w), sub(x, load_from(walls.pose, w, WALL_POSE.place)))


@jit
def smooth_gap(walls, w, x):
    """Distance of a point of the world from a plane or cylinder, and the unit normal, in the world frame."""
    y, direction = sub(x, load_from(walls.pose, w, WALL_POSE.place)), load_from(walls.pose, w, WALL_POSE.direction)
    if walls.shape[w] == PLANE:
        return plane_gap(direction, y)
    return cylinder_gap(direction, walls.constants[w, 3], y, walls.shape[w] == INSIDE)


@jit
def put(places, numbers, row, gap, normal, w, feature, part):
    places[row, WALL_PLACE.gap] = gap
    store_from(places, row, WALL_PLACE.normal, normal)
    numbers[row, WALL_NUMBER.wall], numbers[row, WALL_NUMBER.feature], numbers[row, WALL_NUMBER.part] = w, feature, part


@jit
def move(places, numbers, source, target):
    for k in range(WALL_PLACE.width):
        places[target, k] = places[source, k]
    for k in range(WALL_NUMBER.width):
        numbers[target, k] = numbers[source, k]


@jit
def exchange(places, numbers, a, b):
    for k in range(WALL_PLACE.width):
        places[a, k], places[b, k] = places[b, k], places[a, k]
    for k in range(WALL_NUMBER.width):
        numbers[a, k], numbers[b, k] = numbers[b, k], numbers[a, k]


@jit
def holds(parts, triangle, part):
    """Whether a triangle has a given corner or edge."""
    found = False
    for k in range(6):
        found = found or parts[triangle, k] == part
    return found


@jit
def touch_mesh(walls, w, near, first, last, y, radius, places, numbers, row):
    """Write the places of a mesh within ``radius`` of y from ``row`` on. Return the next free row, or −1 if the sphere
    overlaps more triangles than the capacity.

    A place is a local minimum of the distance from y on the surface. A face point always is one. A point on an edge or
    at a corner is one only if no triangle sharing it comes nearer. If the normals of several places differ by less than
    the smooth angle, only the nearest place counts.
    """
    parts, base = walls.parts, walls.feature[w] - walls.triangle[w]
    end = row
    for m in range(first, last):
        t = near[m]
        gap, n, where = triangle_gap(walls.corners, t, y)
        if gap < radius:
            if end == TOUCHED:
                return -1
            part = -1
            if where >= EDGE_AB:
                part = parts[t, 3 + where - EDGE_AB]
            elif where != FACE:
                part = parts[t, where - CORNER_A]
            k = end
            while k > row and places[k - 1, WALL_PLACE.gap] > gap:
                move(places, numbers, k - 1, k)
                k -= 1
            put(places, numbers, k, gap, n, w, t + base, part)
            end += 1
    # The nearest place comes first. Candidates that are not separate places are marked and kept for now, because they
    # still exclude others.
    for k in range(row, end):
        n, part, hidden = load_from(places, k, WALL_PLACE.normal), numbers[k, WALL_NUMBER.part], False
        for other in range(row, k):
            inside = part >= 0 and holds(parts, numbers[other, WALL_NUMBER.feature] - base, part)
            along = dot(n, load_from(places, other, WALL_PLACE.normal))
            hidden = hidden or inside or (numbers[other, WALL_NUMBER.wall] >= 0 and along >= walls.smooth[w])
        if hidden:
            numbers[k, WALL_NUMBER.wall] = -1
    kept = row
    for k in range(row, end):
        if numbers[k, WALL_NUMBER.wall] >= 0:
            if kept != k:
                move(places, numbers, k, kept)
            kept += 1
    return kept


@jit
def touch(walls, w, near, first, last, x, radius, places, numbers, row):
    """Write the places of any wall within ``radius`` of a point x of the world, as ``touch_mesh``; normals are in world
    axes."""
    end = row
    if walls.shape[w] != MESH:
        gap, n = smooth_gap(walls, w, x)
        if gap < radius:
            put(places, numbers, row, gap, n, w, walls.feature[w], -1)
            store_from(places, row, WALL_PLACE.point, sub(x, scale(gap, n)))
            end += 1
        return end
    y = in_wall_frame(walls, w, x)
    end = touch_mesh(walls, w, near, first, last, y, radius, places, numbers, row)
    rotation = rotation_of(walls.pose, w)
    for k in range(row, end):
        n = apply(rotation, load_from(places, k, WALL_PLACE.normal))
        store_from(places, k, WALL_PLACE.normal, n)
        store_from(places, k, WALL_PLACE.point, sub(x, scale(places[k, WALL_PLACE.gap], n)))
    return end


@jit
def sort_by_feature(places, numbers, rows):
    """Sort the places of a sphere by feature, an order that does not depend on the candidate lists."""
    for k in range(1, rows):
        m = k
        while m > 0 and numbers[m - 1, WALL_NUMBER.feature] > numbers[m, WALL_NUMBER.feature]:
            exchange(places, numbers, m - 1, m)
            m -= 1
