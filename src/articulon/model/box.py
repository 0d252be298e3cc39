"""The box of a model: periodic, reflecting or open boundaries."""

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import CaseError
from articulon.units import UnitSystem

Boundary = Literal["periodic", "open", "reflecting"]

LONGEST = 1e100
"""Longest edge of a box; its inverse is the shortest. The volumes of such boxes, and the inverses of the volumes, are
within the range of floats."""


def volume_of(edges: np.ndarray) -> float:
    """Volume of a box with edges as rows: the first along x, the second in the plane of x and y [length³]."""
    return float(edges[0, 0] * edges[1, 1] * edges[2, 2])


class Box(Declaration):
    """A parallelepiped with the edges a = (lx, 0, 0), b = (xy, ly, 0) and c = (xz, yz, lz).

    Coordinates are never wrapped: a periodic direction repeats the forces, not the positions.
    """

    positional: ClassVar[tuple[str, ...]] = ("lengths",)
    lengths: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length", minimum=0, exclusive=True)]
    """lx, ly and lz [length]."""
    tilts: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] = (0.0, 0.0, 0.0)
    """xy, xz and yz; none is larger than half of the length in the direction of its tilt [length]."""
    boundaries: tuple[Boundary, Boundary, Boundary] = ("periodic", "periodic", "periodic")
    """Boundary in the direction of each edge: periodic, open, or reflecting for particles."""
    origin: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] = (0.0, 0.0, 0.0)
    """Corner from which the edges start [length]."""

    @model_validator(mode="after")
    def _possible(self) -> "Box":
        if all(isinstance(value, float) for value in (*self.lengths, *self.tilts)):
            self._check("")
        return self

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """See :meth:`Declaration.resolved`; also checks lengths and tilts given with units."""
        made = super().resolved(units, where)
        try:
            made._check(f"{where}." if where else "")
        except ValueError as reason:
            raise CaseError(str(reason)) from None
        return made

    def _check(self, where: str) -> None:
        """Raises ValueError for edges that are too short or too long to compute with, for tilts that are too large, and
        for tilts in a box with walls."""
        lengths, tilts = (tuple(map(float, group)) for group in (self.lengths, self.tilts))
        for length in lengths:
            if length > 0.0 and not 1.0 / LONGEST <= length <= LONGEST:
                raise ValueError(
                    f"{where}lengths: expected from {1.0 / LONGEST:g} to {LONGEST:g}, so that volumes can be "
                    f"calculated, got {length:g}"
                )
        for name, tilt, length in zip(("xy", "xz", "yz"), tilts, (lengths[0], lengths[0], lengths[1]), strict=True):
            if length > 0.0 and abs(tilt) > 0.5 * length * (1.0 + 1e-12):
                raise ValueError(
                    f"{where}tilts: {name} = {tilt:g} is larger than half of {length:g}; subtract whole edges from it"
                )
        if any(tilts) and "reflecting" in self.boundaries:
            raise ValueError(f"{where}boundaries: a tilted box cannot have reflecting walls; leave out the tilts")

    @property
    def vectors(self) -> np.ndarray:
        """The edges as rows [length], shape (3, 3)."""
        (lx, ly, lz), (xy, xz, yz) = ([float(v) for v in group] for group in (self.lengths, self.tilts))
        return np.array([[lx, 0.0, 0.0], [xy, ly, 0.0], [xz, yz, lz]])

    @property
    def volume(self) -> float:
        """Volume [length³]."""
        return volume_of(self.vectors)

    @property
    def periodic(self) -> np.ndarray:
        """Whether each direction is periodic, shape (3,)."""
        return np.array([kind == "periodic" for kind in self.boundaries])
