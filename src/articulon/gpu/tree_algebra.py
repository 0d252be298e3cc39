"""Rotations, symmetric matrices and spatial inertias as Warp functions, generic over the precision.

They match those of ``algebra/``, on Warp's vectors: Euler parameters are four numbers, scalar first; a symmetric matrix
is six numbers, (xx, xy, xz, yy, yz, zz), so that it stays symmetric exactly. Arrays are (rows, states), and a thread
reads the column of its state, next to those that neighbouring threads read.
"""

from typing import Any

from articulon.gpu.devices import load_warp

wp = load_warp()


@wp.func
def load3(a: Any, row: int, s: int):
    """Load three rows of state s as a vector."""
    return wp.vector(a[row, s], a[row + 1, s], a[row + 2, s])


@wp.func
def load4(a: Any, row: int, s: int):
    return wp.vector(a[row, s], a[row + 1, s], a[row + 2, s], a[row + 3, s])


@wp.func
def load6(a: Any, row: int, s: int):
    return wp.vector(a[row, s], a[row + 1, s], a[row + 2, s], a[row + 3, s], a[row + 4, s], a[row + 5, s])


@wp.func
def store3(a: Any, row: int, s: int, v: Any):
    a[row, s] = v[0]
    a[row + 1, s] = v[1]
    a[row + 2, s] = v[2]


@wp.func
def store4(a: Any, row: int, s: int, v: Any):
    a[row, s] = v[0]
    a[row + 1, s] = v[1]
    a[row + 2, s] = v[2]
    a[row + 3, s] = v[3]


@wp.func
def store6(a: Any, row: int, s: int, v: Any):
    for k in range(6):
        a[row + k, s] = v[k]


@wp.func
def of_table3(a: Any, row: int):
    """Load a row of a table (rows, 3) of the model."""
    return wp.vector(a[row, 0], a[row, 1], a[row, 2])


@wp.func
def of_table4(a: Any, row: int):
    return wp.vector(a[row, 0], a[row, 1], a[row, 2], a[row, 3])


@wp.func
def of_table6(a: Any, row: int):
    return wp.vector(a[row, 0], a[row, 1], a[row, 2], a[row, 3], a[row, 4], a[row, 5])


# Rotations


@wp.func
def product(a: Any, b: Any):
    """Hamilton product a b: first b, then a."""
    return wp.vector(
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@wp.func
def about(axis: Any, angle: Any):
    """Rotation by an angle about a unit axis."""
    half = angle * type(angle)(0.5)
    s = wp.sin(half)
    return wp.vector(wp.cos(half), s * axis[0], s * axis[1], s * axis[2])


@wp.func
def rotation(e: Any):
    """Rotation matrix of e, orthogonal to rounding for any norm of e."""
    one = e.dtype(1.0)
    s = e.dtype(2.0) / wp.dot(e, e)
    x = s * e[1]
    y = s * e[2]
    z = s * e[3]
    wx = e[0] * x
    wy = e[0] * y
    wz = e[0] * z
    xx = e[1] * x
    xy = e[1] * y
    xz = e[1] * z
    yy = e[2] * y
    yz = e[2] * z
    zz = e[3] * z
    return wp.matrix_from_rows(
        wp.vector(one - (yy + zz), xy - wz, xz + wy),
        wp.vector(xy + wz, one - (xx + zz), yz - wx),
        wp.vector(xz - wy, yz + wx, one - (xx + yy)),
    )


@wp.func
def normalised(e: Any):
    return (e.dtype(1.0) / wp.sqrt(wp.dot(e, e))) * e


@wp.func
def quaternion_rate(e: Any, w: Any):
    """e' = ½ e (0, ω), with ω in the body frame (Guy 2018, B.17)."""
    half = e.dtype(0.5)
    return wp.vector(
        -half * (e[1] * w[0] + e[2] * w[1] + e[3] * w[2]),
        half * (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]),
        half * (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]),
        half * (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]),
    )


@wp.func
def rotation_vector(e: Any):
    """Axis times angle in [0, π]; at π, where the sign of the axis is arbitrary, that of e is used."""
    one = e.dtype(1.0)
    two = e.dtype(2.0)
    sign = wp.where(e[0] < e.dtype(0.0), -one, one)  # e and −e are the same rotation: take the smaller angle
    v = sign * wp.vector(e[1], e[2], e[3])
    w = sign * e[0]
    s = wp.sqrt(wp.dot(v, v))
    size = two / w
    if s >= e.dtype(1.0e-8) * w:  # below that 2 atan(s/w)/s is 2/w to rounding
        size = two * wp.atan2(s, w) / s
    return size * v


# Symmetric matrices


