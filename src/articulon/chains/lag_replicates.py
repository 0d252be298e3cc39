"""Functions of a lag computed from parts of a run, and their errors."""

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
"""Number of blocks of frames for errors if there are too few chains. Four blocks give an uncertain error. More blocks
would be too short for lags up to a quarter of the run."""
COLUMNS = 4096
"""Maximum number of coordinates transformed at once."""


class LagCurves(NamedTuple):
    """A function of the lag for each part of a run, and for the whole run."""

    sums: np.ndarray
    """Sums over the chains of each part, shape (parts, lags); zero for lags longer than the part."""
    weights: np.ndarray
    """Divisors of the sums, shape (parts, lags); zero for lags longer than the part."""
    whole: np.ndarray | None
    """Function for the whole run, shape (lags,); None if it is the sum over the parts."""

    def estimate(self, estimator: Callable[[np.ndarray], np.ndarray | float] | None = None, first: int = 0) -> Estimate:
        """Return the curve from the lag ``first`` on, with its error. If ``estimator`` is given, return this function
        of the curve instead, with its error."""
        of = (lambda curve: curve[first:]) if estimator is None else estimator
        return jackknife(self.sums, self.weights, of, self.whole)


def lag_curves(numbers: np.ndarray, frames: int, lags: int, of: Callable[[Replicate], np.ndarray]) -> LagCurves:
    """Compute a function of the lag for each part of a run.

    The parts are groups of the given chains, which are nearly independent. For fewer than four chains they are blocks
    of frames of all chains.

    Parameters
    ----------
    numbers
        Numbers of the contributing chains.
    frames, lags
        Number of frames, and number of lags to compute.
    of
        Function of a part that returns the mean over time origins, summed over the chains, for every lag of the part.
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
    """Apply a function to ``values`` (frames, ...) in batches of columns, and add the results. The function takes
    values (frames, n) and must be additive over columns."""
    flat = values.reshape(len(values), -1)
    found = np.zeros(len(values))
    for a in range(0, flat.shape[1], COLUMNS):
        found += function(flat[:, a : a + COLUMNS])
    return found
