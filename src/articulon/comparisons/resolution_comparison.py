"""Comparison of adaptive runs with runs that have everything active: active fraction, saving and error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from articulon.adaptive import Distance
from articulon.analysis.time_averages import first_frame, statistical_inefficiency
from articulon.comparisons.compared import Compared
from articulon.comparisons.path_measures import deviation
from articulon.comparisons.variant_runs import ITSELF, Entry
from articulon.fidelity.settling import SETTLED
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.model.state import CONFORMATIONAL
from articulon.report import style
from articulon.report.readable_numbers import number, percent, unit_text, with_unit
from articulon.report.view import View

ALL_ACTIVE = "all-active"
"""Default name of the run with everything active."""
FEW = 20.0
"""Number of independent samples below which a mean has no reliable confidence interval."""
TWO_SIDED = 1.96
"""Half width of the 95 % confidence interval of a normal distribution, in standard errors."""
WORDS = {
    "temperature_kinetic": "kinetic temperature",
    "energy_potential": "potential energy",
    "energy_conformational": "energy of joints and bonds",
    "energy_external": "energy in outer fields",
}
"""Observables that do not depend on the number of moving degrees of freedom, and their descriptions."""


def with_all_active(chosen: Sequence[Entry]) -> list[Entry]:
    """Add a reference run with everything active to each group that has adaptive runs and no run of this kind."""
    found: list[Entry] = []
    for group in dict.fromkeys(entry.group for entry in chosen):
        mine = [entry for entry in chosen if entry.group == group]
        adaptive = [entry for entry in mine if entry.adaptive]
        if adaptive and len(adaptive) == len(mine):
            case = adaptive[0].case.with_overrides({"adaptive.on": False})
            # The names of the runs in a group contain the values that distinguish it.
            suffix = "" if adaptive[0].name == ITSELF else f"-{adaptive[0].name}"
            twin = Entry(ALL_ACTIVE + suffix, case, group, is_reference=True)
            mine = [twin, *(replace(entry, is_reference=False) for entry in mine)]
        found += mine
    return found


def add_resolution(chosen: Sequence[Entry], rows: Mapping[str, dict[str, Any]], views: Mapping[str, View]) -> None:
    """Add active fraction, saving and error to the row of each adaptive run, under ``adaptive``; None for the
    others."""
    for entry in chosen:
        row = rows[entry.name]
        row["adaptive"] = None
        if not entry.adaptive or entry.name not in views:
            continue
        figures = views[entry.name].summary.get("adaptive") or {}
        row["adaptive"] = {
            key: figures.get(key) for key in ("active_mean", "least_active", "most_active", "transitions", "saved")
        }
        twin = _twin(entry, chosen, views)
        row["adaptive"].update(against=None, wall_ratio=None, errors=[])
        if twin is not None:
            own, theirs = (float(rows[one.name]["wall_seconds"]) for one in (entry, twin))
            row["adaptive"]["against"] = twin.name
            row["adaptive"]["wall_ratio"] = theirs / own if own > 0.0 and theirs > 0.0 else None
            row["adaptive"]["errors"] = errors(views[entry.name], views[twin.name])


def _twin(entry: Entry, chosen: Sequence[Entry], views: Mapping[str, View]) -> Entry | None:
    """Return the run with everything active that is compared with an adaptive run. A run by the same integrator and
    with the same scaling is preferred."""
    others = [e for e in chosen if e.group == entry.group and not e.adaptive and e.name in views]
    same = [e for e in others if e.rule == entry.rule and e.case.scaling == entry.case.scaling]
    return next(iter([*same, *others]), None)


def errors(ours: View, theirs: View) -> list[dict[str, Any]]:
    """Return the differences of the observables of an adaptive run from those of the run with everything active.

    With a thermostat or Brownian forces, paths diverge after any small difference. Means over the last four fifths of
    the runs are then compared. ``difference`` is the difference of the means, and ``interval`` the half width of its 95
    % confidence interval, which accounts for the correlation time. ``independent`` is the number of independent samples
    in the run that has fewer. Otherwise values at equal times are compared: the ``largest`` and the ``rms`` difference.
    """
    a, b = series(ours), series(theirs)
    names = [name for name in a if name in b]
    if is_stochastic(theirs):
        return [_means(name, a[name], b[name]) for name in names]
    found = [_paths(name, a[name], b[name], ours.times, theirs.times) for name in names]
    moved = deviation(ours.times, ours.path, theirs.times, theirs.path)
    place = {"observable": f"place of {theirs.core_name}", "dimension": "length"}
    return [*found, {**place, "kind": "paths", "size": None, "largest": moved.largest, "rms": moved.standard}]


def is_stochastic(view: View) -> bool:
    """Return whether a thermostat or Brownian forces act, so that single paths cannot be compared."""
    return view.case.thermostat is not None or brownian_of(view.model) is not None


def series(view: View) -> dict[str, tuple[np.ndarray, str]]:
    """Return the compared quantities with their dimensions: temperatures and energies at the frames, and the size of
    the model."""
    found = {
        WORDS[name]: (np.asarray(view.observables[name], dtype=float), "energy" if name[0] == "e" else "temperature")
        for name in WORDS
        if name in view.observables
    }
    if WORDS["energy_conformational"] in found and any(
        getattr(force, "of_determinant", False) for force in view.model.forces
    ):
        # The observable of an adaptive run includes only the moving joints, so it is a different function for each set
        # of moving joints.
        whole = Evaluator(view.model)
        energies = np.array([whole.energies(np.array(q))[CONFORMATIONAL] for q in view.q])
        found[WORDS["energy_conformational"]] = energies, "energy"
    if not is_stochastic(view):
        found.pop(WORDS["temperature_kinetic"], None)
        found["kinetic energy"] = (np.asarray(view.observables["kinetic_energy"], dtype=float), "energy")
    model = view.model
    if model.bodies < 2:
        return found
    ends = np.linalg.norm(view.positions[:, -1] - view.positions[:, 0], axis=1)
    found["distance of the first and the last body"] = ends, "length"
    centres = np.stack([view.centres(frame) for frame in range(view.times.size)])
    weights = model.masses / model.masses.sum()
    away = centres - np.einsum("fbk,b->fk", centres, weights)[:, None]
    found["radius of gyration"] = np.sqrt(np.einsum("fbk,fbk,b->f", away, away, weights)), "length"
    for name, one, other in watched(view):
        if other is None or model.body(one) != model.body(other):
            to = _point(view, name) if other is None else centres[:, model.body(other)]
            found[name] = np.linalg.norm(centres[:, model.body(one)] - to, axis=1), "length"
    return found


def watched(view: View) -> list[tuple[str, str, str | None]]:
    """Return the distances that control the resolution: description, body, and second body (None if there is none)."""
    groups = () if view.case.adaptive is None else view.case.adaptive.groups
    conditions = [c for group in groups for c in (group.lock, group.release) if isinstance(c, Distance)]
    found = [(f"distance of {c.body} and {c.to or f'the point {_text(c.point)}'}", c.body, c.to) for c in conditions]
    return list(dict.fromkeys(found))


def _text(point: Any) -> str:
    return "(" + ", ".join(number(float(x), 4) for x in point) + ")"


def _point(view: View, name: str) -> np.ndarray:
    assert view.case.adaptive is not None
    for group in view.case.adaptive.groups:
        for c in (group.lock, group.release):
            if isinstance(c, Distance) and c.point is not None and name.endswith(_text(c.point)):
                return np.array([float(x) for x in c.point])
    raise KeyError(name)


def _means(name: str, ours: tuple[np.ndarray, str], theirs: tuple[np.ndarray, str]) -> dict[str, Any]:
    values = [v[first_frame(v.size, SETTLED) :] for v in (ours[0], theirs[0])]
    independent = [v.size / statistical_inefficiency(v) for v in values]
    squares = [v.var(ddof=1) / n if v.size > 1 else math.nan for v, n in zip(values, independent, strict=True)]
    wide = TWO_SIDED * math.sqrt(sum(squares))
    return {
        "observable": name,
        "dimension": ours[1],
        "kind": "means",
        "mean": float(values[0].mean()),
        "reference_mean": float(values[1].mean()),
        "difference": float(values[0].mean() - values[1].mean()),
        "interval": wide if math.isfinite(wide) else None,
        "independent": float(min(independent)),
    }


def _paths(
    name: str, ours: tuple[np.ndarray, str], theirs: tuple[np.ndarray, str], times: np.ndarray, others: np.ndarray
) -> dict[str, Any]:
    common = others[others <= min(float(times[-1]), float(others[-1]))]
    apart = np.interp(common, times, ours[0]) - np.interp(common, others, theirs[0])
    return {
        "observable": name,
        "dimension": ours[1],
        "kind": "paths",
        "size": float(np.abs(theirs[0]).max()),
        "largest": float(np.abs(apart).max()),
        "rms": float(np.sqrt(np.mean(apart**2))),
    }


ACTIVE = ("active on\naverage", "least and\nmost", "locked and\nreleased", "work of steps\nsaved", "wall time\nsaved")
"""Headings of the active fraction and the saving."""
MEANS = ("observable", "everything\nactive", "this run", "difference, 95 %", "independent\nsamples")
"""Headings of the error if means are compared."""
PATHS = ("observable", "largest\nvalue", "largest\ndifference", "root mean\nsquare")
"""Headings of the error if paths are compared."""
EXPLAINED = (
    "Active is the fraction of degrees of freedom that moved, averaged over the steps. The work of a step is "
    "proportional to it. The wall time also includes the effect of fewer steps, and the cost of decisions, locks and "
    "releases."
)
EXPLAINED_ERROR = (
    "Comparison with the run with everything active. With noise, paths diverge for any difference; then means over "
    "the last four fifths of the frames are compared, with an interval that includes the correlation time of the "
    f"observable; with fewer than {FEW:.0f} independent samples there is no interval. One interval in twenty misses "
    "the true difference by chance."
)


def resolution_tables(done: Compared) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Headings and rows by topic; none if no run of the comparison has adaptive resolution."""
    rows = [row for row in done.rows if row.get("adaptive")]
    if not rows:
        return {}
    found = {"Resolution": (["run", *ACTIVE], [[row["name"], *_active(row["adaptive"])] for row in rows])}
    for kind, heads, text in (("means", MEANS, _means_text), ("paths", PATHS, _paths_text)):
        lines = [
            [row["name"], *text(done, error)]
            for row in rows
            for error in row["adaptive"]["errors"]
            if error["kind"] == kind
        ]
        if lines:
            found["Error of the resolution"] = (["run", *heads], lines)
    return found


