"""Clusters of conformations from the distances between frames."""

from typing import Literal, NamedTuple

import numpy as np

Measure = Literal["rmsd", "torsions"]
CUTOFFS = {"rmsd": 0.15, "torsions": np.radians(40.0)}
"""Default cutoff of the mean distance of clusters, by measure [nm] and [rad]."""


class Clusters(NamedTuple):
    """Clusters of similar frames, the largest cluster first."""

    frames: np.ndarray
    """Numbers of the frames used, shape (frames,)."""
    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    labels: np.ndarray
    """Cluster of each frame, counted from 0, shape (frames,)."""
    populations: np.ndarray
    """Fraction of these frames in each cluster, shape (clusters,)."""
    representatives: np.ndarray
    """Central frame of each cluster: the one with the smallest mean distance from the others, shape (clusters,)."""
    cutoff: float
    """Mean distance below which clusters were merged [nm], or [rad] for torsions; NaN if the number of clusters was
    given."""
    by: str
    """Measure of distance, ``rmsd`` or ``torsions``."""


def clusters_of(
    distances: np.ndarray,
    frames: np.ndarray,
    times: np.ndarray,
    by: Measure,
    *,
    cutoff: float | None = None,
    number: int | None = None,
) -> Clusters:
    """Clusters of frames by average linkage (SciPy's), from distances (frames, frames).

    Clusters with a mean distance below ``cutoff`` are merged; a given ``number`` is the maximum number of clusters.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    reach = CUTOFFS[by] if cutoff is None else cutoff
    if len(frames) < 2:
        found = np.zeros(len(frames), dtype=int)
    else:
        tree = linkage(squareform(distances, checks=False), method="average")
        found = fcluster(tree, *((reach, "distance") if number is None else (number, "maxclust"))) - 1
    sizes = np.bincount(found)
    order = np.argsort(-sizes, kind="stable")
    labels = np.argsort(order, kind="stable")[found]
    middles = []
    for k in range(sizes.size):
        own = np.flatnonzero(labels == k)
        middles.append(int(own[np.argmin(distances[np.ix_(own, own)].sum(axis=1))]))
    return Clusters(
        frames,
        times,
        labels,
        sizes[order] / len(frames),
        frames[np.array(middles, dtype=int)],
        reach if number is None else float("nan"),
        by,
    )


def torsion_distances(angles: np.ndarray) -> np.ndarray:
    """Distances √⟨2 (1 − cos Δφ)⟩ over torsions (frames, torsions) between all pairs of frames [rad], shape (frames,
    frames). For small differences they are root mean squares."""
    angles = angles[:, np.isfinite(angles).all(axis=0)]
    c, s = np.cos(angles), np.sin(angles)
    alike = (c @ c.T + s @ s.T) / max(angles.shape[1], 1)
    found = np.sqrt(np.maximum(0.0, 2.0 * (1.0 - alike)))
    np.fill_diagonal(found, 0.0)
    return found
