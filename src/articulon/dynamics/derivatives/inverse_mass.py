"""M⁻¹ of a forest: factors of the articulated-body recursion, and their application to generalised forces.

Columns of the joints are eliminated one by one, as if each were a separate joint, so that the factors of all joints
have one form: the column s, the wrench U = I s for its motion, with I the articulated inertia, and 1/d with d = s·U.
Let p be the bias wrench on a link and a its acceleration. Inward, t = τ − s·p, and p + U t/d is passed on to the
parent. Outward, u' = (t − U·a)/d, and a + s u' is passed on to the children (Featherstone 2008, table 7.1, at rest).
The same factors serve any number of forces: with lanes, a row holds the forces of one joint in several problems side by
side.
"""

from articulon.algebra.inertia import force_of, moment_of
from articulon.algebra.vectors import (
    add,
    dot,
    load,
    load_from,
    load_symmetric,
    matrix_add,
    scale,
    store_from,
    symmetric_less_outer,
)
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import matrix_scale, outer
from articulon.dynamics.derivatives.motion_columns import SHIFT, load_motion, store_motion
from articulon.kernels import jit
from articulon.lanes import fused

FACTORS, ARTICULATED = 7, 21
"""Length of the factors of a column, U (moment, force) and 1/d, and of an articulated inertia."""


@jit
def load_inertia(a, i):
    """Inertia (A, H, M) of a row."""
    H = (load_from(a, i, 6), load_from(a, i, 9), load_from(a, i, 12))
    return load_symmetric(a, i), H, (a[i, 15], a[i, 16], a[i, 17], a[i, 18], a[i, 19], a[i, 20])


@jit
def fused_dot(a, b, c):
    """Sum c + a·b."""
    return fused(a[0], b[0], fused(a[1], b[1], fused(a[2], b[2], c)))


@jit
def fused_add(s, a, b):
    """Sum b + s a."""
    return (fused(s, a[0], b[0]), fused(s, a[1], b[1]), fused(s, a[2], b[2]))


@jit
def fused_cross(a, b, c):
    """Sum c + a × b."""
    return (
        fused(a[1], b[2], fused(-a[2], b[1], c[0])),
        fused(a[2], b[0], fused(-a[0], b[2], c[1])),
        fused(a[0], b[1], fused(-a[1], b[0], c[2])),
    )


@jit
def factorise_mass(forest, columns, articulated, diagonal, factors):
    """Factors (nu, 7) of joints whose columns have been computed, from the articulated inertias (links, 21) of their
    links before the joint is eliminated. ``diagonal`` (nu,) is added to the mass matrix; None adds nothing."""
    kinds, u_start = forest.kind, forest.u_start
    for i in range(kinds.size):
        first = u_start[i]
        A, H, M = load_inertia(articulated, i)
        for k in range(first + joints.degrees_of_freedom(kinds[i]) - 1, first - 1, -1):
            sw, sv = load_motion(columns, k, SHIFT)
            n, f = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
            d = dot(sw, n) + dot(sv, f)
            if diagonal is not None:
                d += diagonal[k]
            d = 1.0 / d
            store_from(factors, k, 0, n)
            store_from(factors, k, 3, f)
            factors[k, 6] = d
            if k > first:
                A, M = symmetric_less_outer(A, d, n), symmetric_less_outer(M, d, f)
                H = matrix_add(H, matrix_scale(-d, outer(n, f)))


@jit
def clear_forces(force, last):
    """Zeroes the forces on the links up to ``last``."""
    nothing = 0.0 * force[0, 0]
    for i in range(last + 1):
        store_motion(force, i, 0, (nothing, nothing, nothing), (nothing, nothing, nothing))


