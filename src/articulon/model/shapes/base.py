"""Base class of shapes: position and rotation in the frame of the body, volume, centre and inertia."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import CaseError, ModelError
from articulon.inputs import shown
from articulon.model import body_checks
from articulon.model.array_rotations import matrices
from articulon.units import UnitSystem

Vector = tuple[Quantity, Quantity, Quantity]
Rotation = tuple[Quantity, Quantity, Quantity, Quantity]


class Shape(Declaration):
    """Appearance of a body, or of a part of it. A shape has no effect except its appearance, unless a density is given.

    Plain numbers are in the units of the model, and so are :attr:`volume`, :attr:`centre` and :meth:`inertia`. These
    need all quantities as plain numbers: use a shape of a model, or first convert quantities with units by
    :meth:`resolved`.
    """

    if TYPE_CHECKING:
        kind: str

    position: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """Origin of the shape's frame in the body's frame [length]."""
    rotation: Annotated[Rotation, Dimension("dimensionless")] = (1.0, 0.0, 0.0, 0.0)
    """Rotation from the shape's frame to the body's frame: Euler parameters, scalar first."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self._check()
        return self

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """See :meth:`Declaration.resolved`; also checks quantities given with units."""
        made = super().resolved(units, where)
        try:
            made._check()
        except ValueError as reason:
            raise CaseError(f"{where}.{reason}" if where else str(reason)) from None
        return made

    def _check(self) -> None:
        """Raises ValueError, naming the key, for invalid numbers; text with units is not checked."""
        if all(isinstance(value, float) for value in self.rotation):
            try:
                body_checks.unit_quaternions(np.array([self.rotation], dtype=float), lambda _: "rotation")
            except ModelError as reason:
                raise ValueError(str(reason)) from None

    @property
    def place(self) -> np.ndarray:
        """Origin of the shape's frame in the body's frame [length], shape (3,)."""
        return np.array([self._number("position", x) for x in self.position])

    @property
    def turn(self) -> np.ndarray:
        """Rotation from the shape's frame to the body's frame, unit Euler parameters, shape (4,)."""
        given = np.array([[self._number("rotation", x) for x in self.rotation]])
        return body_checks.unit_quaternions(given, lambda _: "rotation")[0]

    @property
    def volume(self) -> float:
        """Volume [length³]; raises ModelError for a mesh that is not closed."""
        return self._measures()[0]

    @property
    def centre(self) -> np.ndarray:
        """Centre of the volume in the body's frame [length], shape (3,)."""
        return np.asarray(self.place + matrices(self.turn) @ self._measures()[1])

    def inertia(self, density: float) -> np.ndarray:
        """Inertia of a uniform body about :attr:`centre`, along the axes of the body's frame [mass length²], shape (3,
        3).

        Parameters
        ----------
        density
            Density [mass/length³].
        """
        R = matrices(self.turn)
        return np.asarray(R @ (density * self._measures()[2]) @ R.T)

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Volume, its centre (3,), and the inertia about the centre for density 1 (3, 3), in the shape's own frame."""
        raise NotImplementedError  # implemented by subclasses

    def _number(self, key: str, value: float | str) -> float:
        """Return a quantity as a number; raises ModelError if it is text with a unit."""
        if isinstance(value, str):
            raise ModelError(
                f"{key}: {shown(value)} has a unit; use the shape of a model, or "
                f"{type(self).__name__}(...).resolved(units)"
            )
        return float(value)
