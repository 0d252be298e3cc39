"""Walls that spheres touch: planes, the faces of the box, cylinders and closed meshes, at rest or moving."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from articulon.declaration import Declaration, Dimension, Flag, Number, Quantity, Whole, marked
from articulon.errors import ModelError
from articulon.forces.contact.meshes import Surface, read_mesh, surface
from articulon.forces.sites.site_walls import FACES, Face, face_plane
from articulon.model import Model

Three: TypeAlias = tuple[Quantity, Quantity, Quantity]
STILL: Three = (0.0, 0.0, 0.0)
PARALLEL = 1e-9
"""Sine of the angle within which directions are taken to be the same."""


class Wall(Declaration):
    """What all walls have. A wall moves as it is told, whatever touches it: its point is at
    p(t) = p + v t + A sin(2π f t) and it has turned about there by ω t since t = 0."""

    error_class: ClassVar = ModelError

    name: str | None = None
    """What the wall is called in messages; its number and shape by default."""
    kind: Annotated[str, Field(min_length=1)]
    """Its material."""
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

    @property
    def moves(self) -> bool:
        """Whether it is told to."""
        return any((vector(self.velocity).any(), vector(self.angular_velocity).any(), vector(self.amplitude).any()))

    def motion(self, point: np.ndarray) -> np.ndarray:
        """Point, velocity, amplitude, angular velocity and 2π f, shape (13,)."""
        parts = (point, vector(self.velocity), vector(self.amplitude), vector(self.angular_velocity))
        return np.concatenate([*parts, [2.0 * np.pi * float(self.frequency)]])


class Plane(Wall):
    """A half-space: everything behind a plane is solid."""

    shape: Literal["plane"] = "plane"
    point: Annotated[Three, Dimension("length")]
    """Anywhere on it, world frame at t = 0 [length]."""
    normal: tuple[Number, Number, Number]
    """Out of the solid, towards the spheres; of any length."""

    @model_validator(mode="after")
    def _directed(self) -> Self:
        return _has_direction(self, "normal", self.normal)


class BoxWalls(Declaration):
    """Planes on faces of the box, facing inwards."""

    error_class: ClassVar = ModelError

    shape: Literal["box"] = "box"
    name: str | None = None
    """What the walls are called in messages, before the face."""
    kind: Annotated[str, Field(min_length=1)]
    """Their material."""
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


class Cylinder(Wall):
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
        return _has_direction(self, "axis", self.axis)


class Mesh(Wall):
    """A closed surface of triangles, in a file or in numbers; spheres may be outside or inside of it.

    A sphere touches it where the distance from its centre is least: on a face, an edge or a corner, as often as there
    are such places whose normals differ by more than ``smooth_angle``. Flat edges between triangles are not felt.
    """

    shape: Literal["mesh"] = "mesh"
    file: str | None = None
    """STL, OBJ, PLY or OFF: a path beside the case."""
    sha256: str | None = None
    """Of the file, so that a run does not go on with another; found when the case is read."""
    file_unit: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = 1.0
    """The length that a 1 in the file is, such as ``"1 mm"`` [length]."""
    vertices: Annotated[tuple[Three, ...] | None, Dimension("length")] = None
    """Instead of a file: corners [length], shape (n, 3)."""
    triangles: tuple[tuple[Whole, Whole, Whole], ...] | None = None
    """Which of them each triangle has, counterclockwise as seen from outside, shape (m, 3)."""
    point: Annotated[Three, Dimension("length")] = STILL
    """Where the origin of its coordinates is, about which it also turns, world frame at t = 0 [length]."""
    smooth_angle: Annotated[Quantity, Dimension("angle", minimum=0)] = "10 deg"
    """Two places with normals closer than this are one contact, the deeper of the two: so an edge of a faceted drum
    counts once, and the corner of a room three times [angle]."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        numbers = (self.vertices is not None) + (self.triangles is not None)
        if numbers == 1 or (self.file is None) == (numbers == 0):
            raise ValueError("give either a file, or both vertices and triangles")
        if self.file is None and self.sha256 is not None:
            raise ValueError("sha256 is of a file, and there is none; leave it out")
        return self

    def beside(self, source: str, where: str) -> "Mesh":
        """A copy with the file found beside a case file and its contents marked; raises CaseError for one that is not
        there or has changed."""
        return self if self.file is None else marked(self, "file", source, where)

    def surface(self, where: str) -> Surface:
        """The triangles in the wall's own frame; raises ModelError where they are not closed (``meshes.surface``)."""
        if self.file is None:
            return surface(np.array(self.vertices, dtype=np.float64), np.array(self.triangles), where)
        path = Path(self.file)
        changed = path.stat().st_mtime_ns if path.is_file() else 0
        return _surface_of(self.file, changed, float(self.file_unit), where)


@lru_cache(maxsize=8)
def _surface_of(file: str, changed: int, unit: float, where: str) -> Surface:
    vertices, triangles = read_mesh(file, f"{where}.file")
    return surface(vertices * unit, triangles, f"{where}: {file}")


AnyWall: TypeAlias = Annotated[Plane | BoxWalls | Cylinder | Mesh, Field(discriminator="shape")]
"""Any declared wall, chosen by its ``shape``."""


class Body(NamedTuple):
    """One wall as it is computed: a face of the box is a plane."""

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
    """See :meth:`Wall.motion`, shape (13,)."""
    surface: Surface | None
    """Of a mesh."""
    smooth: float
    """Angle between normals below which two places on a mesh are one contact [rad]."""


