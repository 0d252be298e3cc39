"""Periodic images of molecules: make them whole on reading, and wrap them into the box on writing."""

from collections import deque

import numpy as np
import scipy


def nearest(displacements: np.ndarray, edges: np.ndarray, periodic: np.ndarray) -> np.ndarray:
    """Subtract whole box edges along the periodic directions from displacements (n, 3). The results are the shortest
    images if these are not longer than half the box width."""
    d = displacements.copy()
    for k in (2, 1, 0):
        if periodic[k]:
            d -= np.rint(d[:, k] / edges[k, k])[:, None] * edges[k]
    return d


def along_bonds(positions: np.ndarray, pairs: np.ndarray, edges: np.ndarray, periodic: np.ndarray) -> np.ndarray:
    """Return positions (atoms, 3) in which each atom lies at the image nearest to its bonded partner. The search starts
    at the first atom of each molecule and follows the pairs (bonds, 2) in their order."""
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
    """Return positions (atoms, 3) in which molecules are whole along their bonds. Additional pairs (n, 2) connect atoms
    without bonds: the unplaced atoms move to the image nearest to the atoms already placed."""
    found = along_bonds(positions, bonds, edges, periodic)
    if not len(pairs):
        return found
    graph = scipy.sparse.coo_array((np.ones(len(bonds)), (bonds[:, 0], bonds[:, 1])), shape=(len(positions),) * 2)
    piece = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    for i, j in pairs.tolist():
        if piece[i] != piece[j]:
            moved = piece == piece[j]
            d = found[j] - found[i]
            found[moved] += nearest(d[None], edges, periodic)[0] - d
            piece[moved] = piece[i]
    return found


def partners(pairs: np.ndarray, count: int) -> list[list[int]]:
    """Return the partners of each of ``count`` atoms, in the order of the pairs (n, 2)."""
    found: list[list[int]] = [[] for _ in range(count)]
    for i, j in pairs.tolist():
        found[i].append(j)
        found[j].append(i)
    return found


def unwrapped(positions: np.ndarray, images: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return positions with the box edges of their image flags added, (atoms, 3)."""
    return positions + _shifts(images, edges)


def wrapped(
    positions: np.ndarray, origin: np.ndarray, edges: np.ndarray, periodic: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions wrapped into the box along its periodic directions, and the numbers of edges to add to them,
    (atoms, 3) each.

    :func:`unwrapped` recovers the given positions to within the last bit.
    """
    images = np.floor((positions - origin) @ np.linalg.inv(edges)).astype(np.int64)
    images[:, ~periodic] = 0
    return positions - _shifts(images, edges), images


def _shifts(images: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return images[:, :1] * edges[0] + (images[:, 1:2] * edges[1] + images[:, 2:] * edges[2])
