"""Cylindrical walls."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import model_validator

from articulon.declaration import Dimension, Flag, Number, Quantity
from articulon.forces.contact.walls.wall_base import MovingWall, Three, WallPart, has_direction, unit_vector, vector
from articulon.model import Model


class Cylinder(MovingWall):
    """The inside or the outside of a cylinder without end caps.

    Contacts are computed as with a plane: only the sphere's curvature counts.
    """

    shape: Literal["cylinder"] = "cylinder"
    point: Annotated[Three, Dimension("length")]
    """A point on its axis, world frame at t = 0 [length]."""
    axis: tuple[Number, Number, Number]
    """Direction of its axis, of any length."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius [length]."""
    inside: Flag = True
    """Whether spheres are inside; otherwise the cylinder is a solid bar."""

    @model_validator(mode="after")
    def _directed(self) -> Self:
        return has_direction(self, "axis", self.axis)

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """See :class:`Wall`."""
        axis, motion = unit_vector(self.axis), self.motion(vector(self.point))
        return [WallPart.cylinder(called, self.kind, axis, float(self.radius), motion, self.inside)]
