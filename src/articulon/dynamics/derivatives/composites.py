"""Composite inertias, momenta and forces about a link's origin, of all that its joint carries.

Let 2 B x be the change of the forces that the carried bodies need when the velocity of all of them changes by x. Only
the angular part of x matters (see ``motion_columns.py``): sums over masses m at r with velocity r' give the force 2 x ×
P and the moment D x,

    P = Σ m r',   D = 2 Σ m (r·r') 1 − 2 Σ m r' rᵀ.

A given wrench stays fixed while its body rotates by x. Relative to the body, a given force f therefore changes by −x ×
f. This must be compensated by the force x × F and the moment x × N + Σ o × (x × f). Here the forces f act at the points
o and have the sum F, and N is the sum of the moments about the bodies' own origins.
"""

from articulon.algebra.inertia import skew
from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    matrix_add,
    scale,
    skew_times,
    store6,
    store_from,
    sub,
    symmetric_add,
    symmetric_apply,
    symmetric_rotate,
    symmetric_rows,
)
from articulon.dynamics.articulated import wrench_on
from articulon.kernels import jit

WIDTH = 28
"""Length of a composite: the inertia A (6), the first moment h (3), D row by row (9), P (3), the force and the moment
that accelerate the bodies minus those that act on them (6), the mass."""
INERTIA, FIRST_MOMENT, COUPLING, MOMENTUM, FORCE, MOMENT, MASS = 0, 6, 9, 18, 21, 24, 27
WRENCH_WIDTH = 15
"""Length of the given wrenches: their force F (3), moment N (3) and Σ [o×][f×] row by row (9)."""


@jit
def outer(a, b):
    """The matrix a bᵀ."""
    return (scale(a[0], b), scale(a[1], b), scale(a[2], b))


@jit
def plus_isotropic(A, s):
    """The matrix A + s 1."""
    return (
        (A[0][0] + s, A[0][1], A[0][2]),
        (A[1][0], A[1][1] + s, A[1][2]),
        (A[2][0], A[2][1], A[2][2] + s),
    )


@jit
def matrix_scale(s, A):
    return (scale(s, A[0]), scale(s, A[1]), scale(s, A[2]))


@jit
def load_rows(a, i, k):
    """The matrix in row i, from column k on."""
    return (load_from(a, i, k), load_from(a, i, k + 3), load_from(a, i, k + 6))


@jit
def store_rows(a, i, k, A):
    store_from(a, i, k, A[0])
    store_from(a, i, k + 3, A[1])
    store_from(a, i, k + 6, A[2])


@jit
def add_from(a, i, k, v):
    """Adds three numbers to row i, from column k on."""
    a[i, k] += v[0]
    a[i, k + 1] += v[1]
    a[i, k + 2] += v[2]


@jit
def second_moment(A):
    """Second moment Σ m r rᵀ of an inertia A: ½ tr A 1 − A."""
    half = 0.5 * (A[0] + A[3] + A[5])
    return (half - A[0], -A[1], -A[2], half - A[3], -A[4], half - A[5])


@jit
def shifted_inertia(r, m, h, A):
    """Inertia A and first moment h about an origin at −r: h' = h + m r, A' = A − [r×][h×] − [h×][r×] − m [r×][r×]."""
    c = add(h, scale(0.5 * m, r))  # −[r×][c×] − [c×][r×] = 2 (r·c) 1 − r cᵀ − c rᵀ
    t = 2.0 * dot(r, c)
    A = (
        A[0] + t - 2.0 * r[0] * c[0],
        A[1] - r[0] * c[1] - c[0] * r[1],
        A[2] - r[0] * c[2] - c[0] * r[2],
        A[3] + t - 2.0 * r[1] * c[1],
        A[4] - r[1] * c[2] - c[1] * r[2],
        A[5] + t - 2.0 * r[2] * c[2],
    )
    return add(h, scale(m, r)), A


@jit
def own_composite(forest, wrench, ws, aw, av, i):
    """A link's own part of its composite, at the spatial acceleration a: A, h, D, P, force, moment and mass."""
    R, m = load_matrix(ws.rotation, i), forest.mass[i]
    v, w = load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
    h, A = apply(R, load(forest.moment, i)), symmetric_rotate(R, load_symmetric(forest.inertia, i))
    P, L = add(scale(m, v), cross(w, h)), add(symmetric_apply(A, w), cross(h, v))
    force, torque = wrench_on(wrench, i)
    f = sub(add(add(scale(m, av), cross(aw, h)), cross(w, P)), force)
    n = add(add(symmetric_apply(A, aw), cross(h, av)), add(cross(w, L), cross(v, P)))
    # D = 2 (v·h) 1 − 2 v hᵀ − 2 [w×] Σ m r rᵀ
    turned = skew_times(w, symmetric_rows(second_moment(A)))
    D = plus_isotropic(matrix_scale(-2.0, matrix_add(outer(v, h), turned)), 2.0 * dot(v, h))
    return A, h, D, P, f, sub(n, torque), m


@jit
def load_composite(composites, i):
    """The composite in row i."""
    D, P = load_rows(composites, i, COUPLING), load_from(composites, i, MOMENTUM)
    wrench = load_from(composites, i, FORCE), load_from(composites, i, MOMENT)
    return (
        load_symmetric(composites, i),
        load_from(composites, i, FIRST_MOMENT),
        D,
        P,
        wrench[0],
        wrench[1],
        composites[i, MASS],
    )


