"""Integration formulas as data: explicit Runge–Kutta, linear multistep, partitioned Runge–Kutta."""

from typing import NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """An explicit Runge–Kutta formula: y⁺ = y + h Σ b_i k_i with k_i = f(t + c_i h, y + h Σ_j a_ij k_j)."""

    a: np.ndarray
    """Coefficients a_ij, strictly lower triangular, shape (stages, stages)."""
    b: np.ndarray
    """Weights, shape (stages,)."""
    c: np.ndarray
    """Times of the stages in steps, shape (stages,)."""
    error: np.ndarray
    """Weights of the error estimate h Σ e_i k_i; zero if the formula has none, shape (stages,)."""
    order: np.ndarray
    """Order of the propagated solution, shape (1,)."""
    power: np.ndarray
    """Power of the step to which the error estimate is proportional, shape (1,)."""


def tableau(
    rows: list[list[float]], b: list[float], error: list[float] | None, order: int, power: int | None = None
) -> Tableau:
    """A tableau from the rows of a; c follows as the sums of the rows. The error estimate is proportional to the
    ``power`` of the step, by default one more than the order."""
    stages = len(b)
    a = np.zeros((stages, stages))
    for i, row in enumerate(rows):
        a[i + 1, : len(row)] = row
    return Tableau(
        a,
        np.array(b),
        a.sum(axis=1),
        np.zeros(stages) if error is None else np.array(error),
        np.array([order]),
        np.array([power or order + 1]),
    )


class Pair(NamedTuple):
    """A partitioned Runge–Kutta formula: Q_i = q + h Σ a_ij k_j and P_i = p + h Σ â_ij l_j; q⁺ = q + h Σ b_j k_j and
    p⁺ = p + h Σ b_j l_j."""

    a: np.ndarray
    """Coefficients a_ij of the coordinates, shape (stages, stages)."""
    ahat: np.ndarray
    """Coefficients â_ij of the momenta, shape (stages, stages)."""
    b: np.ndarray
    """Weights of coordinates and momenta, shape (stages,)."""
    c: np.ndarray
    """Times of the stages in steps, shape (stages,)."""
    order: np.ndarray
    """Order of the solution, shape (1,)."""
    group: np.ndarray
    """First stages of the groups that can be solved one after the other, and the number of stages, shape
    (groups + 1,)."""


def pair(a: list[list[float]], ahat: list[list[float]], b: list[float], order: int) -> Pair:
    """A partitioned formula; c follows as the sums of the rows of a, because time is a coordinate. A group ends where
    no stage depends on a later one."""
    coordinates, momenta, stages = np.array(a), np.array(ahat), len(b)
    depends = (coordinates != 0.0) | (momenta != 0.0)
    group = [k for k in range(stages) if not depends[:k, k:].any()]
    c = coordinates.sum(axis=1)
    return Pair(coordinates, momenta, np.array(b), c, np.array([order]), np.array([*group, stages]))


class Multistep(NamedTuple):
    """A linear multistep formula: predicts y* = y + h Σ β_i f_{n−i}, evaluates f* = f(t + h, y*), corrects
    y⁺ = y + h (γ_0 f* + Σ γ_i f_{n+1−i}), and evaluates again at y⁺."""

    predictor: np.ndarray
    """Coefficients β_0 to β_3 of the derivatives at the latest four steps, the newest first, shape (4,)."""
    corrector: np.ndarray
    """Coefficients γ_0 to γ_3 of the predicted derivative and of those at the latest three steps, shape (4,)."""
    start: Tableau
    """The formula of the first three steps."""
