"""Parts of a run that tell nothing about each other, and the errors that their spread gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from articulon.chains.chain_table import Chains
from articulon.conformations.time_correlation import inefficiency, normalised_autocorrelations

FEWEST, MOST = 4, 32
"""Parts: with fewer than four a spread is hardly known; with more than 32 it is not known better."""
MEMORIES = 5.0
"""Independent samples that a block of frames should hold. For memory that decays exponentially, errors of blocks as
long as this, 10 τ, are 5 % too small."""


class Estimate(NamedTuple):
    """A quantity, or a curve, with its standard error."""

    value: np.ndarray
    """Its value; a curve has the shape (points,), a number the shape ()."""
    error: np.ndarray
    """Its standard error by the spread over parts of the run, in the same shape; not a number where it is not known."""
    parts: int
    """Parts of the run from whose spread it is: Student's t of one fewer degrees of freedom bounds the truth."""


class Replicate(NamedTuple):
    """A part of a run: some frames of some chains."""

    frames: slice
    """The frames."""
    chains: np.ndarray
    """Numbers of the chains, shape (chosen,)."""


class Replicates(NamedTuple):
    """Parts of a run that together are all of it."""

    parts: tuple[Replicate, ...]
    """The parts."""
    by: str
    """``time`` where they are blocks of frames, one after the other, ``chains`` where they are groups of chains."""
    samples: float
    """Independent values in time that the slowest of the quantities that were looked at has."""


def replicates(chains: Chains, sizes: Sequence[np.ndarray]) -> Replicates:
    """The parts from which errors of averages are taken.

    They are blocks of frames, each as long as five independent samples of the slowest size, where the run has room for
    four of them (Flyvbjerg and Petersen, J. Chem. Phys. 91, 461, 1989). In a shorter run the frames say nothing about
    the error, but chains do, since each hardly knows of the others: then they are groups of chains, if there are four
    chains or more. With chains of different lengths such an error is too large rather than too small, as it counts the
    difference of their lengths as chance.

    Parameters
    ----------
    chains
        The chains.
    sizes
        Means over the chains of what changes slowly, such as R² and Rg², shape (frames,) each.
    """
    frames = len(sizes[0])
    memory = max(memory_of(values) for values in sizes)
    samples = frames / memory
    blocks = int(samples / MEMORIES)
    if blocks < FEWEST and len(chains) >= FEWEST:
        return Replicates(groups_of_chains(np.arange(len(chains)), slice(0, frames)), "chains", samples)
    parts = blocks_of_frames(frames, min(max(blocks, FEWEST), MOST))
    everyone = np.arange(len(chains))
    return Replicates(tuple(Replicate(part, everyone) for part in parts), "time", samples)


def memory_of(values: np.ndarray) -> float:
    """Frames that are worth one independent sample of values over the frames; one where nothing changes."""
    if values.size < 3 or not np.ptp(values) > 1e-12 * np.abs(values).max():
        return 1.0
    return inefficiency(normalised_autocorrelations(values[:, None])[:, 0])


def blocks_of_frames(frames: int, count: int) -> list[slice]:
    """Blocks of frames, as many as asked for where there are as many frames, and as equal as can be."""
    edges = np.linspace(0, frames, min(count, frames) + 1).round().astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]


def groups_of_chains(numbers: np.ndarray, frames: slice) -> tuple[Replicate, ...]:
    """Groups of chains over all frames, at most :data:`MOST`, the chains dealt out in turn."""
    count = min(MOST, numbers.size)
    return tuple(Replicate(frames, numbers[k::count]) for k in range(count))


def jackknife(
    sums: np.ndarray,
    weights: np.ndarray,
    estimator: Callable[[np.ndarray], np.ndarray | float] | None = None,
    whole: np.ndarray | None = None,
) -> Estimate:
    """A function of means over all parts, and its error by leaving out one part after the other.

    For a plain mean the error is the spread of the parts' means over √parts; for ratios and fits it is free of their
    bias of order 1/parts (Efron, The Jackknife, 1982).

    Parameters
    ----------
    sums, weights
        Sums of the parts and what they are to be divided by, shapes (parts, ...) that go together.
    estimator
        What is computed from the means; the means themselves by default.
    whole
        The means over the whole run, where they are more than the sums of the parts.
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