@jit
def store_composite(composites, i, composite):
    """Writes a composite to row i."""
    A, h, D, P, f, n, m = composite
    store6(composites, i, INERTIA, A)
    store_from(composites, i, FIRST_MOMENT, h)
    store_rows(composites, i, COUPLING, D)
    store_from(composites, i, MOMENTUM, P)
    store_from(composites, i, FORCE, f)
    store_from(composites, i, MOMENT, n)
    composites[i, MASS] = m


@jit
def add_composites(one, other):
    """Sum of two composites about the same point."""
    A, h, D, P, f, n, m = one
    B, i, E, Q, g, o, k = other
    return symmetric_add(A, B), add(h, i), matrix_add(D, E), add(P, Q), add(f, g), add(n, o), m + k


@jit
def shifted_composite(composite, r):
    """A composite about an origin at −r."""
    A, h, D, P, f, n, m = composite
    h, A = shifted_inertia(r, m, h, A)
    D = plus_isotropic(matrix_add(D, matrix_scale(-2.0, outer(P, r))), 2.0 * dot(r, P))
    return A, h, D, P, f, add(n, cross(r, f)), m


@jit
def gather_composite(forest, wrench, ws, aw, av, composites, i, carried, at):
    """Writes the composite of link i, at the spatial acceleration a, to row ``at``: its own part and, if it carries
    links, their sum, which is in row ``carried``."""
    composite = own_composite(forest, wrench, ws, aw, av, i)
    if forest.slot[i] >= 0:
        composite = add_composites(composite, load_composite(composites, carried))
    store_composite(composites, at, composite)


@jit
def hand_composite(forest, ws, composites, i, at, to):
    """Adds the composite of link i in row ``at``, about its parent's origin, to row ``to``. The first child overwrites
    this row."""
    moved = shifted_composite(load_composite(composites, at), load(ws.reach, i))
    if not forest.first[i]:
        moved = add_composites(moved, load_composite(composites, to))
    store_composite(composites, to, moved)


@jit
def store_own(forest, wrench, ws, acceleration, composites, i):
    """Writes a link's own part to its composite, to which the composites of the links that it carries are added
    later."""
    aw, av = load_from(acceleration, i, 0), load_from(acceleration, i, 3)
    store_composite(composites, i, own_composite(forest, wrench, ws, aw, av, i))


@jit
def store_all_own(forest, wrench, ws, acceleration, composites):
    """Writes the own parts of all links to their composites."""
    for i in range(forest.parent.size):
        store_own(forest, wrench, ws, acceleration, composites, i)


@jit
def hand_to_parent(forest, ws, composites, i):
    """Adds a link's composite, about its parent's origin, to the composite of the parent."""
    p = forest.parent[i]
    if p >= 0:
        moved = shifted_composite(load_composite(composites, i), load(ws.reach, i))
        store_composite(composites, p, add_composites(moved, load_composite(composites, p)))


@jit
def hand_loads_to_parent(forest, ws, loads, i):
    """Adds the given wrenches on all that a link carries to those of its parent. Without given wrenches there are no
    rows."""
    p = forest.parent[i]
    if p < 0 or loads.shape[0] == 0:
        return
    f = load_from(loads, i, 0)
    add_from(loads, p, 0, f)
    add_from(loads, p, 3, load_from(loads, i, 3))
    G = matrix_add(load_rows(loads, i, 6), skew_times(load(ws.reach, i), skew(f)))
    store_rows(loads, p, 6, matrix_add(G, load_rows(loads, p, 6)))


@jit
def inertia_times(composites, i, w, v):
    """Wrench of a composite's inertia for a motion: moment and force."""
    h = load_from(composites, i, FIRST_MOMENT)
    moment = add(symmetric_apply(load_symmetric(composites, i), w), cross(h, v))
    return moment, add(scale(composites[i, MASS], v), cross(w, h))


@jit
def coupling_times(composites, i, w):
    """Product 2 B x for a motion x with angular part w: moment and force."""
    return apply(load_rows(composites, i, COUPLING), w), scale(2.0, cross(w, load_from(composites, i, MOMENTUM)))


@jit
def coupling_transposed(composites, i, w, v):
    """Factor of the angular part of x in s·(2 B x), with s = (w, v)."""
    P = load_from(composites, i, MOMENTUM)
    return sub(apply_t(load_rows(composites, i, COUPLING), w), scale(2.0, cross(v, P)))


@jit
def loads_times(loads, i, w):
    """Moment and force that compensate the given wrenches, which stay fixed, when all bodies on which they act rotate
    by w."""
    if loads.shape[0] == 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    moment = sub(cross(w, load_from(loads, i, 3)), apply(load_rows(loads, i, 6), w))
    return moment, cross(w, load_from(loads, i, 0))


@jit
def loads_transposed(loads, i, w, v):
    """Factor of the angular part of a displacement x in s·(the result of ``loads_times`` for x), with s = (w, v)."""
    if loads.shape[0] == 0:
        return (0.0, 0.0, 0.0)
    part = sub(cross(load_from(loads, i, 3), w), apply_t(load_rows(loads, i, 6), w))
    return sub(part, cross(v, load_from(loads, i, 0)))
