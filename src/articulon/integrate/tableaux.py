"""Explicit Runge–Kutta formulas as data."""

from typing import NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """y⁺ = y + h Σ b_i k_i with k_i = f(t + c_i h, y + h Σ_j a_ij k_j)."""

    a: np.ndarray
    """Strictly lower triangular, shape (stages, stages)."""
    b: np.ndarray
    """Weights, shape (stages,)."""
    c: np.ndarray
    """Times of the stages in steps, shape (stages,)."""
    error: np.ndarray
    """Weights of the error estimate h Σ e_i k_i; zero where the formula has none, shape (stages,)."""
    order: np.ndarray
    """Order of the solution that is propagated, shape (1,)."""


def tableau(rows: list[list[float]], b: list[float], error: list[float] | None, order: int) -> Tableau:
    """A tableau from the rows of a; c follows as their sums."""
    stages = len(b)
    a = np.zeros((stages, stages))
    for i, row in enumerate(rows):
        a[i + 1, : len(row)] = row
    return Tableau(
        a, np.array(b), a.sum(axis=1), np.zeros(stages) if error is None else np.array(error), np.array([order])
    )
