"""Planes, and the faces of the box, as walls."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import model_validator

from articulon.declaration import Dimension, Number
from articulon.forces.contact.walls.wall_base import (
    MovingWall,
    Three,
    Wall,
    WallPart,
    has_direction,
    still,
    unit_vector,
    vector,
)
from articulon.forces.sites.site_walls import Faces, check_faces, face_plane, faces_of_box
from articulon.model import Model


class Plane(MovingWall):
    """A half-space: everything behind a plane is solid."""

    shape: Literal["plane"] = "plane"
    point: Annotated[Three, Dimension("length")]
    """A point on the plane, world frame at t = 0 [length]."""
    normal: tuple[Number, Number, Number]
    """Normal that points out of the solid, towards the spheres; of any length."""

    @model_validator(mode="after")
    def _directed(self) -> Self:
        return has_direction(self, "normal", self.normal)

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """See :class:`Wall`."""
        return [WallPart.plane(called, self.kind, unit_vector(self.normal), self.motion(vector(self.point)))]


class BoxWalls(Wall):
    """Planes on faces of the box, with normals pointing inwards."""

    shape: Literal["box"] = "box"
    faces: Faces = "all"
    """Faces to use: ``x-`` passes through the corner where the box starts. By default all faces of the non-periodic
    directions."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        check_faces(self.faces)
        return self

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """See :class:`Wall`."""
        begin, found = self.name or where, []
        for face in faces_of_box(model, self.faces, where):
            plane = face_plane(model, face)
            motion = still(-float(plane[3]) * plane[:3])
            found.append(WallPart.plane(f"{begin}, face {face},", self.kind, plane[:3], motion))
        return found
