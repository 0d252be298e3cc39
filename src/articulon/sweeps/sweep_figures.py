"""Figures of a sweep: distributions of the members' values, and the fraction of runs that have not stopped."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from articulon.report import style
from articulon.report.readable_numbers import Scale
from articulon.sweeps.sweep_words import group_label, plain, shortened

COLUMNS = 3
PANELS = 12
"""Largest number of panels in a figure."""
PANEL_HEIGHT = 1.55
"""Height of a panel [inch]."""
TITLE_LETTERS = 34
BANDS = 4
"""Largest number of groups for which confidence bands are drawn; more bands would hide each other."""
BINS = 20
"""Largest number of bins in a histogram."""
NAMED_GROUPS = 8
"""Largest number of groups that are labelled by their values. If there are more groups, they are numbered."""


def distribution_figures(
    groups: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], what: str, names: Sequence[str]
) -> dict[str, Figure]:
    """Draw the distributions of quantities over the members: a histogram for a single group; for several groups, their
    values side by side.

    Parameters
    ----------
    groups
        Groups of the sweep.
    rows
        Rows of the sweep's members.
    what
        Key of the figures: ``"figures"`` or ``"averages"``.
    names
        Names of the figures to draw; each figure gets a panel.
    """
    by_group = {repr(group["values"]): k for k, group in enumerate(groups)}
    found = {}
    with style.applied():
        for k, start in enumerate(range(0, len(names), PANELS)):
            shown = names[start : start + PANELS]
            figure, all_axes = _grid(len(shown))
            for axes, name in zip(all_axes, shown, strict=True):
                values: list[list[float]] = [[] for _ in groups]
                for row in rows:
                    if row[what].get(name) is not None:
                        values[by_group[repr(row["values"])]].append(row[what][name])
                _panel(axes, name, groups, what, [np.array(one) for one in values])
            found[f"{what}_{k + 1}"] = figure
    return found


def passage_figure(groups: Sequence[Mapping[str, Any]], time: Scale, stop: str) -> Figure | None:
    """Draw the fraction of runs that have not stopped, over time; return None if no group has any runs."""
    shown = [group for group in groups if group["first_passage"] is not None]
    if not shown:
        return None
    with style.applied():
        figure, (axes,) = style.panels(height=3.1)
        for k, group in enumerate(shown):
            found, look = group["first_passage"], style.variant(k)
            edges = time.factor * np.array([0.0, *found["times"], found["until"]])

            def steps(name: str, found: Mapping[str, Any] = found) -> np.ndarray:
                # If no run is at risk, the band is drawn without width.
                values = [0.0 if one is None else one for one in found[name]]
                return np.array([1.0, *values, values[-1] if values else 1.0])

            axes.step(
                edges, steps("remaining"), where="post", label=textwrap.fill(group_label(group["values"]), 22), **look
            )
            if found["times"] and len(shown) <= BANDS:
                axes.fill_between(
                    edges, steps("low"), steps("high"), step="post", color=look["color"], alpha=0.15, linewidth=0.0
                )
        axes.set_ylim(0.0, 1.05)
        axes.set_xlim(left=0.0)
        axes.set_xlabel(time.axis("time"))
        axes.set_ylabel(f"part not {stop}")
        style.legend(axes)
    return figure


def _grid(panels: int) -> tuple[Figure, list[Axes]]:
    columns = min(COLUMNS, panels)
    rows = -(-panels // columns)
    inches = 0.35 + rows * PANEL_HEIGHT
    figure = Figure(figsize=(style.WIDTH, inches), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for one in axes[panels:]:
        one.set_visible(False)
    return figure, axes[:panels]


def _panel(axes: Axes, name: str, groups: Sequence[Mapping[str, Any]], what: str, values: Sequence[np.ndarray]) -> None:
    axes.set_title(shortened(name, TITLE_LETTERS), fontsize=7.0, pad=3.0, fontweight="normal")
    axes.tick_params(labelsize=6.5)
    axes.xaxis.get_offset_text().set_fontsize(6.5)
    axes.yaxis.get_offset_text().set_fontsize(6.5)
    found = [group[what].get(name) for group in groups]
    if len(groups) == 1:
        _histogram(axes, values[0], found[0])
        return
    for k, (points, one) in enumerate(zip(values, found, strict=True)):
        if one is None:
            continue
        # The offset of a point depends on the order of the members and is not random, so that the picture is
        # reproducible.
        aside = k + 0.28 * (np.arange(points.size) % 7 - 3) / 3.0
        colour = style.variant(k)["color"]
        axes.plot(aside, points, ".", markersize=4.5, color=colour, alpha=0.6, markeredgewidth=0.0)
        _mean(axes, k, one)
    axes.set_xlim(-0.6, len(groups) - 0.4)
    named = len(groups) <= NAMED_GROUPS and all(len(group["values"]) == 1 for group in groups)
    words = [plain(next(iter(group["values"].values()))) for group in groups] if named else range(1, len(groups) + 1)
    axes.set_xticks(range(len(groups)), [shortened(str(word), 10) for word in words])


def _mean(axes: Axes, place: float, found: Mapping[str, Any]) -> None:
    axes.plot([place], [found["mean"]], "_", color=style.BLACK, markersize=9.0, markeredgewidth=1.3, zorder=4)
    if found["interval"] is not None:
        axes.vlines(place, *found["interval"], color=style.BLACK, linewidth=1.2, zorder=4)


def _histogram(axes: Axes, points: np.ndarray, found: Mapping[str, Any] | None) -> None:
    if found is None:
        return
    axes.hist(
        points, bins=min(BINS, max(5, round(np.sqrt(points.size)))), color=style.SKY, edgecolor="white", linewidth=0.4
    )
    if found["interval"] is not None:
        axes.axvspan(*found["interval"], color=style.VERMILION, alpha=0.25, linewidth=0.0)
    axes.axvline(found["mean"], color=style.VERMILION, linewidth=1.2)
    axes.set_ylabel("members", fontsize=6.5)
