"""Bounds on rounding errors, stated once.

A backward stable solver returns the exact accelerations of slightly different forces. What is allowed is 45 ε per body
of the forces present, 1e-14 n (|tau| + |bias|), and for the accelerations themselves 10 ε cond(M).
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)


def backward(n: int, *forces: np.ndarray) -> float:
    """Largest admissible error of a generalised force in a model of n bodies where these forces act."""
    return 1e-14 * n * sum(float(np.linalg.norm(np.asarray(f, dtype=np.float64))) for f in forces)


def forward(condition: float, udot: np.ndarray) -> float:
    """Largest admissible error of the accelerations of a model whose mass matrix has this condition number."""
    return 10 * EPS * condition * float(np.linalg.norm(np.asarray(udot, dtype=np.float64)))


def forward_of_forces(matrix: np.ndarray, *forces: np.ndarray) -> float:
    """The same where forces may cancel: 10 ε cond(M) Σ |forces| / |M|, which is 10 ε |M⁻¹| Σ |forces|.

    It is the bound above when |M udot| is as large as its parts. When tau and the bias nearly cancel, as they may in a
    model of one or two joints, each was rounded in proportion to itself and not to the small udot that is left.
    """
    smallest = float(np.linalg.eigvalsh(np.asarray(matrix, dtype=np.float64))[0]) if matrix.size else 1.0
    return 10 * EPS / smallest * sum(float(np.linalg.norm(np.asarray(f, dtype=np.float64))) for f in forces)
