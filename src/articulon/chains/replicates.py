"""Division of a run into independent parts, and standard errors from the scatter of the parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from articulon.chains.chain_table import Chains
from articulon.conformations.time_correlation import inefficiency, normalised_autocorrelations

FEWEST, MOST = 4, 32
"""Smallest and largest number of parts. The scatter of fewer parts is too uncertain, and more parts hardly improve
it."""
SAMPLES_PER_BLOCK = 5.0
"""Number of independent samples per block of frames. For an exponential correlation with time τ, this is a block of
10 τ, and errors from such blocks are 5 % too small."""


class Estimate(NamedTuple):
    """A quantity, or a curve, with its standard error."""

    value: np.ndarray
    """Value, with the shape () for a number and (points,) for a curve."""
    error: np.ndarray
    """Standard error from the scatter over parts of the run, with the shape of ``value``; NaN if unknown."""
    parts: int
    """Number of parts n; the confidence interval follows from Student's t with n − 1 degrees of freedom."""


class Replicate(NamedTuple):
    """A part of a run: some frames of some chains."""

    frames: slice
    """The frames."""
    chains: np.ndarray
    """Numbers of the chains, shape (chosen,)."""


class Replicates(NamedTuple):
    """Parts that together make up a run."""

    parts: tuple[Replicate, ...]
    """The parts."""
    by: str
    """Kind of parts: ``time`` for successive blocks of frames, ``chains`` for groups of chains."""
    samples: float
    """Number of independent samples over time of the slowest of the given quantities."""


def replicates(chains: Chains, sizes: Sequence[np.ndarray]) -> Replicates:
    """Divide a run into parts, whose scatter gives the errors of averages.

    The parts are blocks of frames if the run contains at least four blocks, each as long as five independent samples of
    the slowest quantity (Flyvbjerg and Petersen, J. Chem. Phys. 91, 461, 1989). In a shorter run the parts are groups
    of chains, if there are at least four chains, because chains are nearly independent. For chains of different
    lengths, such an error is too large, because the differences in length count as random.

    Parameters
    ----------
    chains
        The chains.
    sizes
        Means over the chains of slowly varying quantities, such as R² and Rg², shape (frames,) each.
    """
    frames = len(sizes[0])
    per_sample = max(frames_per_sample(values) for values in sizes)
    samples = frames / per_sample
    blocks = int(samples / SAMPLES_PER_BLOCK)
    if blocks < FEWEST and len(chains) >= FEWEST:
        return Replicates(groups_of_chains(np.arange(len(chains)), slice(0, frames)), "chains", samples)
    parts = blocks_of_frames(frames, min(max(blocks, FEWEST), MOST))
    everyone = np.arange(len(chains))
    return Replicates(tuple(Replicate(part, everyone) for part in parts), "time", samples)


def frames_per_sample(values: np.ndarray) -> float:
    """Return the number of frames per independent sample of a series of values; one if the values are constant."""
    if values.size < 3 or not np.ptp(values) > 1e-12 * np.abs(values).max():
        return 1.0
    return inefficiency(normalised_autocorrelations(values[:, None])[:, 0])


def blocks_of_frames(frames: int, count: int) -> list[slice]:
    """Divide frames into ``count`` blocks as equal as possible, or fewer if there are fewer frames."""
    edges = np.linspace(0, frames, min(count, frames) + 1).round().astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]


def groups_of_chains(numbers: np.ndarray, frames: slice) -> tuple[Replicate, ...]:
    """Divide chains into at most :data:`MOST` groups. Each group uses all frames; chains are assigned to the groups
    cyclically."""
    count = min(MOST, numbers.size)
    return tuple(Replicate(frames, numbers[k::count]) for k in range(count))


def jackknife(
    sums: np.ndarray,
    weights: np.ndarray,
    estimator: Callable[[np.ndarray], np.ndarray | float] | None = None,
    whole: np.ndarray | None = None,
) -> Estimate:
    """Compute a function of the means over all parts, with its jackknife error.

    For a plain mean, the error is the standard deviation of the parts' means divided by √parts. For ratios and fits,
    it follows from the values of the function with one part left out at a time (Efron, The Jackknife, 1982).

    Parameters
    ----------
    sums, weights
        Sums of the parts and their divisors, with broadcastable shapes (parts, ...).
    estimator
        Function of the means; by default the means themselves.
    whole
        Means over the whole run; by default they follow from the sums of the parts.
    """
    of = (lambda means: means) if estimator is None else estimator
    weights = np.broadcast_to(weights, sums.shape) if np.ndim(weights) else np.full(sums.shape, weights)
    count = len(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums.sum(axis=0) / weights.sum(axis=0) if whole is None else whole
        value = np.asarray(of(means), dtype=float)
        if count < 2:
            return Estimate(value, np.full(value.shape, np.nan), count)
        left = [
            of((np.delete(sums, k, axis=0)).sum(axis=0) / np.delete(weights, k, axis=0).sum(axis=0))
            for k in range(count)
        ]
        found = np.asarray(left, dtype=float)
        error = np.sqrt((count - 1) / count * ((found - found.mean(axis=0)) ** 2).sum(axis=0))
    return Estimate(value, error, count)
