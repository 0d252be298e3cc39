"""Distances of spheres from walls at given coordinates; used at the start of a run."""

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

from articulon.algebra.vectors import add, apply, load, sub
from articulon.forces.contact.wall_lists import cell_of, image, repeats
from articulon.forces.contact.wall_motion import place_walls, rotation_of
from articulon.forces.contact.wall_shapes import MESH, OUTSIDE, triangle_gap
from articulon.forces.contact.wall_tables import wall_tables
from articulon.forces.contact.wall_touching import in_wall_frame, smooth_gap
from articulon.forces.contact.walls import parts_of
from articulon.forces.sites import nearest_images
from articulon.kernels import kernel, prepare
from articulon.model import Model


@kernel
def fill_gaps(walls, cell, x, reach, result):
    """Compute distances of points from the nearest images of walls at t = 0; ``reach`` if a mesh is farther."""
    place_walls(walls, 0.0)
    for s in range(x.shape[0]):
        for w in range(walls.shape.size):
            result[s, w] = np.inf
            wraps = walls.shape[w] == MESH or walls.shape[w] == OUTSIDE
            middle = add(load(walls.pose, w), apply(rotation_of(walls.pose, w), load(walls.centre, w)))
            for k in range(27 if wraps else 1):
                if not repeats(walls, cell, w, k):
                    continue
                at = load(x, s)
                if wraps:
                    at = add(at, image(cell, sub(at, middle), k))
                gap = reach
                if walls.shape[w] != MESH:
                    gap = smooth_gap(walls, w, at)[0]
                else:
                    y = in_wall_frame(walls, w, at)
                    c = cell_of(walls, w, y)
                    if c >= 0:
                        for m in range(walls.start[c], walls.start[c + 1]):
                            gap = min(gap, triangle_gap(walls.corners, walls.near[m], y)[0])
                result[s, w] = min(result[s, w], gap)


def wall_gaps(
    model: Model, walls: Sequence[Any], materials: Sequence[str], x: np.ndarray, reach: float
) -> tuple[list[str], np.ndarray]:
    """Names of the walls, and their distances from points at t = 0.

    Parameters
    ----------
    walls
        Declared walls, whose kinds are among ``materials``.
    x
        Points, world frame [length], shape (points, 3).
    reach
        Distance up to which meshes are searched [length].

    Returns
    -------
    tuple
        Names, and distances [length], negative behind a plane or cylinder, shape (points, walls).
    """
    parts = parts_of(walls, model, "walls")
    result = np.full((len(x), len(parts)), reach)
    if parts and len(x):
        tables, cell = wall_tables(parts, materials, reach), nearest_images.cell_of(model)
        taken = tables, cell, np.ascontiguousarray(x, dtype=np.float64), float(reach), result
        prepare(fill_gaps, numba.void(*map(numba.typeof, taken)))(*taken)
    return [part.name for part in parts], result
