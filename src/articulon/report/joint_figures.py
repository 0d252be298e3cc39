"""Figure of the joints of a small model: joint coordinates, and angular velocities of freely rotating bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from articulon.model.joints import BY_KIND
from articulon.report import style
from articulon.report.readable_numbers import suited
from articulon.report.view import View

MOST_LINES = 12
"""Largest number of lines in a panel. If there are more, only the joints nearest to the ground are drawn."""
STILL = 1e-9
"""Largest rotation during a run that may be due to rounding errors alone [rad]."""


def joints(view: View) -> Figure | None:
    """Draw a panel each for joint angles, displacements of prismatic and other joints, and angular velocities of free
    and spherical joints. Return None for models of many joints."""
    panels = {dimension: _nearest_to_ground(view, found) for dimension, found in _panels(view).items()}
    if _still(view, panels["angular_velocity"]):
        panels["angular_velocity"] = {}
    shown = {dimension: found for dimension, found in panels.items() if found}
    if not shown:
        return None
    figure, all_axes = style.panels(len(shown), height=2.7)
    t = view.time_scale.factor * view.times
    for axes, (dimension, lines) in zip(all_axes, shown.items(), strict=True):
        factor, units = 1.0, view.case.units
        what = {"angle": "angle", "length": "displacement", "angular_velocity": "angular velocity"}[dimension]
        label = style.label(what, units, dimension)
        if dimension == "length":
            scale = suited(units, "length", max(float(np.abs(values).max()) for values in lines.values()))
            factor, label = scale.factor, scale.axis(what)
        for k, (name, values) in enumerate(lines.items()):
            axes.plot(t, factor * values, label=name, **_line_style(k))
        axes.set_ylabel(label)
        style.legend(axes)
    all_axes[-1].set_xlabel(view.time_scale.axis("time"))
    return figure


def left_out(view: View) -> bool:
    """Whether the figure shows only some of the joints."""
    return any(len(_nearest_to_ground(view, lines)) < len(lines) for lines in _panels(view).values())


def _panels(view: View) -> dict[str, dict[str, np.ndarray]]:
    """All lines, by the dimension of their quantity."""
    return {
        "angle": _lines(view, "coordinates", "angle"),
        "length": _lines(view, "coordinates", "length"),
        "angular_velocity": _lines(view, "speeds", "angular_velocity"),
    }


def _still(view: View, spins: dict[str, np.ndarray]) -> bool:
    """Whether angular velocities are only rounding errors, because the body does not rotate."""
    span = float(view.times[-1] - view.times[0])
    return all(np.abs(values).max(initial=0.0) * span <= STILL for values in spins.values())


def angles(view: View, most: int = MOST_LINES) -> dict[str, np.ndarray]:
    """Return the angles of the joints nearest to the ground by name, at most ``most`` of them, each of shape
    (frames,)."""
    return _nearest_to_ground(view, _panels(view)["angle"], most)


def _nearest_to_ground(view: View, lines: dict[str, np.ndarray], most: int = MOST_LINES) -> dict[str, np.ndarray]:
    """Return the lines of the joints nearest to the ground, where distance is a number of bodies. Joints at the same
    distance are all included or all left out, up to ``most`` lines."""
    if len(lines) <= most:
        return lines
    parents = view.model.parents
    depth = np.zeros(view.model.bodies, dtype=int)
    for body, parent in enumerate(parents.tolist()):
        depth[body] = 0 if parent < 0 else depth[parent] + 1
    of = {name: int(depth[view.model.body(name.split(",")[0])]) for name in lines}
    deepest = max((d for d in set(of.values()) if sum(e <= d for e in of.values()) <= most), default=-1)
    return {name: values for name, values in lines.items() if of[name] <= deepest}


def _lines(view: View, side: str, dimension: str) -> dict[str, np.ndarray]:
    """Coordinates of joints between bodies, or angular velocities of bodies that rotate about more than one axis, by
    their name in the legend."""
    model, found = view.model, {}
    starts = model.forest.q_start if side == "coordinates" else model.forest.u_start
    for i, kind in enumerate(model.forest.kind.tolist()):
        joint, body = BY_KIND[kind], model.names[int(model.head[i])]
        named = joint.coordinates if side == "coordinates" else joint.speeds
        free = joint.quaternion is not None
        if free != (side == "speeds") or (side == "coordinates" and joint.translations == 3):
            continue
        mine = [k for k, (_, d) in enumerate(named) if d == dimension]
        for k in mine:
            name = body if len(mine) == 1 else f"{body}, {named[k][0].replace('_', ' ')}"
            array: Any = view.q if side == "coordinates" else view.u
            found[name] = array[:, int(starts[i]) + k]
    return found


def _line_style(k: int) -> dict[str, Any]:
    looks = style.VARIANT_STYLES
    thin = {"linewidth": 0.9} if k >= len(looks) else {}
    return {**looks[k % len(looks)], **thin}
