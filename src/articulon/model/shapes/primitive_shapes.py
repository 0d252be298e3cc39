"""Shapes defined by a few lengths."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.model.shapes.base import Shape, Vector


class Sphere(Shape):
    """A solid sphere centred at the origin of its frame."""

    positional: ClassVar[tuple[str, ...]] = ("radius",)
    kind: Literal["sphere"] = "sphere"
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius [length]."""

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        r = self._number("radius", self.radius)
        volume = 4.0 / 3.0 * np.pi * r**3
        return volume, np.zeros(3), 0.4 * volume * r * r * np.eye(3)


class Cylinder(Shape):
    """A cylinder along the z axis of its frame, centred at the origin."""

    kind: Literal["cylinder"] = "cylinder"
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius [length]."""
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Length from end to end [length]."""

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        r, l = self._number("radius", self.radius), self._number("length", self.length)  # noqa: E741
        volume = np.pi * r * r * l
        across = (3.0 * r * r + l * l) / 12.0
        return volume, np.zeros(3), volume * np.diag([across, across, 0.5 * r * r])


class Capsule(Shape):
    """A cylinder with a hemisphere on each end, along the z axis of its frame, centred at the origin."""

    kind: Literal["capsule"] = "capsule"
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of the cylinder and of the hemispheres [length]."""
    length: Annotated[Quantity, Dimension("length", minimum=0)]
    """Distance between the centres of the hemispheres [length]."""

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        r, l = self._number("radius", self.radius), self._number("length", self.length)  # noqa: E741
        middle, ends = np.pi * r * r * l, 4.0 / 3.0 * np.pi * r**3
        # The distance from a hemisphere's flat side to its centre of mass is 3/8 r.
        across = middle * (3.0 * r * r + l * l) / 12.0 + ends * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r)
        along = middle * 0.5 * r * r + ends * 0.4 * r * r
        return middle + ends, np.zeros(3), np.diag([across, across, along])


class Box(Shape):
    """A box along the axes of its frame, centred at the origin."""

    positional: ClassVar[tuple[str, ...]] = ("size",)
    kind: Literal["box"] = "box"
    size: Annotated[Vector, Dimension("length", minimum=0, exclusive=True)]
    """Edges along x, y and z [length]."""

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        a, b, c = (self._number("size", edge) for edge in self.size)
        volume = a * b * c
        return volume, np.zeros(3), volume / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
