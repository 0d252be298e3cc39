"""Figures of a comparison of thermostatted runs, following Guy (2018), figures 3.5 to 3.11 and 4.3 to 4.8."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from articulon.comparisons.compared import Compared
from articulon.fidelity.settling import SETTLED
from articulon.report import style, thermal
from articulon.report.readable_numbers import Scale, number, suited
from articulon.report.thermal_figures import TARGET, draw_phase, draw_temperature
from articulon.report.view import View

PANELS = 9
"""Maximum number of runs whose temperatures are drawn, each in its own panel."""

SWEPT = {"thermostat.mass", "thermostat.derivative_gain"}
"""Keys of the constants of a thermostat. A comparison that varies them is a sweep over these constants."""

PHASES = 4
"""Maximum number of runs whose phase portraits are drawn together."""

TEMPERATURE = ("mean T", "σ of T", "canonical σ", "configurational T", "T + Φ − W")
"""Headings of the results of a thermostat."""


def thermal_figures(done: Compared, looks: Mapping[str, dict[str, Any]]) -> dict[str, Figure | None]:
    """Return the thermal figures by name; None for figures without data. ``looks`` are the line styles of the runs."""
    kept = {name: view for name, view in done.views.items() if thermal.thermostat_of(view) is not None}
    if not kept:
        return {}
    gains = _gains(done, kept)
    # Without inertia there is no kinetic temperature.
    warm = {name: view for name, view in kept.items() if "temperature_kinetic" in view.observables}
    return {
        "temperature": None if gains or not warm else _temperature(warm),
        "total_energy": None if gains else _total_energy(kept, looks),
        "thermostat_phase": None if gains else _phase(kept, looks),
        "response_to_gains": _response(gains) if gains else None,
        "cost_of_gains": _cost(done, gains) if gains else None,
    }


CAPTIONS = {
    "temperature": "Kinetic temperature in each run, its target, and its canonical standard deviation.",
    "total_energy": "Kinetic and potential energy together, before scaling.",
    "thermostat_phase": (
        "The thermostat's variable ζ and its rate in each run, and an enlarged view of the runs near the origin."
    ),
    "response_to_gains": "Kinetic temperature by the thermostat's mass Q and its derivative gain kd.",
    "cost_of_gains": "Wall time and steps of these runs.",
}


def temperature_rows(done: Compared) -> list[list[str]]:
    """Return a row for each thermostatted run: its name, and the columns :data:`TEMPERATURE`."""
    return [[name, *_figures_of(view)] for name, view in done.views.items() if thermal.thermostat_of(view) is not None]


def _figures_of(view: View) -> list[str]:
    symbol = style.unit(view.case.units, "temperature")
    settled = slice(int(SETTLED * view.times.size), None)
    values, aim = view.observables.get("temperature_kinetic"), thermal.target(view)

    def kelvin(value: float | None) -> str:
        return "–" if value is None else f"{number(value, 4)} {symbol}".rstrip()

    canonical = None
    if aim is not None and not np.ptp(aim):
        # If joints lock and release, frames have different numbers of degrees of freedom and canonical spreads.
        spreads = np.broadcast_to(thermal.canonical_spread(view, aim[:1]), view.times.shape)[settled]
        canonical = float(np.sqrt(np.mean(spreads**2)))
    squares, laplacians = view.observables.get("gradient_squared"), view.observables.get("laplacian")
    positions = None
    if squares is not None and laplacians is not None:
        positions = float(squares[settled].mean() / laplacians[settled].mean()) / view.case.units.boltzmann
    found = thermal.energies(view)
    drift = "–"
    if found is not None:
        total, scale = found["total"], float(np.abs(found["kinetic"]).max())
        drift = f"±{number(100.0 * float(np.abs(total - total[0]).max()) / scale, 2)} % of T" if scale > 0.0 else "–"
    return [
        kelvin(None if values is None else float(values[settled].mean())),
        kelvin(thermal.measured_spread(view)),
        kelvin(canonical),
        kelvin(positions),
        drift,
    ]


def _temperature(views: Mapping[str, View]) -> Figure:
    shown = dict(list(views.items())[:PANELS])
    figure, all_axes = style.panels(len(shown), height=1.75)
    for axes, (name, view) in zip(all_axes, shown.items(), strict=True):
        draw_temperature(axes, view, {"color": style.BLACK, "linewidth": 0.9}, "kinetic")
        style.name_panel(axes, name)
        axes.set_ylabel(style.label("$T$", view.case.units, "temperature"))
        style.legend(axes)
    last = list(shown.values())[-1]
    all_axes[-1].set_xlabel(last.time_scale.axis("time"))
    return figure


def _total_energy(views: Mapping[str, View], looks: Mapping[str, dict[str, Any]]) -> Figure | None:
    figure, (axes,) = style.panels(height=3.1)
    for name, view in views.items():
        seen = view.observables
        parts = [seen[key] for key in ("energy_potential", "energy_conformational", "energy_external") if key in seen]
        if not parts:
            return None
        # Scaling lowers the kinetic energy by a known factor, which is divided out.
        energy = seen["kinetic_energy"] / view.case.scaling.target_factor() + sum(parts)
        axes.plot(view.time_scale.factor * view.times, energy, label=name, **looks[name])
    first = next(iter(views.values()))
    axes.set_ylabel(style.label("$T + \\Phi$", first.case.units, "energy"))
    axes.set_xlabel(first.time_scale.axis("time"))
    style.legend(axes)
    return figure


def _phase(views: Mapping[str, View], looks: Mapping[str, dict[str, Any]]) -> Figure | None:
    # Phase portraits need a constant target, because each target has its own curve. Noise would fill the plane.
    aims = {name: thermal.target(view) for name, view in views.items()}
    steady = {name: views[name] for name, aim in aims.items() if aim is not None and np.ptp(aim) == 0.0}
    phases = {name: found for name, view in steady.items() if (found := thermal.phase(view)) is not None}
    phases = dict(list(phases.items())[:PHASES])
    if not phases:
        return None
    sizes = {
        name: np.array([np.abs(v[int(SETTLED * v.size) :]).max() for v in found]) for name, found in phases.items()
    }
    largest, smallest = max(s[1] for s in sizes.values()), min(s[1] for s in sizes.values())
    near = [name for name, size in sizes.items() if size[1] < 0.2 * largest] if smallest < 0.2 * largest else []
    figure = Figure(figsize=(style.WIDTH, 3.2 if near else 3.4))
    all_axes = figure.subplots(1, 2 if near else 1, squeeze=False)[0]
    names = [list(phases), near] if near else [list(phases)]
    for axes, shown in zip(all_axes, names, strict=True):
        for name in shown:
            look = {key: value for key, value in looks[name].items() if key != "zorder"}
            draw_phase(axes, views[name], {**look, "linewidth": 0.8}, name)
    if near:
        zeta, rate = (1.3 * max(sizes[name][k] for name in near) for k in range(2))
        all_axes[1].set_xlim(-zeta, zeta)
        all_axes[1].set_ylim(-rate, rate)
        all_axes[1].set_ylabel("")
        all_axes[1].set_title("near the origin, settled", fontsize=8.0, pad=2.0)
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.subplots_adjust(left=0.11, right=0.98, bottom=0.27, top=0.9, wspace=0.28)
    figure.legend(handles, labels, loc="lower center", ncols=min(4, len(labels)), fontsize=8.0)
    return figure


class Gain(NamedTuple):
    """A run in a sweep over the constants of the modified thermostat."""

    name: str
    view: View
    mass: float
    """Thermostat mass Q."""
    gain: float
    """Derivative gain kd; 0 for the standard thermostat."""


def _gains(done: Compared, views: Mapping[str, View]) -> list[Gain]:
    """Return Q and kd of each run, if there are more than two runs and they differ only in Q and kd; otherwise
    nothing."""
    found = []
    for name, view in views.items():
        table = thermal.thermostat_of(view).table(view.model, 0)
        if table.masses.size != 1:
            return []
        found.append(Gain(name, view, float(table.masses[0]), float(table.constants[2])))
    pairs = {(one.mass, one.gain) for one in found}
    gains = {one.gain for one in found}
    swept = not SWEPT.isdisjoint(done.varied) and len(pairs) > 2 and len(gains) > 1
    return sorted(found, key=lambda one: (one.mass, one.gain)) if swept else []


def _response(gains: list[Gain]) -> Figure:
    masses = sorted({one.mass for one in gains})
    figure, all_axes = style.panels(len(masses), height=1.9)
    values = sorted({one.gain for one in gains})
    colours = colormaps["viridis"](np.linspace(0.0, 0.86, len(values)))
    units = gains[0].view.case.units
    for axes, mass in zip(all_axes, masses, strict=True):
        low, high = math.inf, -math.inf
        for one in (one for one in gains if one.mass == mass):
            view, look = one.view, {"color": colours[values.index(one.gain)], "linewidth": 0.9}
            series = view.observables["temperature_kinetic"]
            axes.plot(view.time_scale.factor * view.times, series, label=_gain_text(one), **look)
            low, high = min(low, float(series.min())), max(high, float(series.max()))
        aim = thermal.target(view)
        if aim is not None:
            axes.plot(view.time_scale.factor * view.times, aim, label="target", **TARGET)
        axes.set_ylim(max(0.0, low - 0.05 * (high - low)), high + 0.05 * (high - low))
        axes.set_title(f"Q = {number(mass, 3)} {_unit(units, 'inertia')}", fontsize=8.0, pad=2.0)
        axes.set_ylabel(style.label("$T$", units, "temperature"))
        style.legend(axes)
    all_axes[-1].set_xlabel(gains[0].view.time_scale.axis("time"))
    return figure


def _gain_text(one: Gain) -> str:
    if one.gain == 0.0:
        return "standard"
    return f"$k_d$ = {_time(one).text(one.gain, 2)}"


def _time(one: Gain) -> Scale:
    return suited(one.view.case.units, "time", one.gain)


def _unit(units: Any, dimension: str) -> str:
    return style.unit(units, dimension) if units.mass is not None else ""


def _cost(done: Compared, gains: list[Gain]) -> Figure | None:
    with_gain = [one for one in gains if one.gain > 0.0]
    if not with_gain:
        return None
    masses = sorted({one.mass for one in with_gain})
    rows = {row["name"]: row for row in done.rows}
    figure, all_axes = style.panels(2, height=2.6)
    scale = suited(gains[0].view.case.units, "time", float(np.median([one.gain for one in with_gain])))
    for axes, key, what in zip(
        all_axes, ("wall_seconds", "evaluations"), ("wall time (s)", "evaluations"), strict=True
    ):
        for k, mass in enumerate(masses):
            look = style.VARIANT_STYLES[k % len(style.VARIANT_STYLES)]
            line = [one for one in with_gain if one.mass == mass]
            values = [float(rows[one.name][key]) for one in line]
            name = f"Q = {number(mass, 3)} {_unit(gains[0].view.case.units, 'inertia')}".rstrip()
            axes.plot([scale.factor * one.gain for one in line], values, marker="o", markersize=3.5, label=name, **look)
        standard = [float(rows[one.name][key]) for one in gains if one.gain == 0.0]
        if standard:
            axes.axhline(float(np.median(standard)), color=style.GREY, linestyle=(0, (1, 1)), label="standard")
        axes.set_xscale("log")
        style.logarithmic(axes, [np.array([float(rows[one.name][key]) for one in gains])])
        axes.set_ylabel(what)
        style.legend(axes)
    all_axes[-1].set_xlabel(scale.axis("$k_d$"))
    return figure
