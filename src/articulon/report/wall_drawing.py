"""Walls in pictures of spheres: planes and cylinders seen edge-on, and sections of meshes in the plane of the
picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle

from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.contact.walls import WallPart, parts_of
from articulon.report import style
from articulon.report.readable_numbers import Scale
from articulon.report.view import View
from articulon.report.wall_poses import wall_pose

EDGE_ON = 1e-6
"""Sine of the largest angle between a wall and the line of sight for which the wall is drawn as a line."""
LOOK: dict[str, Any] = {"color": style.BLACK, "linewidth": 1.2, "zorder": 4}


def outlines(view: View, seen: tuple[int, int, int], depth: float, time: float) -> list[np.ndarray]:
    """Return the outlines of walls of limited extent: cylinders along the line of sight, and sections of meshes.

    Parameters
    ----------
    seen
        World axes that point right, up and into the picture.
    depth
        Coordinate of the plane that cuts the meshes [length].
    time
        Time at which walls are shown [time].

    Returns
    -------
    list of numpy.ndarray
        Segments for each wall [length], shape (segments, 2 ends, 2); empty if the plane misses the mesh.
    """
    right, up, into = seen
    found = []
    for wall in _walls(view):
        place, turn = wall_pose(wall, time)
        if wall.surface is not None:
            found.append(_cut((wall.surface.vertices @ turn.T + place)[wall.surface.triangles], seen, depth))
        elif wall.shape != "plane" and np.linalg.norm(np.delete(turn @ wall.direction, into)) < EDGE_ON:
            angle = np.linspace(0.0, 2.0 * np.pi, 181)
            ring = place[[right, up]] + wall.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            found.append(np.stack([ring[:-1], ring[1:]], axis=1))
    return found


def draw_walls(axes: Axes, view: View, seen: tuple[int, int, int], depth: float, length: Scale, time: float) -> None:
    """Draw the walls at a time; see :func:`outlines`. Inclined planes and cylinders are not drawn."""
    right, up, into = seen
    for wall in _walls(view):
        place, turn = wall_pose(wall, time)
        along = turn @ wall.direction
        at = length.factor * place[[right, up]]
        if wall.shape == "plane" and abs(along[into]) < EDGE_ON:
            axes.axline(tuple(at), tuple(at + [-along[up], along[right]]), **LOOK)
        elif wall.surface is None and wall.shape != "plane":
            if np.linalg.norm(np.delete(along, into)) < EDGE_ON:
                axes.add_patch(Circle(tuple(at), length.factor * wall.radius, fill=False, **LOOK))
            elif abs(along[into]) < EDGE_ON:
                # The outline of a cylinder seen from the side is two straight lines.
                across = length.factor * wall.radius * np.array([-along[up], along[right]])
                for side in (at - across, at + across):
                    axes.axline(tuple(side), tuple(side + along[[right, up]]), **LOOK)
        elif wall.surface is not None:
            cut = _cut((wall.surface.vertices @ turn.T + place)[wall.surface.triangles], seen, depth)
            axes.add_collection(
                LineCollection(
                    list(length.factor * cut), colors=LOOK["color"], linewidths=1.2, capstyle="round", zorder=4
                )
            )


def _walls(view: View) -> list[WallPart]:
    law = contact_of(view.model)
    return [] if law is None else parts_of(law.walls, view.model, "walls")


def _cut(corners: np.ndarray, seen: tuple[int, int, int], depth: float) -> np.ndarray:
    """Intersections of triangles (n, 3 corners, 3) with the plane of the picture, as segments (m, 2 ends, 2)."""
    right, up, into = seen
    # The plane is shifted slightly, because a plane through a corner meets a triangle in more than two points.
    size = max(float(np.ptp(corners[:, :, into])), float(np.finfo(float).tiny))
    height = corners[:, :, into] - (depth + 1e-9 * size)
    crossing = corners[(height.min(axis=1) < 0.0) & (height.max(axis=1) > 0.0)]
    ends = []
    for triangle in crossing:
        h = triangle[:, into] - (depth + 1e-9 * size)
        points = [
            triangle[a] + h[a] / (h[a] - h[b]) * (triangle[b] - triangle[a])
            for a, b in ((0, 1), (1, 2), (2, 0))
            if h[a] * h[b] < 0.0
        ]
        if len(points) == 2:
            ends.append(np.stack(points)[:, [right, up]])
    return np.array(ends).reshape(-1, 2, 2)
