"""Energy conservation of runs at constant energy, and the longest step for a given energy spread.

The energy of a run at constant energy changes only by the error of its steps. Runs that differ only in their step form
a series. In a series the spread grows with the step, and for second-order integrators with the square of the step,
until the motion is no longer resolved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from articulon.cases.case import Case
from articulon.cases.overrides import parts
from articulon.comparisons.compared import Compared
from articulon.comparisons.run_rows import DIVERGED
from articulon.comparisons.variant_runs import ITSELF, Entry, adapts
from articulon.forces.brownian import Brownian
from articulon.forces.stokes_drag import StokesDrag
from articulon.report import style
from articulon.report.readable_numbers import number, percent, suited, unit_text
from articulon.report.view import View
from articulon.simulation.ledger import CONSERVATIVE, without_energy

ENERGY = (
    "mean\nstep",
    "σ of the\ntotal energy",
    "σ / mean\nkinetic energy",
    "σ / mean\ntotal energy",
    "largest\ndeparture",
    "time per\nwall second",
)
"""Headings of the energy conservation of a run at constant energy."""

EXPLAINED = (
    "For runs at constant energy: without thermostat, barostat, drag, noise, scaling and other forces without an "
    "energy. σ is the standard deviation of the total energy, kinetic and potential, over the frames. The mean total "
    "energy depends on the zero of the potential energy, which differs between kinds of bonds: to compare them use "
    "σ over the mean kinetic energy. The largest departure is relative to the first frame, and the last column is the "
    "simulated time per second of wall time."
)

CAPTION = (
    "Standard deviation of the total energy over the mean kinetic energy as a function of the step. A line joins runs "
    "that differ only in their step."
)


class Crossing(NamedTuple):
    """Step at which the spread of a series reaches a given value."""

    step: float | None
    """Step at this spread [time]; None if the runs do not bracket it."""
    below: float | None
    """Longest step before the spread first exceeds the value [time]."""
    above: float | None
    """Next longer step of the series, whose spread is larger [time]."""


def may_keep_energy(case: Case) -> bool:
    """Return whether a case conserves energy: nothing that it declares adds or removes energy."""
    open_ends = case.thermostat is not None or case.barostat is not None or adapts(case)
    exchanging = any(isinstance(force, (StokesDrag, Brownian)) for force in case.forces)
    return not (open_ends or exchanging or case.scaling.scales)


def total_energy(view: View) -> np.ndarray | None:
    """Return the sum of kinetic and potential energy of a run at constant energy [energy], shape (frames,); None for
    other runs, and for dynamics without inertia."""
    seen = view.observables
    if not may_keep_energy(view.case) or "kinetic_energy" not in seen or without_energy(view.model):
        return None
    potential = [name for name in CONSERVATIVE if f"energy_{name}" in seen]
    if any(np.any(seen.get(f"work_{name}", 0.0)) for name in view.channels if name not in potential):
        return None
    return np.asarray(seen["kinetic_energy"] + sum(seen[f"energy_{name}"] for name in potential))


def add_energies(chosen: Sequence[Entry], rows: Mapping[str, dict[str, Any]], views: Mapping[str, View]) -> None:
    """Add two entries to each row: under ``energy`` the energy conservation of a run at constant energy, and under
    ``series`` the common name of runs that differ only in their step. An entry that does not apply is None."""
    for entry in chosen:
        row = rows[entry.name]
        row["energy"] = _figures(row, views[entry.name]) if entry.name in views else None
        row["series"] = None
    for group in _series(entry for entry in chosen if _shown(rows[entry.name], entry.case)):
        names = [entry.name for entry in group]
        for entry in group:
            rows[entry.name]["series"] = _name(names)
            if rows[entry.name]["status"] == DIVERGED:
                rows[entry.name]["energy"] = dict.fromkeys(_KEYS) | {"step": _step(entry.case)}


_KEYS = (
    "step",
    "standard_deviation",
    "over_kinetic_energy",
    "over_total_energy",
    "largest_departure",
    "time_per_wall_second",
)


def _figures(row: Mapping[str, Any], view: View) -> dict[str, float | None] | None:
    energy = total_energy(view)
    if energy is None or energy.size < 2:
        return None
    deviation, kinetic = float(energy.std()), float(view.observables["kinetic_energy"].mean())
    mean, simulated, wall = abs(float(energy.mean())), float(row["simulated_time"]), float(row["wall_seconds"])
    values = (
        simulated / row["steps"] if row["steps"] else None,
        deviation,
        deviation / kinetic if kinetic > 0.0 else None,
        deviation / mean if mean > 0.0 else None,
        float(np.abs(energy - energy[0]).max()),
        simulated / wall if wall > 0.0 else None,
    )
    return dict(zip(_KEYS, values, strict=True))


def _shown(row: Mapping[str, Any], case: Case) -> bool:
    """Return whether a run has a fixed step and constant energy; a run that diverged is included."""
    diverged = row["status"] == DIVERGED and may_keep_energy(case)
    return _step(case) is not None and (diverged or row["energy"] is not None)


def _step(case: Case) -> float | None:
    """Return the step of an integrator with fixed steps [time]; None if the integrator chooses its steps."""
    step = getattr(case.integrator, "step", None)
    return None if step is None else float(step)


def _series(entries: Any) -> list[list[Entry]]:
    """Return the groups of at least two runs that differ only in their step."""
    found: list[list[Entry]] = []
    for entry in entries:
        for group in found:
            if all(parts(key) == ("integrator", "step") for key in entry.case.differences(group[0].case)):
                group.append(entry)
                break
        else:
            found.append([entry])
    return [group for group in found if len(group) > 1]


def _name(names: Sequence[str]) -> str:
    """Return the common name of a series: the part of the names of its runs before the step."""
    own = [name for name in names if name != ITSELF] or list(names)
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*own, strict=False))
    return "".join(letters[0] for letters in alike).rstrip("-=._0123456789") or own[0]


def energy_rows(done: Compared) -> list[list[str]]:
    """Return a row for each run at constant energy: its name, and the columns :data:`ENERGY`."""
    return [[str(row["name"]), *_texts(done, row)] for row in done.rows if row.get("energy")]


def _texts(done: Compared, row: Mapping[str, Any]) -> list[str]:
    found, units = row["energy"], done.case.units
    step, symbol = found["step"], "" if units.mass is None else unit_text(units, "energy")
    step_text = "–" if step is None else suited(units, "time", step).text(step, 4)
    if row["status"] == DIVERGED:
        return [step_text, DIVERGED, *["–"] * (len(ENERGY) - 2)]
    pace = found["time_per_wall_second"]
    return [
        step_text,
        f"{number(found['standard_deviation'], 3)} {symbol}".rstrip(),
        percent(found["over_kinetic_energy"], 2),
        percent(found["over_total_energy"], 2),
        f"{number(found['largest_departure'], 3)} {symbol}".rstrip(),
        "–" if pace is None else suited(units, "time", pace).text(pace, 3),
    ]


def series_of(done: Compared) -> dict[str, list[dict[str, Any]]]:
    """Rows of each series by name, from the shortest step to the longest."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in done.rows:
        if row.get("series") is not None:
            found.setdefault(row["series"], []).append(row)
    return {name: sorted(rows, key=lambda row: float(row["energy"]["step"])) for name, rows in found.items()}


