"""The box of a model: where space repeats, ends, or goes on."""

from typing import Annotated, Literal

import numpy as np
from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity

Boundary = Literal["periodic", "open", "reflecting"]


class Box(Declaration):
    """A parallelepiped with the edges a = (lx, 0, 0), b = (xy, ly, 0) and c = (xz, yz, lz).

    Coordinates are never wrapped: a periodic direction repeats the forces, not the positions.
    """

    lengths: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length", minimum=0, exclusive=True)]
    """lx, ly and lz [length]."""
    tilts: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] = (0.0, 0.0, 0.0)
    """xy, xz and yz, none beyond half of the length that it tilts along [length]."""
    boundaries: tuple[Boundary, Boundary, Boundary] = ("periodic", "periodic", "periodic")
    """In the direction of each edge: space repeats, goes on beyond the box, or throws particles back."""
    origin: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] = (0.0, 0.0, 0.0)
    """The corner from which the edges start [length]."""

    @model_validator(mode="after")
    def _possible(self) -> "Box":
        numbers = [value for value in (*self.lengths, *self.tilts) if isinstance(value, float)]
        if len(numbers) < 6:
            return self
        (lx, ly, _), (xy, xz, yz) = self.lengths, self.tilts
        for name, tilt, length in (("xy", xy, lx), ("xz", xz, lx), ("yz", yz, ly)):
            if float(length) > 0.0 and abs(float(tilt)) > 0.5 * float(length) * (1.0 + 1e-12):
                raise ValueError(f"tilts: {name} = {tilt:g} is beyond half of {length:g}; take off whole edges from it")
        if any(map(float, self.tilts)) and "reflecting" in self.boundaries:
            raise ValueError("boundaries: a tilted box has no reflecting walls; leave out the tilts")
        return self

    @property
    def vectors(self) -> np.ndarray:
        """The edges, one a row [length], shape (3, 3)."""
        (lx, ly, lz), (xy, xz, yz) = ([float(v) for v in group] for group in (self.lengths, self.tilts))
        return np.array([[lx, 0.0, 0.0], [xy, ly, 0.0], [xz, yz, lz]])

    @property
    def volume(self) -> float:
        """[length³]."""
        return float(np.prod([float(v) for v in self.lengths]))

    @property
    def periodic(self) -> np.ndarray:
        """Which directions are periodic, shape (3,)."""
        return np.array([kind == "periodic" for kind in self.boundaries])
