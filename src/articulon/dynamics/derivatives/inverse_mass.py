"""M⁻¹ of a forest: factors of the articulated-body recursion, and what they make of generalised forces.

Columns of the joints are eliminated one by one, as if each were a joint of its own, so that all joints have factors of
one form: the column s, what its force does to the link, U = I s, and 1/d with d = s·U. Inward, t = τ − s·p and
p + U t/d goes on to the parent; outward, u' = (t − U·a)/d and a + s u' goes on (Featherstone 2008, table 7.1, at rest).
The same factors serve any number of forces: a row of lanes is those of one joint in eight problems side by side.
"""

from articulon.algebra.inertia import force_of, moment_of, shift, skew
from articulon.algebra.vectors import (
    add,
    apply,
    dot,
    isotropic,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    matrix_add,
    scale,
    store6,
    store_from,
    symmetric_add,
    symmetric_less_outer,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import matrix_scale, outer
from articulon.dynamics.derivatives.motion_columns import SHIFT, load_motion
from articulon.kernels import jit
from articulon.lanes import fused

FACTORS, ARTICULATED = 7, 21
"""Numbers of the factors of a column, U (moment, force) and 1/d, and of an articulated inertia."""


@jit
def load_inertia(a, i):
    """The inertia in a row: A, H and M."""
    H = (load_from(a, i, 6), load_from(a, i, 9), load_from(a, i, 12))
    return load_symmetric(a, i), H, (a[i, 15], a[i, 16], a[i, 17], a[i, 18], a[i, 19], a[i, 20])


@jit
def take_motion(a, b, i):
    """Six numbers of an array (blocks, links, 6) as two vectors."""
    return (a[b, i, 0], a[b, i, 1], a[b, i, 2]), (a[b, i, 3], a[b, i, 4], a[b, i, 5])


@jit
def put_motion(a, b, i, w, v):
    """Two vectors into six numbers of an array (blocks, links, 6)."""
    a[b, i, 0], a[b, i, 1], a[b, i, 2] = w[0], w[1], w[2]
    a[b, i, 3], a[b, i, 4], a[b, i, 5] = v[0], v[1], v[2]


@jit
def fused_dot(a, b, c):
    """c + a·b."""
    return fused(a[0], b[0], fused(a[1], b[1], fused(a[2], b[2], c)))


@jit
def fused_add(s, a, b):
    """b + s a."""
    return (fused(s, a[0], b[0]), fused(s, a[1], b[1]), fused(s, a[2], b[2]))


@jit
def fused_cross(a, b, c):
    """c + a × b."""
    return (
        fused(a[1], b[2], fused(-a[2], b[1], c[0])),
        fused(a[2], b[0], fused(-a[0], b[2], c[1])),
        fused(a[0], b[1], fused(-a[1], b[0], c[2])),
    )


@jit
def factorise_mass(forest, ws, columns, articulated, factors):
    """The factors (nu, 7) at links whose columns have been found; ``articulated`` (links, 21) begins as zeros."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size - 1, -1, -1):
        R, p = load_matrix(ws.rotation, i), parent[i]
        A, H, M = load_inertia(articulated, i)
        A = symmetric_add(A, symmetric_rotate(R, load_symmetric(forest.inertia, i)))
        H = matrix_add(H, skew(apply(R, load(forest.moment, i))))
        M = symmetric_add(M, isotropic(forest.mass[i]))
        first = u_start[i]
        for k in range(first + joints.degrees_of_freedom(kinds[i]) - 1, first - 1, -1):
            sw, sv = load_motion(columns, k, SHIFT)
            n, f = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
            d = 1.0 / (dot(sw, n) + dot(sv, f))
            A, M = symmetric_less_outer(A, d, n), symmetric_less_outer(M, d, f)
            H = matrix_add(H, matrix_scale(-d, outer(n, f)))
            store_from(factors, k, 0, n)
            store_from(factors, k, 3, f)
            factors[k, 6] = d
        if p >= 0:
            A, H = shift(load(ws.reach, i), A, H, M)
            B, G, N = load_inertia(articulated, p)
            H = matrix_add(H, G)
            store6(articulated, p, 0, symmetric_add(A, B))
            store_from(articulated, p, 6, H[0])
            store_from(articulated, p, 9, H[1])
            store_from(articulated, p, 12, H[2])
            store6(articulated, p, 15, symmetric_add(M, N))


@jit
def apply_inverse(forest, ws, columns, factors, rows, first, end, last, force):
    """M⁻¹ of the generalised forces in rows ``first`` to ``end`` of ``rows`` (blocks, nu), in place.

    Several rows at once keep a processor busy that would wait for one link's numbers before the next's. ``force``
    (rows at once, links, 6) is scratch of the same numbers, which may be lanes. There are forces up to the joint of
    link ``last`` and none beyond, nor is M⁻¹ taken beyond.
    """
    parent, kinds, u_start, reach = forest.parent, forest.kind, forest.u_start, ws.reach
    nothing = 0.0 * rows[first, 0]
    for b in range(end - first):
        for i in range(last + 1):
            put_motion(force, b, i, (nothing, nothing, nothing), (nothing, nothing, nothing))
    for i in range(last, -1, -1):
        p, start = parent[i], u_start[i]
        r = load(reach, i)
        for b in range(first, end):
            n, f = take_motion(force, b - first, i)
            for k in range(start + joints.degrees_of_freedom(kinds[i]) - 1, start - 1, -1):
                sw, sv = load_motion(columns, k, SHIFT)
                t = rows[b, k] - fused_dot(sw, n, fused_dot(sv, f, nothing))
                rows[b, k] = t
                t = factors[k, 6] * t
                n, f = fused_add(t, load_from(factors, k, 0), n), fused_add(t, load_from(factors, k, 3), f)
            if p >= 0:
                m, g = take_motion(force, b - first, p)
                put_motion(force, b - first, p, fused_cross(r, f, add(m, n)), add(g, f))
    for i in range(last + 1):
        p, start = parent[i], u_start[i]
        negative = scale(-1.0, load(reach, i))
        for b in range(first, end):
            w, a = (nothing, nothing, nothing), (nothing, nothing, nothing)
            if p >= 0:
                w, a = take_motion(force, b - first, p)
                a = fused_cross(negative, w, a)  # w × r
            for k in range(start, start + joints.degrees_of_freedom(kinds[i])):
                pushed = fused_dot(load_from(factors, k, 3), a, nothing)
                s = factors[k, 6] * (rows[b, k] - fused_dot(load_from(factors, k, 0), w, pushed))
                rows[b, k] = s
                sw, sv = load_motion(columns, k, SHIFT)
                w, a = fused_add(s, sw, w), fused_add(s, sv, a)
            put_motion(force, b - first, i, w, a)
