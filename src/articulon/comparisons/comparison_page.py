"""A comparison as a table for the terminal, and as an HTML page with figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Group
from rich.table import Table
from rich.text import Text

from articulon.comparisons import energy_comparison, overlays, resolution_comparison, thermal_comparison
from articulon.comparisons.compared import Compared
from articulon.comparisons.energy_comparison import ENERGY, energy_figure, energy_rows
from articulon.comparisons.overlays import difference_rows, figures_over_each_other
from articulon.comparisons.path_measures import SAME_STEPS
from articulon.comparisons.resolution_comparison import resolution_figure, resolution_tables
from articulon.comparisons.thermal_comparison import TEMPERATURE, temperature_rows, thermal_figures
from articulon.comparisons.trusted_runs import run_verdicts, which_to_trust
from articulon.report import page, style
from articulon.report.figures import draw_forces, factor_groups, normalised
from articulon.report.position_figure import mark_stop
from articulon.report.readable_numbers import number, percent, suited, wall_time
from articulon.report.view import View
from articulon.terminal import printable

FORCE_PANELS = 6
"""Maximum number of runs whose forces are drawn, each in its own panel."""

EARLY = 0.03
"""Length of a run, as a fraction of the longest one, below which it would be invisible on a linear time axis."""

COST = (
    "steps",
    "rejected",
    "evaluations",
    "wall time",
    "saved of\nexplicit",
    "saved of\nimplicit",
    "saved of\noverdamped",
)
"""Headings of the costs of a run."""
FIDELITY = ("largest\ndeviation", "standard\ndeviation", "{stop} at", "late by", "predicted\ndelay", "verdict")
"""Headings of the accuracy of a run; ``{stop}`` is the case's label of its stop condition."""
DIFFERENCES = "Differences from the reference"
"""Title of the table of joints, positions and energies."""


