"""Shapes whose surface is in a file."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.errors import ModelError
from articulon.inputs import clipped
from articulon.model.shapes.base import Vector
from articulon.model.shapes.file_shape import FileShape
from articulon.model.surfaces import read_mesh, surface, volume_integrals

KEPT = 128
"""So many meshes are kept in memory once they have been read."""


class Mesh(FileShape):
    """The surface in a file: STL, OBJ, PLY or OFF, and COLLADA where pycollada is installed."""

    positional: ClassVar[tuple[str, ...]] = ("file",)
    noun: ClassVar[str] = "mesh file"
    kind: Literal["mesh"] = "mesh"
    file: str
    """A path from the folder of the case file or, in Python, from that of the process."""
    scale: Annotated[Quantity | Vector, Dimension("length")] = 1.0
    """What a unit of the file is [length], as in ``"1 mm"``; three numbers along the axes of the file, of which a
    negative one mirrors."""
    sha256: str | None = None
    """Of the file, written by the program to tell when it has changed."""

    def _check(self) -> None:
        """See :class:`Shape`."""
        super()._check()
        several = isinstance(self.scale, tuple)
        for part in self.scale if isinstance(self.scale, tuple) else (self.scale,):
            if isinstance(part, float) and (part == 0.0 or (part < 0.0 and not several)):
                raise ValueError(f"scale: a mesh needs an extent; give one positive number, or three, got {self.scale}")

    def triangles(self, where: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Corners in the shape's frame [length], shape (n, 3), and which of them each triangle has, shape (m, 3),
        counter-clockwise as seen from outside where the file has them so; both read-only.

        Raises
        ------
        ModelError
            Naming the file, after ``where``, if it cannot be read or is not there.
        """
        given = self.scale if isinstance(self.scale, tuple) else (self.scale,) * 3
        x, y, z = (self._number("scale", part) for part in given)
        return _scaled(self.file, self.age, (x, y, z), where or f"mesh {clipped(self.file)}")

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        where = f"mesh {clipped(self.file)}"
        closed = surface(*self.triangles(where), where)
        volume, centre, inertia = volume_integrals(closed.vertices, closed.triangles)
        if volume <= 0.0:
            raise ModelError(f"{where}: its triangles are inside out, so that it holds no volume; turn them round")
        return volume, centre, inertia


@lru_cache(KEPT)
def _scaled(file: str, age: int, scale: tuple[float, float, float], where: str) -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = read_mesh(file, where)
    vertices = vertices * np.array(scale)
    if scale[0] * scale[1] * scale[2] < 0.0:
        # Mirrored, what was counter-clockwise from outside is so from inside.
        triangles = triangles[:, ::-1].copy()
    for array in (vertices, triangles):
        array.setflags(write=False)
    return vertices, triangles
