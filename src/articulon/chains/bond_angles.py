"""Distributions of the angles between successive bonds of a backbone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from articulon.chains.chain_sizes import batches, bond_vectors
from articulon.chains.chain_table import Chains
from articulon.chains.replicates import Estimate, Replicate, jackknife

BINS = 90
"""Default number of bins of a distribution."""
STRAIGHT = 1e-6
"""Sine of a bond angle below which four beads have no dihedral."""


class AngleDistribution(NamedTuple):
    """Distribution of an angle."""

    edges: np.ndarray
    """Edges of the bins [rad], from 0 to π for bond angles and from −π to π for dihedrals, shape (bins + 1,)."""
    density: Estimate
    """Probability density of each bin, which integrates to one [1/rad], shape (bins,)."""
    mean_cosine: Estimate
    """Mean cosine of the angle."""

    @property
    def middles(self) -> np.ndarray:
        """Centres of the bins [rad], shape (bins,)."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def bond_angles(
    positions: np.ndarray, chains: Chains, parts: tuple[Replicate, ...], bins: int = BINS
) -> AngleDistribution | None:
    """Return the distribution of the bond angles i–j–k; an angle is π if the three beads lie on a line in this order.

    Angles are taken at the inner beads of linear chains and at all beads of rings. The result is None if no chain has
    three beads. Uncorrelated bond directions have the density ½ sin θ.
    """
    return _distribution(positions, chains, parts, np.linspace(0.0, np.pi, bins + 1), _angles, 3)


def dihedral_angles(
    positions: np.ndarray, chains: Chains, parts: tuple[Replicate, ...], bins: int = BINS
) -> AngleDistribution | None:
    """Return the distribution of the dihedral angles of four successive beads along linear chains and rings.

    The sign is that of IUPAC: 0 for cis, ±π for trans. The result is None if no chain has four beads, or if all beads
    are collinear.
    """
    return _distribution(positions, chains, parts, np.linspace(-np.pi, np.pi, bins + 1), _dihedrals, 4)


def _angles(vectors: np.ndarray, kind: str) -> np.ndarray:
    before, after = _following(vectors, kind, 2)
    # Unlike the arccosine, the arctangent is accurate near 0 and π too.
    sine = np.linalg.norm(np.cross(before, after), axis=-1)
    return np.arctan2(sine, -(before * after).sum(axis=-1)).ravel()


def _dihedrals(vectors: np.ndarray, kind: str) -> np.ndarray:
    first, along, last = _following(vectors, kind, 3)
    near, far = np.cross(first, along), np.cross(along, last)
    length = np.linalg.norm(along, axis=-1)
    angles = np.arctan2((first * far).sum(axis=-1) * length, (near * far).sum(axis=-1))
    flat = np.minimum(
        np.linalg.norm(near, axis=-1) / np.maximum(np.linalg.norm(first, axis=-1) * length, 1e-300),
        np.linalg.norm(far, axis=-1) / np.maximum(np.linalg.norm(last, axis=-1) * length, 1e-300),
    )
    return angles[flat > STRAIGHT]


def _following(vectors: np.ndarray, kind: str, count: int) -> list[np.ndarray]:
    """Return ``count`` arrays of bonds: entry i of array k is the bond k places after bond i."""
    if kind == "ring":
        return [np.roll(vectors, -k, axis=-2) for k in range(count)]
    bonds = vectors.shape[-2]
    return [vectors[..., k : bonds - count + 1 + k, :] for k in range(count)]


def _distribution(
    positions: np.ndarray,
    chains: Chains,
    parts: tuple[Replicate, ...],
    edges: np.ndarray,
    measured: Callable[[np.ndarray, str], np.ndarray],
    least: int,
) -> AngleDistribution | None:
    """Return the distribution of the angle that ``measured`` computes from bonds, over backbones of at least ``least``
    beads."""
    bins = edges.size - 1
    sums, counts = np.zeros((len(parts), bins + 1)), np.zeros(len(parts))
    for k, part in enumerate(parts):
        for group in chains.equal_groups(part.chains):
            if group.bead.shape[1] < least:
                continue
            for x in batches(positions, part.frames, group.bead):
                angles = measured(bond_vectors(x, group.kind), group.kind)
                sums[k, :bins] += np.histogram(angles, edges)[0]
                sums[k, bins] += np.cos(angles).sum()
                counts[k] += angles.size
    if not counts.any():
        return None
    weights = np.repeat(counts[:, None], bins + 1, axis=1)
    weights[:, :bins] *= edges[1] - edges[0]
    return AngleDistribution(
        edges, jackknife(sums[:, :bins], weights[:, :bins]), jackknife(sums[:, bins], weights[:, bins])
    )
