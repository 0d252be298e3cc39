"""Spatial inertias about a body's origin in world axes, as blocks A (6), H (3x3), M (6).

They act on an angular acceleration α and the acceleration a of the origin: moment n = A α + H a, force f = Hᵀ α + M a.
World axes need no rotation from child to parent, only a shift of the origin.
"""

from articulon.algebra.vectors import (
    apply,
    apply_t,
    cross,
    matrix_add,
    skew_times,
    symmetric_rows,
)
from articulon.kernels import jit


@jit
def skew(h):
    return ((0.0, -h[2], h[1]), (h[2], 0.0, -h[0]), (-h[1], h[0], 0.0))


@jit
def moment_of(A, H, w, v):
    """A w + H v."""
    h = apply(H, v)
    return (
        A[0] * w[0] + A[1] * w[1] + A[2] * w[2] + h[0],
        A[1] * w[0] + A[3] * w[1] + A[4] * w[2] + h[1],
        A[2] * w[0] + A[4] * w[1] + A[5] * w[2] + h[2],
    )


@jit
def force_of(H, M, w, v):
    """Hᵀ w + M v."""
    h = apply_t(H, w)
    return (
        h[0] + M[0] * v[0] + M[1] * v[1] + M[2] * v[2],
        h[1] + M[1] * v[0] + M[3] * v[1] + M[4] * v[2],
        h[2] + M[2] * v[0] + M[4] * v[1] + M[5] * v[2],
    )


@jit
def shift(r, A, H, M):
    """Return the inertia about an origin that lies at −r: H' = H + [r×]M, A' = A + [r×]Hᵀ + ([r×]H'ᵀ)ᵀ."""
    G = matrix_add(H, skew_times(r, symmetric_rows(M)))
    c0, c1, c2 = cross(r, H[0]), cross(r, H[1]), cross(r, H[2])
    d0, d1, d2 = cross(r, G[0]), cross(r, G[1]), cross(r, G[2])
    B = (
        A[0] + c0[0] + d0[0],
        A[1] + c1[0] + d0[1],
        A[2] + c2[0] + d0[2],
        A[3] + c1[1] + d1[1],
        A[4] + c2[1] + d1[2],
        A[5] + c2[2] + d2[2],
    )
    return B, G


@jit
def shift_mass(r, M):
    """``shift`` of an inertia with A = H = 0."""
    G = skew_times(r, symmetric_rows(M))
    d0, d1, d2 = cross(r, G[0]), cross(r, G[1]), cross(r, G[2])
    return (d0[0], d0[1], d0[2], d1[1], d1[2], d2[2]), G
