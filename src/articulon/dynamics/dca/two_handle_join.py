"""Joining two assemblies and splitting one: the step of the divide-and-conquer algorithm, on 6×6 matrices.

Assembly b is attached to the tip of assembly a. With f the wrench of a's tip on b, the two-handle equations
(``two_handle``)

    B_a = T_a A + d_a − C_a f              f = K_b B_a + p_b − T_bᵀ g

give, with E = K_b (1 + C_a K_b)⁻¹, X = (1 + C_a K_b)⁻¹ and Y = (1 + C_a K_b)⁻¹ C_a,

    f = E (T_a A + d_a) + Xᵀ (p_b − T_bᵀ g)
    B_a = X (T_a A + d_a) − Y (p_b − T_bᵀ g)

    K = K_a + T_aᵀ E T_a      T = T_b X T_a      C = C_b + T_b Y T_bᵀ
    p = p_a + T_aᵀ f₀         d = d_b + T_b B₀   with f₀ = f and B₀ = B_a for A = 0, g = 0.

(1 + C_a K_b) is never formed: with K_b = Q Qᵀ, C_a = R Rᵀ and N = Qᵀ R,

    E = Q (1 + N Nᵀ)⁻¹ Qᵀ      Y = R (1 + Nᵀ N)⁻¹ Rᵀ      X = 1 − Y K_b

where the matrices to be inverted are symmetric with eigenvalues ≥ 1, so that E and Y come out symmetric and positive
semidefinite for any ranks of K_b and C_a. N is dimensionless.
"""

import math

import numba

