"""Quantities given over time by a table, with cubics between its knots."""

import numpy as np

from articulon.errors import ModelError
from articulon.kernels import jit

LEAST_TIMES = {"cubic": 4, "linear": 2}
"""Smallest number of times for each interpolation."""


def increasing(times: tuple[float | str, ...], interpolation: str, where: str) -> np.ndarray:
    """Return the knots of a table whose times are in the model's units; raises ModelError if they are invalid."""
    knots = np.array([float(time) for time in times])
    least = LEAST_TIMES[interpolation]
    if knots.size < least or np.any(np.diff(knots) <= 0.0):
        raise ModelError(
            f"{where}.times: {interpolation} interpolation needs at least {least} increasing times, "
            f"got {knots.tolist()}"
        )
    return knots


def check_lasting(times: tuple[float | str, ...], duration: float, where: str) -> None:
    """Raises ModelError for a table that does not cover a run of this duration [time]."""
    first, last = float(times[0]), float(times[-1])
    if not (first <= 0.0 and last >= duration * (1.0 - 1e-12)):
        raise ModelError(
            f"{where}.times: the table goes from {first:.9g} to {last:.9g}, but the run from 0 to {duration:.9g}; "
            "give a table for the whole run, or beyond = 'hold'"
        )


def interpolated(times: np.ndarray, values: np.ndarray, interpolation: str, where: str) -> np.ndarray:
    """Return the coefficients of the cubic after every time, highest power first, shape (times, 4); after the last
    time, the value is constant. Raises ModelError if times are so close that the coefficients overflow."""
    result = np.zeros((times.size, 4))
    result[:, 3] = values
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        steps = np.diff(times)
        result[:-1, 2] = np.diff(values) / steps
        if interpolation == "cubic" and np.isfinite(result[:-1, 2] / steps**2).all():
            # SciPy's splines take a second to import, which is avoided for a model without tables.
            from scipy.interpolate import CubicSpline

            result[:-1] = CubicSpline(times, values).c.T
        elif interpolation == "cubic":
            result[:-1] = np.inf
    if not np.isfinite(result).all():
        raise ModelError(f"{where}.times: two of them are too close to each other to interpolate between")
    return result


def slopes(times: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Coefficients of the rates of such cubics; at the last time, those of the preceding cubic, shape (times, 4)."""
    result = np.zeros_like(coefficients)
    result[:, 1:] = coefficients[:, :3] * (3.0, 2.0, 1.0)
    length = times[-1] - times[-2]
    result[-1, 3] = (result[-2, 1] * length + result[-2, 2]) * length + result[-2, 3]
    return result


@jit
def piece_at(tables, s, time):
    """Return the knot that precedes a time, and the time since that knot."""
    low, last, knots = tables.start[s], tables.start[s + 1] - 1, tables.knots
    at = min(max(time, knots[low]), knots[last])
    high = last + 1
    while high - low > 1:  # find the last knot that is not after the time
        middle = (low + high) // 2
        if knots[middle] <= at:
            low = middle
        else:
            high = middle
    return low, at - knots[low]


@jit
def cubic(c, k, x):
    """Evaluate the cubic with the coefficients in row k."""
    return ((c[k, 0] * x + c[k, 1]) * x + c[k, 2]) * x + c[k, 3]
