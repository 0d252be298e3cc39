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
