"""Base classes of walls: the declaration, and the planes, cylinders and closed meshes of which a wall consists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.model import Model
from articulon.model.surfaces import Surface

Three: TypeAlias = tuple[Quantity, Quantity, Quantity]
STILL: Three = (0.0, 0.0, 0.0)


class WallPart(NamedTuple):
    """A plane, a cylinder or a mesh that spheres touch: a part of a wall."""

    name: str
    """Name used in messages."""
    shape: str
    """``plane``, ``inside`` or ``outside`` of a cylinder, or ``mesh``."""
    kind: str
    """Material of the part."""
    direction: np.ndarray
    """Normal or axis, a unit vector in the wall's frame, shape (3,)."""
    radius: float
    """Radius of a cylinder [length]."""
    motion: np.ndarray
    """Prescribed motion; see :meth:`MovingWall.motion`, shape (13,)."""
    surface: Surface | None
    """Surface of a mesh."""
    smooth: float
    """Angle between normals below which two places on a mesh count as one contact [rad]."""

    @property
    def moves(self) -> bool:
        """Whether the part has a prescribed motion."""
        return bool(self.motion[3:12].any())

    @classmethod
    def plane(cls, name: str, kind: str, normal: np.ndarray, motion: np.ndarray) -> WallPart:
        """The half-space behind a plane through the wall's reference point, with a unit normal that points out of the
        solid."""
        return cls(name, "plane", kind, normal, 0.0, motion, None, 0.0)

    @classmethod
    def cylinder(
        cls, name: str, kind: str, axis: np.ndarray, radius: float, motion: np.ndarray, inside: bool = True
    ) -> WallPart:
        """The inside or the outside of a cylinder without end caps, with a unit axis through the wall's reference
        point."""
        return cls(name, "inside" if inside else "outside", kind, axis, radius, motion, None, 0.0)

    @classmethod
    def mesh(cls, name: str, kind: str, surface: Surface, smooth: float, motion: np.ndarray) -> WallPart:
        """A closed surface whose coordinates are relative to the wall's reference point."""
        return cls(name, "mesh", kind, np.zeros(3), 0.0, motion, surface, smooth)


class Wall(Declaration):
    """Base of the walls. A derived class has a ``shape``, which selects it, and returns its parts."""

    error_class: ClassVar = ModelError

    name: str | None = None
    """Name of the wall in messages; its number and shape by default."""
    kind: Annotated[str, Field(min_length=1)]
    """Material of the wall."""

    def beside(self, source: str, where: str) -> Self:
        """Return a copy whose files, if any, are resolved relative to a case file and marked with their hashes.

        Raises
        ------
        CaseError
            If a file is missing or has changed; ``where`` names the wall.
        """
        return self

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """Return the planes, cylinders and meshes of which the wall consists, in the units of the model.

        Parameters
        ----------
        model
            Model with the spheres.
        called
            Name of the wall in messages, such as ``"walls[0], a plane,"``.
        where
            Path of keys to the wall.

        Raises
        ------
        ModelError
            If the model cannot have such a wall.
        """
        raise NotImplementedError


class MovingWall(Wall):
    """Base of walls with a prescribed motion, which contacts do not influence: the reference point is at p(t) = p + v t
    + A sin(2π f t), and the wall is rotated about it by ω t."""

    velocity: Annotated[Three, Dimension("velocity")] = STILL
    """v, world frame [length/time]."""
    angular_velocity: Annotated[Three, Dimension("angular_velocity")] = STILL
    """ω about the reference point, world frame [angle/time]."""
    amplitude: Annotated[Three, Dimension("length")] = STILL
    """A, amplitude of the oscillation, world frame [length]."""
    frequency: Annotated[Quantity, Dimension("frequency", minimum=0)] = 0.0
    """f of that oscillation [1/time]."""

    @model_validator(mode="after")
    def _swings(self) -> Self:
        swings = any(isinstance(a, str) or a != 0.0 for a in self.amplitude)
        if swings != (isinstance(self.frequency, str) or self.frequency != 0.0):
            raise ValueError("an oscillating wall needs both amplitude and frequency")
        return self

    def motion(self, point: np.ndarray) -> np.ndarray:
        """Reference point, velocity, amplitude, angular velocity and 2π f, shape (13,)."""
        parts = (point, vector(self.velocity), vector(self.amplitude), vector(self.angular_velocity))
        return np.concatenate([*parts, [2.0 * np.pi * float(self.frequency)]])


def still(point: np.ndarray) -> np.ndarray:
    """Motion of a wall at rest with the given reference point, shape (13,)."""
    return np.concatenate([point, np.zeros(10)])


def vector(values: Any) -> np.ndarray:
    """Convert three numbers to an array."""
    return np.array([float(value) for value in values])


def unit_vector(values: Any) -> np.ndarray:
    """Unit vector along three numbers, shape (3,)."""
    direction = vector(values)
    return direction / np.linalg.norm(direction)


def has_direction(wall: Any, key: str, values: tuple[float, float, float]) -> Any:
    """Return the wall; raises ValueError, naming the key, if the vector is zero."""
    length = float(np.linalg.norm(values))
    if not (np.isfinite(length) and length > 0.0):
        raise ValueError(f"{key}: expected a direction, got {tuple(values)}")
    return wall
