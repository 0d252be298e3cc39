"""Linear complementarity problems: w = M z + q, w ≥ 0, z ≥ 0, wᵀz = 0, by Lemke's method.

R. W. Cottle, J.-S. Pang and R. E. Stone, The Linear Complementarity Problem, 1992, algorithm 4.4.5.
"""

import numpy as np

TINY = 1e-11
"""Relative magnitude that counts as zero: of a pivot, relative to the largest number of its column, or of a number of
q, relative to the largest."""
PERTURBED = 1e-7
"""Perturbation of q, relative to its largest number, that prevents ties between rows: a body on four feet has only tied
rows."""
GOLDEN = 0.6180339887498949


def lemke(M: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """Return z (n,), or None if the method ends on a ray, that is, without finding a solution.

    The pivots are chosen for a slightly larger q, perturbed by a different amount in each row; the result is the
    solution for q itself.
    """
    n = q.size
    if n == 0 or q.min() >= -TINY * float(np.abs(q).max()):
        return np.zeros(n)
    diagonal = np.abs(np.diag(M))
    least = TINY * float(np.abs(M).max())
    d = np.where(diagonal > least, 1.0 / np.sqrt(np.maximum(diagonal, least)), np.sqrt(float(diagonal.max())))
    scaled = d * q
    # Columns: w, z, the artificial z₀, q and the perturbed q.
    table = np.zeros((n, 2 * n + 3))
    table[:, :n] = np.eye(n)
    table[:, n : 2 * n] = -(d[:, None] * M * d[None, :])
    table[:, 2 * n] = -1.0
    table[:, 2 * n + 1] = scaled
    table[:, 2 * n + 2] = scaled + PERTURBED * float(np.abs(scaled).max()) * (1.0 + GOLDEN * np.arange(1, n + 1) % 1.0)
    basis = list(range(n))
    row, entering = int(np.argmin(table[:, -1])), 2 * n
    for _ in range(50 * (n + 1)):
        leaving = basis[row]
        table[row] /= table[row, entering]
        factors = table[:, entering].copy()
        factors[row] = 0.0
        table -= np.outer(factors, table[row])
        basis[row] = entering
        if leaving == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = table[:, -2]
            return _polished(M, q, d * np.maximum(z[n : 2 * n], 0.0))
        entering = leaving + n if leaving < n else leaving - n
        column = table[:, entering]
        able = np.flatnonzero(column > TINY * float(np.abs(column).max()))
        if not able.size:
            return None
        row = int(able[np.argmin(table[able, -1] / column[able])])
    return None


def _polished(M: np.ndarray, q: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Recompute z without the rounding errors of the pivoting, if its rows are independent."""
    held = z > 0.0
    try:
        better = np.linalg.solve(M[np.ix_(held, held)], -q[held])
    except np.linalg.LinAlgError:
        return z
    if (better > 0.0).all() and np.allclose(better, z[held], rtol=1e-6):
        z[held] = better
    return z