@wp.func
def symmetric_apply(S: Any, a: Any):
    return wp.vector(
        S[0] * a[0] + S[1] * a[1] + S[2] * a[2],
        S[1] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[2] * a[0] + S[4] * a[1] + S[5] * a[2],
    )


@wp.func
def symmetric_matrix(S: Any):
    return wp.matrix_from_rows(wp.vector(S[0], S[1], S[2]), wp.vector(S[1], S[3], S[4]), wp.vector(S[2], S[4], S[5]))


@wp.func
def upper(A: Any):
    """Return the symmetric matrix with the upper triangle of A."""
    return wp.vector(A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2])


@wp.func
def symmetric_outer(a: Any, b: Any):
    """Return a bᵀ, which must be symmetric."""
    return wp.vector(a[0] * b[0], a[0] * b[1], a[0] * b[2], a[1] * b[1], a[1] * b[2], a[2] * b[2])


@wp.func
def symmetric_rotate(R: Any, S: Any):
    """R S Rᵀ."""
    return upper(R * symmetric_matrix(S) * wp.transpose(R))


@wp.func
def isotropic(s: Any):
    zero = type(s)(0.0)
    return wp.vector(s, zero, zero, s, zero, s)


@wp.func
def factorise(S: Any):
    """Factorise S = L diag(d) Lᵀ with unit lower L: (l10, l20, l21, 1/d0, 1/d1, 1/d2)."""
    one = S.dtype(1.0)
    i0 = one / S[0]
    l10 = S[1] * i0
    l20 = S[2] * i0
    i1 = one / (S[3] - l10 * S[1])
    t = S[4] - l20 * S[1]
    l21 = t * i1
    i2 = one / (S[5] - l20 * S[2] - l21 * t)
    return wp.vector(l10, l20, l21, i0, i1, i2)


@wp.func
def forward_substitute(F: Any, b: Any):
    """L⁻¹ b."""
    y1 = b[1] - F[0] * b[0]
    return wp.vector(b[0], y1, b[2] - F[1] * b[0] - F[2] * y1)


@wp.func
def back_substitute(F: Any, y: Any):
    """L⁻ᵀ diag(d)⁻¹ y."""
    z2 = F[5] * y[2]
    z1 = F[4] * y[1] - F[2] * z2
    return wp.vector(F[3] * y[0] - F[0] * z1 - F[1] * z2, z1, z2)


@wp.func
def solve3(F: Any, b: Any):
    """S⁻¹ b from the factors of S."""
    return back_substitute(F, forward_substitute(F, b))


@wp.func
def schur(S: Any, F: Any, H: Any):
    """Return S − Hᵀ A⁻¹ H, exactly symmetric, and A⁻¹ H; F are the factors of A."""
    T = wp.transpose(H)
    y0 = forward_substitute(F, T[0])
    y1 = forward_substitute(F, T[1])
    y2 = forward_substitute(F, T[2])
    d = wp.vector(F[3], F[4], F[5])
    e0 = wp.cw_mul(d, y0)
    e1 = wp.cw_mul(d, y1)
    e2 = wp.cw_mul(d, y2)
    reduced = wp.vector(
        S[0] - wp.dot(e0, y0),
        S[1] - wp.dot(e0, y1),
        S[2] - wp.dot(e0, y2),
        S[3] - wp.dot(e1, y1),
        S[4] - wp.dot(e1, y2),
        S[5] - wp.dot(e2, y2),
    )
    K = wp.matrix_from_cols(back_substitute(F, y0), back_substitute(F, y1), back_substitute(F, y2))
    return reduced, K


# Spatial inertias about a body's origin in world axes: A (6), H (3x3) and M (6), see algebra/inertia.py


@wp.func
def moment_of(A: Any, H: Any, w: Any, v: Any):
    """A w + H v."""
    return symmetric_apply(A, w) + H * v


@wp.func
def force_of(H: Any, M: Any, w: Any, v: Any):
    """Hᵀ w + M v."""
    return wp.transpose(H) * w + symmetric_apply(M, v)


@wp.func
def shift(r: Any, A: Any, H: Any, M: Any):
    """Return the inertia about an origin at −r: H' = H + [r×]M, A' = A + [r×]Hᵀ + ([r×]H'ᵀ)ᵀ."""
    G = H + wp.skew(r) * symmetric_matrix(M)
    c = wp.skew(r) * wp.transpose(H)
    d = wp.transpose(wp.skew(r) * wp.transpose(G))
    return A + upper(c + d), G


@wp.func
def shift_mass(r: Any, M: Any):
    """Return ``shift`` of an inertia with A = H = 0."""
    G = wp.skew(r) * symmetric_matrix(M)
    return upper(wp.transpose(wp.skew(r) * wp.transpose(G))), G
