"""Drawing of the model to scale, from the side and the front, in the first and last frame (Guy 5.2 and 5.3)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure

from articulon.model.joints import UNBOUND
from articulon.report import style
from articulon.report.particle_drawing import particles
from articulon.report.readable_numbers import Scale, suited
from articulon.report.view import View, rotated

MOST_BODIES = 5000
"""Largest number of bodies that are drawn; a drawing of more would be unreadable and take megabytes."""


def model_drawing(view: View) -> Figure | None:
    """Draw two views of the first and the last frame, or one view of planar motion. Return None for a model of too many
    bodies, of a point that does not move, or of contact spheres, which have their own figure."""
    if view.model.bodies > MOST_BODIES or (view.model.sites.radius > 0.0).any():
        return None
    spheres = particles(view)
    if spheres is not None:
        return spheres
    forward, sideways, upward = axes_of_view(view)
    whole = whole_model(view)
    if whole[1] == 0.0:
        return None
    length = suited(view.case.units, "length", 2.0 * whole[1])
    looks = [("side", forward, upward, whole), ("front", sideways, upward, whole)]
    if flat_axis(view) is not None:
        return _in_its_plane(view, forward, upward, length, whole)
    close = closest_pair(view)
    if close is not None:
        # The view is chosen such that the body shown in the window lies beside the axis of the core, not in front of
        # it.
        outwards = close[0] - view.path[-1]
        outwards = outwards - (outwards @ forward) * forward
        distance = float(np.linalg.norm(outwards))
        looks.append(("detail", forward, outwards / distance if distance > 0.0 else upward, close))
    figure = Figure(figsize=(style.WIDTH, 2.0 * style.WIDTH / len(looks) + 0.5), layout="constrained")
    grid = figure.subplots(2, len(looks), squeeze=False)
    for row, frame in enumerate((0, -1)):
        moment = view.time_scale.text(float(view.times[frame]), 3)
        for axes, (name, right, up, window) in zip(grid[row], looks, strict=True):
            draw(axes, view, frame, right, up, length, window)
            axes.set_title(f"{moment}, {name}")
            axes.set_xlabel(length.axis(_letter(right)))
            axes.set_ylabel(length.axis(_letter(up)))
    return figure


def _in_its_plane(
    view: View, right: np.ndarray, up: np.ndarray, length: Scale, window: tuple[np.ndarray, float]
) -> Figure:
    figure = Figure(figsize=(style.WIDTH, 0.5 * style.WIDTH + 0.3), layout="constrained")
    for axes, frame in zip(figure.subplots(1, 2), (0, -1), strict=True):
        draw(axes, view, frame, right, up, length, window)
        axes.set_title(view.time_scale.text(float(view.times[frame]), 3))
        axes.set_xlabel(length.axis(_letter(right)))
        axes.set_ylabel(length.axis(_letter(up)))
    return figure


def flat_axis(view: View) -> int | None:
    """Return the world axis along which nothing extends or moves. Return None if there is no such axis, or if the model
    has no extent along the other axes."""
    points = np.concatenate([view.positions.reshape(-1, 3), view.centres(0), view.centres(-1), fixed_sites(view)])
    # A body of unknown radius is drawn as a point.
    extent = np.ptp(points, axis=0) + 2.0 * float(np.nan_to_num(view.radii).max(initial=0.0))
    flat = np.flatnonzero(extent <= 1e-9 * extent.max())
    return int(flat[0]) if flat.size == 1 else None


def whole_model(view: View) -> tuple[np.ndarray, float]:
    """Return the centre and half width of a window that contains everything drawn in the first and the last frame
    [length]."""
    # A body of unknown radius is drawn as a point.
    reach = np.nan_to_num(view.radii)[:, None]
    points = [fixed_sites(view)]
    for frame in (0, -1):
        points += [view.centres(frame) - reach, view.centres(frame) + reach, view.positions[frame]]
        points += [np.array([at for _, at in loop_ends(view, frame)]).reshape(-1, 3)]
    corners = np.concatenate(points)
    low, high = corners.min(axis=0), corners.max(axis=0)
    half = 0.55 * float((high - low).max())
    return 0.5 * (low + high), half


def closest_pair(view: View) -> tuple[np.ndarray, float] | None:
    """Return the centre and half width of a window around a fixed site and the body that ends nearest to it [length].

    The result is None if no sites are fixed, or if the whole model is hardly larger than the window.
    """
    fixed, sites = fixed_sites(view), view.model.sites
    carriers = np.unique(sites.body[sites.body >= 0])
    if not fixed.size or not carriers.size:
        return None
    centres = view.centres(-1)
    apart = np.linalg.norm(centres[carriers][:, None] - fixed[None], axis=2)
    body, site = np.unravel_index(int(np.argmin(apart)), apart.shape)
    began, target = view.centres(0)[carriers[body]], fixed[site]
    width = 0.75 * float(np.linalg.norm(target - began))
    return (0.5 * (began + target), width) if 0.0 < width < 0.4 * whole_model(view)[1] else None


def axes_of_view(view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coordinate axes of the view as unit vectors: first the axis along which the core moves furthest, then
    the two other axes in order."""
    moved = view.direction if view.direction is not None else np.abs(view.path - view.path[0]).max(axis=0)
    forward, flat = int(np.argmax(np.abs(moved))), flat_axis(view)
    others = [k for k in range(3) if k != forward]
    if flat is not None:
        across, up = (k for k in range(3) if k != flat)
        forward, others = across, [flat, up]
    identity = np.eye(3)
    return identity[forward], identity[others[0]], identity[others[1]]


