"""Nearest points of walls in the walls' own frames: planes, cylinders and triangles."""

import math

from articulon.algebra.vectors import add, dot, load_at, scale, sub
from articulon.kernels import jit

PLANE, INSIDE, OUTSIDE, MESH = range(4)
"""Wall shapes: a half-space, the inside and the outside of a cylinder, and a closed surface of triangles."""

FACE, CORNER_A, CORNER_B, CORNER_C, EDGE_AB, EDGE_BC, EDGE_CA = range(7)
"""Feature of a triangle on which the nearest point lies."""


@jit
def plane_gap(normal, y):
    """Distance of a point from the plane n·y = 0, negative behind it, and the unit vector from the plane to the
    point."""
    return dot(normal, y), normal


@jit
def cylinder_gap(axis, radius, y, inside):
    """Distance of a point from a cylinder about an axis through the origin, without caps, and the unit vector from the
    wall to the point. With ρ the distance from the axis, these are ρ₀ − ρ and −e_ρ for the inside of the cylinder, and
    ρ − ρ₀ and e_ρ for its outside. The distance is negative beyond the wall."""
    across = sub(y, scale(dot(axis, y), axis))
    rho = math.sqrt(dot(across, across))
    out = scale(1.0 / rho, across) if rho > 0.0 else (0.0, 0.0, 0.0)  # on the axis all directions are equally near
    if inside:
        return radius - rho, (-out[0], -out[1], -out[2])
    return rho - radius, out


@jit
def nearest_on_triangle(corners, k, y):
    """Point of a triangle nearest to y, and whether it is in the face, at a corner or on an edge (C. Ericson, Real-Time
    Collision Detection, 2005, 5.1.5).

    ``corners`` is flat with twelve numbers per triangle: corner a, then b − a, c − a and the unit normal.
    """
    a, ab, ac = load_at(corners, 12 * k), load_at(corners, 12 * k + 3), load_at(corners, 12 * k + 6)
    ap = sub(y, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a, CORNER_A
    bp = sub(ap, ab)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return add(a, ab), CORNER_B
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return add(a, scale(d1 / (d1 - d3), ab)), EDGE_AB
    cp = sub(ap, ac)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return add(a, ac), CORNER_C
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return add(a, scale(d2 / (d2 - d6), ac)), EDGE_CA
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return add(a, add(ab, scale(t, sub(ac, ab)))), EDGE_BC
    w = 1.0 / (va + vb + vc)
    return add(a, add(scale(vb * w, ab), scale(vc * w, ac))), FACE


@jit
def triangle_gap(corners, k, y):
    """Distance of a point from a triangle, the unit vector from the nearest point to the point, and the feature on
    which the nearest point lies. For a face the vector is exactly the normal, on either side."""
    q, where = nearest_on_triangle(corners, k, y)
    d = sub(y, q)
    gap = math.sqrt(dot(d, d))
    n = scale(1.0 / gap, d) if gap > 0.0 else (0.0, 0.0, 0.0)
    if where == FACE:
        n = load_at(corners, 12 * k + 9)
        gap = dot(n, sub(y, load_at(corners, 12 * k)))
        if gap < 0.0:
            gap, n = -gap, (-n[0], -n[1], -n[2])
    return gap, n, where