@jit
def hand_inward(forest, ws, columns, factors, rows, b, i, force):
    """Eliminates the joint of link i: its part of row b becomes τ − s·p, and the rest goes on to the parent."""
    p, start = forest.parent[i], forest.u_start[i]
    n, f = load_motion(force, i, 0)
    for k in range(start + joints.degrees_of_freedom(forest.kind[i]) - 1, start - 1, -1):
        sw, sv = load_motion(columns, k, SHIFT)
        # Two independent sums, so that the processor can add them in parallel.
        t = fused_dot(scale(-1.0, sw), n, rows[b, k]) - fused_dot(sv, f, 0.0 * f[0])
        rows[b, k] = t
        t = factors[k, 6] * t
        n, f = fused_add(t, load_from(factors, k, 0), n), fused_add(t, load_from(factors, k, 3), f)
    if p >= 0:
        m, g = load_motion(force, p, 0)
        store_motion(force, p, 0, fused_cross(load(ws.reach, i), f, add(m, n)), add(g, f))


@jit
def accelerate_outward(forest, ws, columns, factors, rows, b, i, motion):
    """Accelerates the joint of link i, whose parent's acceleration is known: its part of row b becomes u'."""
    p, start = forest.parent[i], forest.u_start[i]
    nothing = 0.0 * rows[b, start]
    w, a = (nothing, nothing, nothing), (nothing, nothing, nothing)
    if p >= 0:
        w, a = load_motion(motion, p, 0)
        a = fused_cross(scale(-1.0, load(ws.reach, i)), w, a)  # w × r
    for k in range(start, start + joints.degrees_of_freedom(forest.kind[i])):
        turned = fused_dot(scale(-1.0, load_from(factors, k, 0)), w, rows[b, k])
        s = factors[k, 6] * (turned - fused_dot(load_from(factors, k, 3), a, nothing))
        rows[b, k] = s
        sw, sv = load_motion(columns, k, SHIFT)
        w, a = fused_add(s, sw, w), fused_add(s, sv, a)
    store_motion(motion, i, 0, w, a)


@jit
def apply_inverse(forest, ws, columns, factors, rows, b, last, force):
    """Multiplies the generalised forces in row b of ``rows`` (blocks, nu) by M⁻¹, in place. ``force`` (links, 6) is
    scratch of the same type as the numbers, which may be lanes. Joints beyond that of link ``last`` have no forces, and
    their results are not computed."""
    clear_forces(force, last)
    for i in range(last, -1, -1):
        hand_inward(forest, ws, columns, factors, rows, b, i, force)
    for i in range(last + 1):
        accelerate_outward(forest, ws, columns, factors, rows, b, i, force)


@jit
def apply_inverse_twice(forest, ws, columns, factors, rows, b, b_last, c, c_last, force, other):
    """Multiplies the generalised forces in rows b and c by M⁻¹, as :func:`apply_inverse` does for each, up to the links
    ``b_last`` and ``c_last`` ≥ ``b_last``. The two rows take turns link by link, so that neither has to wait for the
    result of its own previous link."""
    clear_forces(force, b_last)
    clear_forces(other, c_last)
    for i in range(c_last, b_last, -1):
        hand_inward(forest, ws, columns, factors, rows, c, i, other)
    for i in range(b_last, -1, -1):
        hand_inward(forest, ws, columns, factors, rows, b, i, force)
        hand_inward(forest, ws, columns, factors, rows, c, i, other)
    for i in range(b_last + 1):
        accelerate_outward(forest, ws, columns, factors, rows, b, i, force)
        accelerate_outward(forest, ws, columns, factors, rows, c, i, other)
    for i in range(b_last + 1, c_last + 1):
        accelerate_outward(forest, ws, columns, factors, rows, c, i, other)


@jit
def apply_inverse_to_rows(forest, ws, columns, factors, rows, last, force):
    """Multiplies every row of generalised forces (blocks, nu) by M⁻¹, in place: row b up to link ``last[b]``, as
    :func:`apply_inverse` does. ``force`` (2 links, 6) is scratch."""
    count, links = rows.shape[0], forest.parent.size
    one, other = force[:links], force[links:]
    for first in range(0, count - 1, 2):
        # The order of joints may differ from that of links.
        b, c = (first, first + 1) if last[first] <= last[first + 1] else (first + 1, first)
        apply_inverse_twice(forest, ws, columns, factors, rows, b, last[b], c, last[c], one, other)
    if count % 2 == 1:
        apply_inverse(forest, ws, columns, factors, rows, count - 1, last[count - 1], force)
