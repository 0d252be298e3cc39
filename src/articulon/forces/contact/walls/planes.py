"""Planes, and the faces of the box."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Dimension, Number
from articulon.errors import ModelError
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
from articulon.forces.sites.site_walls import FACES, Face, face_plane
from articulon.model import Model


class Plane(MovingWall):
    """A half-space: everything behind a plane is solid."""

    shape: Literal["plane"] = "plane"
    point: Annotated[Three, Dimension("length")]
    """Anywhere on it, world frame at t = 0 [length]."""
    normal: tuple[Number, Number, Number]
    """Out of the solid, towards the spheres; of any length."""

    @model_validator(mode="after")
    def _directed(self) -> Self:
        return has_direction(self, "normal", self.normal)

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """See :class:`Wall`."""
        return [WallPart.plane(called, self.kind, unit_vector(self.normal), self.motion(vector(self.point)))]


class BoxWalls(Wall):
    """Planes on faces of the box, facing inwards."""

    shape: Literal["box"] = "box"
    faces: tuple[Face, ...] | Literal["all"] = "all"
    """Which faces: ``x-`` passes through the corner where the box starts; all of the directions that are not periodic
    by default."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        if self.faces == ():
            raise ValueError("faces: there are none; name some, or leave the key out for all")
        if self.faces != "all" and len(set(self.faces)) != len(self.faces):
            raise ValueError("faces: one is given twice")
        return self

    def parts(self, model: Model, called: str, where: str) -> Sequence[WallPart]:
        """See :class:`Wall`."""
        begin = self.name or where
        return [
            WallPart.plane(f"{begin}, face {face},", self.kind, normal, still(-offset * normal))
            for face, normal, offset in _faces(self, model, where)
        ]


def _faces(wall: BoxWalls, model: Model, where: str) -> list[tuple[Face, np.ndarray, float]]:
    box = model.box
    if box is None:
        raise ModelError(f"{where}: walls of shape 'box' are faces of the box, and there is none; give the model a box")
    free = tuple(face for face in FACES if not box.periodic["xyz".index(face[0])])
    if not free:
        raise ModelError(f"{where}.faces: the box is periodic in all directions, so that it has no walls")
    chosen = free if wall.faces == "all" else wall.faces
    for face in chosen:
        if face not in free:
            raise ModelError(f"{where}.faces: the box is periodic in {face[0]}, so that {face} is no wall")
    planes = [(face, face_plane(model, face)) for face in chosen]
    return [(face, plane[:3], float(plane[3])) for face, plane in planes]
