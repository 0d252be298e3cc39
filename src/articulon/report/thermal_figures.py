"""Figures of a thermostatted run; contents as in Guy (2018), figures 3.5 to 3.8, 3.11 and 4.3 to 4.8."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from articulon.report import style, thermal
from articulon.report.readable_numbers import number
from articulon.report.view import View

BAND: dict[str, Any] = {"color": style.SKY, "alpha": 0.28, "linewidth": 0.0, "zorder": 0}
"""Style of the band of the canonical spread."""
TARGET: dict[str, Any] = {"color": style.VERMILION, "linestyle": (0, (5, 1.5)), "linewidth": 1.2, "zorder": 3}
ENERGIES: dict[str, tuple[str, dict[str, Any]]] = {
    "kinetic": ("$T$ kinetic", {"color": style.BLACK, "linestyle": (0, (4, 2))}),
    "potential": ("$\\Phi$ potential", {"color": style.BLUE, "linestyle": "-"}),
    "work": ("$W$ thermostat", {"color": style.ORANGE, "linestyle": (0, (6, 1.5, 1, 1.5))}),
    "reservoir": ("$R$ locking", {"color": style.PURPLE, "linestyle": (0, (1, 1))}),
    "total": ("$T + \\Phi - W$", {"color": style.GREEN, "linestyle": "-"}),
}


def temperature(view: View) -> Figure | None:
    """Draw the kinetic temperature, its target, and its spread in the canonical ensemble.

    Return None without a target, or if the kinetic energy does not define a temperature.
    """
    values, aim = view.observables.get("temperature_kinetic"), thermal.target(view)
    if values is None or aim is None:
        return None
    figure, (axes,) = style.panels()
    draw_temperature(axes, view, {"color": style.BLACK, "linewidth": 1.0}, "kinetic")
    axes.set_ylabel(style.label("temperature", view.case.units, "temperature"))
    over_time(axes, view)
    style.legend(axes)
    return figure


def draw_temperature(axes: Axes, view: View, look: dict[str, Any], name: str) -> None:
    """Draw the kinetic temperature, its target and the canonical band on axes."""
    values, aim = view.observables["temperature_kinetic"], thermal.target(view)
    assert aim is not None
    t, band = view.time_scale.factor * view.times, thermal.canonical_spread(view, aim)
    spread = thermal.measured_spread(view)
    symbol = "" if view.case.units.mass is None else style.unit(view.case.units, "temperature")
    if spread is not None:
        name += f",\nσ = {number(spread, 3)} {symbol}".rstrip()
    axes.plot(t, np.where(values > 0.0, values, np.nan), label=name, **look)
    step: Literal["post"] | None = "post" if np.unique(aim).size < 0.2 * aim.size else None
    axes.fill_between(t, aim - band, aim + band, step=step, label=_band_name(view, band, symbol), **BAND)
    axes.plot(t, aim, drawstyle="steps-post" if step else "default", label="target", **TARGET)
    values = values[np.isfinite(values)]
    if values.max() > 20.0 * aim.max():
        style.logarithmic(axes, [values[values > 0.1 * aim.min()]])
        return
    low, high = min(float(values.min()), float((aim - band).min())), max(float(values.max()), float((aim + band).max()))
    margin = 0.06 * (high - low)
    axes.set_ylim(max(0.0, low - margin), high + margin)


def _band_name(view: View, band: np.ndarray, symbol: str) -> str:
    steady = np.ptp(band) == 0.0
    size = f" = {number(float(band[0]), 3)} {symbol}".rstrip() if steady else ""
    return f"canonical ±σ,\nσ{size}" if size else "canonical ±σ"


def thermostat_energies(view: View) -> Figure | None:
    """Draw kinetic energy, potential energy and the work of the thermostat, with their conserved sum and its drift."""
    found = thermal.energies(view)
    if found is None:
        return None
    figure, (axes, below) = style.panels(2, height=2.6)
    t = view.time_scale.factor * view.times
    constant = draw_energies(axes, view, found)
    axes.set_ylabel(style.label("energy", view.case.units, "energy"))
    style.legend(axes)
    total = found["total"]
    below.plot(t, total - total[0], color=style.GREEN, label=f"change of\n{constant}")
    below.set_ylabel(style.label("drift", view.case.units, "energy"))
    style.legend(below)
    over_time(below, view)
    return figure


def draw_energies(axes: Axes, view: View, found: dict[str, np.ndarray]) -> str:
    """Draw the energies and their sum on axes; return the label of the sum."""
    t = view.time_scale.factor * view.times
    constant = "$T + \\Phi - W + R$" if "reservoir" in found else ENERGIES["total"][0]
    names = {"total": constant}
    if thermal.thermostat_of(view) is None:
        without = {c for c in view.channels if f"energy_{c}" not in view.observables}
        names["work"] = "$W$ friction" if without <= {"damping"} else "$W$ others"
    for key, values in found.items():
        name, look = ENERGIES[key]
        axes.plot(t, values, label=names.get(key, name), **look)
    return constant


def thermostat_phase(view: View) -> Figure | None:
    """Draw ζ' against ζ: a circle if the thermostat oscillates, and a path into the origin if it settles."""
    found = thermal.phase(view)
    if found is None:
        return None
    figure, (axes,) = style.panels(height=3.6)
    draw_phase(axes, view, {"color": style.BLUE, "linewidth": 0.9}, "")
    axes.plot(found.zeta[:1], found.rate[:1], "o", color=style.ORANGE, markersize=4.0, label="start")
    axes.plot(found.zeta[-1:], found.rate[-1:], "s", color=style.VERMILION, markersize=4.0, label="end")
    style.legend(axes)
    return figure