def bodies_of(walls: Sequence[Any], model: Model, where: str) -> list[Body]:
    """The walls of a model one by one, faces of the box included.

    Raises
    ------
    ModelError
        For faces that there are not, meshes that are not closed, walls that no periodic direction repeats, and a
        sphere that does not fit into a cylinder; ``where`` names the list of walls.
    """
    found: list[Body] = []
    for k, wall in enumerate(walls):
        here = f"{where}[{k}]"
        called = wall.name or f"{here}, a {wall.shape},"
        if isinstance(wall, BoxWalls):
            found += [
                Body(f"{wall.name or here}, face {face},", "plane", wall.kind, n, 0.0, _still(n, c), None, 0.0)
                for face, n, c in _faces(wall, model, here)
            ]
        elif isinstance(wall, Plane):
            normal, motion = _unit(wall.normal), wall.motion(vector(wall.point))
            found.append(Body(called, "plane", wall.kind, normal, 0.0, motion, None, 0.0))
        elif isinstance(wall, Cylinder):
            shape = "inside" if wall.inside else "outside"
            axis, motion = _unit(wall.axis), wall.motion(vector(wall.point))
            found.append(Body(called, shape, wall.kind, axis, float(wall.radius), motion, None, 0.0))
            _check_fit(found[-1], model, here)
        else:
            motion, smooth = wall.motion(vector(wall.point)), float(wall.smooth_angle)
            found.append(Body(called, "mesh", wall.kind, np.zeros(3), 0.0, motion, wall.surface(here), smooth))
        _check_periodic(found[-1], model, here)
    _refuse_twins(found, where)
    return found


def _refuse_twins(walls: list[Body], where: str) -> None:
    """Raises ModelError for two walls of one shape in one place, which would both push."""
    for k, wall in enumerate(walls):
        for other in walls[:k]:
            if (wall.shape, wall.radius) != (other.shape, other.radius):
                continue
            if not (np.array_equal(wall.motion, other.motion) and np.array_equal(wall.direction, other.direction)):
                continue
            if wall.surface is None or other.surface is None or _same_surface(wall.surface, other.surface):
                one, two = (body.name.rstrip(",") for body in (wall, other))
                raise ModelError(f"{where}: {one} is where {two} is, and both would push; leave one of them out")


def _same_surface(one: Surface, other: Surface) -> bool:
    return np.array_equal(one.vertices, other.vertices) and np.array_equal(one.triangles, other.triangles)


def vector(values: Any) -> np.ndarray:
    """Three numbers as an array."""
    return np.array([float(value) for value in values])


def _unit(values: Any) -> np.ndarray:
    direction = vector(values)
    return direction / np.linalg.norm(direction)


def _has_direction(wall: Any, key: str, values: tuple[float, float, float]) -> Any:
    length = float(np.linalg.norm(values))
    if not (np.isfinite(length) and length > 0.0):
        raise ValueError(f"{key}: expected a direction, got {tuple(values)}")
    return wall


def _still(normal: np.ndarray, offset: float) -> np.ndarray:
    motion = np.zeros(13)
    motion[:3] = -offset * normal
    return motion


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


def _check_fit(wall: Body, model: Model, where: str) -> None:
    if wall.shape != "inside":
        return
    large = np.flatnonzero(model.sites.radius >= wall.radius)
    if large.size:
        s = int(large[0])
        raise ModelError(
            f"{where}: sphere {s} on {carrier(model, s)} has the radius {model.sites.radius[s]:.6g} and does not fit "
            f"into the cylinder's {wall.radius:.6g}"
        )


def carrier(model: Model, site: int) -> str:
    """What carries a site, for messages."""
    body = int(model.sites.body[site])
    return "the ground" if body < 0 else f"body '{model.names[body]}'"


def _check_periodic(wall: Body, model: Model, where: str) -> None:
    """Space repeats: so must a wall, or it must fit into one period."""
    if model.box is None:
        return
    turning = wall.motion[9:12]
    spin = np.linalg.norm(turning)
    about = turning / spin if spin > 0.0 else np.zeros(3)
    for a in np.flatnonzero(model.box.periodic):
        edge = model.box.vectors[a]
        length, name = float(np.linalg.norm(edge)), "xyz"[a]
        along = edge / length
        steady = spin == 0.0 or _parallel(about, along if wall.shape == "plane" else wall.direction)
        if wall.shape == "plane":
            if abs(wall.direction @ along) > PARALLEL or not steady:
                raise ModelError(
                    f"{where}: the box is periodic in {name}, and the plane is not, or does not stay, along it; choose "
                    "a normal across it, or another boundary"
                )
        elif wall.shape == "mesh":
            assert wall.surface is not None
            points = wall.surface.vertices
            longest = 2.0 * np.linalg.norm(points, axis=1).max() if spin > 0.0 else np.ptp(points @ along)
            if longest > length * (1.0 + PARALLEL):
                raise ModelError(
                    f"{where}: the mesh is {longest:.6g} long in {name}, where the box repeats after {length:.6g}"
                )
        elif not steady or (wall.shape == "inside" and not _parallel(wall.direction, along)):
            raise ModelError(
                f"{where}: the box is periodic in {name}, and the cylinder does not lie, or stay, along it; choose "
                "this axis, or another boundary"
            )
        elif not _parallel(wall.direction, along):
            if abs(wall.direction @ along) > PARALLEL or 2.0 * wall.radius > length:
                raise ModelError(
                    f"{where}: the box is periodic in {name}; a cylinder must lie along it, or across it and be "
                    f"thinner than {length:.6g}"
                )


def _parallel(a: np.ndarray, b: np.ndarray) -> bool:
    return float(np.linalg.norm(np.cross(a, b))) <= PARALLEL
