"""The atoms of a molecule as the shape of one body."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Flag, Quantity
from articulon.errors import ModelError
from articulon.inputs import clipped
from articulon.model.shapes.file_shape import FileShape


class Atoms(FileShape):
    """The atoms of a PDB or mmCIF file, as balls of their van der Waals radii and in the colours of their elements:
    those of its first model, in their first places, without water."""

    positional: ClassVar[tuple[str, ...]] = ("file",)
    noun: ClassVar[str] = "structure file"
    kind: Literal["atoms"] = "atoms"
    file: str
    """A path from the folder of the case file or, in Python, from that of the process."""
    scale: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = "1 angstrom"
    """What a unit of the file is [length]; systems of units without a length need a number."""
    centred: Flag = False
    """Whether the middle of the atoms is the origin of the shape, wherever they are in the file."""
    sha256: str | None = None
    """Of the file, written by the program to tell when it has changed."""

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        raise ModelError(
            f"atoms {clipped(self.file)}: balls of atoms overlap, and have no density; give the body a mass and an "
            "inertia"
        )

    @property
    def unit(self) -> float:
        """What a unit of the file is [length], of a shape of a model."""
        return self._number("scale", self.scale)