def draw_phase(axes: Axes, view: View, look: dict[str, Any], name: str) -> None:
    """Draw the path of ζ and ζ' on axes that cross at the origin."""
    found = thermal.phase(view)
    assert found is not None
    axes.plot(found.zeta, found.rate, label=name or None, **look)
    for line in (axes.axhline, axes.axvline):
        line(0.0, color=style.GREY, linewidth=0.7, zorder=1)
    symbol = "" if view.case.units.mass is None else style.unit(view.case.units, "time")
    axes.set_xlabel(f"$\\zeta$ (1/{symbol})" if symbol else "$\\zeta$")
    axes.set_ylabel(f"$\\dot\\zeta$ (1/{symbol}$^2$)" if symbol else "$\\dot\\zeta$")


def configurational_temperature(view: View) -> Figure | None:
    """Draw the configurational temperature ⟨|∇Φ|²⟩/k⟨∇²Φ⟩ over a tenth of the run, the kinetic one and the target."""
    squares, laplacians = view.observables.get("gradient_squared"), view.observables.get("laplacian")
    if squares is None or laplacians is None or view.times.size < 20:
        return None
    width = max(2, view.times.size // 10)
    window = np.ones(width) / width
    mean = np.convolve(squares, window, "valid") / np.convolve(laplacians, window, "valid")
    t = view.time_scale.factor * np.convolve(view.times, window, "valid")
    figure, (axes,) = style.panels()
    shown = mean / view.case.units.boltzmann
    axes.plot(t, shown, color=style.BLUE, label="of the positions")
    kinetic, series = view.observables.get("temperature_kinetic"), [shown]
    if kinetic is not None:
        look: dict[str, Any] = {"color": style.BLACK, "linestyle": (0, (4, 2)), "linewidth": 1.0}
        axes.plot(t, np.convolve(kinetic, window, "valid"), label="of the speeds", **look)
        series.append(kinetic)
    aim = thermal.target(view)
    if aim is not None:
        axes.plot(view.time_scale.factor * view.times, aim, label="target", **TARGET)
        series.append(aim)
    low, high = min(float(v.min()) for v in series), max(float(v.max()) for v in series)
    if low > 0.0 and high > 10.0 * low:
        style.logarithmic(axes, series)
    axes.set_ylabel(style.label("temperature", view.case.units, "temperature"))
    over_time(axes, view)
    style.legend(axes)
    return figure


def over_time(axes: Axes, view: View) -> None:
    """Draw the time axis below the lowest panel, from the first frame to the last."""
    first, last = (view.time_scale.factor * float(view.times[k]) for k in (0, -1))
    margin = 0.01 * (last - first)
    axes.set_xlim(first - margin, last + margin)
    axes.set_xlabel(view.time_scale.axis("time"))