def loop_ends(view: View, frame: int) -> list[tuple[int, np.ndarray]]:
    """Bodies of loop joints, and the positions of the joints on these bodies, world frame [length]."""
    ends = []
    for loop in view.model.loop_joints:
        for body, place in ((loop.parent, loop.position), (loop.child, loop.child_position)):
            if body >= 0:
                ends.append((body, view.positions[frame][body] + rotated(view.rotations[frame][body], place)))
    return ends


def fixed_sites(view: View) -> np.ndarray:
    """Positions of the sites on the ground, world frame [length], shape (fixed sites, 3)."""
    sites = view.model.sites
    return sites.position[sites.body < 0]


def _letter(direction: np.ndarray) -> str:
    aligned = np.flatnonzero(direction == 1.0)
    return "xyz"[aligned[0]] if aligned.size else "outwards"


def draw(
    axes: Axes,
    view: View,
    frame: int,
    right: np.ndarray,
    up: np.ndarray,
    length: Scale,
    window: tuple[np.ndarray, float],
) -> None:
    onto = length.factor * np.stack([right, up], axis=1)
    centres, origins = view.centres(frame) @ onto, view.positions[frame] @ onto
    radii = length.factor * view.radii
    parents = view.model.parents
    joined = np.flatnonzero(parents >= 0)
    hung = np.flatnonzero((parents < 0) & ~np.isin(view.model.kinds, UNBOUND))
    # A limb is a line from the centre of the parent to the joint, and from there to the centre of the body. If the size
    # of the parent is known, the part inside the parent is not drawn.
    limbs = [
        np.stack([origins[k] if np.isfinite(radii[parents[k]]) else centres[parents[k]], origins[k], centres[k]])
        for k in joined.tolist()
    ]
    # A loop joint connects the centres of its bodies through its attachment points.
    limbs += [np.stack([centres[body], at @ onto]) for body, at in loop_ends(view, frame)]
    # A body on the ground is drawn from its joint, which is at its origin.
    limbs += [np.stack([origins[k], centres[k]]) for k in hung.tolist()]
    axes.add_collection(LineCollection(limbs, colors=style.BLACK, linewidths=0.6, zorder=3))
    sized = np.flatnonzero(np.isfinite(radii))
    diameters = 2.0 * radii[sized]
    axes.add_collection(
        EllipseCollection(
            diameters,
            diameters,
            np.zeros(sized.size),
            units="xy",
            offsets=centres[sized],
            offset_transform=axes.transData,
            facecolors="#cfe3f1",
            edgecolors=style.BLUE,
            linewidths=0.7,
            zorder=2,
        )
    )
    axes.plot(*centres[sized].T, "o", color=style.BLUE, markersize=1.8, markeredgewidth=0.0, zorder=4)
    unsized = centres[~np.isfinite(radii)]
    axes.plot(*unsized.T, "o", color=style.BLUE, markersize=5.0, markeredgewidth=0.0, zorder=4)
    axes.plot(*origins[hung].T, "s", color=style.BLACK, markersize=3.0, markeredgewidth=0.0, zorder=4)
    fixed = fixed_sites(view) @ onto
    axes.plot(*fixed.T, "x", color=style.VERMILION, markersize=3.5, markeredgewidth=0.8, zorder=5)
    moving = np.flatnonzero(view.model.sites.body >= 0)
    bodies = view.model.sites.body[moving]
    on_bodies = view.positions[frame][bodies] + rotated(
        view.rotations[frame][bodies], view.model.sites.position[moving]
    )
    axes.plot(*(on_bodies @ onto).T, ".", color=style.BLACK, markersize=1.5, markeredgewidth=0.0, zorder=5)
    axes.set_aspect("equal", adjustable="box")
    axes.grid(False)
    middle, half = window[0] @ onto, length.factor * window[1]
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
