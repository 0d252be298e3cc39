"""First-passage times with runs that never came there: the product-limit estimator, by SciPy.

A run that reaches its duration without having been stopped is censored: its time is longer than that, nobody knows by
how much. To leave such runs out, or to count their duration, makes mean times too short; Kaplan and Meier (J. Am. Stat.
Assoc. 53, 457, 1958) count each run among those at risk for as long as it was watched:

    S(t) = Π_{t_i ≤ t} (1 − d_i/n_i),

with d_i passages at t_i among n_i runs that were still going. Its band is Greenwood's variance on the scale of
ln(−ln S), which stays between 0 and 1.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.errors import ArticulonError

CONFIDENCE = 0.95


def first_passages(stops: Sequence[float | None], watched: Sequence[float]) -> dict[str, Any]:
    """Statistics of first-passage times.

    Parameters
    ----------
    stops
        When each run was stopped by what its case watches [time]; None for one that was not.
    watched
        How long each run has lasted [time].

    Returns
    -------
    dict
        ``runs``; ``stopped``, how many of them; ``times``, ``remaining`` (S just after each of these times), and its
        band ``low`` and ``high``, None where it is not defined; ``median``, the first time at which half of the runs
        have been stopped, and its ``median_interval`` where the band crosses one half, None where that is later than
        anything that was seen; ``restricted_mean``, the mean of min(t, ``until``), which is ∫S dt; and
        ``memoryless_mean`` with ``memoryless_interval``, the mean if stopping has a constant rate: total time watched
        over passages, with the ends 2T/χ²₂ₙ₊₂ and 2T/χ²₂ₙ of the Poisson count n. All times [time].

    Raises
    ------
    ArticulonError
        For a time that is not positive or not finite.
    """
    from scipy.stats import CensoredData, chi2, ecdf

    ended = np.array([stop is not None for stop in stops])
    times = np.array([w if stop is None else stop for stop, w in zip(stops, watched, strict=True)], dtype=float)
    if not times.size or not (np.isfinite(times).all() and (times > 0.0).all()):
        raise ArticulonError(f"first-passage times must be positive, got {times.tolist()}")
    count, total, until = int(ended.sum()), float(times.sum()), float(times.max())
    low = high = remaining = np.zeros(0)
    steps = np.zeros(0)
    if count:
        found = ecdf(CensoredData.right_censored(times, ~ended)).sf
        with warnings.catch_warnings():  # where nobody is left the band is not defined, and so not given
            warnings.simplefilter("ignore", RuntimeWarning)
            band = found.confidence_interval(confidence_level=CONFIDENCE, method="log-log")
        at = np.isin(found.quantiles, times[ended])  # it is constant at times that are only censored
        steps, remaining = found.quantiles[at], found.probabilities[at]
        low, high = band.low.probabilities[at], band.high.probabilities[at]
    tail = 0.5 * (1.0 - CONFIDENCE)
    longest = float(2.0 * total / chi2.ppf(tail, 2 * count)) if count else None
    return {
        "runs": len(times),
        "stopped": count,
        "times": steps.tolist(),
        "remaining": remaining.tolist(),
        "low": _defined(low),
        "high": _defined(high),
        "median": _half(steps, remaining),
        "median_interval": [_half(steps, low), _half(steps, high)] if count else [None, None],
        "until": until,
        "restricted_mean": _area(steps, remaining, until),
        "memoryless_mean": total / count if count else None,
        "memoryless_interval": [float(2.0 * total / chi2.ppf(1.0 - tail, 2 * count + 2)), longest],
    }


def _half(times: np.ndarray, remaining: np.ndarray) -> float | None:
    """The first time at which no more than half remain; None where more do at all times, or nobody knows."""
    with np.errstate(invalid="ignore"):
        reached = np.flatnonzero(remaining <= 0.5)
    return float(times[reached[0]]) if reached.size else None


def _area(times: np.ndarray, remaining: np.ndarray, until: float) -> float:
    """∫₀^until S dt of the step function."""
    edges = np.concatenate([[0.0], times, [until]])
    heights = np.concatenate([[1.0], remaining])
    return float(np.sum(heights * np.diff(edges)))


def _defined(values: np.ndarray) -> list[float | None]:
    return [float(one) if math.isfinite(one) else None for one in values]
