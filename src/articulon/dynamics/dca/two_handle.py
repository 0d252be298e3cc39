"""The two-handle equations of an assembly of links, and the terms that a link and its joint add to them.

An assembly is attached to a link outside it, the *carrier*. Its own last link, the *tip*, may carry further links.
Carrier and tip are its two handles. Let A be the acceleration of the carrier's origin, and g the wrench on the tip
about the tip's origin (spatial vectors: angular, then linear; moment, then force; world axes). Then

    f = K A + p − Tᵀ g      the wrench that the carrier exerts on the assembly, about the carrier's origin
    B = T A + C g + d       the acceleration of the tip's origin

K is the inertia apparent at the carrier while the tip is free. C is the inverse inertia apparent at the tip while the
carrier is held. T maps the carrier's acceleration to the tip's. K and C are symmetric and positive semidefinite. These
are the equations of Featherstone (IJRR 18, 1999) and Poursina (2012, section 2), A1 = Φ11 f1 + Φ12 f2 + b1 and A2 = Φ21
f1 + Φ22 f2 + b2, solved for the wrench at the first handle: K = Φ11⁻¹, T = Φ21 Φ11⁻¹, C = Φ22 − Φ21 Φ11⁻¹ Φ12, with the
joint to the carrier included. In this form no link's inertia is inverted, and a join adds positive terms, while the
form with Φ subtracts terms. Within a block the equations are those of the articulated-body algorithm.

A single link without its joint has K = I (its inertia), T = 1, C = 0, d = 0 and p = (ω × I ω) − w, with the given
wrench w. Only these quantities differ for a flexible link. After elimination of its modal coordinates, K = Γ_RR − Γ_RF
Γ_FF⁻¹ Γ_FR, T = S − φ Γ_FF⁻¹ Γ_FR and C = φ Γ_FF⁻¹ φᵀ (``flexible/flexible_blocks.py``). Here S transfers accelerations
from the link's origin to the tip, and φ holds the accelerations of the tip at unit modal accelerations.

The degrees of freedom of the joint are eliminated one after the other. With a column P of its motion, joint force τ, U
= K P, D = Pᵀ U and y = T P,

    u' = (τ − Pᵀ p + yᵀ g − Uᵀ A) / D
    K ← K − U Uᵀ/D    T ← T − y Uᵀ/D    C ← C + y yᵀ/D    p ← p + U (τ − Pᵀ p)/D    d ← d + y (τ − Pᵀ p)/D

This is the divide-and-conquer algorithm's projection onto the complement of P, computed without that complement.

K and C are kept as blocks A (6), H (3x3), M (6), as in ``algebra/inertia.py``; T as four 3x3 blocks.
"""

from articulon.algebra.inertia import force_of, moment_of, shift, skew
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    dot,
    isotropic,
    load,
    load_from,
    load_symmetric,
    matrix_add,
    scale,
    store6,
    store_from,
    sub,
    symmetric_add,
    symmetric_apply,
    symmetric_less_outer,
    symmetric_rotate,
    symmetric_rows,
    transpose,
)
from articulon.dynamics.by_forest import by_forest
from articulon.kernels import jit

NOTHING = ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (ZERO, ZERO, ZERO), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
"""Zero inertia, or zero inverse inertia."""
ONE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
HELD = (ONE, (ZERO, ZERO, ZERO), (ZERO, ZERO, ZERO), ONE)
"""The identity: the transfer of a link to itself."""


@jit
def load_inertia(a, i):
    return (
        load_symmetric(a, i),
        (load_from(a, i, 6), load_from(a, i, 9), load_from(a, i, 12)),
        (a[i, 15], a[i, 16], a[i, 17], a[i, 18], a[i, 19], a[i, 20]),
    )


@jit
def store_inertia(a, i, K):
    A, H, M = K
    store6(a, i, 0, A)
    store_from(a, i, 6, H[0])
    store_from(a, i, 9, H[1])
    store_from(a, i, 12, H[2])
    store6(a, i, 15, M)


@jit
def inertia_add(K, L):
    return symmetric_add(K[0], L[0]), matrix_add(K[1], L[1]), symmetric_add(K[2], L[2])


@jit
def inertia_apply(K, w, v):
    """Product K (w, v), for an inverse inertia too."""
    return moment_of(K[0], K[1], w, v), force_of(K[1], K[2], w, v)


@jit
def plus_outer(H, a, b):
    """The matrix H + a bᵀ."""
    return (add(H[0], scale(a[0], b)), add(H[1], scale(a[1], b)), add(H[2], scale(a[2], b)))