def _active(figures: Mapping[str, Any]) -> list[str]:
    ratio, wall, steps = figures["wall_ratio"], "–", figures["saved"]
    if ratio is not None:
        wall = (
            f"{percent(1.0 - 1.0 / ratio, 3)} ({number(ratio, 2)}×)" if ratio > 1.0 else f"none ({number(ratio, 2)}×)"
        )
    return [
        percent(figures["active_mean"], 3),
        f"{number(figures['least_active'])} to {number(figures['most_active'])}",
        number(figures["transitions"]),
        "–" if steps is None else f"{percent(1.0 - 1.0 / steps, 3)} ({number(steps, 2)}×)",
        wall,
    ]


def _quantity(done: Compared, dimension: str, value: float | None, digits: int = 4) -> str:
    # In reduced units, numbers have no unit.
    symbol = "" if done.case.units.mass is None else unit_text(done.case.units, dimension)
    return with_unit(value, symbol, digits)


def _means_text(done: Compared, error: Mapping[str, Any]) -> list[str]:
    few = error["independent"] < FEW or error["interval"] is None
    dimension = error["dimension"]
    wide = "the run is too short" if few else f"± {_quantity(done, dimension, error['interval'], 2)}"
    return [
        error["observable"],
        _quantity(done, dimension, error["reference_mean"]),
        _quantity(done, dimension, error["mean"]),
        f"{number(error['difference'], 2)} {wide}" if not few else wide,
        number(round(error["independent"])),
    ]


