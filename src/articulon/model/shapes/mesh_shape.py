"""Shapes whose surface is read from a file."""

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
"""Number of meshes that are kept in memory after they are read."""


class Mesh(FileShape):
    """A surface that is read from an STL, OBJ, PLY or OFF file, or, if pycollada is installed, from a COLLADA file."""

    positional: ClassVar[tuple[str, ...]] = ("file",)
    noun: ClassVar[str] = "mesh file"
    kind: Literal["mesh"] = "mesh"
    file: str
    """Path, relative to the folder of the case file; in Python, relative to the working directory."""
    scale: Annotated[Quantity | Vector, Dimension("length")] = 1.0
    """Length of one unit in the file [length], such as ``"1 mm"``. Three numbers are lengths along the axes of the
    file; a negative number mirrors the surface."""
    sha256: str | None = None
    """SHA-256 of the file, written by the program to detect changes."""

    def _check(self) -> None:
        """See :class:`Shape`."""
        super()._check()
        several = isinstance(self.scale, tuple)
        for part in self.scale if isinstance(self.scale, tuple) else (self.scale,):
            if isinstance(part, float) and (part == 0.0 or (part < 0.0 and not several)):
                raise ValueError(f"scale: a mesh needs an extent; give one positive number, or three, got {self.scale}")

    def triangles(self, where: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices in the shape's frame [length], shape (n, 3), and the vertex indices of each triangle,
        shape (m, 3). Triangles are counter-clockwise as seen from outside if they are so in the file. Both arrays are
        read-only.

        Raises
        ------
        ModelError
            If the file is missing or cannot be read; the message names the file after ``where``.
        """
        given = self.scale if isinstance(self.scale, tuple) else (self.scale,) * 3
        x, y, z = (self._number("scale", part) for part in given)
        return _scaled(self.file, self.age, (x, y, z), where or f"mesh {clipped(self.file)}")

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        where = f"mesh {clipped(self.file)}"
        closed = surface(*self.triangles(where), where)
        volume, centre, inertia = volume_integrals(closed.vertices, closed.triangles)
        if volume <= 0.0:
            raise ModelError(f"{where}: its triangles are inside out, so that its volume is negative; reverse them")
        return volume, centre, inertia


@lru_cache(KEPT)
def _scaled(file: str, age: int, scale: tuple[float, float, float], where: str) -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = read_mesh(file, where)
    vertices = vertices * np.array(scale)
    if scale[0] * scale[1] * scale[2] < 0.0:
        # Mirroring reverses the orientation of triangles, so the order of their vertices is reversed as well.
        triangles = triangles[:, ::-1].copy()
    for array in (vertices, triangles):
        array.setflags(write=False)
    return vertices, triangles
