"""Parts of all walls of a model, checked for consistency with each other and with the periodic box."""

from collections.abc import Sequence

import numpy as np

from articulon.errors import ModelError
from articulon.forces.contact.walls.wall_base import Wall, WallPart
from articulon.model import Model
from articulon.model.surfaces import Surface

SHAPES = ("plane", "inside", "outside", "mesh")
"""Shapes of a part; ``inside`` and ``outside`` are those of a cylinder."""
PARALLEL = 1e-9
"""Sine of the angle within which directions count as equal."""


def parts_of(walls: Sequence[Wall], model: Model, where: str) -> list[WallPart]:
    """Return the planes, cylinders and meshes of all walls of a model as one list.

    Raises
    ------
    ModelError
        For faces that do not exist, meshes that are not closed, walls that are not compatible with a periodic
        direction, and spheres that do not fit into a cylinder; ``where`` names the list of walls.
    """
    found: list[WallPart] = []
    for k, wall in enumerate(walls):
        here = f"{where}[{k}]"
        called = wall.name or f"{here}, a {wall.shape},"  # type: ignore[attr-defined]
        for part in wall.parts(model, called, here):
            if part.shape not in SHAPES:
                raise ModelError(
                    f"{here}: a part of a wall has one of the shapes {', '.join(SHAPES)}, got '{part.shape}'"
                )
            _check_fit(part, model, here)
            _check_periodic(part, model, here)
            found.append(part)
    _refuse_twins(found, where)
    return found


def _refuse_twins(walls: list[WallPart], where: str) -> None:
    """Raises ModelError for two walls of the same shape at the same place, which would exert their forces twice."""
    for k, wall in enumerate(walls):
        for other in walls[:k]:
            if (wall.shape, wall.radius) != (other.shape, other.radius):
                continue
            if not (np.array_equal(wall.motion, other.motion) and np.array_equal(wall.direction, other.direction)):
                continue
            if wall.surface is None or other.surface is None or _same_surface(wall.surface, other.surface):
                one, two = (part.name.rstrip(",") for part in (wall, other))
                raise ModelError(
                    f"{where}: {one} and {two} are at the same place, and both would exert forces; leave one of them "
                    "out"
                )


def _same_surface(one: Surface, other: Surface) -> bool:
    return np.array_equal(one.vertices, other.vertices) and np.array_equal(one.triangles, other.triangles)


def _check_fit(wall: WallPart, model: Model, where: str) -> None:
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
    """Name of the body that carries a site, for messages."""
    body = int(model.sites.body[site])
    return "the ground" if body < 0 else f"body '{model.names[body]}'"


def _check_periodic(wall: WallPart, model: Model, where: str) -> None:
    """Check that each wall is periodic with the box or fits into one period."""
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
                    f"{where}: the box is periodic in {name}, but the plane is not parallel to it at all times; choose "
                    "a normal perpendicular to it, or another boundary"
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
                f"{where}: the box is periodic in {name}, but the cylinder is not parallel to it at all times; choose "
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
