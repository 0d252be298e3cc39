"""Clusters of conformations, by the distances between frames."""

from typing import Literal, NamedTuple

import numpy as np

Measure = Literal["rmsd", "torsions"]
CUTOFFS = {"rmsd": 0.15, "torsions": np.radians(40.0)}
"""Mean distance of two clusters that stay apart, by what is measured [nm] and [rad]."""


class Clusters(NamedTuple):
    """Frames that are alike, the largest cluster first."""

    frames: np.ndarray
    """Numbers of the run's frames that were looked at, shape (frames,)."""
    times: np.ndarray
    """[time], shape (frames,)."""
    labels: np.ndarray
    """Cluster of each, counted from 0, shape (frames,)."""
    populations: np.ndarray
    """Part of these frames in each cluster, shape (clusters,)."""
    representatives: np.ndarray
    """The run's frame in the middle of each: that with the least mean distance from the others, shape (clusters,)."""
    cutoff: float
    """Clusters nearer than that on average were joined [nm], or [rad] by torsions; not a number where their number was
    given."""
    by: str
    """``rmsd`` or ``torsions``."""


def clusters_of(
    distances: np.ndarray,
    frames: np.ndarray,
    times: np.ndarray,
    by: Measure,
    *,
    cutoff: float | None = None,
    number: int | None = None,
) -> Clusters:
    """Clusters by average linkage (SciPy's) of frames with distances (frames, frames).

    Clusters nearer than ``cutoff`` on average become one; where a ``number`` is given, so many are left at most.
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
    """√⟨2 (1 − cos Δφ)⟩ over torsions (frames, torsions) between every two frames [rad], shape (frames, frames): for
    small differences their root mean square."""
    angles = angles[:, np.isfinite(angles).all(axis=0)]
    c, s = np.cos(angles), np.sin(angles)
    alike = (c @ c.T + s @ s.T) / max(angles.shape[1], 1)
    found = np.sqrt(np.maximum(0.0, 2.0 * (1.0 - alike)))
    np.fill_diagonal(found, 0.0)
    return found
