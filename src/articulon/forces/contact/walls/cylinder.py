"""Cylinders."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import model_validator

from articulon.declaration import Dimension, Flag, Number, Quantity
from articulon.forces.contact.walls.wall_base import MovingWall, Three, WallPart, has_direction, unit_vector, vector
from articulon.model import Model


class Cylinder(MovingWall):
    """The inside or the outside of a cylinder without ends.

    Spheres touch it as they touch a plane: the contact's curvature is that of the sphere alone.
    """

    shape: Literal["cylinder"] = "cylinder"
    point: Annotated[Three, Dimension("length")]
    """Anywhere on its axis, world frame at t = 0 [length]."""
    axis: tuple[Number, Number, Number]
    """Its direction, of any length."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """[length]."""
    inside: Flag = True
    """Whether spheres are inside of it; otherwise it is a solid bar."""

    @model_validator(mode="after")
    def _directed(self) -> Self:
        return has_direction(self, "axis", self.axis)

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """See :class:`Wall`."""
        axis, motion = unit_vector(self.axis), self.motion(vector(self.point))
        return [WallPart.cylinder(called, self.kind, axis, float(self.radius), motion, self.inside)]
