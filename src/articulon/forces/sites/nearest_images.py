"""Nearest images in a periodic box."""

import numpy as np

from articulon.forces.sites.site_tables import Cell
from articulon.kernels import jit
from articulon.model import Model


def cell_of(model: Model) -> Cell:
    """Return the box of a model as the kernels read it."""
    if model.box is None:
        return Cell(np.eye(3), np.eye(3), np.zeros(3), np.zeros(3, dtype=np.int64))
    vectors = model.box.vectors
    origin = np.array([float(value) for value in model.box.origin])
    return Cell(vectors, np.linalg.inv(vectors), origin, model.box.periodic.astype(np.int64))


def widths(model: Model) -> np.ndarray:
    """Distances between opposite faces of the box [length], shape (3,); infinite where it is not periodic."""
    found = np.full(3, np.inf)
    if model.box is not None:
        found[model.box.periodic] = widths_of(model.box.vectors)[model.box.periodic]
    return found


def widths_of(edges: np.ndarray) -> np.ndarray:
    """Distances between opposite faces of a box with edges (3, 3) [length], shape (3,)."""
    return 1.0 / np.linalg.norm(np.linalg.inv(edges), axis=0)


@jit
def minimum_image(cell, dx, dy, dz):
    """Displacement minus whole edges: the shortest of all images if it is below half the box's smallest width."""
    vectors, inverse, periodic = cell.vectors, cell.inverse, cell.periodic
    if periodic[2] != 0:
        k = np.rint(dz * inverse[2, 2])
        dx, dy, dz = dx - k * vectors[2, 0], dy - k * vectors[2, 1], dz - k * vectors[2, 2]
    if periodic[1] != 0:
        k = np.rint(dy * inverse[1, 1])
        dx, dy = dx - k * vectors[1, 0], dy - k * vectors[1, 1]
    if periodic[0] != 0:
        dx -= np.rint(dx * inverse[0, 0]) * vectors[0, 0]
    return dx, dy, dz