def _paths_text(done: Compared, error: Mapping[str, Any]) -> list[str]:
    sizes = (error["size"], error["largest"], error["rms"])
    return [error["observable"], *(_quantity(done, error["dimension"], value, 3) for value in sizes)]


def resolution_sentences(done: Compared) -> list[str]:
    """Return sentences on the active fraction, the saving and the error of each adaptive run."""
    found = []
    for row in done.rows:
        figures = row.get("adaptive")
        if not figures or figures["against"] is None:
            continue
        ratio, wall = figures["wall_ratio"], "took no measurable wall time"
        if ratio is not None:
            wall = f"took {number(ratio, 2)} times less wall time than '{figures['against']}'"
            if ratio <= 1.0:
                wall = f"took {number(1.0 / ratio, 2)} times the wall time of '{figures['against']}': no gain"
        part = f"{percent(figures['active_mean'], 3)} of its degrees of freedom"
        text = f"'{row['name']}' moved {part} in the average step and {wall}."
        found.append(f"{text} {_error_sentence(done, figures['errors'])}".strip())
    return found


def _error_sentence(done: Compared, found: Sequence[Mapping[str, Any]]) -> str:
    means = [error for error in found if error["kind"] == "means"]
    if means:
        known = [e for e in means if e["interval"] is not None and e["independent"] >= FEW]
        if not known:
            return "The runs are too short to state the error of any mean."
        off = [e["observable"] for e in known if abs(e["difference"]) > e["interval"]]
        told = " and ".join(e["observable"] for e in known) if len(known) < 3 else f"{len(known)} observables"
        short = f"; for {len(means) - len(known)} others the runs are too short" if len(known) < len(means) else ""
        which = f"that of {', '.join(off)} differs" if off else "none differs"
        return f"Among the means of {told}, {which} by more than the 95 % interval{short}."
    sized = [e for e in found if e["size"]]
    if not sized:
        return ""
    worst = max(sized, key=lambda e: e["largest"] / e["size"])
    part = percent(worst["largest"] / worst["size"], 2)
    largest = _quantity(done, worst["dimension"], worst["largest"], 2)
    return f"The largest error is that of the {worst['observable']}, {largest}, {part} of its largest value."