_ORDERED = {
    "fastmath": False,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
leaf = numba.njit(**_ORDERED, forceinline=True)
ordered = numba.njit(**_ORDERED)
"""Like ``jit`` and ``routine``, with sums in the order in which they are written. Otherwise the compiler would choose
an order for these loops in each kernel that contains them, and results with one thread and with many would not be
identical. Also, a quotient x/x that is not exactly 1 would change the order of pivots."""

ROUNDING = 1e-14
"""A pivot below this value, relative to its value before joints were eliminated, counts as zero: 45 ε, the tolerance
for a single body."""


@leaf
def product(a, b, c):
    """Product c = a b."""
    for i in range(6):
        for j in range(6):
            s = 0.0
            for k in range(6):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@leaf
def product_right_transposed(a, b, c):
    """Product c = a bᵀ."""
    for i in range(6):
        for j in range(6):
            s = 0.0
            for k in range(6):
                s += a[i, k] * b[j, k]
            c[i, j] = s


@leaf
def product_left_transposed(a, b, c):
    """Product c = aᵀ b."""
    for i in range(6):
        for j in range(6):
            s = 0.0
            for k in range(6):
                s += a[k, i] * b[k, j]
            c[i, j] = s


@leaf
def square(a, b, c):
    """Sum c = b + aᵀ a, exactly symmetric where b is."""
    for i in range(6):
        for j in range(i + 1):
            s = b[i, j]
            for k in range(6):
                s += a[k, i] * a[k, j]
            c[i, j] = c[j, i] = s


@leaf
def root(a, scale, i, left, c):
    """Factor c of a symmetric positive semidefinite matrix a = c cᵀ, by Cholesky's elimination; ``left`` is
    overwritten.

    The pivot is the largest one relative to row i of ``scale``, so that the choice does not depend on units. The factor
    is not triangular: its columns are in the order of the pivots.
    """
    for r in range(6):
        for s in range(6):
            left[r, s] = a[r, s]
            c[r, s] = 0.0
    for k in range(6):
        pivot, largest = -1, ROUNDING
        for r in range(6):
            if left[r, r] > largest * scale[i, r]:
                pivot, largest = r, left[r, r] / scale[i, r]
        if pivot < 0:
            return
        factor = 1.0 / math.sqrt(left[pivot, pivot])
        for r in range(6):
            c[r, k] = factor * left[r, pivot]
        for r in range(6):
            for s in range(6):
                left[r, s] -= c[r, k] * c[s, k]
        for r in range(6):  # eliminated: zero, without rounding errors
            left[r, pivot] = left[pivot, r] = 0.0


@leaf
def factorise_one_plus(a, c):
    """Lower triangle of the factor c of 1 + aᵀ a = c cᵀ; its diagonal holds the reciprocals."""
    for j in range(6):
        for i in range(j, 6):
            s = 1.0 if i == j else 0.0
            for k in range(6):
                s += a[k, i] * a[k, j]
            for k in range(j):
                s -= c[i, k] * c[j, k]
            c[i, j] = 1.0 / math.sqrt(s) if i == j else s * c[j, j]


@leaf
def solve_lower(c, b, x):
    """Solves x = c⁻¹ bᵀ, with c from ``factorise_one_plus``."""
    for i in range(6):
        for j in range(6):
            s = b[j, i]
            for k in range(i):
                s -= c[i, k] * x[k, j]
            x[i, j] = s * c[i, i]


@leaf
def transposed(a, c):
    for i in range(6):
        for j in range(6):
            c[i, j] = a[j, i]


@ordered
def join_inertias(a, b, node, tip, scratch):
    """Finds E, X, Y and the joined K; also T and C if b's tip carries another assembly."""
    inertia, transfer, inverse, scale, work = (
        scratch.inertia,
        scratch.transfer,
        scratch.inverse,
        scratch.scale,
        scratch.work[node],
    )
    E, X, Y = scratch.joined[node, 0], scratch.joined[node, 1], scratch.joined[node, 2]
    Q, R, N, F, Z, left = work[0], work[1], work[2], work[3], work[4], work[5]
    for k in range(6):
        scale[node, k] = inverse[a, k, k]
    root(inverse[a], scale, node, left, R)
    root(inertia[b], scale, b, left, Q)
    product_left_transposed(R, Q, N)  # Nᵀ of the equations above
    factorise_one_plus(N, F)
    solve_lower(F, Q, Z)  # E = Zᵀ Z
    clear(left)
    square(Z, left, E)
    product(Z, transfer[a], F)
    square(F, inertia[a], inertia[node])
    for k in range(6):
        scale[node, k] = scale[a, k] + (inertia[node, k, k] - inertia[a, k, k])
    transposed(N, left)
    factorise_one_plus(left, F)
    solve_lower(F, R, Z)  # Y = Zᵀ Z
    clear(left)
    square(Z, left, Y)
    product(Y, inertia[b], X)
    for r in range(6):
        for s in range(6):
            X[r, s] = (1.0 if r == s else 0.0) - X[r, s]
    if tip:
        product(X, transfer[a], N)
        product(transfer[b], N, transfer[node])
        product_right_transposed(Z, transfer[b], N)
        square(N, inverse[b], inverse[node])


@leaf
def clear(a):
    for i in range(6):
        for j in range(6):
            a[i, j] = 0.0


@leaf
def times(a, x, i, j, factor, y, m, n):
    """Adds y[m, n] += factor a x[i, j]."""
    for r in range(6):
        s = 0.0
        for k in range(6):
            s += a[r, k] * x[i, j, k]
        y[m, n, r] += factor * s


@leaf
def times_transposed(a, x, i, j, factor, y, m, n):
    """Adds y[m, n] += factor aᵀ x[i, j]."""
    for r in range(6):
        s = 0.0
        for k in range(6):
            s += a[k, r] * x[i, j, k]
        y[m, n, r] += factor * s


@leaf
def copy(x, i, j, y, m, n):
    for k in range(6):
        y[m, n, k] = x[i, j, k]


@ordered
def join_columns(a, b, node, tip, scratch):
    """Finds f₀, p and d of a join of a and b."""
    transfer, joined = scratch.transfer, scratch.joined
    bias, bias_acceleration, force, vector = scratch.bias, scratch.bias_acceleration, scratch.force, scratch.vector
    E, X, Y = joined[node, 0], joined[node, 1], joined[node, 2]
    for c in range(bias.shape[1]):
        for k in range(6):
            force[node, c, k] = vector[node, c, k] = 0.0
        times(E, bias_acceleration, a, c, 1.0, force, node, c)
        times_transposed(X, bias, b, c, 1.0, force, node, c)
        copy(bias, a, c, bias, node, c)
        times_transposed(transfer[a], force, node, c, 1.0, bias, node, c)
        if tip:
            times(X, bias_acceleration, a, c, 1.0, vector, node, c)
            times(Y, bias, b, c, -1.0, vector, node, c)
            copy(bias_acceleration, b, c, bias_acceleration, node, c)
            times(transfer[b], vector, node, c, 1.0, bias_acceleration, node, c)


@ordered
def close_gap(a, b, node, link, tip, scratch, acceleration):
    """Finds f₀, p and d of a correction, which closes the gap that rounding left between the accelerations of a's last
    link and b's carrier."""
    bias_acceleration, carrier_acceleration = scratch.bias_acceleration, scratch.carrier_acceleration
    for c in range(bias_acceleration.shape[1]):
        for k in range(6):
            bias_acceleration[a, c, k] += acceleration[c, link, k] - carrier_acceleration[b, c, k]
    join_columns(a, b, node, tip, scratch)


@ordered
def split(a, b, node, tip, scratch):
    """Finds the acceleration of b's carrier and the wrenches on the tips of a and b, from those of their join."""
    transfer, joined = scratch.transfer, scratch.joined
    bias, bias_acceleration, carrier_acceleration, tip_wrench, vector = (
        scratch.bias,
        scratch.bias_acceleration,
        scratch.carrier_acceleration,
        scratch.tip_wrench,
        scratch.vector,
    )
    E, X, Y = joined[node, 0], joined[node, 1], joined[node, 2]
    for c in range(bias.shape[1]):
        copy(carrier_acceleration, node, c, carrier_acceleration, a, c)
        copy(tip_wrench, node, c, tip_wrench, b, c)
        # Free acceleration of a's tip, and the bias wrench of b with the wrench on its tip.
        copy(bias_acceleration, a, c, vector, a, c)
        times(transfer[a], carrier_acceleration, node, c, 1.0, vector, a, c)
        copy(bias, b, c, vector, b, c)
        if tip:
            times_transposed(transfer[b], tip_wrench, node, c, -1.0, vector, b, c)
        for k in range(6):
            tip_wrench[a, c, k] = carrier_acceleration[b, c, k] = 0.0
        times(E, vector, a, c, -1.0, tip_wrench, a, c)
        times_transposed(X, vector, b, c, -1.0, tip_wrench, a, c)
        times(X, vector, a, c, 1.0, carrier_acceleration, b, c)
        times(Y, vector, b, c, -1.0, carrier_acceleration, b, c)
