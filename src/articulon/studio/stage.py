"""The stage of a scene: a map of a run's frames to a space of fixed size. It is needed because browsers compute in
single precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from articulon.model.array_rotations import matrices
from articulon.studio.box_corners import box_corners
from articulon.studio.scene import Scene
from articulon.studio.solids import Solids

SIZE = 10.0
"""Size of the scene, in units of the page."""
LOOKED_AT = 40
"""Number of frames from which the size of a run is determined."""
OUTSIDE = 0.01
"""Fraction of the bodies that may lie outside the picture on each side, if there are many bodies and some move far
away."""
MANY = 200
FLAT = 0.25
"""Depth, relative to the largest extent, below which a scene is flat; a flat scene is viewed more from the front."""
FIELD = np.radians(35.0)
"""Field of view, from top to bottom [rad]."""
MARGIN = 1.15
"""Distance of the camera, relative to the distance for a square picture; pictures beside a panel are taller than
wide."""
ASIDE, ABOVE = np.radians(30.0), np.radians(20.0)
"""Angles of the camera to the side of, and above, the direction in which the scene is flattest [rad]."""


class Frame(NamedTuple):
    """Poses at one time."""

    positions: np.ndarray
    """Origins of the bodies, world frame [length], shape (bodies, 3)."""
    rotations: np.ndarray
    """Euler parameters, body to world, shape (bodies, 4)."""
    time: float
    """Time [time]."""
    edges: np.ndarray | None
    """Edges of the box, as rows [length], shape (3, 3); None without a box."""
    q: np.ndarray | None = None
    """Joint coordinates, shape (nq,), which deform flexible bodies; None if no body is flexible or they are not
    known."""
    locked: np.ndarray | None = None
    """Whether each body is locked to its parent at this time, shape (bodies,); None if no body can be locked."""
    state: np.ndarray | None = None
    """Coordinates and speeds, shape (nq + nu,), from which forces are computed; None if they are not known."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Map from positions x of the model to positions on the page: factor (x − middle)."""

    middle: np.ndarray
    """Centre of the scene [length], shape (3,)."""
    factor: float
    """Scale factor [1/length]."""
    camera: np.ndarray
    """Position of the camera on the page, shape (3,)."""
    up: np.ndarray
    """Unit vector upwards, shape (3,)."""

    def places(self, positions: np.ndarray) -> np.ndarray:
        """Return positions on the page, in single precision, shape (..., 3)."""
        apart = positions - self.middle.astype(np.result_type(positions, np.float32))
        apart *= self.factor
        return np.asarray(apart, dtype=np.float32)


def stage_of(scene: Scene, frames: list[Frame]) -> Stage:
    """Return a stage that fits some frames of a run."""
    corners = []
    for frame in frames:
        places = shown_places(scene, frame)
        meshes = [(mesh.solids, mesh.half) for mesh in scene.meshes]
        for solids, part in ((scene.balls, 1.0), (scene.rods, np.array([1.0, 1.0, 0.5])), (scene.boxes, 0.5), *meshes):
            if solids.number:
                middles, halves = _extents(solids, part * solids.size, places, frame.rotations)
                low, high = middles - halves, middles + halves
                if solids.number > MANY:
                    low, high = np.quantile(low, [OUTSIDE], axis=0), np.quantile(high, [1.0 - OUTSIDE], axis=0)
                corners += [low, high]
        corners.append(scene.springs.placed(places, frame.rotations).reshape(-1, 3))
        corners += [trace.placed(places, frame.rotations, frame.q).reshape(-1, 3) for trace in scene.traces]
        if frame.edges is not None and scene.model.box is not None:
            corners.append(box_corners(frame.edges, scene.model.box))
    points = np.concatenate(corners)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, extent = 0.5 * (low + high), high - low
    factor = SIZE / (float(extent.max()) or 1.0)
    up = _upwards(scene, extent)
    return Stage(middle, factor, _camera(up, factor * extent), up)


def _extents(
    solids: Solids, half: np.ndarray, positions: np.ndarray, rotations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of solids in the world frame, and their half extents along the world axes [length], shapes (n,
    3)."""
    middles, turns = solids.placed(positions, rotations)
    if (np.ptp(half, axis=1) == 0.0).all():
        return middles, half
    return middles, np.einsum("kij,kj->ki", np.abs(matrices(turns)), half)


def _upwards(scene: Scene, extent: np.ndarray) -> np.ndarray:
    """Return the unit vector upwards, shape (3,). It is opposite to gravity; without gravity, it is y for scenes in the
    x–y plane, otherwise z."""
    if scene.up is not None:
        return scene.up
    flat = float(extent[2]) < FLAT * float(extent.max())
    return np.array([0.0, 1.0, 0.0]) if flat else np.array([0.0, 0.0, 1.0])


def _camera(up: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """Return a position of the camera (3,) from which a scene of a given extent (3,) is visible. It is in the direction
    in which the extent is smallest, rotated to the side and raised; for a flat scene, by half the angles."""
    across = [axis - (axis @ up) * up for axis in np.eye(3)]
    across = [axis / np.linalg.norm(axis) for axis in across if np.linalg.norm(axis) > 0.5]
    front = min(across, key=lambda axis: float(np.abs(axis) @ extent))
    # The usual view of figures has x to the right: the camera looks along y, or against z if y is upwards.
    front = -front if front[1] > 0.5 else front
    part = 0.5 if float(np.abs(front) @ extent) < FLAT * float(extent.max()) else 1.0
    level = np.cos(part * ASIDE) * front + np.sin(part * ASIDE) * np.cross(up, front)
    direction = np.cos(part * ABOVE) * level + np.sin(part * ABOVE) * up
    radius = 0.5 * float(np.linalg.norm(extent))
    return np.asarray(MARGIN * direction * radius / np.sin(0.5 * FIELD))


def shown_places(scene: Scene, frame: Frame) -> np.ndarray:
    """Return the origins of the bodies [length], shape (bodies, 3). In a periodic box, whole trees are moved into the
    box."""
    box = scene.model.box
    if not scene.wraps or box is None or frame.edges is None:
        return frame.positions
    root = roots(scene.model.parents)
    origin = np.array([float(x) for x in box.origin])
    at = frame.positions[root]
    parts = np.linalg.solve(frame.edges.T, (at - origin).T).T
    moved = np.where(box.periodic, np.floor(parts), 0.0) @ frame.edges
    return np.asarray(frame.positions - moved)


def roots(parents: np.ndarray) -> np.ndarray:
    """Return the first body of the tree of each body, shape (bodies,)."""
    found = np.arange(len(parents))
    for body in np.flatnonzero(parents >= 0).tolist():
        found[body] = found[parents[body]]
    return found
