"""Molecules through the faces of a periodic box: put together when they are read, and wrapped when they are written."""

from collections import deque

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def nearest(displacements: np.ndarray, edges: np.ndarray, periodic: np.ndarray) -> np.ndarray:
    """Displacements (n, 3) less whole edges of the periodic directions; the shortest below half the least width."""
    d = displacements.copy()
    for k in (2, 1, 0):
        if periodic[k]:
            d -= np.rint(d[:, k] / edges[k, k])[:, None] * edges[k]
    return d


def along_bonds(positions: np.ndarray, pairs: np.ndarray, edges: np.ndarray, periodic: np.ndarray) -> np.ndarray:
    """Positions (atoms, 3) in which each atom of a molecule lies by the nearest image beside the one that it is bonded
    to, from the first atom on; pairs (bonds, 2) are followed in their order."""
    found = positions.copy()
    neighbours = partners(pairs, len(positions))
    seen = np.zeros(len(positions), dtype=bool)
    for start in range(len(positions)):
        if seen[start] or not neighbours[start]:
            continue
        seen[start] = True
        waiting = deque([start])
        while waiting:
            i = waiting.popleft()
            new = [j for j in neighbours[i] if not seen[j]]
            if new:
                found[new] = found[i] + nearest(positions[new] - positions[i], edges, periodic)
                seen[new] = True
                waiting.extend(new)
    return found


def joined_pieces(
    positions: np.ndarray, bonds: np.ndarray, pairs: np.ndarray, edges: np.ndarray, periodic: np.ndarray
) -> np.ndarray:
    """Positions (atoms, 3) in which molecules are put together along their bonds, and what no bonds join along pairs
    (n, 2) besides, each by the nearest image to what is there already."""
    found = along_bonds(positions, bonds, edges, periodic)
    if not len(pairs):
        return found
    graph = coo_array((np.ones(len(bonds)), (bonds[:, 0], bonds[:, 1])), shape=(len(positions),) * 2)
    piece = connected_components(graph, directed=False)[1]
    for i, j in pairs.tolist():
        if piece[i] != piece[j]:
            moved = piece == piece[j]
            d = found[j] - found[i]
            found[moved] += nearest(d[None], edges, periodic)[0] - d
            piece[moved] = piece[i]
    return found


def partners(pairs: np.ndarray, count: int) -> list[list[int]]:
    """Who each of ``count`` is paired with, in the order of the pairs (n, 2)."""
    found: list[list[int]] = [[] for _ in range(count)]
    for i, j in pairs.tolist():
        found[i].append(j)
        found[j].append(i)
    return found


def unwrapped(positions: np.ndarray, images: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Positions with their edges added, (atoms, 3)."""
    return positions + _shifts(images, edges)


def wrapped(
    positions: np.ndarray, origin: np.ndarray, edges: np.ndarray, periodic: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions within the box and the edges to add to them, (atoms, 3) each, where it is periodic.

    Sums are those of :func:`unwrapped` backwards: what it has given comes back to the last bit or the one before.
    """
    images = np.floor((positions - origin) @ np.linalg.inv(edges)).astype(np.int64)
    images[:, ~periodic] = 0
    return positions - _shifts(images, edges), images


def _shifts(images: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return images[:, :1] * edges[0] + (images[:, 1:2] * edges[1] + images[:, 2:] * edges[2])
