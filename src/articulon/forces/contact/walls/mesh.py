"""Closed triangle meshes as walls."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Dimension, Quantity, Whole, marked
from articulon.forces.contact.walls.wall_base import STILL, MovingWall, Three, WallPart, vector
from articulon.model import Model
from articulon.model.surfaces import Surface, read_mesh, surface


class Mesh(MovingWall):
    """A closed surface of triangles, from a file or from numbers; spheres may be outside or inside.

    A sphere touches it at every local minimum of the distance from its centre, on a face, an edge or a corner, if the
    normals differ by more than ``smooth_angle``. Flat edges between triangles have no effect.
    """

    shape: Literal["mesh"] = "mesh"
    file: str | None = None
    """STL, OBJ, PLY or OFF file: a path relative to the case."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run is not continued with another one; computed when the case is read."""
    file_unit: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = 1.0
    """Length of one unit in the file, such as ``"1 mm"`` [length]."""
    vertices: Annotated[tuple[Three, ...] | None, Dimension("length")] = None
    """Vertices, in place of a file [length], shape (n, 3)."""
    triangles: tuple[tuple[Whole, Whole, Whole], ...] | None = None
    """Vertex indices of each triangle, counterclockwise as seen from outside, shape (m, 3)."""
    point: Annotated[Three, Dimension("length")] = STILL
    """Position of the origin of its coordinates, about which it also rotates, world frame at t = 0 [length]."""
    smooth_angle: Annotated[Quantity, Dimension("angle", minimum=0)] = "10 deg"
    """Two places whose normals differ by less than this are one contact, the deeper of the two: an edge of a faceted
    drum counts once, and the corner of a room three times [angle]."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        numbers = (self.vertices is not None) + (self.triangles is not None)
        if numbers == 1 or (self.file is None) == (numbers == 0):
            raise ValueError("give either a file, or both vertices and triangles")
        if self.file is None and self.sha256 is not None:
            raise ValueError("sha256 belongs to a file, and none is given; leave it out")
        return self

    def beside(self, source: str, where: str) -> Self:
        """See :class:`Wall`."""
        return self if self.file is None else marked(self, "file", source, where)

    def surface(self, where: str) -> Surface:
        """Return the triangles in the wall's own frame; raises ModelError if they are not closed
        (``meshes.surface``)."""
        if self.file is None:
            return surface(np.array(self.vertices, dtype=np.float64), np.array(self.triangles), where)
        path = Path(self.file)
        changed = path.stat().st_mtime_ns if path.is_file() else 0
        return _surface_of(self.file, changed, float(self.file_unit), where)

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """See :class:`Wall`."""
        motion = self.motion(vector(self.point))
        return [WallPart.mesh(called, self.kind, self.surface(where), float(self.smooth_angle), motion)]


@lru_cache(maxsize=8)
def _surface_of(file: str, changed: int, unit: float, where: str) -> Surface:
    vertices, triangles = read_mesh(file, f"{where}.file")
    return surface(vertices * unit, triangles, f"{where}: {file}")
