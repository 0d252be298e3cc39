"""Symmetric positive-semidefinite systems of any rank, without allocation."""

import math

from articulon.kernels import jit

REDUNDANT = 1e-11
"""A row whose pivot falls below this, with the diagonal scaled to one, counts as dependent on the others: its direction
differs from theirs by less than 3e-6. Positions are exact to some 1e-13, and their squares must stay below this
limit."""
INDEPENDENT = math.sqrt(REDUNDANT)
"""The corresponding limit for singular values."""


@jit
def factorise_semidefinite(A, live, most, scale, pivot):
    """Cholesky factorisation with diagonal pivoting of S A S, in place, with S the inverse roots of the diagonal.
    Returns the rank, at most ``most`` (Higham, Accuracy and Stability of Numerical Algorithms, 10.3).

    Rows that are not ``live`` (m,) are left out. Afterwards ``A`` (m, m) holds L in its lower triangle, with rows and
    columns in the order of ``pivot`` (m,).
    """
    m = A.shape[0]
    for i in range(m):
        pivot[i] = i
        scale[i] = 1.0 / math.sqrt(A[i, i]) if live[i] and A[i, i] > 0.0 else 0.0
    for i in range(m):
        for j in range(i + 1):
            A[i, j] *= scale[i] * scale[j]
            A[j, i] = A[i, j]
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if A[i, i] > A[best, best]:
                best = i
        if k >= most or not A[best, best] > REDUNDANT:
            return k
        if best != k:
            pivot[k], pivot[best] = pivot[best], pivot[k]
            for j in range(m):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            for i in range(m):
                A[i, k], A[i, best] = A[i, best], A[i, k]
        root = math.sqrt(A[k, k])
        A[k, k] = root
        for i in range(k + 1, m):
            A[i, k] /= root
        for i in range(k + 1, m):
            s = A[i, k]
            for j in range(k + 1, i + 1):
                A[i, j] -= s * A[j, k]
            for j in range(k + 1, i):
                A[j, i] = A[i, j]
    return m


@jit
def solve_semidefinite(A, scale, pivot, rank, b, x):
    """Solves A x = b by the factors; x is zero for rows that depend on others."""
    m = A.shape[0]
    for i in range(m):
        x[i] = 0.0
    for i in range(rank):
        s = scale[pivot[i]] * b[pivot[i]]
        for j in range(i):
            s -= A[i, j] * x[pivot[j]]
        x[pivot[i]] = s / A[i, i]
    for i in range(rank - 1, -1, -1):
        s = x[pivot[i]]
        for j in range(i + 1, rank):
            s -= A[j, i] * x[pivot[j]]
        x[pivot[i]] = s / A[i, i]
    for i in range(rank):
        x[pivot[i]] *= scale[pivot[i]]
