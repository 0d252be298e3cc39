"""Functions of a lag from parts of a run, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from articulon.chains.replicates import (
    FEWEST,
    Estimate,
    Replicate,
    blocks_of_frames,
    groups_of_chains,
    jackknife,
)

TIME_PARTS = 4
"""Blocks of frames from which errors are, where there are too few chains. Of so few a spread is hardly known, but they
reach lags of a quarter of the run."""
COLUMNS = 4096
"""Coordinates that are transformed at once, at most."""


class LagCurves(NamedTuple):
    """A function of the lag from each part of a run, and from all of it."""

    sums: np.ndarray
    """Sums over the chains of each part; zero for lags that a part does not reach, shape (parts, lags)."""
    weights: np.ndarray
    """What they are to be divided by, zero there, shape (parts, lags)."""
    whole: np.ndarray | None
    """The function from the whole run, shape (lags,), where it is more than the sums of the parts."""

    def estimate(self, estimator: Callable[[np.ndarray], np.ndarray | float] | None = None, first: int = 0) -> Estimate:
        """A function of the curve, or the curve itself from the lag ``first`` on, with its error."""
        of = (lambda curve: curve[first:]) if estimator is None else estimator
        return jackknife(self.sums, self.weights, of, self.whole)


def lag_curves(numbers: np.ndarray, frames: int, lags: int, of: Callable[[Replicate], np.ndarray]) -> LagCurves:
    """A function of the lag from groups of the numbered chains, which hardly know of each other; from blocks of frames
    of all, where there are fewer than four.

    Parameters
    ----------
    numbers
        Of the chains that take part.
    frames, lags
        How many frames there are, and how many lags are wanted.
    of
        The function of a part: its mean over time origins, summed over the chains, for as many lags as the part has.
    """
    everything = slice(0, frames)
    if numbers.size >= FEWEST:
        parts, whole = groups_of_chains(numbers, everything), None
    else:
        parts = tuple(Replicate(block, numbers) for block in blocks_of_frames(frames, TIME_PARTS))
        whole = of(Replicate(everything, numbers))[:lags] / numbers.size
    sums, weights = np.zeros((len(parts), lags)), np.zeros((len(parts), lags))
    for k, part in enumerate(parts):
        found = of(part)[:lags]
        sums[k, : found.size], weights[k, : found.size] = found, part.chains.size
    return LagCurves(sums, weights, whole)


def over_columns(function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """A function of values (frames, n) that adds up over columns, of values (frames, ...), some columns at once."""
    flat = values.reshape(len(values), -1)
    found = np.zeros(len(values))
    for a in range(0, flat.shape[1], COLUMNS):
        found += function(flat[:, a : a + COLUMNS])
    return found
