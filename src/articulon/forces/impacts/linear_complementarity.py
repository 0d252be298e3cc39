"""Linear complementarity problems: w = M z + q, w ≥ 0, z ≥ 0, wᵀz = 0, by Lemke's method.

R. W. Cottle, J.-S. Pang and R. E. Stone, The Linear Complementarity Problem, 1992, algorithm 4.4.5.
"""

import numpy as np

TINY = 1e-12
"""Of a pivot, over the largest number of its column."""


def lemke(M: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """z (n,), or None where the method ends on a ray: there is no solution that it could find.

    Ties are broken by the perturbation q + (ε, ε², …), so that the method does not cycle.
    """
    n = q.size
    scale = float(np.abs(q).max(initial=0.0))
    if scale == 0.0 or q.min() >= -TINY * scale:
        return np.zeros(n)
    d = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(M)), TINY * max(float(np.abs(M).max()), 1e-300)))
    # Columns: w, z, z0, and behind them q with its perturbation, which lexicographic rows stand for.
    table = np.zeros((n, 3 * n + 2))
    table[:, :n] = np.eye(n)
    table[:, n : 2 * n] = -(d[:, None] * M * d[None, :])
    table[:, 2 * n] = -1.0
    table[:, 2 * n + 1] = d * q
    table[:, 2 * n + 2 :] = np.eye(n)
    right = slice(2 * n + 1, None)
    basis = list(range(n))
    row = int(np.lexsort(table[:, right].T[::-1])[0])
    entering = 2 * n
    for _ in range(50 * (n + 1)):
        leaving = basis[row]
        table[row] /= table[row, entering]
        for i in range(n):
            if i != row and table[i, entering] != 0.0:
                table[i] -= table[i, entering] * table[row]
        basis[row] = entering
        if leaving == 2 * n:
            z = np.zeros(n)
            for i, which in enumerate(basis):
                if n <= which < 2 * n:
                    z[which - n] = table[i, 2 * n + 1]
            return d * np.maximum(z, 0.0)
        entering = leaving + n if leaving < n else leaving - n
        column = table[:, entering]
        able = np.flatnonzero(column > TINY * max(float(np.abs(column).max()), 1e-300))
        if not able.size:
            return None
        ratios = table[able][:, right] / column[able, None]
        if 2 * n in basis and basis.index(2 * n) in able:  # the artificial one leaves as soon as it can
            at = int(np.flatnonzero(able == basis.index(2 * n))[0])
            if ratios[at, 0] <= ratios[:, 0].min() + TINY * abs(ratios[at, 0]):
                row = int(able[at])
                continue
        row = int(able[np.lexsort(ratios.T[::-1])[0]])
    return None
