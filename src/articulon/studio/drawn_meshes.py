"""Preparation of meshes from files for drawing: they are smooth except at sharp edges, and not finer than a page can
handle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from articulon.studio.solids import Solids
from articulon.studio.unit_meshes import Mesh

MOST_TRIANGLES = 120_000
"""Largest number of triangles of all meshes of a model together; it keeps a page below 5 MB."""
SHARP = np.cos(np.radians(40.0))
"""Cosine of the angle between the normals of two triangles above which their common edge is sharp."""
FINEST = 256
"""Largest number of cells along a mesh. If the mesh is too fine, the corners in each cell are merged."""


class MeshSolids(NamedTuple):
    """Instances of one mesh, each fixed on a body or on the ground."""

    mesh: Mesh
    """Mesh with its origin at the centre of its bounding box [length]."""
    half: np.ndarray
    """Half extents of the mesh along its axes [length], shape (3,)."""
    solids: Solids
    """Poses of the instances; all sizes are 1."""


def drawn(vertices: np.ndarray, triangles: np.ndarray, most: int) -> tuple[Mesh, np.ndarray, np.ndarray]:
    """Return a mesh of about ``most`` triangles or fewer, with its origin at the centre of its bounding box. Return
    also this centre (3,) and the half extents (3,) of the box [length]."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    places, corner = np.unique(vertices - middle, axis=0, return_inverse=True)
    triangles = corner.reshape(-1)[triangles]
    cells = FINEST
    while len(triangles) > most and cells >= 2:
        places, triangles = _coarser(places, triangles, 2.0 * half, cells)
        cells //= 2
    return smooth(places, triangles), middle, half


def _coarser(
    places: np.ndarray, triangles: np.ndarray, extent: np.ndarray, cells: int
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the corners of a mesh that lie in the same cell of a lattice into their mean, and remove triangles that
    have no area after this. The lattice has ``cells`` cells along the longest side of the mesh's ``extent`` (3,)
    [length]."""
    edge = float(extent.max()) / cells or 1.0
    _, cell = np.unique(np.floor(places / edge), axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    number = np.bincount(cell)
    middles = np.stack([np.bincount(cell, weights=x) / number for x in places.T], axis=1)
    met = cell[triangles]
    a, b, c = met.T
    met = met[(a != b) & (b != c) & (c != a)]
    # The two surfaces of a thin part may now coincide; one of them is enough.
    _, first = np.unique(np.sort(met, axis=1), axis=0, return_index=True)
    return middles, met[np.sort(first)]


def smooth(places: np.ndarray, triangles: np.ndarray) -> Mesh:
    """Return a mesh in which triangles share corners at smooth parts of the surface, and have separate corners along
    sharp edges.

    Pages shade a surface by the mean of the normals about each corner. Two triangles share a corner if they share a
    side and the angle between them is smaller than at a sharp edge, or if a chain of such triangles connects them.
    """
    a, b, c = (places[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    sizes = np.linalg.norm(normals, axis=1)
    triangles, normals = triangles[sizes > 0.0], normals[sizes > 0.0] / sizes[sizes > 0.0, None]
    count = len(triangles)
    # A side occurs in both of its triangles. Corner k of triangle t has the number 3 t + k.
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    numbered = np.arange(3 * count).reshape(-1, 3)
    corners = np.stack([numbered, np.roll(numbered, -1, axis=1)], axis=2).reshape(-1, 2)
    turned = ends[:, 0] > ends[:, 1]
    ends[turned], corners[turned] = ends[turned][:, ::-1], corners[turned][:, ::-1]
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, corners = ends[order], corners[order]
    same = np.flatnonzero((ends[1:] == ends[:-1]).all(axis=1))
    one, other = corners[same], corners[same + 1]
    flat = np.einsum("ij,ij->i", normals[one[:, 0] // 3], normals[other[:, 0] // 3]) > SHARP
    pairs = np.concatenate([np.stack([one[flat, k], other[flat, k]], axis=1) for k in (0, 1)])
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(3 * count, 3 * count))
    number, shared = connected_components(graph, directed=False)
    vertices = np.empty((number, 3))
    vertices[shared] = places[triangles.reshape(-1)]
    return Mesh(vertices, shared.reshape(-1, 3))