def tables(done: Compared) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Return the headings and rows of the tables by topic, with the name of the run in the first column.

    Temperatures replace deviations for thermostatted particles, because their paths are chaotic and cannot be compared.
    """
    stop = done.case.run.stop
    heads = [head.format(stop="stopped" if stop is None else stop.label) for head in FIDELITY]
    names = [_label(row) for row in done.rows]

    def table(heads: Sequence[str], texts: Any) -> tuple[list[str], list[list[str]]]:
        return ["run", *heads], [[name, *texts(done, row)] for name, row in zip(names, done.rows, strict=True)]

    found, thermostatted = {"Cost": table(_cost_heads(done), _cost)}, temperature_rows(done)
    if len(thermostatted) < len(done.views) or not thermostatted:
        found["Fidelity"] = table(heads, _fidelity)
    if thermostatted:
        found["Temperature"] = ["run", *TEMPERATURE], thermostatted
    kept = energy_rows(done)
    if kept:
        found["Energy"] = ["run", *ENERGY], kept
    apart = difference_rows(done)
    if apart:
        found[DIFFERENCES] = ["quantity", "run", *overlays.HEADS], apart
    return found | resolution_tables(done)


def _label(row: Mapping[str, Any]) -> str:
    """Name of a run in a table."""
    if not row["is_reference"]:
        return str(row["name"])
    return f"{row['name']} (reference{'' if row['scaling']['policy'] == 'none' else ', scaled'})"


def _cost_heads(done: Compared) -> tuple[str, ...]:
    """Headings of the costs; overdamped dynamics have a column if they were run."""
    return COST if any(row["rule"] == "overdamped" for row in done.rows) else COST[:-1]


def _cost(done: Compared, row: Mapping[str, Any]) -> list[str]:
    marks = {"measured": "", "cached": " (cached)", "estimated": " (estimated)", None: ""}
    return [
        number(row["steps"]),
        number(row["rejected"]),
        number(row["evaluations"]),
        wall_time(row["wall_seconds"]) + marks[row["wall_seconds_are"]],
        saving_text(row["saving_explicit"]),
        saving_text(row["saving_friction_implicit"]),
        saving_text(row["saving_overdamped"]),
    ][: len(_cost_heads(done))]


def _fidelity(done: Compared, row: Mapping[str, Any]) -> list[str]:
    units = done.case.units

    def quantity(dimension: str, value: float | None) -> str:
        return "–" if value is None else suited(units, dimension, value).text(value, 3)

    late = quantity("time", row["lateness"])
    if row["lateness_relative"] is not None:
        late += f" ({percent(row['lateness_relative'], 2)})"
    return [
        quantity("length", row["largest_deviation"]),
        quantity("length", row["standard_deviation"]),
        "–" if row["stop_time"] is None else suited(units, "time", row["stop_time"]).text(row["stop_time"], 4),
        late,
        quantity("time", row["predicted_delay"]),
        row["verdict"] or ("unscaled" if row["steps"] is not None else row["status"]),
    ]


def saving_text(found: Mapping[str, Any]) -> str:
    """Return a saving in words, such as ``"97.4 % (38×)"``, or a text that there is none."""
    if found["saving"] is None:
        return "same steps" if found.get("reason") == SAME_STEPS else "–"
    per_time = found["ratio_per_physical_time"]
    about = "about " if found["is"] == "estimated" else ""
    times = f"{number(found['ratio'], 2)}×"
    if found["ratio"] <= 1.0 or (per_time is not None and per_time <= 1.0):
        return f"{about}no gain ({times})"
    return f"{about}{percent(found['saving'], 3)} ({times})"


def terminal_tables(done: Compared, sentences: Sequence[str], notes: Sequence[str]) -> Group:
    """The tables and notes for a terminal."""
    parts: list[Any] = [Text(printable(done.case.title), style="bold")]
    for name, (heads, rows) in tables(done).items():
        # This table has a row for each joint and run, which is too long for a terminal; only the page contains it.
        if name == DIFFERENCES:
            continue
        table = Table()
        for k, head in enumerate(heads):
            table.add_column(printable(head), justify="right" if k else "left")
        for texts in rows:
            table.add_row(*(printable(text).replace("\u00a0", " ").replace("\u202f", ",") for text in texts))
        parts.append(table)
    trust = [text for text in [which_to_trust(done)] if text]
    return Group(*parts, *(Text(printable(text)) for text in (*sentences, *trust, _caption(done, notes))))


def _caption(done: Compared, notes: Sequence[str]) -> str:
    return "\n".join([f"Report: {done.folder / 'comparison.html'}", *notes])


def page_of(done: Compared, sentences: Sequence[str], notes: Sequence[str], replay: str = "") -> str:
    """Return the HTML page of a comparison; ``replay`` is HTML that shows one of its runs in three dimensions."""
    marked = [k for k, row in enumerate(done.rows) if row["is_reference"]]
    links = [f"{row['name']}/report.html" if row["name"] in done.views else None for row in done.rows]
    found = tables(done)
    drawn = figures(done)
    explained = {
        "Cost": [
            "Wall times are from the first step to the last frame. Savings are 1 − wall time/wall time of the "
            "unscaled explicit, friction-implicit or overdamped run; in brackets, the factor. A run that takes "
            "the same steps by the same rule saves nothing, unless fewer parts move in it."
        ],
        "Fidelity": [
            "Deviations are distances of the core's centre of mass from that of the reference at equal times, until "
            "the earlier of the two ends; the standard deviation is the root of their mean square. The predicted "
            "delay is that of the worst motion in each run's fidelity section."
        ],
        DIFFERENCES: [overlays.EXPLAINED],
        "Energy": [energy_comparison.EXPLAINED],
        "Resolution": [resolution_comparison.EXPLAINED],
        "Error of the resolution": [resolution_comparison.EXPLAINED_ERROR],
    }
    body = [page.figure(name, image, CAPTIONS[name]) for name, image in style.svgs(drawn).items()]
    return page.document(
        f"Compared: {done.case.title}",
        f"{done.case.name}: {len(done.views)} runs side by side",
        [
            page.section(
                "Which to trust",
                page.paragraphs([which_to_trust(done)]),
                *(page.callout(one.verdict, one.words) for one in run_verdicts(done)),
            ),
            page.section("Motion", replay),
            page.section(
                "Cost",
                page.table(*found["Cost"], marked, links),
                page.items(list(sentences)),
                page.paragraphs(explained["Cost"]),
            ),
            *(
                page.section(name, page.table(*table), page.paragraphs(explained.get(name, [])))
                for name, table in found.items()
                if name != "Cost"
            ),
            page.section("Figures", *body),
            page.section("Notes", page.items([*notes, *done.case.notes])),
        ],
    )


def figures(done: Compared) -> dict[str, Figure]:
    """Return the figures of a comparison by name, as far as the runs have data for them."""
    with style.applied():
        drawn = {
            "position": _position(done),
            **figures_over_each_other(done, looks(done)),
            "kinetic_energy": _kinetic_energy(done),
            "works_normalised": _works(done),
            "forces": _forces(done),
            "factors": _factors(done),
            "step_size": _step_size(done),
            **thermal_figures(done, looks(done)),
            "energy_spread": energy_figure(done),
            "resolution": resolution_figure(done, looks(done)),
        }
    return {name: figure for name, figure in drawn.items() if figure is not None}


CAPTIONS = {
    "position": (
        "Displacement of the core in each run, or its distance from the body at which runs end, and its distance from "
        "the core of the reference at equal times."
    ),
    "kinetic_energy": "Kinetic energy of runs with inertia. Scaling lowers it by the factor of the damping.",
    "works_normalised": "Work of friction and of Brownian forces in each run, divided by its largest magnitude there.",
    "forces": (
        "Magnitudes of the forces by kind, summed over the bodies, before scaling. Dashed vertical lines mark "
        "switches of a scaling factor."
    ),
    "factors": "Scaling factors of the scaled runs.",
    "step_size": "Length of the integration steps.",
    **overlays.CAPTIONS,
    **thermal_comparison.CAPTIONS,
    "energy_spread": energy_comparison.CAPTION,
    "resolution": resolution_comparison.CAPTION,
}


def looks(done: Compared) -> dict[str, dict[str, Any]]:
    """Line style of each run."""
    found: dict[str, dict[str, Any]] = {}
    count = 0
    for row in done.rows:
        if row["is_reference"] and row["group"] == 0:
            found[row["name"]] = style.REFERENCE_STYLE
        elif row["name"] in done.views:
            found[row["name"]] = style.variant(count)
            count += 1
    return found


def _scale(done: Compared) -> Any:
    return suited(done.case.units, "time", max(float(view.times[-1]) for view in done.views.values()))


def _lines(done: Compared, series: Mapping[str, np.ndarray], axes: Any) -> None:
    time, look = _scale(done), looks(done)
    for name, values in series.items():
        axes.plot(time.factor * done.views[name].times, values, label=name, **look[name])


def _axis_of_time(done: Compared, axes: Any) -> None:
    """Label the time axis; it is logarithmic if some runs end so early that a linear axis would not show them."""
    time = _scale(done)
    ends = [time.factor * float(view.times[-1]) for view in done.views.values()]
    axes.set_xlabel(time.axis("time"))
    if 0.0 < min(ends) < EARLY * max(ends):
        axes.set_xscale("log")
        axes.set_xlim(0.1 * min(ends), 1.1 * max(ends))


def _observable(done: Compared, name: str) -> dict[str, np.ndarray]:
    return {run: view.observables[name] for run, view in done.views.items() if name in view.observables}


def _position(done: Compared) -> Figure:
    units, time, look = done.case.units, _scale(done), looks(done)
    moved = {name: _displacement(view) for name, view in done.views.items()}
    length = suited(units, "length", max(float(np.abs(values).max()) for values in moved.values()))
    figure, all_axes = style.panels(2 if done.deviations else 1, height=2.7)
    _lines(done, {name: length.factor * values for name, values in moved.items()}, all_axes[0])
    for view in list(done.views.values())[:1]:
        mark_stop(all_axes[0], view, length, moment=False)
    stop = done.case.run.stop
    what = "displacement" if stop is None else "advance"
    if stop is not None and stop.to is not None:
        what = f"distance of {stop.body} and {stop.to}"
    all_axes[0].set_ylabel(length.axis(what))
    if done.deviations:
        axes = all_axes[1]
        fine = suited(units, "length", max(found.largest for found in done.deviations.values()))
        for name, found in done.deviations.items():
            axes.plot(time.factor * found.times, fine.factor * found.distances, label=name, **look[name])
        axes.set_ylabel(fine.axis("deviation"))
    style.legend(all_axes[0])
    _axis_of_time(done, all_axes[-1])
    return figure


def _displacement(view: View) -> np.ndarray:
    if view.advance is not None:
        return view.advance
    if view.distance is not None:
        return view.distance
    return np.linalg.norm(view.path - view.path[0], axis=1)


def _kinetic_energy(done: Compared) -> Figure | None:
    found = _observable(done, "kinetic_energy")
    series = {name: np.where(values > 0.0, values, np.nan) for name, values in found.items() if np.any(values)}
    if not series:
        return None
    figure, (axes,) = style.panels(height=3.1)
    _lines(done, series, axes)
    style.logarithmic(axes, series.values(), decades=8.0)
    axes.set_ylabel(style.label("kinetic energy", done.case.units, "energy"))
    axes.set_xlabel(_scale(done).axis("time"))
    style.legend(axes)
    return figure


def _works(done: Compared) -> Figure | None:
    works = {channel: _observable(done, f"work_{channel}") for channel in ("damping", "stochastic")}
    shown = {c: {n: v for n, v in series.items() if np.any(v)} for c, series in works.items()}
    shown = {channel: series for channel, series in shown.items() if series}
    if not shown:
        return None
    figure, all_axes = style.panels(len(shown), height=2.5)
    for axes, (channel, series) in zip(all_axes, shown.items(), strict=True):
        _lines(done, {name: normalised(values) for name, values in series.items()}, axes)
        axes.set_ylabel(f"$W_\\mathrm{{{style.CHANNEL_LETTER[channel]}}}$ / largest")
    style.legend(all_axes[0])
    all_axes[-1].set_xlabel(_scale(done).axis("time"))
    return figure


def _forces(done: Compared) -> Figure | None:
    sums = {name: {c: v for c, v in view.series("force").items() if np.any(v)} for name, view in done.views.items()}
    sums = {name: series for name, series in list(sums.items())[:FORCE_PANELS] if series}
    if not sums:
        return None
    figure, all_axes = style.panels(len(sums), height=2.2)
    time, together = _scale(done), [values for series in sums.values() for values in series.values()]
    for axes, (name, series) in zip(all_axes, sums.items(), strict=True):
        draw_forces(axes, done.views[name], series, time, together)
        axes.set_title(name, fontsize=8.0, pad=2.0)
        axes.set_ylabel(style.label("$\\Sigma|F|$", done.case.units, "force"))
    style.legend(all_axes[0])
    all_axes[-1].set_xlabel(time.axis("time"))
    return figure


def _factors(done: Compared) -> Figure | None:
    time, look = _scale(done), looks(done)
    drawn: list[tuple[str, np.ndarray]] = []
    figure, (axes,) = style.panels(height=3.1)
    for name, view in done.views.items():
        groups = [(channels, values) for channels, values, _ in factor_groups(view)]
        if not groups and view.case.scaling.varies:
            groups = [("", values) for values in list(view.series("factor").values())[:1]]
        for channels, values in groups:
            # If a run has several factors, the legend names each, and the one that changes is highlighted.
            several = len(groups) > 1
            line = {**look[name], **({"linewidth": 0.9} if several and np.ptp(values) == 0.0 else {})}
            words = f"{name}:\n{channels}" if several else name
            axes.step(time.factor * view.times, values, where="mid", label=words, **line)
            drawn.append((name, values))
    if not drawn:
        return None
    style.logarithmic(axes, [np.ones(1), *(values for _, values in drawn)])
    axes.set_ylim(top=1.6 if axes.get_yscale() == "log" else 1.1)
    axes.set_ylabel("scaling factor")
    _axis_of_time(done, axes)
    style.legend(axes)
    return figure


def _step_size(done: Compared) -> Figure | None:
    series = {name: values for name, values in _observable(done, "step_size").items() if np.any(values > 0.0)}
    if not series:
        return None
    shown = {name: np.where(values > 0.0, values, np.nan) for name, values in series.items()}
    scale = suited(done.case.units, "time", float(np.median([np.nanmedian(values) for values in shown.values()])))
    figure, (axes,) = style.panels(height=3.1)
    scaled = {name: scale.factor * values for name, values in shown.items()}
    _lines(done, scaled, axes)
    style.logarithmic(axes, scaled.values())
    axes.set_ylabel(scale.axis("step"))
    axes.set_xlabel(_scale(done).axis("time"))
    style.legend(axes)
    return figure
