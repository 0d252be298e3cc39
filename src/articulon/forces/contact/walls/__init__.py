"""Walls that spheres touch. Every wall class in this package is found automatically; the names below are
listed for type checkers and editors only."""

from typing import Annotated, TypeAlias

from articulon.families import Family
from articulon.forces.contact.walls.cylinder import Cylinder
from articulon.forces.contact.walls.mesh import Mesh
from articulon.forces.contact.walls.planes import BoxWalls, Plane
from articulon.forces.contact.walls.wall_base import Wall, WallPart
from articulon.forces.contact.walls.wall_parts import PARALLEL, carrier, parts_of

WALLS = Family("wall", "shape", lambda member: issubclass(member, Wall))
"""All walls by their ``shape``: every class of this package that has one."""
WALLS.discover(__name__, __path__)
AnyWall: TypeAlias = Annotated[Wall, WALLS]
"""Any declared wall, selected by its ``shape``."""

__all__ = [
    "PARALLEL",
    "WALLS",
    "AnyWall",
    "BoxWalls",
    "Cylinder",
    "Mesh",
    "Plane",
    "Wall",
    "WallPart",
    "carrier",
    "parts_of",
]
