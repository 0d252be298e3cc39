"""Walls as surfaces of triangles: a part of each plane, a part of the length of each cylinder, and unchanged meshes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulon.forces.contact.walls import WallPart, parts_of
from articulon.model import Model
from articulon.model.array_rotations import matrices, quaternions
from articulon.report.wall_poses import wall_pose
from articulon.studio.box_corners import box_corners
from articulon.studio.solids import along

ROUND = 48
"""Number of corners of the ring of a cylinder."""
COPLANAR = 1e-9
"""Tolerance for a plane that lies on a face of the box: largest distance of the face's corners from the plane, relative
to the size of the box."""
BEYOND = 0.8
"""Distance from the centre of the bodies up to which planes and cylinders are drawn, relative to the extent of the
bodies."""


@dataclass(frozen=True, eq=False)
class WallShape:
    """A wall as triangles."""

    name: str
    """Name of the wall."""
    vertices: np.ndarray
    """Corners in the wall's frame [length], shape (vertices, 3)."""
    triangles: np.ndarray
    """Indices of the corners of each triangle, shape (triangles, 3)."""
    part: WallPart
    """The wall, with its motion."""

    @property
    def moves(self) -> bool:
        """Whether the wall has a prescribed motion."""
        return self.part.moves

    def pose(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the position [length] (3,) and Euler parameters (4,) of the wall's frame at a time."""
        place, turn = wall_pose(self.part, time)
        return place, quaternions(turn[None])[0]


def wall_shapes(model: Model, positions: np.ndarray) -> tuple[WallShape, ...]:
    """Return the walls of a model's contacts and impacts, drawn about the positions of its bodies (bodies, 3)."""
    parts = [
        part for force in model.forces if getattr(force, "walls", ()) for part in parts_of(force.walls, model, "walls")
    ]
    low, high = (f(positions, axis=0) for f in (np.min, np.max))
    middle = 0.5 * (low + high)
    reach = BEYOND * max(float(np.linalg.norm(high - low)), 6.0 * float(model.sites.radius.max(initial=0.0)))
    return tuple(_face(part, model) or _shape(part, middle, reach) for part in parts)


def _face(part: WallPart, model: Model) -> WallShape | None:
    """Return the face of the box on which a plane lies; None for other walls."""
    if part.shape != "plane" or part.moves or model.box is None:
        return None
    place, turn = wall_pose(part, 0.0)
    corners = (box_corners(model.box.vectors, model.box) - place) @ turn
    height = np.abs(corners @ part.direction)
    on = np.flatnonzero(height < COPLANAR * np.linalg.norm(model.box.vectors))
    if on.size != 4:
        return None
    # Neighbouring corners differ in one bit of their index, so the third and the fourth corner are swapped to go around
    # the face.
    return WallShape(part.name, corners[on[[0, 1, 3, 2]]], np.array([[0, 1, 2], [0, 2, 3]]), part)


def _shape(part: WallPart, middle: np.ndarray, reach: float) -> WallShape:
    if part.surface is not None:
        return WallShape(part.name, part.surface.vertices, part.surface.triangles, part)
    place, turn = wall_pose(part, 0.0)
    local = turn.T @ (middle - place)
    height = float(local @ part.direction)
    frame = matrices(along(part.direction[None]))[0]
    if part.shape == "plane":
        corners = reach * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
        foot = local - height * part.direction
        return WallShape(part.name, foot + corners @ frame.T, np.array([[0, 1, 2], [0, 2, 3]]), part)
    angle = np.arange(ROUND) * 2.0 * np.pi / ROUND
    ring = part.radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(ROUND)], axis=1)
    ends = [ring + [0.0, 0.0, height + end] for end in (-reach, reach)]
    first = np.arange(ROUND)
    then = (first + 1) % ROUND
    triangles = np.concatenate(
        [np.stack([first, then, then + ROUND], axis=1), np.stack([first, then + ROUND, first + ROUND], axis=1)]
    )
    return WallShape(part.name, np.concatenate(ends) @ frame.T, triangles, part)
