"""Free energy of pairs of torsions, with errors that take the correlation of frames into account."""

from typing import NamedTuple

import numpy as np

BINS, BLOCKS = 36, 5


class TorsionMap(NamedTuple):
    """Free energy −kT ln p of two torsions."""

    edges: np.ndarray
    """Edges of the bins of both [rad], from −π to π, shape (bins + 1,)."""
    probability: np.ndarray
    """Fraction of the frames in each bin, rows by the first torsion, shape (bins, bins)."""
    free_energy: np.ndarray
    """Free energy −kT ln(p/p_max) [energy], NaN for bins without frames, shape (bins, bins)."""
    error: np.ndarray
    """Standard error kT σ(p)/p [energy], where σ(p) is the standard error of the mean over blocks of the run. NaN if
    fewer than two blocks have frames."""
    samples: int
    """Number of angle pairs counted."""


def torsion_map(
    phi: np.ndarray, psi: np.ndarray, thermal_energy: float, bins: int = BINS, blocks: int = BLOCKS
) -> TorsionMap | None:
    """Free energy of pairs of angles (frames, residues) [rad] of all residues together; None without a pair.

    The frames are divided into equal successive blocks. If the blocks are longer than the correlation time, the scatter
    of their means gives the error.
    """
    edges = np.linspace(-np.pi, np.pi, bins + 1)
    known = np.isfinite(phi) & np.isfinite(psi)
    if not known.any():
        return None
    parts = np.array_split(np.arange(len(phi)), min(blocks, len(phi)))
    counts = np.array([_counts(phi[part][known[part]], psi[part][known[part]], edges) for part in parts])
    weights = counts.sum(axis=(1, 2))
    p = counts.sum(axis=0) / weights.sum()
    shares = counts / np.maximum(weights, 1.0)[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        free = -thermal_energy * np.log(p / p.max())
        spread = shares.std(axis=0, ddof=1) / np.sqrt(len(parts)) if len(parts) > 1 else np.full(p.shape, np.nan)
        error = thermal_energy * spread / p
    seen = (counts > 0).sum(axis=0)
    return TorsionMap(
        edges,
        p,
        np.where(p > 0.0, np.abs(free), np.nan),
        np.where(seen > 1, error, np.nan),
        int(known.sum()),
    )


def _counts(phi: np.ndarray, psi: np.ndarray, edges: np.ndarray) -> np.ndarray:
    one, other = (np.clip(wrap(angles), edges[0], edges[-1]) for angles in (phi, psi))
    return np.asarray(np.histogram2d(one, other, bins=(edges, edges))[0])


def wrap(angles: np.ndarray) -> np.ndarray:
    """Angles wrapped to −π to π [rad]."""
    return np.asarray(np.arctan2(np.sin(angles), np.cos(angles)))
