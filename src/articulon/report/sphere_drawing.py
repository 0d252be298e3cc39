"""Picture of contact spheres: their positions in the first and last frame, and the forces between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from articulon.forces.contact.sphere_motion import sphere_centres, sphere_velocities
from articulon.forces.gravity import Gravity
from articulon.report import style
from articulon.report.readable_numbers import Scale, suited
from articulon.report.view import View, in_box
from articulon.report.wall_drawing import draw_walls, outlines

MOST_SPHERES = 20_000
"""Largest number of spheres that are drawn one by one; more would make the page tens of megabytes large."""
FEW_GRAINS = 4
"""Largest number of grains with individual lines, paths and arrows."""
OUTLINED = 100
"""Largest number of spheres whose outlines are drawn behind the forces."""
FLAT = 0.6
"""Ratio of height to width below which panels are stacked."""
TALLEST = 6.0
"""Largest height of all panels together [inch]."""
APART = 0.02
"""Fraction of the spheres, if there are many, that may lie outside the picture because they are far from the others."""
FAR = 1.3
"""Largest factor by which far spheres may enlarge the picture; if the factor is larger, they are left outside."""
NEARBY = 3.0
"""Largest factor by which nearby walls may enlarge the picture."""
KINDS = (style.SKY, style.ORANGE, style.GREEN, style.PURPLE, style.OLIVE, style.VERMILION)
"""Colours of the kinds of spheres."""
CHAIN_LINES: dict[str, Any] = {"colors": style.BLACK, "linewidths": 0.9, "zorder": 5}


def spheres(view: View) -> Figure | None:
    """Draw the spheres in the first and the last frame, and the normal forces between them in the last."""
    model = view.model
    own = np.flatnonzero(model.sites.radius > 0.0)
    if not own.size or own.size > MOST_SPHERES:
        return None
    seen = _axes(view, own)
    right, up, into = seen
    centres = [sphere_centres(model, view.positions[k], view.rotations[k]) for k in (0, -1)]
    # Distant spheres are left out only if there are many free spheres. Pictures of a few spheres show their paths, and
    # pictures of chains are complete.
    if own.size > FEW_GRAINS and (model.parents < 0).all():
        centres = [in_box(model, places) for places in centres]
    way = centres
    if own.size <= FEW_GRAINS:
        way = [sphere_centres(model, x, e) for x, e in zip(view.positions, view.rotations, strict=True)]
    # Meshes are cut at a depth half-way through the spheres.
    depth = 0.5 * (min(x[own, into].min() for x in centres) + max(x[own, into].max() for x in centres))
    middle, half = _window(way, own, model.sites.radius, (right, up))
    middle, half = _with_walls(view, seen, float(depth), middle, half)
    length = suited(view.case.units, "length", 2.0 * float(half.max()))
    records = view.last_contacts
    count = 3 if records is not None and records.first.size else 2
    figure, grid = _panels(count, float(half[1] / half[0]))
    panels = list(grid.flat)
    times = [float(view.times[0]), float(view.times[-1]), float(view.times[-1])]
    titles = [view.time_scale.text(time, 3) for time in times[:2]]
    for axes, places, title in zip(panels, centres, titles, strict=False):
        _draw_spheres(axes, view, own, places, seen, length)
        axes.set_title(title)
        if own.size <= FEW_GRAINS:
            for site in own.tolist():
                path = length.factor * np.array([there[site, [right, up]] for there in way])
                axes.plot(*path.T, color=style.GREY, linewidth=0.8, zorder=3)
    if own.size <= FEW_GRAINS:
        _draw_velocities(panels[:2], view, own, centres, (right, up), length)
    if count == 3:
        _draw_forces(panels[2], view, own, centres[1], seen, length)
        panels[2].set_title(f"normal forces, {titles[1]}")
    for axes, time in zip(panels, times, strict=False):
        draw_walls(axes, view, seen, float(depth), length, time)
        axes.set_aspect("equal", adjustable="box")
        axes.grid(False)
        axes.set_xlim(*(length.factor * (middle[0] + s * half[0]) for s in (-1, 1)))
        axes.set_ylim(*(length.factor * (middle[1] + s * half[1]) for s in (-1, 1)))
    for axes in grid[-1]:
        axes.set_xlabel(length.axis("xyz"[right]))
    for axes in grid[:, 0]:
        axes.set_ylabel(length.axis("xyz"[up]))
    return figure


def _panels(count: int, tall: float) -> tuple[Figure, np.ndarray]:
    """Return a figure and its panels (rows, columns), side by side or, if they are flat, stacked.

    ``tall`` is the ratio of height to width of a panel's content.
    """
    above = tall < FLAT
    rows, columns = (count, 1) if above else (1, count)
    each = style.WIDTH / columns * tall
    height = min(rows * max(each, 0.8), TALLEST) + 0.35 * rows + 0.35
    figure = Figure(figsize=(style.WIDTH, height), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=above, sharey=not above, squeeze=False)
    return figure, grid


def _axes(view: View, own: np.ndarray) -> tuple[int, int, int]:
    """Return the world axes that point right, up, and into the picture. Up is opposite to gravity, or y without
    gravity."""
    weight = sum(
        (np.array([float(g) for g in f.acceleration]) for f in view.model.forces if isinstance(f, Gravity)), np.zeros(3)
    )
    extent = np.ptp(view.positions.reshape(-1, 3), axis=0)
    up = int(np.argmax(np.abs(weight))) if weight.any() else int(np.argsort(extent)[1])
    others = [k for k in range(3) if k != up]
    right = max(others, key=lambda k: (extent[k], -k))
    return right, up, next(k for k in others if k != right)


def _window(
    centres: list[np.ndarray], own: np.ndarray, radii: np.ndarray, plane: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre and half extent of a window that contains all spheres in the given frames [length]. If there
    are many spheres, a few that are far from the others are left out."""
    at = list(plane)
    lows = [places[own][:, at] - radii[own, None] for places in centres]
    highs = [places[own][:, at] + radii[own, None] for places in centres]
    low, high = np.min([x.min(axis=0) for x in lows], axis=0), np.max([x.max(axis=0) for x in highs], axis=0)
    if own.size * APART >= 1.0:
        least = np.min([np.quantile(x, 0.25 * APART, axis=0) for x in lows], axis=0)
        most = np.max([np.quantile(x, 1.0 - 0.25 * APART, axis=0) for x in highs], axis=0)
        far = high - low > FAR * (most - least)
        low, high = np.where(far, least, low), np.where(far, most, high)
    half = 0.5 * (high - low) + 0.5 * float(radii[own].max())
    return 0.5 * (low + high), np.maximum(half, 0.25 * half.max())


