"""Figure of the active joints and modes over time, for adaptive runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from articulon.adaptive.lockable import joints_of
from articulon.report import style
from articulon.report.readable_numbers import number, percent
from articulon.report.thermal_figures import over_time
from articulon.report.view import View


def activity_words(found: Mapping[str, Any]) -> str:
    """Describe the activity and the work saved, from the section "adaptive" of a summary."""
    saved = found["saved"]
    work = "" if saved is None else f"; a step took {number(saved, 2)} times less work than with all of them active"
    return (
        f"{percent(found['active_mean'], 3)} of the degrees of freedom on average over the steps, "
        f"{number(found['least_active'])} to {number(found['most_active'])} of them; {number(found['locked'])} locked "
        f"and {number(found['released'])} released{work}"
    )


def active_joints(view: View) -> np.ndarray:
    """Return whether each joint and mode moved at each frame, joints first, shape (frames, joints and modes). The
    speeds of locked joints and modes are exactly zero."""
    joints = joints_of(view.model)
    moving = np.zeros((view.times.size, joints.degrees_of_freedom.size), dtype=bool)
    frames, speeds = np.nonzero(view.u)
    moving[frames, joints.u[speeds]] = True
    return moving[:, joints.degrees_of_freedom > 0]


def activity(view: View) -> Figure | None:
    """Draw a row for each joint and mode, dark while the joint or mode is free, and the number of active degrees of
    freedom."""
    active = view.observables.get("active_freedoms")
    if active is None:
        return None
    figure, (axes, below) = style.panels(2, height=2.6)
    t = view.time_scale.factor * view.times
    moving = active_joints(view)
    axes.imshow(
        moving.T,
        aspect="auto",
        interpolation="nearest",
        cmap="Blues",
        vmin=0.0,
        vmax=1.3,
        extent=(float(t[0]), float(t[-1]), moving.shape[1] - 0.5, -0.5),
    )
    axes.grid(visible=False)  # grid lines would look like joints that are briefly locked
    axes.set_ylabel("joint, then mode" if view.model.modes else "joint")
    below.step(t, active, where="post", color=style.BLUE, label="free")
    below.set_ylim(bottom=0.0)
    below.set_ylabel("degrees of freedom", color=style.BLUE)
    other = below.twinx()
    other.plot(t, view.observables["reservoir_energy"], color=style.ORANGE, linestyle=(0, (3, 1)), label="taken out")
    other.set_ylabel(style.label("energy taken out", view.case.units, "energy"), color=style.ORANGE)
    other.grid(visible=False)
    over_time(below, view)
    return figure
