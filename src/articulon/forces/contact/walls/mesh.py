"""Closed meshes."""

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
    """A closed surface of triangles, in a file or in numbers; spheres may be outside or inside of it.

    A sphere touches it where the distance from its centre is least: on a face, an edge or a corner, as often as there
    are such places whose normals differ by more than ``smooth_angle``. Flat edges between triangles are not felt.
    """

    shape: Literal["mesh"] = "mesh"
    file: str | None = None
    """STL, OBJ, PLY or OFF: a path beside the case."""
    sha256: str | None = None
    """Of the file, so that a run does not go on with another; found when the case is read."""
    file_unit: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = 1.0
    """The length that a 1 in the file is, such as ``"1 mm"`` [length]."""
    vertices: Annotated[tuple[Three, ...] | None, Dimension("length")] = None
    """Instead of a file: corners [length], shape (n, 3)."""
    triangles: tuple[tuple[Whole, Whole, Whole], ...] | None = None
    """Which of them each triangle has, counterclockwise as seen from outside, shape (m, 3)."""
    point: Annotated[Three, Dimension("length")] = STILL
    """Where the origin of its coordinates is, about which it also turns, world frame at t = 0 [length]."""
    smooth_angle: Annotated[Quantity, Dimension("angle", minimum=0)] = "10 deg"
    """Two places with normals closer than this are one contact, the deeper of the two: so an edge of a faceted drum
    counts once, and the corner of a room three times [angle]."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        numbers = (self.vertices is not None) + (self.triangles is not None)
        if numbers == 1 or (self.file is None) == (numbers == 0):
            raise ValueError("give either a file, or both vertices and triangles")
        if self.file is None and self.sha256 is not None:
            raise ValueError("sha256 is of a file, and there is none; leave it out")
        return self

    def beside(self, source: str, where: str) -> Self:
        """See :class:`Wall`."""
        return self if self.file is None else marked(self, "file", source, where)

    def surface(self, where: str) -> Surface:
        """The triangles in the wall's own frame; raises ModelError where they are not closed (``meshes.surface``)."""
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
