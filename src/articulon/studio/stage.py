"""Where things are shown: a run's frames in a space of fixed size, as browsers reckon in single precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from articulon.model.box import Box
from articulon.studio.scene import Scene

SIZE = 10.0
"""Of all that is shown, in the units of the page."""
LOOKED_AT = 40
"""Frames from which the size of a run is told."""
OUTSIDE = 0.01
"""The part of many bodies that may lie outside of the picture on each side, where they fly off."""
MANY = 200
FIELD = np.radians(35.0)
"""Of view, from top to bottom [rad]."""
ASIDE, ABOVE = np.radians(30.0), np.radians(20.0)
"""From where it is looked at: beside the direction in which things are flattest, and above [rad]."""


class Frame(NamedTuple):
    """The poses of a moment."""

    positions: np.ndarray
    """Origins of the bodies, world frame [length], shape (bodies, 3)."""
    rotations: np.ndarray
    """Euler parameters, body to world, shape (bodies, 4)."""
    time: float
    """[time]."""
    edges: np.ndarray | None
    """Edges of the box, as rows [length], shape (3, 3); None without a box."""


@dataclass(frozen=True, eq=False)
class Stage:
    """How lengths of the model become those of the page: factor (x − middle)."""

    middle: np.ndarray
    """[length], shape (3,)."""
    factor: float
    """[1/length]."""
    camera: np.ndarray
    """From where it is looked at, on the page, shape (3,)."""
    up: np.ndarray
    """Upwards, shape (3,)."""
    lowest: float
    """How far along ``up`` the lowest things are, on the page."""

    def places(self, positions: np.ndarray) -> np.ndarray:
        """On the page, in single precision, shape (..., 3)."""
        return np.asarray(self.factor * (positions - self.middle), dtype=np.float32)


def stage_of(scene: Scene, frames: list[Frame]) -> Stage:
    """A stage on which some frames of a run have room."""
    corners = []
    reach = _reach(scene)[:, None]
    for frame in frames:
        places = shown_places(scene, frame)
        low, high = places - reach, places + reach
        if len(places) > MANY:
            low, high = np.quantile(low, [OUTSIDE], axis=0), np.quantile(high, [1.0 - OUTSIDE], axis=0)
        corners += [low, high]
        if frame.edges is not None and scene.model.box is not None:
            corners.append(box_corners(frame.edges, scene.model.box))
    ground = [solids.position[solids.body < 0] for solids in (scene.balls, scene.rods, scene.boxes)]
    points = np.concatenate([*corners, *ground])
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    size = float(extent.max()) or 1.0
    factor = SIZE / size
    camera = _camera(scene.up, factor * extent)
    lowest = float((factor * (points - 0.5 * (low + high)) @ scene.up).min())
    return Stage(0.5 * (low + high), factor, camera, scene.up, lowest)


def _reach(scene: Scene) -> np.ndarray:
    """How far the solids on each body stick out from its origin [length], shape (bodies,)."""
    found = np.zeros(scene.model.bodies)
    for solids, part in ((scene.balls, 1.0), (scene.rods, 0.5), (scene.boxes, 0.5)):
        on = solids.body >= 0
        far = np.linalg.norm(solids.position[on], axis=1) + part * solids.size[on].max(axis=1)
        np.maximum.at(found, solids.body[on], far)
    return found


def _camera(up: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """A place from which all of an extent (3,) is in view: from the side where it is flattest, turned and raised."""
    across = [axis - (axis @ up) * up for axis in np.eye(3)]
    across = [axis / np.linalg.norm(axis) for axis in across if np.linalg.norm(axis) > 0.5]
    front = min(across, key=lambda axis: float(np.abs(axis) @ extent))
    # Right-handed and seen against y where nothing is flat, as one looks at figures with x to the right.
    front = -front if front[1] > 0.5 else front
    beside = np.cross(up, front)
    level = np.cos(ASIDE) * front + np.sin(ASIDE) * beside
    direction = np.cos(ABOVE) * level + np.sin(ABOVE) * up
    radius = 0.5 * float(np.linalg.norm(extent))
    return np.asarray(direction * radius / np.sin(0.5 * FIELD))


def shown_places(scene: Scene, frame: Frame) -> np.ndarray:
    """Origins of the bodies [length] (bodies, 3), whole trees moved into the box where it repeats."""
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
    """The first body of the tree of each body, shape (bodies,)."""
    found = np.arange(len(parents))
    for body in np.flatnonzero(parents >= 0).tolist():
        found[body] = found[parents[body]]
    return found


def box_corners(edges: np.ndarray, box: Box) -> np.ndarray:
    """The eight corners of a box [length], shape (8, 3); bits of their number say along which edges they lie."""
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    return np.asarray(np.array([float(x) for x in box.origin]) + bits @ edges)


BOX_LINES = np.array([(a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit])
"""The twelve edges between the corners of a box, shape (12, 2)."""