def crossing(steps: Sequence[float], spreads: Sequence[float], wanted: float) -> Crossing:
    """Find the step at which a spread is first reached, by a power law between the two adjacent steps.

    Parameters
    ----------
    steps
        Steps in ascending order [time].
    spreads
        Spread of the energy divided by the mean kinetic energy, for each step; infinite if the run diverged.
    wanted
        Spread to reach.
    """
    over = next((k for k, spread in enumerate(spreads) if spread > wanted), len(steps))
    below = steps[over - 1] if over > 0 else None
    above = steps[over] if over < len(steps) else None
    if below is None or above is None or not math.isfinite(spreads[over]) or not spreads[over - 1] > 0.0:
        return Crossing(None, below, above)
    part = math.log(wanted / spreads[over - 1]) / math.log(spreads[over] / spreads[over - 1])
    return Crossing(below * (above / below) ** part, below, above)


def energy_sentences(done: Compared) -> list[str]:
    """Return sentences on the steps at which the series reach the energy spread requested by the case, and on their
    ratio."""
    wanted = done.case.comparison.energy_spread
    if wanted is None:
        return []
    found = {}
    for name, rows in series_of(done).items():
        spreads = [math.inf if (s := row["energy"]["over_kinetic_energy"]) is None else s for row in rows]
        found[name] = crossing([row["energy"]["step"] for row in rows], spreads, wanted)
    if not found:
        return []
    texts = [f"'{name}' {_reached(done, one)}" for name, one in found.items()]
    reached = [one.step for one in found.values() if one.step is not None]
    ratio = ""
    if len(found) == len(reached) == 2:
        ratio = f"; the first step is {number(reached[0] / reached[1], 3)} times the second"
    spread = f"{percent(wanted, 3)} of the mean kinetic energy"
    return [f"The standard deviation of the total energy is {spread}: {', '.join(texts)}{ratio}."]


def _reached(done: Compared, one: Crossing) -> str:
    def text(step: float) -> str:
        return suited(done.case.units, "time", step).text(step, 3)

    if one.step is not None and one.below is not None and one.above is not None:
        return f"at a step of {text(one.step)}, between {text(one.below)} and {text(one.above)}"
    if one.below is None:
        return "below all steps of the runs"
    if one.above is None:
        return f"beyond {text(one.below)}, the longest step of the runs"
    return f"between {text(one.below)} and {text(one.above)}, where it diverged"


def energy_figure(done: Compared) -> Figure | None:
    """Plot the energy spread as a function of the step, with a line for each series; None without a series."""
    found = {
        name: [row["energy"] for row in rows if row["energy"]["over_kinetic_energy"]]
        for name, rows in series_of(done).items()
    }
    found = {name: points for name, points in found.items() if len(points) > 1}
    if not found:
        return None
    time = suited(done.case.units, "time", max(float(one[-1]["step"]) for one in found.values()))
    figure, (axes,) = style.panels(height=3.1)
    for k, (name, points) in enumerate(found.items()):
        steps = [time.factor * float(one["step"]) for one in points]
        spreads = [100.0 * float(one["over_kinetic_energy"]) for one in points]
        axes.plot(steps, spreads, marker="o", markersize=3.5, label=name, **style.variant(k))
    wanted = done.case.comparison.energy_spread
    if wanted is not None:
        axes.axhline(100.0 * wanted, color=style.GREY, linestyle=(0, (1, 1)), label=percent(wanted, 3))
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        scale("log")
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(time.axis("step"))
    axes.set_ylabel("$\\sigma_E$ / mean kinetic energy (%)")
    style.legend(axes)
    return figure
