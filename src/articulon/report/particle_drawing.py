"""Free particles drawn as spheres by their kinds, as in Guy (2018), figures 3.2 to 3.4, 4.1 and 4.2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon

from articulon.forces.sites.laws.lennard_jones import LennardJones
from articulon.model import Model
from articulon.model.joints import XYZ
from articulon.report import style
from articulon.report.readable_numbers import Scale, suited
from articulon.report.view import View, in_box

MOST_PARTICLES = 2000
"""Largest number of particles that are drawn; more would hide each other."""
MOST_PANELS = 6
"""Largest number of panels."""
COLUMNS = 3
KINDS = (style.BLUE, style.ORANGE, style.VERMILION, style.GREY, style.GREEN, style.PURPLE, style.OLIVE)
"""Colours of the kinds of particles."""
DRAWN = 0.8
"""Radius at which spheres are drawn, as a fraction of σ/2; gaps between them make spheres behind them visible."""
FADED = 0.55
"""Fraction of white in the colour of the farthest particle."""


def sphere_radii(model: Model) -> np.ndarray | None:
    """Radius σ/2 of each particle, from the Lennard-Jones force [length], shape (bodies,). None without such a force,
    for too many particles, or for bodies that are not free particles."""
    sites = model.sites
    alone = np.array_equal(sites.body, np.arange(model.bodies)) and not sites.position.any()
    if not 2 <= model.bodies <= MOST_PARTICLES or not alone or not (model.kinds == XYZ).all():
        return None
    force = next((f for f in model.forces if isinstance(f, LennardJones)), None)
    if force is None or not all(kind in force.parameters for kind in model.sites.kinds):
        return None
    by_kind = np.array([0.5 * float(force.parameters[kind].sigma) for kind in model.sites.kinds])
    return by_kind[model.sites.kind]


def particles(view: View) -> Figure | None:
    """Draw the particles in the first and the last frame; return None for other models."""
    if sphere_radii(view.model) is None:
        return None
    moments = [view.time_scale.text(float(view.times[k]), 3) for k in (0, -1)]
    return _panels([(view, 0, moments[0]), (view, -1, moments[1])])


def final_positions(views: Mapping[str, View]) -> Figure | None:
    """Draw the particles at the start of the first run and at the end of each run; return None for other models."""
    views = {name: view for name, view in views.items() if sphere_radii(view.model) is not None}
    if not views:
        return None
    starts: dict[bytes, list[str]] = {}
    for name, view in views.items():
        starts.setdefault(view.positions[0].tobytes(), []).append(name)
    begun = [(views[names[0]], 0, f"start of {_together(names)}") for names in list(starts.values())[:COLUMNS]]
    return _panels([*begun, *((view, -1, name) for name, view in list(views.items())[:MOST_PANELS])])


def _together(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


_HOW = (
    "along the z axis, nearer ones in front and in a fuller colour. Spheres have 0.8 times the "
    "radius σ/2 of their Lennard-Jones potential."
)
CAPTION = f"The particles at the start and in the last frame of each run, {_HOW}"
"""Caption of the figure of a comparison."""
RUN_CAPTION = f"The particles in the first frame (left) and the last (right), {_HOW}"
"""Caption of the figure of a run."""


def _panels(frames: list[tuple[View, int, str]]) -> Figure:
    columns = min(COLUMNS, len(frames))
    rows = -(-len(frames) // columns)
    width = style.WIDTH / columns
    figure = Figure(figsize=(style.WIDTH, rows * (width + 0.3) + 0.6), layout="constrained")
    all_axes = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
    first = frames[0][0]
    middle, half = _window(frames)
    length = suited(first.case.units, "length", 2.0 * half)
    for axes, (view, frame, title) in zip(all_axes, frames, strict=False):
        _draw(axes, view, frame, length, middle, half)
        axes.set_title(title, fontsize=8.0)
    for axes in all_axes[len(frames) :]:
        axes.set_visible(False)
    for axes in all_axes[::columns]:
        axes.set_ylabel(length.axis("y"))
    for axes in all_axes[max(0, len(frames) - columns) : len(frames)]:
        axes.set_xlabel(length.axis("x"))
        axes.tick_params(labelbottom=True)
    kinds = first.model.sites.kinds
    patches = [Patch(color=KINDS[k % len(KINDS)], label=kind) for k, kind in enumerate(kinds)]
    figure.legend(handles=patches, loc="outside lower center", ncols=len(kinds), fontsize=8.0)
    return figure


def _radii(view: View) -> np.ndarray:
    radii = sphere_radii(view.model)
    assert radii is not None
    return DRAWN * radii


def _places(view: View, frame: int) -> np.ndarray:
    """Positions [length], wrapped into a periodic box, shape (bodies, 3)."""
    return in_box(view.model, view.positions[frame])


def _outline(view: View) -> np.ndarray | None:
    """Corners of the box along the z axis [length], shape (4, 2); None without a box."""
    box = view.model.box
    if box is None:
        return None
    a, b, _ = box.vectors
    origin = np.array([float(x) for x in box.origin])
    return np.array([origin, origin + a, origin + a + b, origin + b])[:, :2]


def _window(frames: list[tuple[View, int, str]]) -> tuple[np.ndarray, float]:
    """Centre and half width of a square around everything drawn [length]."""
    points = []
    for view, frame, _ in frames:
        places, radii, outline = _places(view, frame)[:, :2], _radii(view)[:, None], _outline(view)
        points += [places - radii, places + radii, *([] if outline is None else [outline])]
    low, high = (f(np.concatenate(points), axis=0) for f in (np.min, np.max))
    return 0.5 * (low + high), 0.52 * float((high - low).max())


def _draw(axes: Axes, view: View, frame: int, length: Scale, middle: np.ndarray, half: float) -> None:
    places, radii, outline = _places(view, frame), _radii(view), _outline(view)
    order = np.argsort(places[:, 2])
    depth = (places[order, 2] - places[order[0], 2]) / max(float(np.ptp(places[:, 2])), 1e-300)
    colours = np.array([to_rgb(KINDS[k % len(KINDS)]) for k in view.model.sites.kind[order].tolist()])
    faded = 1.0 - (1.0 - FADED * (1.0 - depth))[:, None] * (1.0 - colours)
    diameters = 2.0 * length.factor * radii[order]
    look: dict[str, Any] = {"edgecolors": style.BLACK, "linewidths": 0.3, "zorder": 2}
    axes.add_collection(
        EllipseCollection(
            diameters,
            diameters,
            np.zeros(order.size),
            units="xy",
            offsets=length.factor * places[order, :2],
            offset_transform=axes.transData,
            facecolors=faded,
            **look,
        )
    )
    if outline is not None:
        edges: dict[str, Any] = {"fill": False, "edgecolor": style.GREY, "linewidth": 0.8, "zorder": 1}
        axes.add_patch(Polygon(length.factor * outline, closed=True, **edges))
    axes.set_aspect("equal", adjustable="box")
    axes.grid(False)
    (x, y), reach = (length.factor * middle).tolist(), length.factor * half
    axes.set_xlim(x - reach, x + reach)
    axes.set_ylim(y - reach, y + reach)
