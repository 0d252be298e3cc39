"""Pair distribution of beads within a chain and between chains. It uses freud to find neighbours (Ramasubramani et al.,
Comput. Phys. Commun. 254, 107275, 2020)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.chains.chain_table import Chains
from articulon.chains.replicates import Estimate, Replicate, jackknife
from articulon.conformations.conformation_record import some_frames

BINS, FRAMES, FEWEST = 200, 100, 8
"""Default number of bins, and largest and smallest number of frames used."""
PAIRS = 6_000_000
"""Approximate maximum number of pairs processed, which takes seconds."""
TOGETHER = 2_000_000
"""Maximum number of pairs held in memory."""


class PairDistribution(NamedTuple):
    """Pair distribution g(r) of the beads of chains, split into pairs within a chain and pairs of different chains. The
    sum of the two is g(r) of all these beads."""

    edges: np.ndarray
    """Edges of the bins [length], shape (bins + 1,)."""
    within: Estimate
    """Density of beads of the same chain around a bead, divided by the mean density of all beads of chains, shape
    (bins,)."""
    between: Estimate
    """Density of beads of other chains and of periodic images of the same chain around a bead, divided by the mean
    density of all beads of chains, shape (bins,). It tends to one at large distances."""
    frames: int
    """Number of frames used."""

    @property
    def middles(self) -> np.ndarray:
        """Centres of the bins [length], shape (bins,)."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def pair_distribution(
    positions: np.ndarray,
    chains: Chains,
    boxes: np.ndarray,
    parts: tuple[Replicate, ...],
    reach: float | None = None,
    bins: int = BINS,
) -> PairDistribution:
    """Compute the pair distribution g(r) within and between chains in a periodic box, by minimum images. Branched
    molecules are included.

    Parameters
    ----------
    positions
        Unwrapped positions [length], shape (frames, beads, 3).
    chains
        Chains; beads outside chains are ignored.
    boxes
        Edges of the box in each frame as rows, a along x and b in the plane of x and y [length], shape (frames, 3, 3).
    parts
        Parts of the run that give the errors.
    reach
        Largest distance [length]; at most, and by default, half of the smallest distance between opposite faces of the
        box.
    bins
        Number of bins.

    Raises
    ------
    ImportError
        If freud is missing.
    """
    import freud

    half = 0.499 * float(faces_apart(boxes).min())
    farthest = half if reach is None else min(reach, half)
    count = chains.bead.size
    volumes = np.linalg.det(boxes)
    per_frame = count * count / float(volumes.min()) * 4.0 / 3.0 * np.pi * farthest**3 + 1.0
    # In a large system, each frame uses the beads of only some chains as centres. The chains alternate from frame to
    # frame.
    stride = min(len(chains), max(1, round(FEWEST * per_frame / PAIRS)))
    most = int(np.clip(PAIRS * stride / per_frame, FEWEST, FRAMES))
    edges = np.linspace(0.0, farthest, bins + 1)
    shells = 4.0 / 3.0 * np.pi * np.diff(edges**3)
    frames = some_frames(len(positions), 0, most)
    step = max(1, int(TOGETHER / per_frame * count))
    size = len(parts)
    part_of = _part_of(parts, len(positions), len(chains))
    sums, weights = np.zeros((2, size, bins)), np.zeros((size, bins))
    for turn, frame in enumerate(frames.tolist()):
        x, vectors = positions[frame, chains.bead], boxes[frame]
        (lx, ly, lz), (xy, xz, yz) = np.diag(vectors), (vectors[1, 0], vectors[2, 0], vectors[2, 1])
        # freud takes HOOMD's tilt factors xy and xz, which are divided by the lengths of the box along y and z.
        cell = freud.box.Box(lx, ly, lz, xy / ly, xz / lz, yz / lz)
        # freud uses single precision, in which positions far from the box would be rounded.
        fractions = x @ np.linalg.inv(vectors)
        wrapped = (fractions - np.floor(fractions) - 0.5) @ vectors
        query = freud.locality.AABBQuery(cell, wrapped)
        label = part_of[frame][chains.owner]
        ideal = count / volumes[frame] * shells
        middle = np.flatnonzero((chains.owner + turn) % stride == 0)
        weights += np.bincount(label[middle], minlength=size)[:, None] * ideal
        for a in range(0, middle.size, step):
            some = middle[a : a + step]
            near = query.query(wrapped[some], {"mode": "ball", "r_max": farthest}).toNeighborList()
            i, j = some[near.query_point_indices], near.point_indices
            distinct = i != j
            i, j, distance = i[distinct], j[distinct], near.distances[distinct]
            # A bead and a periodic image of another bead of its chain count as beads of different chains.
            same = chains.owner[i] == chains.owner[j]
            pairs = np.flatnonzero(same)
            straight = np.linalg.norm(x[i[pairs]] - x[j[pairs]], axis=1)
            same[pairs] = straight < distance[pairs] * (1.0 + 1e-4) + 1e-4 * farthest
            at = np.minimum((distance * (bins / farthest)).astype(int), bins - 1) + bins * label[i]
            for which, chosen in enumerate((same, ~same)):
                sums[which] += np.bincount(at[chosen], minlength=size * bins).reshape(size, bins)
    looked = weights.any(axis=1)
    within, between = (jackknife(of[looked], weights[looked]) for of in sums)
    return PairDistribution(edges, within, between, frames.size)


def faces_apart(boxes: np.ndarray) -> np.ndarray:
    """Return the distances between opposite faces of boxes [length], shape (frames, 3), from their edges as rows
    (frames, 3, 3)."""
    return np.asarray(1.0 / np.linalg.norm(np.linalg.inv(boxes), axis=1))


def _part_of(parts: tuple[Replicate, ...], frames: int, chains: int) -> np.ndarray:
    """Return the index of the part to which each chain belongs in each frame, shape (frames, chains)."""
    found = np.zeros((frames, chains), dtype=np.int64)
    for k, part in enumerate(parts):
        found[part.frames, part.chains] = k
    return found
