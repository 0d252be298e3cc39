"""What every wall is: a declaration, and the planes, cylinders and closed meshes that it is made of."""

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
    """A plane, a cylinder or a mesh that spheres touch: what a wall is made of."""

    name: str
    """For messages."""
    shape: str
    """``plane``, ``inside`` or ``outside`` of a cylinder, or ``mesh``."""
    kind: str
    """Material."""
    direction: np.ndarray
    """Normal or axis, a unit vector in the wall's frame, shape (3,)."""
    radius: float
    """Of a cylinder [length]."""
    motion: np.ndarray
    """See :meth:`MovingWall.motion`, shape (13,)."""
    surface: Surface | None
    """Of a mesh."""
    smooth: float
    """Angle between normals below which two places on a mesh are one contact [rad]."""

    @property
    def moves(self) -> bool:
        """Whether it is told to."""
        return bool(self.motion[3:12].any())

    @classmethod
    def plane(cls, name: str, kind: str, normal: np.ndarray, motion: np.ndarray) -> WallPart:
        """Everything behind a plane through the wall's point, with a unit normal out of the solid."""
        return cls(name, "plane", kind, normal, 0.0, motion, None, 0.0)

    @classmethod
    def cylinder(
        cls, name: str, kind: str, axis: np.ndarray, radius: float, motion: np.ndarray, inside: bool = True
    ) -> WallPart:
        """The inside or the outside of a cylinder without ends, with a unit axis through the wall's point."""
        return cls(name, "inside" if inside else "outside", kind, axis, radius, motion, None, 0.0)

    @classmethod
    def mesh(cls, name: str, kind: str, surface: Surface, smooth: float, motion: np.ndarray) -> WallPart:
        """A closed surface whose coordinates start at the wall's point."""
        return cls(name, "mesh", kind, np.zeros(3), 0.0, motion, surface, smooth)


class Wall(Declaration):
    """Base of the walls. One that derives from it has a ``shape``, which chooses it, and gives its parts."""

    error_class: ClassVar = ModelError

    name: str | None = None
    """What the wall is called in messages; its number and shape by default."""
    kind: Annotated[str, Field(min_length=1)]
    """Its material."""

    def beside(self, source: str, where: str) -> Self:
        """A copy with its files, if it has any, found beside a case file and their contents marked.

        Raises
        ------
        CaseError
            For a file that is not there or has changed; ``where`` names the wall.
        """
        return self

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """The planes, cylinders and meshes that it is made of, in the units of the model.

        Parameters
        ----------
        model
            What has the spheres.
        called
            What messages call the wall, such as ``"walls[0], a plane,"``.
        where
            Path of keys down to it.

        Raises
        ------
        ModelError
            Where the model can have no such wall.
        """
        raise NotImplementedError


class MovingWall(Wall):
    """Base of the walls that move as they are told, whatever touches them: the point of one is at
    p(t) = p + v t + A sin(2π f t) and it has turned about there by ω t since t = 0."""

    velocity: Annotated[Three, Dimension("velocity")] = STILL
    """v, world frame [length/time]."""
    angular_velocity: Annotated[Three, Dimension("angular_velocity")] = STILL
    """ω about its point, world frame [angle/time]."""
    amplitude: Annotated[Three, Dimension("length")] = STILL
    """A, how far it swings to each side, world frame [length]."""
    frequency: Annotated[Quantity, Dimension("frequency", minimum=0)] = 0.0
    """f of that swing [1/time]."""

    @model_validator(mode="after")
    def _swings(self) -> Self:
        swings = any(isinstance(a, str) or a != 0.0 for a in self.amplitude)
        if swings != (isinstance(self.frequency, str) or self.frequency != 0.0):
            raise ValueError("a wall that swings needs both an amplitude and a frequency")
        return self

    def motion(self, point: np.ndarray) -> np.ndarray:
        """Point, velocity, amplitude, angular velocity and 2π f, shape (13,)."""
        parts = (point, vector(self.velocity), vector(self.amplitude), vector(self.angular_velocity))
        return np.concatenate([*parts, [2.0 * np.pi * float(self.frequency)]])


def still(point: np.ndarray) -> np.ndarray:
    """The motion of a wall that rests with its point there, shape (13,)."""
    return np.concatenate([point, np.zeros(10)])


def vector(values: Any) -> np.ndarray:
    """Three numbers as an array."""
    return np.array([float(value) for value in values])


def unit_vector(values: Any) -> np.ndarray:
    """The direction of three numbers, shape (3,)."""
    direction = vector(values)
    return direction / np.linalg.norm(direction)


def has_direction(wall: Any, key: str, values: tuple[float, float, float]) -> Any:
    """The wall; raises ValueError, naming the key, where the numbers have no direction."""
    length = float(np.linalg.norm(values))
    if not (np.isfinite(length) and length > 0.0):
        raise ValueError(f"{key}: expected a direction, got {tuple(values)}")
    return wall