PANELS = 3
"""Maximum number of observables that are drawn."""
CAPTION = "Moving degrees of freedom in each run, and observables with and without locking."


def resolution_figure(done: Compared, looks: Mapping[str, dict[str, Any]]) -> Figure | None:
    """Plot the number of moving degrees of freedom, and the observables of adaptive runs beside those of the run with
    everything active."""
    names = [row["name"] for row in done.rows if row.get("adaptive") and row["adaptive"]["against"]]
    if not names:
        return None
    twins = [done.row(name)["adaptive"]["against"] for name in names]
    shown = {name: done.views[name] for name in dict.fromkeys([*twins, *names])}
    every = {name: series(view) for name, view in shown.items()}
    order = [e["observable"] for e in done.row(names[0])["adaptive"]["errors"] if e["observable"] in every[names[0]]]
    # Shapes are shown first; energies and temperatures have their own figures.
    shapes = [name for name in order if every[names[0]][name][1] == "length"]
    drawn = (shapes or order)[:PANELS]
    figure, all_axes = style.panels(1 + len(drawn), height=2.1)
    for name, view in shown.items():
        t = view.time_scale.factor * view.times
        active = view.observables.get("active_freedoms", np.full(t.size, float(view.model.degrees_of_freedom)))
        all_axes[0].step(t, active, where="post", label=name, **looks[name])
        for axes, observable in zip(all_axes[1:], drawn, strict=True):
            if observable in every[name]:
                axes.plot(t, every[name][observable][0], label=name, **looks[name])
    all_axes[0].set_ylim(bottom=0.0)
    all_axes[0].set_ylabel("degrees of freedom")
    for axes, observable in zip(all_axes[1:], drawn, strict=True):
        axes.set_title(observable, fontsize=8.0, pad=2.0)
        axes.set_ylabel(style.unit(done.case.units, every[names[0]][observable][1]))
    style.legend(all_axes[0])
    all_axes[-1].set_xlabel(next(iter(shown.values())).time_scale.axis("time"))
    return figure
