"""Sizes of chains: end-to-end distances, radii of gyration, bonds, and distances along the backbone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.chains.chain_table import Chains
from articulon.chains.replicates import Estimate, Replicate, jackknife
from articulon.conformations.time_correlation import square_displacement

NUMBERS = 4_000_000
"""Maximum number of coordinates copied at once."""


class ChainSizes(NamedTuple):
    """Sizes of every chain in every frame."""

    centres: np.ndarray
    """Centres of mass [length], shape (frames, chains, 3)."""
    gyration: np.ndarray
    """Rg² = Σ m |r − r_c|²/Σ m [length²], shape (frames, chains)."""
    end_to_end: np.ndarray
    """R² = |r_N − r_1|² of linear chains [length²], NaN for others, shape (frames, chains)."""


class InternalDistances(NamedTuple):
    """⟨R²(n)⟩, the mean-square distance of beads n bonds apart along a backbone."""

    bonds: np.ndarray
    """Bond separations n = 1, 2, ..., shape (distances,), up to N − 1 (linear) or N/2 (ring) for the longest chain."""
    squares: Estimate
    """⟨R²(n)⟩ over all pairs of beads [length²], shape (distances,)."""
    ratios: Estimate
    """⟨R²(n)⟩/n [length²], shape (distances,); constant for an ideal chain."""


def chain_sizes(positions: np.ndarray, chains: Chains, masses: np.ndarray) -> ChainSizes:
    """Compute the centre of mass, Rg² and R² of every chain, for beads at positions (frames, beads, 3) with masses
    (beads,).

    For N beads of equal mass with N − 1 uncorrelated bonds of length b, ⟨R²⟩ = (N − 1) b². Since Rg² = Σ_{i<j} |r_i −
    r_j|²/N² and ⟨|r_i − r_j|²⟩ = |i − j| b²,

        ⟨Rg²⟩ = b²/N² Σ_{n=1}^{N−1} (N − n) n = b² (N² − 1)/(6 N),

    so that ⟨R²⟩/⟨Rg²⟩ = 6 N/(N + 1), which tends to 6 for long chains. For a ring of N such bonds, closure gives ⟨|r_i
    − r_j|²⟩ = n (N − n)/(N − 1) b² with n = |i − j|, and therefore ⟨Rg²⟩ = b² (N + 1)/12.
    """
    frames, starts = len(positions), chains.first[:-1]
    mass = masses[chains.bead]
    total = np.add.reduceat(mass, starts)
    centres = np.empty((frames, len(chains), 3))
    gyration = np.empty((frames, len(chains)))
    step = max(1, NUMBERS // (3 * chains.bead.size))
    for a in range(0, frames, step):
        part = slice(a, a + step)
        x = positions[part][:, chains.bead]
        centres[part] = np.add.reduceat(mass[:, None] * x, starts, axis=1) / total[:, None]
        away = ((x - centres[part][:, chains.owner]) ** 2).sum(axis=2)
        gyration[part] = np.add.reduceat(mass * away, starts, axis=1) / total
    ends = np.full((frames, len(chains)), np.nan)
    linear = np.flatnonzero((chains.kind == "linear") & (chains.length > 1))
    ends[:, linear] = (end_to_end_vectors(positions, chains, linear) ** 2).sum(axis=2)
    return ChainSizes(centres, gyration, ends)


def end_to_end_vectors(positions: np.ndarray, chains: Chains, numbers: np.ndarray) -> np.ndarray:
    """Return the vectors from the first to the last bead of the linear chains ``numbers`` [length], shape (frames,
    numbers, 3)."""
    return positions[:, chains.bead[chains.first[numbers + 1] - 1]] - positions[:, chains.bead[chains.first[numbers]]]


def mean_size(values: np.ndarray, chosen: np.ndarray, parts: tuple[Replicate, ...]) -> Estimate:
    """Return the mean of values (frames, chains) over all frames and the chains marked in ``chosen`` (chains,), with
    its error."""
    own = [values[part.frames][:, _own(part, chosen)] for part in parts]
    return jackknife(np.array([part.sum() for part in own]), np.array([float(part.size) for part in own]))


def size_ratio(sizes: ChainSizes, chosen: np.ndarray, parts: tuple[Replicate, ...]) -> Estimate:
    """Return ⟨R²⟩/⟨Rg²⟩ of the linear chains marked in ``chosen`` (chains,).

    Its error is that of a ratio of means over parts, which accounts for the correlation of R² and Rg².
    """
    sums, counts = [], []
    for part in parts:
        own = _own(part, chosen)
        both = sizes.end_to_end[part.frames][:, own], sizes.gyration[part.frames][:, own]
        sums.append([values.sum() for values in both])
        counts.append([values.size for values in both])
    return jackknife(np.array(sums), np.array(counts, dtype=float), lambda means: means[0] / means[1])


def _own(part: Replicate, chosen: np.ndarray) -> np.ndarray:
    return part.chains[chosen[part.chains]]


def bond_vectors(x: np.ndarray, kind: str) -> np.ndarray:
    """Return the vectors from each bead to the next along backbones x (..., beads, 3), shape (..., bonds, 3). A ring
    has as many bonds as beads."""
    return np.roll(x, -1, axis=-2) - x if kind == "ring" else np.diff(x, axis=-2)


def mean_square_bond(positions: np.ndarray, chains: Chains, parts: tuple[Replicate, ...]) -> Estimate:
    """Return ⟨b²⟩ of the bonds of linear chains and rings [length²], with its error."""
    sums, counts = np.zeros(len(parts)), np.zeros(len(parts))
    for k, part in enumerate(parts):
        for group in chains.equal_groups(part.chains):
            for x in batches(positions, part.frames, group.bead):
                squares = (bond_vectors(x, group.kind) ** 2).sum(axis=-1)
                sums[k] += squares.sum()
                counts[k] += squares.size
    return jackknife(sums, counts)


def internal_distances(
    positions: np.ndarray, chains: Chains, kind: str, parts: tuple[Replicate, ...]
) -> InternalDistances | None:
    """Return ⟨R²(n)⟩ of chains of one ``kind``, ``linear`` or ``ring``; None if no chain of this kind has a bond.

    The mean is over all pairs of beads n bonds apart (Auhl et al., J. Chem. Phys. 119, 12718, 2003). Chains of
    different lengths are therefore weighted by their numbers of pairs. In a ring, n counts the bonds of the shorter of
    the two
    arcs between the beads. For an ideal linear chain ⟨R²(n)⟩ = n b².
    """
    longest = int(chains.length[chains.kind == kind].max(initial=0))
    count = longest // 2 if kind == "ring" else longest - 1
    if count < 1:
        return None
    sums, pairs = np.zeros((len(parts), count)), np.zeros((len(parts), count))
    for k, part in enumerate(parts):
        for group in chains.equal_groups(part.chains):
            if group.kind != kind:
                continue
            beads = group.bead.shape[1]
            for x in batches(positions, part.frames, group.bead):
                columns = (x - x.mean(axis=1, keepdims=True)).transpose(1, 0, 2).reshape(beads, -1)
                found = _round_the_ring(columns) if kind == "ring" else square_displacement(columns)[1:]
                weight = np.full(found.size, beads) if kind == "ring" else np.arange(beads - 1, 0, -1)
                sums[k, : found.size] += weight * found
                pairs[k, : found.size] += weight * len(x)
    n = np.arange(1, count + 1)
    return InternalDistances(n, jackknife(sums, pairs), jackknife(sums, pairs * n))


def _round_the_ring(columns: np.ndarray) -> np.ndarray:
    """Return the sums Σ_columns ⟨|x(i + n) − x(i)|²⟩ over all beads i of a ring (beads, columns), for n = 1 ...
    beads/2."""
    beads = len(columns)
    spectrum = np.fft.rfft(columns, axis=0)
    correlation = np.fft.irfft((spectrum.real**2 + spectrum.imag**2).sum(axis=1), beads) / beads
    return 2.0 * (correlation[0] - correlation[1 : beads // 2 + 1])


def batches(positions: np.ndarray, frames: slice, bead: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the backbones of some frames in batches that fit into memory, shape (rows, beads, 3). Each row is one chain
    in one frame."""
    start, stop, _ = frames.indices(len(positions))
    step = max(1, NUMBERS // (3 * bead.size))
    for a in range(start, stop, step):
        yield positions[a : min(a + step, stop)][:, bead].reshape(-1, bead.shape[1], 3)