@jit
def less_square(K, d, uw, uv):
    """The inertia K − d u uᵀ."""
    A, H, M = K
    return (
        symmetric_less_outer(A, d, uw),
        plus_outer(H, scale(-d, uw), uv),
        symmetric_less_outer(M, d, uv),
    )


@jit
def transfer_apply(T, w, v):
    """Product T (w, v)."""
    return add(apply(T[0], w), apply(T[1], v)), add(apply(T[2], w), apply(T[3], v))


@jit
def skew_and_rotate(R, moment, inertia, mass, i):
    """The first moment, inertia and mass in row i, as an inertia in world axes."""
    h = apply(R, load(moment, i))
    return symmetric_rotate(R, load_symmetric(inertia, i)), skew(h), isotropic(mass[i])


@by_forest
def link_inertia(forest, ws, i, R):
    """Inertia of link i about its origin, world axes."""
    return skew_and_rotate(R, forest.moment, forest.inertia, forest.mass, i)


@jit
def link_bias(K, w, moment, force):
    """Bias p = (ω × J ω, ω × (ω × h)) − w of a link of inertia K = (J, [h×], m) and angular velocity ω."""
    h = (K[1][2][1], K[1][0][2], K[1][1][0])
    return sub(cross(w, symmetric_apply(K[0], w)), moment), sub(cross(w, cross(w, h)), force)


@jit
def freedom_gain(K, w, v):
    """Gain U = K P of the degree of freedom P = (w, v), and 1/D = 1/(Pᵀ U)."""
    uw, uv = inertia_apply(K, w, v)
    return uw, uv, 1.0 / (dot(w, uw) + dot(v, uv))


@jit
def free_transfer(T, d, yw, yv, uw, uv):
    """The transfer T − d y uᵀ."""
    aw, av = scale(-d, yw), scale(-d, yv)
    return plus_outer(T[0], aw, uw), plus_outer(T[1], aw, uv), plus_outer(T[2], av, uw), plus_outer(T[3], av, uv)


@jit
def rows_cross(r, Q):
    """Cross product of r with each row of Q."""
    return cross(r, Q[0]), cross(r, Q[1]), cross(r, Q[2])


@jit
def shift_transfer(r, T):
    """T for an origin at −r, whose acceleration is (α, a + α × r)."""
    return matrix_add(T[0], rows_cross(r, T[1])), T[1], matrix_add(T[2], rows_cross(r, T[3])), T[3]


@jit
def shift_inertia(r, K):
    """Inertia K about an origin at −r."""
    A, H = shift(r, K[0], K[1], K[2])
    return A, H, K[2]


@jit
def load_whole(a, i):
    """Inertia from a full matrix (6, 6)."""
    return (
        (a[i, 0, 0], a[i, 0, 1], a[i, 0, 2], a[i, 1, 1], a[i, 1, 2], a[i, 2, 2]),
        (
            (a[i, 0, 3], a[i, 0, 4], a[i, 0, 5]),
            (a[i, 1, 3], a[i, 1, 4], a[i, 1, 5]),
            (a[i, 2, 3], a[i, 2, 4], a[i, 2, 5]),
        ),
        (a[i, 3, 3], a[i, 3, 4], a[i, 3, 5], a[i, 4, 4], a[i, 4, 5], a[i, 5, 5]),
    )


@jit
def store_block(a, i, r, c, Q):
    """Writes a 3×3 block of a full matrix, from row r and column c on."""
    for k in range(3):
        a[i, r, c + k], a[i, r + 1, c + k], a[i, r + 2, c + k] = Q[0][k], Q[1][k], Q[2][k]


@jit
def store_whole(a, i, K):
    store_block(a, i, 0, 0, symmetric_rows(K[0]))
    store_block(a, i, 0, 3, K[1])
    store_block(a, i, 3, 0, transpose(K[1]))
    store_block(a, i, 3, 3, symmetric_rows(K[2]))


@jit
def store_transfer(a, i, T):
    store_block(a, i, 0, 0, T[0])
    store_block(a, i, 0, 3, T[1])
    store_block(a, i, 3, 0, T[2])
    store_block(a, i, 3, 3, T[3])


@jit
def diagonal_add(a, i, K):
    """Adds the diagonal of K to row i of an array with six columns."""
    A, _, M = K
    store_from(a, i, 0, add(load_from(a, i, 0), (A[0], A[3], A[5])))
    store_from(a, i, 3, add(load_from(a, i, 3), (M[0], M[3], M[5])))
