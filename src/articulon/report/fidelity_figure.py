"""Figure of the premises of scaling along a run, and of the times at which they break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from articulon.report import style
from articulon.report.readable_numbers import number
from articulon.report.thermal_figures import over_time
from articulon.report.view import View

MOTIONS: tuple[dict[str, Any], ...] = (
    {"color": style.BLUE, "linestyle": "-"},
    {"color": style.VERMILION, "linestyle": (0, (5, 1.5))},
    {"color": style.PURPLE, "linestyle": (0, (1, 1))},
)
"""Line styles of the three worst motions."""
LAG: dict[str, Any] = {"color": style.GREY, "linestyle": (0, (4, 1.5, 1, 1.5))}
TRUSTED_BAND: dict[str, Any] = {"color": style.GREEN, "alpha": 0.16, "linewidth": 0.0, "zorder": 0}
SUSPECT_BAND: dict[str, Any] = {"color": style.ORANGE, "alpha": 0.14, "linewidth": 0.0, "zorder": 0}
BREAK: dict[str, Any] = {"color": style.GREY, "linestyle": (0, (4, 3)), "linewidth": 1.2, "zorder": 1}


def fidelity(view: View) -> Figure | None:
    """Draw the errors of the worst motions in time and in position relative to an unscaled run, the lag estimate, and
    the residual of the forces. Return None for a run without drag or scaling."""
    found = view.summary.get("fidelity") or {}
    along, tolerance = found.get("along") or {}, float(found.get("tolerance") or 0.02)
    motions, lag = along.get("paired") or [], along.get("lag")
    residual, ratio = along.get("cancellation"), along.get("speed_ratio")
    unequal = ratio is not None and bool(np.any(np.asarray(ratio["ratio"], dtype=float) != 1.0))
    rows = [bool(motions) or lag is not None, bool(motions), residual is not None, unequal]
    if not any(rows[:3]):
        return None
    figure, drawn = style.panels(sum(rows), height=2.3)
    axes = iter(drawn)
    if rows[0]:
        _in_time(next(axes), view, motions, lag, tolerance)
    if rows[1]:
        _in_position(next(axes), view, motions, tolerance)
    if residual is not None:
        _residual(next(axes), view, residual)
    if unequal and ratio is not None:
        _speed_ratio(next(axes), view, ratio)
    for k, one in enumerate(drawn):
        _mark_break(one, view, found, named=k == 0)
        style.legend(one)
    over_time(drawn[-1], view)
    return figure


def _in_time(
    axes: Axes,
    view: View,
    motions: Sequence[Mapping[str, Any]],
    lag: Mapping[str, Any] | None,
    tolerance: float,
) -> None:
    factor, whole, drawn = view.time_scale.factor, float(view.times[-1] - view.times[0]), []
    for one, look in zip(motions, MOTIONS, strict=False):
        drawn.append(np.array(one["time_error"], dtype=float))
        axes.plot(factor * np.array(one["time"]), 100.0 * drawn[-1], label=one["what"], **look)
    if lag is not None:
        drawn.append(np.abs(np.array(lag["delay"], dtype=float)) / whole)
        axes.plot(factor * np.array(lag["time"]), 100.0 * drawn[-1], label=f"{lag['what']}, lag estimate", **LAG)
    _bands(axes, tolerance, np.concatenate(drawn), named=True)
    axes.set_ylabel("error in time\n(% of run)")


def _in_position(axes: Axes, view: View, motions: Sequence[Mapping[str, Any]], tolerance: float) -> None:
    factor, drawn = view.time_scale.factor, []
    for one, look in zip(motions, MOTIONS, strict=False):
        drawn.append(np.array(one["position_error"], dtype=float))
        axes.plot(factor * np.array(one["time"]), 100.0 * drawn[-1], label=one["what"], **look)
    _bands(axes, tolerance, np.concatenate(drawn))
    axes.set_ylabel("error in position\n(% of range)")


def _bands(axes: Axes, tolerance: float, values: np.ndarray, named: bool = False) -> None:
    """Shade the trusted and suspect ranges, on an axis that is linear up to the tolerance and logarithmic beyond."""
    percent = 100.0 * tolerance
    values = 100.0 * values[np.isfinite(values)]
    high = max(5.0 * percent, float(values.max(initial=0.0))) * 1.6
    low = min(0.0, float(values.min(initial=0.0)))
    low = 1.6 * low if low < -0.5 * percent else -0.5 * percent
    axes.axhspan(-percent, percent, label=f"trusted, < {number(percent)} %" if named else "", **TRUSTED_BAND)
    for name, a, b in (("suspect" if named else "", percent, 5.0 * percent), ("", -5.0 * percent, -percent)):
        axes.axhspan(a, b, label=name, **SUSPECT_BAND)
    axes.set_yscale("symlog", linthresh=percent, linscale=0.8)
    axes.set_ylim(low, high)
    powers = [10.0**k for k in range(-2, 12) if 10.0**k > 1.5 * percent]
    ticks = [percent, *powers]
    if low > -100.0 * percent and high < 1e4 * percent:
        ticks = [percent, 5.0 * percent, *(p for p in powers if p > 7.5 * percent)]
    every = max(1, len([t for t in ticks if t < max(high, -low)]) // 4)
    ticks = [ticks[0], *ticks[1::every]]
    axes.yaxis.set_major_locator(FixedLocator([0.0, *ticks, *(-t for t in ticks)]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value, 3)))


def _residual(axes: Axes, view: View, residual: Mapping[str, Any]) -> None:
    times = view.time_scale.factor * np.array(residual["time"])
    axes.plot(times, np.array(residual["residual"], dtype=float), label="slowest body", color=style.PURPLE)
    axes.set_ylabel("$|\\Sigma G_c|\\,/\\,\\Sigma|G_c|$")
    axes.set_ylim(0.0, 1.03)


def _speed_ratio(axes: Axes, view: View, ratio: Mapping[str, Any]) -> None:
    values = np.array(ratio["ratio"], dtype=float)
    times = view.time_scale.factor * np.array(ratio["time"])
    axes.step(times, values, where="mid", label="steady drift", color=style.OLIVE)
    style.logarithmic(axes, [np.ones(1), values])
    axes.set_ylabel("drift / true drift")


def _mark_break(axes: Axes, view: View, found: Mapping[str, Any], named: bool) -> None:
    since = found.get("since")
    if since is not None:
        name = f"broken at\n{view.time_scale.text(float(since), 3)}" if named else ""
        axes.axvline(view.time_scale.factor * float(since), label=name, **BREAK)


CAPTION = (
    "Whether the scaled run can be trusted: errors of the worst motions relative to an unscaled run, in time "
    "(when positions are reached, in percent of the run) and in position (in percent of the range of each motion), "
    "with the lag estimate; and the residual of the forces on the slowest body, 0 where they cancel."
)
"""Caption of the figure."""
