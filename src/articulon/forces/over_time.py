"""Numbers that are given over time by a table: cubics between its knots."""

import numpy as np

from articulon.errors import ModelError
from articulon.kernels import jit

LEAST_TIMES = {"cubic": 4, "linear": 2}
"""How many times an interpolation takes."""


def increasing(times: tuple[float | str, ...], interpolation: str, where: str) -> np.ndarray:
    """The knots of a table whose times are in the model's units; raises ModelError where they are none."""
    knots = np.array([float(time) for time in times])
    least = LEAST_TIMES[interpolation]
    if knots.size < least or np.any(np.diff(knots) <= 0.0):
        raise ModelError(
            f"{where}.times: {interpolation} interpolation takes at least {least} increasing times, "
            f"got {knots.tolist()}"
        )
    return knots


def check_lasting(times: tuple[float | str, ...], duration: float, where: str) -> None:
    """Raises ModelError for a table that does not last a run [time]."""
    first, last = float(times[0]), float(times[-1])
    if not (first <= 0.0 and last >= duration * (1.0 - 1e-12)):
        raise ModelError(
            f"{where}.times: the table goes from {first:.9g} to {last:.9g}, and the run from 0 to {duration:.9g}; "
            "give a table for the whole run, or beyond = 'hold'"
        )


def interpolated(times: np.ndarray, values: np.ndarray, interpolation: str, where: str) -> np.ndarray:
    """Coefficients of cubics after every time, highest power first, shape (times, 4); the last is its value alone.
    Raises ModelError where times are so near that they overflow."""
    result = np.zeros((times.size, 4))
    result[:, 3] = values
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        steps = np.diff(times)
        result[:-1, 2] = np.diff(values) / steps
        if interpolation == "cubic" and np.isfinite(result[:-1, 2] / steps**2).all():
            # SciPy's splines take a second to import, which a model without tables need not pay.
            from scipy.interpolate import CubicSpline

            result[:-1] = CubicSpline(times, values).c.T
        elif interpolation == "cubic":
            result[:-1] = np.inf
    if not np.isfinite(result).all():
        raise ModelError(f"{where}.times: two of them are too near to each other to go from one value to the next")
    return result


def slopes(times: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Coefficients of the rates of such cubics; at the last time that of the cubic before, shape (times, 4)."""
    result = np.zeros_like(coefficients)
    result[:, 1:] = coefficients[:, :3] * (3.0, 2.0, 1.0)
    length = times[-1] - times[-2]
    result[-1, 3] = (result[-2, 1] * length + result[-2, 2]) * length + result[-2, 3]
    return result


@jit
def piece_at(tables, s, time):
    """The knot after which a table is at a time, and the time since."""
    low, last, knots = tables.start[s], tables.start[s + 1] - 1, tables.knots
    at = min(max(time, knots[low]), knots[last])
    high = last + 1
    while high - low > 1:  # the last knot that is not after it
        middle = (low + high) // 2
        if knots[middle] <= at:
            low = middle
        else:
            high = middle
    return low, at - knots[low]


@jit
def cubic(c, k, x):
    """The cubic with the coefficients in row k."""
    return ((c[k, 0] * x + c[k, 1]) * x + c[k, 2]) * x + c[k, 3]
