"""The atoms of a molecule as the shape of one body."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Flag, Quantity
from articulon.errors import ModelError
from articulon.inputs import clipped
from articulon.model.shapes.file_shape import FileShape


class Atoms(FileShape):
    """Atoms of a PDB or mmCIF file, drawn as spheres with van der Waals radii and element colours. Of the file, the
    first model and the first alternate location of each atom are used, without water."""

    positional: ClassVar[tuple[str, ...]] = ("file",)
    noun: ClassVar[str] = "structure file"
    kind: Literal["atoms"] = "atoms"
    file: str
    """Path, relative to the folder of the case file; in Python, relative to the working directory."""
    scale: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = "1 angstrom"
    """Length of one unit in the file [length]. Systems of units without a physical length need a plain number."""
    centred: Flag = False
    """Whether to move the centre of the atoms to the origin of the shape's frame."""
    sha256: str | None = None
    """SHA-256 of the file, written by the program to detect changes."""

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        raise ModelError(
            f"atoms {clipped(self.file)}: spheres of atoms overlap and define no density; give the body a mass and an "
            "inertia"
        )

    @property
    def unit(self) -> float:
        """Length of one unit in the file [length], for a shape of a model."""
        return self._number("scale", self.scale)
