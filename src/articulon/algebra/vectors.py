"""Vectors as three-tuples, 3x3 matrices as tuples of rows, symmetric 3x3 matrices as six numbers.

A symmetric matrix is stored as (xx, xy, xz, yy, yz, zz), which makes it exactly symmetric. Articulated inertias with a
small asymmetry from rounding make long chains of spherical joints unstable.
"""

from articulon.kernels import jit

ZERO = (0.0, 0.0, 0.0)


@jit
def load(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@jit
def store(a, i, v):
    a[i, 0], a[i, 1], a[i, 2] = v[0], v[1], v[2]


@jit
def load_at(a, k):
    """Return three consecutive numbers of a flat array."""
    return (a[k], a[k + 1], a[k + 2])


@jit
def store_at(a, k, v):
    a[k], a[k + 1], a[k + 2] = v[0], v[1], v[2]


@jit
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@jit
def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@jit
def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


@jit
def add_scaled(a, s, b):
    """a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@jit
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@jit
def apply(R, a):
    """R a."""
    return (dot(R[0], a), dot(R[1], a), dot(R[2], a))


@jit
def apply_t(R, a):
    """Rᵀ a."""
    return (
        R[0][0] * a[0] + R[1][0] * a[1] + R[2][0] * a[2],
        R[0][1] * a[0] + R[1][1] * a[1] + R[2][1] * a[2],
        R[0][2] * a[0] + R[1][2] * a[1] + R[2][2] * a[2],
    )


@jit
def transpose(A):
    return ((A[0][0], A[1][0], A[2][0]), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2]))


@jit
def column(A, k):
    return (A[0][k], A[1][k], A[2][k])


@jit
def matrix_add(A, B):
    return (add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2]))


@jit
def load_matrix(a, i):
    return (
        (a[i, 0], a[i, 1], a[i, 2]),
        (a[i, 3], a[i, 4], a[i, 5]),
        (a[i, 6], a[i, 7], a[i, 8]),
    )


@jit
def store_matrix(a, i, A):
    a[i, 0], a[i, 1], a[i, 2] = A[0][0], A[0][1], A[0][2]
    a[i, 3], a[i, 4], a[i, 5] = A[1][0], A[1][1], A[1][2]
    a[i, 6], a[i, 7], a[i, 8] = A[2][0], A[2][1], A[2][2]


@jit
def skew_times(r, A):
    """[r×] A."""
    B = transpose(A)
    return transpose((cross(r, B[0]), cross(r, B[1]), cross(r, B[2])))


# symmetric matrices


@jit
def load_symmetric(a, i):
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


@jit
def symmetric_apply(S, a):
    return (
        S[0] * a[0] + S[1] * a[1] + S[2] * a[2],
        S[1] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[2] * a[0] + S[4] * a[1] + S[5] * a[2],
    )


@jit
def symmetric_rows(S):
    return ((S[0], S[1], S[2]), (S[1], S[3], S[4]), (S[2], S[4], S[5]))


@jit
def symmetric_add(S, T):
    return (S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5])


@jit
def symmetric_less_outer(S, d, a):
    """S − d a aᵀ."""
    b = scale(d, a)
    return (
        S[0] - a[0] * b[0],
        S[1] - a[0] * b[1],
        S[2] - a[0] * b[2],
        S[3] - a[1] * b[1],
        S[4] - a[1] * b[2],
        S[5] - a[2] * b[2],
    )


@jit
def symmetric_rotate(R, S):
    """R S Rᵀ."""
    B = (symmetric_apply(S, R[0]), symmetric_apply(S, R[1]), symmetric_apply(S, R[2]))
    return (dot(R[0], B[0]), dot(R[0], B[1]), dot(R[0], B[2]), dot(R[1], B[1]), dot(R[1], B[2]), dot(R[2], B[2]))


@jit
def isotropic(s):
    return (s, 0.0, 0.0, s, 0.0, s)


@jit
def factorise(S):
    """S = L diag(d) Lᵀ with unit lower L: (l10, l20, l21, 1/d0, 1/d1, 1/d2)."""
    i0 = 1.0 / S[0]
    l10, l20 = S[1] * i0, S[2] * i0
    i1 = 1.0 / (S[3] - l10 * S[1])
    t = S[4] - l20 * S[1]
    l21 = t * i1
    i2 = 1.0 / (S[5] - l20 * S[2] - l21 * t)
    return (l10, l20, l21, i0, i1, i2)


@jit
def forward_substitute(F, b):
    """L⁻¹ b."""
    y1 = b[1] - F[0] * b[0]
    return (b[0], y1, b[2] - F[1] * b[0] - F[2] * y1)


@jit
def back_substitute(F, y):
    """L⁻ᵀ diag(d)⁻¹ y."""
    z2 = F[5] * y[2]
    z1 = F[4] * y[1] - F[2] * z2
    return (F[3] * y[0] - F[0] * z1 - F[1] * z2, z1, z2)


@jit
def solve(F, b):
    """S⁻¹ b from the factors of S."""
    return back_substitute(F, forward_substitute(F, b))


@jit
def schur(S, F, H):
    """Return S − Hᵀ A⁻¹ H, exactly symmetric, and A⁻¹ H by rows; F are the factors of A."""
    T = transpose(H)
    y0, y1, y2 = forward_substitute(F, T[0]), forward_substitute(F, T[1]), forward_substitute(F, T[2])
    d = (F[3], F[4], F[5])
    e0 = (d[0] * y0[0], d[1] * y0[1], d[2] * y0[2])
    e1 = (d[0] * y1[0], d[1] * y1[1], d[2] * y1[2])
    e2 = (d[0] * y2[0], d[1] * y2[1], d[2] * y2[2])
    reduced = (
        S[0] - dot(e0, y0),
        S[1] - dot(e0, y1),
        S[2] - dot(e0, y2),
        S[3] - dot(e1, y1),
        S[4] - dot(e1, y2),
        S[5] - dot(e2, y2),
    )
    return reduced, transpose((back_substitute(F, y0), back_substitute(F, y1), back_substitute(F, y2)))


@jit
def store6(a, i, k, S):
    """Store six numbers in row i from column k on."""
    a[i, k], a[i, k + 1], a[i, k + 2] = S[0], S[1], S[2]
    a[i, k + 3], a[i, k + 4], a[i, k + 5] = S[3], S[4], S[5]


@jit
def load_from(a, i, k):
    """Return three numbers of row i from column k on."""
    return (a[i, k], a[i, k + 1], a[i, k + 2])


@jit
def store_from(a, i, k, v):
    a[i, k], a[i, k + 1], a[i, k + 2] = v[0], v[1], v[2]


@jit
def copy_into(target, source):
    """Copy source into target, without the temporary that a slice assignment would make."""
    for k in range(source.size):
        target[k] = source[k]
