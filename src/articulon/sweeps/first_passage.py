"""First-passage times with censored runs: the product-limit estimator, computed by SciPy.

A run that reaches its full duration without meeting its stop condition is censored: its first-passage time is longer
than this duration by an unknown amount. Leaving out censored runs, or using their duration, would bias the mean
downwards. Kaplan and Meier (J. Am. Stat. Assoc. 53, 457, 1958) count each run as at risk while it was observed. The
fraction of runs that have not stopped at time t is then

    S(t) = Π_{t_i ≤ t} (1 − d_i/n_i),

with d_i passages at t_i among the n_i runs that are still at risk. The confidence band follows from Greenwood's
variance on the scale of ln(−ln S); on this scale the band stays between 0 and 1.
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
    """Compute statistics of first-passage times.

    Parameters
    ----------
    stops
        Time at which the stop condition ended each run [time]; None for a run that the stop condition did not end.
    watched
        Observed duration of each run [time].

    Returns
    -------
    dict
        All times are in [time]. ``runs`` is the number of runs, ``stopped`` the number of passages, and ``times`` are
        their times. ``remaining`` is S just after each of these times, with its confidence band ``low`` and ``high``
        (None if undefined). ``median`` is the first time at which half of the runs have stopped, and
        ``median_interval`` holds the times at which the band crosses one half (None if later than all observations).
        ``restricted_mean`` is the mean of min(t, ``until``), equal to ∫S dt. ``memoryless_mean`` is the mean for a
        constant rate: the total observed time T divided by the number n of passages. ``memoryless_interval`` holds the
        ends of its interval, 2T/χ²₂ₙ₊₂ and 2T/χ²₂ₙ, from the Poisson distribution of n.

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
        with warnings.catch_warnings():  # if no run is at risk, the band is undefined and left out
            warnings.simplefilter("ignore", RuntimeWarning)
            band = found.confidence_interval(confidence_level=CONFIDENCE, method="log-log")
        at = np.isin(found.quantiles, times[ended])  # S is constant at censored times
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
    """Return the first time at which at most half of the runs remain. None if more than half always remain, or if the
    time is unknown."""
    with np.errstate(invalid="ignore"):
        reached = np.flatnonzero(remaining <= 0.5)
    return float(times[reached[0]]) if reached.size else None


def _area(times: np.ndarray, remaining: np.ndarray, until: float) -> float:
    """Compute ∫₀^until S dt of the step function S."""
    edges = np.concatenate([[0.0], times, [until]])
    heights = np.concatenate([[1.0], remaining])
    return float(np.sum(heights * np.diff(edges)))


def _defined(values: np.ndarray) -> list[float | None]:
    return [float(one) if math.isfinite(one) else None for one in values]