def _with_walls(
    view: View, seen: tuple[int, int, int], depth: float, middle: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Centre and half extent of the window, enlarged to include nearby walls [length]."""
    low, high = middle - half, middle + half
    for segments in outlines(view, seen, depth, float(view.times[0])):
        points = segments.reshape(-1, 2)
        if not len(points):
            continue
        margin = 0.02 * np.ptp(points, axis=0)
        least, most = np.minimum(low, points.min(axis=0) - margin), np.maximum(high, points.max(axis=0) + margin)
        if ((most - least) <= NEARBY * 2.0 * half).all():
            low, high = least, most
    return 0.5 * (low + high), 0.5 * (high - low)


def _draw_spheres(
    axes: Axes, view: View, own: np.ndarray, places: np.ndarray, seen: tuple[int, int, int], length: Scale
) -> None:
    right, up, depth = seen
    sites = view.model.sites
    # The farthest spheres are drawn first, in paler colours.
    order = own[np.argsort(-places[own, depth], kind="stable")]
    far = places[order, depth]
    part = (far - far.min()) / max(float(np.ptp(far)), 1e-300)
    colours = np.array([to_rgb(KINDS[k % len(KINDS)]) for k in sites.kind[order]])
    pale = 0.55 * part[:, None]
    faces = (1.0 - pale) * colours + pale
    d = 2.0 * length.factor * sites.radius[order]
    axes.add_collection(
        EllipseCollection(
            d,
            d,
            np.zeros(order.size),
            units="xy",
            offsets=length.factor * places[order][:, [right, up]],
            offset_transform=axes.transData,
            facecolors=faces,
            edgecolors=style.BLACK,
            linewidths=0.25 if order.size > 200 else 0.7,
            zorder=2,
        )
    )
    _draw_chains(axes, view, places, seen, length)


def _draw_chains(axes: Axes, view: View, places: np.ndarray, seen: tuple[int, int, int], length: Scale) -> None:
    """Draw lines between spheres on connected bodies."""
    sites, parents = view.model.sites, view.model.parents
    first = {int(body): site for site, body in reversed(list(enumerate(sites.body.tolist()))) if body >= 0}
    joined = [(first[k], first[int(p)]) for k, p in enumerate(parents.tolist()) if p >= 0 and k in first and p in first]
    if joined:
        ends = length.factor * places[np.array(joined)][:, :, list(seen[:2])]
        axes.add_collection(LineCollection(list(ends), **CHAIN_LINES))


def _draw_forces(
    axes: Axes, view: View, own: np.ndarray, places: np.ndarray, seen: tuple[int, int, int], length: Scale
) -> None:
    """Draw lines between the centres of touching spheres, or from a centre to the wall; the width shows the normal
    force."""
    records, (right, up, _) = view.last_contacts, seen
    assert records is not None
    if own.size <= OUTLINED:
        d = 2.0 * length.factor * view.model.sites.radius[own]
        circles = EllipseCollection(
            d,
            d,
            np.zeros(own.size),
            units="xy",
            offsets=length.factor * places[own][:, [right, up]],
            offset_transform=axes.transData,
            facecolors="none",
            edgecolors="#c8c8c8",
            linewidths=0.6,
            zorder=2,
        )
        axes.add_collection(circles)
    start = places[records.first]
    reach = records.arms[:, 0] + np.where(records.between_spheres, records.arms[:, 1], 0.0)
    ends = start - reach[:, None] * records.normal
    size = np.abs(records.normal_force)
    mean = float(size.mean()) or 1.0
    order = np.argsort(size)
    lines = length.factor * np.stack([start, ends], axis=1)[order][:, :, [right, up]]
    finest = 2.5 if own.size < 50 else 0.5
    widths = np.minimum(finest * size[order] / mean, 6.0)
    colours = [style.VERMILION if f > mean else style.GREY for f in size[order]]
    axes.add_collection(LineCollection(list(lines), linewidths=widths, colors=colours, zorder=3))


def _draw_velocities(
    panels: list[Axes],
    view: View,
    own: np.ndarray,
    centres: list[np.ndarray],
    plane: tuple[int, int],
    length: Scale,
) -> None:
    """Draw the velocities as arrows from the centres; the longest arrow is as long as a radius."""
    velocities = [
        sphere_velocities(view.model, view.q[k], view.u[k], places)[own][:, plane]
        for k, places in zip((0, -1), centres, strict=True)
    ]
    fastest = max(float(np.linalg.norm(v, axis=1).max()) for v in velocities)
    if fastest == 0.0:
        return
    long = float(view.model.sites.radius[own].mean()) / fastest
    for axes, places, velocity in zip(panels, centres, velocities, strict=True):
        start = length.factor * places[own][:, plane]
        axes.quiver(
            *start.T,
            *(length.factor * long * velocity.T),
            angles="xy",
            scale_units="xy",
            scale=1.0,
            units="inches",
            width=0.02,
            color=style.VERMILION,
            zorder=6,
        )
