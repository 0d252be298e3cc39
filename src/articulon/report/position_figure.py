"""Figure of the motion that a run follows, and marks of events that other figures share."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from articulon.report import grain_figures, style
from articulon.report.readable_numbers import Scale, suited
from articulon.report.thermal_figures import over_time
from articulon.report.view import View

SHOWN_SWITCHES = 3
"""Largest number of switches of a factor that are all marked; if there are more, only the first switch is marked."""
_AXES: tuple[dict[str, Any], ...] = (
    {"color": style.BLUE, "linestyle": "-"},
    {"color": style.VERMILION, "linestyle": (0, (5, 1.5))},
    {"color": style.GREEN, "linestyle": (0, (6, 1.5, 1, 1.5))},
)


def position(view: View) -> Figure | None:
    """Draw the displacement of the core over time. If there is a stop condition with a direction, the components along
    and across this direction are drawn.

    For a stop condition with two bodies, draw their distance. Return None if the core does not move, or if it is a
    grain: a few grains have their own figure, and many have none.
    """
    if view.distance is not None:
        return _distance(view, view.distance)
    moved = view.path - view.path[0]
    has_own_figure = grain_figures.many_grains(view) or grain_figures.few_free(view)
    if not moved.any() or (view.direction is None and has_own_figure):
        return None
    length = suited(view.case.units, "length", float(np.abs(moved).max()))
    t = view.time_scale.factor * view.times
    if view.direction is None or view.advance is None:
        figure, (axes,) = style.panels()
        for k, (axis, dashes) in enumerate(zip("xyz", _AXES, strict=True)):
            axes.plot(t, length.factor * moved[:, k], label=f"along {axis}", **dashes)
        axes.set_ylabel(length.axis("displacement"))
        style.legend(axes)
        over_time(axes, view)
        return figure
    figure, (axes, across) = style.panels(2, height=2.5)
    axes.plot(t, length.factor * view.advance, color=style.BLUE, label="advance")
    mark_stop(axes, view, length)
    mark_switches(axes, view)
    axes.set_ylabel(length.axis(f"advance of {view.core_name}"))
    style.legend(axes)
    lateral = moved - view.advance[:, None] * view.direction
    # Sideways motion at the level of rounding errors is shown as zero.
    least = 1e-3 * float(np.abs(view.advance).max())
    fine = suited(view.case.units, "length", max(float(np.abs(lateral).max()), least))
    for k, (axis, dashes) in enumerate(zip("xyz", _AXES, strict=True)):
        if abs(view.direction[k]) < 1.0 - 1e-9:
            across.plot(t, fine.factor * lateral[:, k], label=f"along {axis}", **dashes)
    low, high = across.get_ylim()
    across.set_ylim(min(low, -fine.factor * least), max(high, fine.factor * least))
    across.set_ylabel(fine.axis("sideways"))
    style.legend(across)
    over_time(across, view)
    return figure


def _distance(view: View, distance: np.ndarray) -> Figure:
    """Draw the distance of the two bodies of the stop condition over time."""
    stop, length = view.case.run.stop, suited(view.case.units, "length", float(distance.max()))
    assert stop is not None
    figure, (axes,) = style.panels()
    axes.plot(view.time_scale.factor * view.times, length.factor * distance, color=style.BLUE, label="distance")
    mark_stop(axes, view, length)
    mark_switches(axes, view)
    axes.set_ylabel(length.axis(f"distance of {stop.body} and {stop.to}"))
    axes.set_ylim(0.0, None)
    style.legend(axes)
    over_time(axes, view)
    return figure


def mark_stop(axes: Axes, view: View, length: Scale, moment: bool = True) -> None:
    """Mark the advance or distance at which the run stops and, if ``moment``, the time when it did."""
    stop = view.case.run.stop
    look: dict[str, Any] = {"color": style.ORANGE, "linewidth": 1.2, "zorder": 1}
    if stop is None:
        return
    axes.axhline(length.factor * stop.length, linestyle=(0, (1, 1.2)), label=stop.label, **look)
    if moment and view.stop_time is not None:
        time = view.time_scale
        name = f"{stop.label} at\n{time.text(view.stop_time)}"
        axes.plot(
            [time.factor * view.stop_time],
            [length.factor * stop.length],
            "o",
            label=name,
            clip_on=False,
            **look,
        )
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, 1.08 * length.factor * stop.length))


def mark_switches(axes: Axes, view: View, scale: Scale | None = None) -> None:
    """Mark the times at which scaling factors change."""
    scale = view.time_scale if scale is None else scale
    times = [scale.factor * time for time in view.switches]
    many = len(times) > SHOWN_SWITCHES
    style.mark_times(axes, times[:1] if many else times, "first switch" if many else "factor switches")
