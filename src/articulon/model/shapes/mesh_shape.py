"""Shapes with a surface from a file."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from articulon.declaration import Dimension, Quantity, marked_path
from articulon.errors import ModelError
from articulon.inputs import clipped, is_file
from articulon.model.shapes.base import Shape, Vector
from articulon.model.surfaces import read_mesh, surface, volume_integrals

KEPT = 128
"""Number of meshes that are kept in memory once read."""


class Mesh(Shape):
    """A surface from a file: STL, OBJ, PLY or OFF, and COLLADA if pycollada is installed."""

    positional: ClassVar[tuple[str, ...]] = ("file",)
    kind: Literal["mesh"] = "mesh"
    file: str
    """Path, relative to the folder of the case file or, in Python, to the working directory."""
    scale: Annotated[Quantity | Vector, Dimension("length")] = 1.0
    """Length of one unit in the file [length], as in ``"1 mm"``; or three numbers along the axes of the file, where a
    negative one mirrors."""
    sha256: str | None = None
    """SHA-256 of the file, written by the program to detect changes."""

    def _check(self) -> None:
        """See :class:`Shape`."""
        super()._check()
        several = isinstance(self.scale, tuple)
        for part in self.scale if isinstance(self.scale, tuple) else (self.scale,):
            if isinstance(part, float) and (part == 0.0 or (part < 0.0 and not several)):
                raise ValueError(f"scale: a mesh needs an extent; give one positive number, or three, got {self.scale}")

    def beside(self, source: str, where: str, whose: str = "") -> Self:
        """Return a copy whose file is resolved relative to a case file and marked with its hash; raises CaseError,
        naming the key ``where`` and the owner ``whose``, if the file is missing or has changed."""
        file, mark = marked_path(self.file, self.sha256, source, f"{where}.file{whose}", f"{where}.sha256")
        return self.model_copy(update={"file": file, "sha256": mark})

    def found(self, where: str) -> Self:
        """Return a copy with the full path of its file and the hash of its contents; raises ModelError if it is missing
        or has changed."""
        path = Path(self.file)
        if not is_file(path):
            raise ModelError(f"{where}: there is no mesh file {clipped(self.file)}")
        try:
            mark = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise ModelError(f"{where}: {clipped(path)} cannot be read: {error.strerror}") from None
        if self.sha256 not in (None, mark):
            raise ModelError(f"{where}: {path} does not match sha256; leave that key out")
        return self.model_copy(update={"file": str(path.resolve()), "sha256": mark})

    def triangles(self, where: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Return vertices in the shape's frame [length], shape (n, 3), and vertex indices of each triangle, shape (m,
        3), counter-clockwise as seen from outside if the file has them so; both read-only.

        Raises
        ------
        ModelError
            Naming the file, after ``where``, if it is missing or cannot be read.
        """
        given = self.scale if isinstance(self.scale, tuple) else (self.scale,) * 3
        x, y, z = (self._number("scale", part) for part in given)
        try:
            age = Path(self.file).stat().st_mtime_ns
        except (OSError, ValueError):
            age = 0
        return _scaled(self.file, age, (x, y, z), where or f"mesh {clipped(self.file)}")

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
        # Mirroring reverses the orientation: counter-clockwise becomes clockwise.
        triangles = triangles[:, ::-1].copy()
    for array in (vertices, triangles):
        array.setflags(write=False)
    return vertices, triangles
