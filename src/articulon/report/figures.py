"""Figures of a run; a figure is drawn if its data exist. The contents follow Guy (2018), figures 5.4 to 5.10."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from articulon.report import fidelity_figure, grain_figures, molecule_words, polymer_figures, sphere_drawing, style
from articulon.report.activity_figure import activity
from articulon.report.drawing import model_drawing
from articulon.report.joint_figures import joints
from articulon.report.position_figure import mark_switches, position
from articulon.report.readable_numbers import Scale, suited
from articulon.report.thermal_figures import (
    configurational_temperature,
    over_time,
    temperature,
    thermostat_energies,
    thermostat_phase,
)
from articulon.report.view import View
from articulon.simulation.results import Run

STEADY = 1e-4
"""Relative change below which an energy is shown as constant."""
ROUNDING = 1e-12
"""Fraction of the largest energy below which a channel's work is treated as rounding error."""


def figures(run: Run | View) -> dict[str, Figure]:
    """Draw the figures of a run, by name, in the order of the report.

    Parameters
    ----------
    run
        A run of :func:`articulon.run` or :func:`articulon.open_run`.

    Returns
    -------
    dict
        The figures for which the run has data, among the following: ``molecule_shape``, ``ramachandran``,
        ``secondary_structure``, ``fluctuations``, ``torsions``, ``torsion_correlation``, ``clusters``,
        ``hydrogen_bonds``, ``water_structure``, ``chain_size``, ``internal_distances``, ``chain_motion``,
        ``mode_relaxation``, ``pair_distribution``, ``chain_angles``, ``position``, ``joints``, ``activity``,
        ``spheres``, ``grain_motion``, ``contacts``, ``force_distribution``, ``contact_ledger``, ``model``,
        ``energies``, ``balance``, ``forces``, ``factors``, ``fidelity``, ``kinetic_energy``, ``temperature``,
        ``configurational_temperature``, ``thermostat_energies``, ``thermostat_phase``, ``works_normalised`` and
        ``step_size``.
    """
    view = run if isinstance(run, View) else View.of(run)
    if view.times.size < 2:
        return {}
    with style.applied():
        without = molecule_words.left_out(view)
        drawn = {name: draw(view) for name, draw in FIGURES.items() if name not in without}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def energies(view: View) -> Figure | None:
    """Draw the kinetic energy and the work of each channel, in panels for different orders of magnitude (Guy 5.5,
    5.6)."""
    lines = energy_lines(view)
    if not lines:
        return None
    largest = max(float(np.abs(values).max()) for values, _ in lines.values())
    # The work of a channel is not drawn if it is only rounding error.
    lines = {name: line for name, line in lines.items() if float(np.abs(line[0]).max()) > ROUNDING * largest}
    if not lines:
        return None
    groups = by_size({name: values for name, (values, _) in lines.items()})
    figure, all_axes = style.panels(len(groups), height=2.5)
    for axes, names in zip(all_axes, groups, strict=True):
        for name in names:
            values, look = lines[name]
            axes.plot(view.time_scale.factor * view.times, values, label=name, **look)
        _show_constants(axes, [lines[name][0] for name in names])
        mark_switches(axes, view)
        axes.set_ylabel(style.label("energy", view.case.units, "energy"))
        style.legend(axes)
    over_time(all_axes[-1], view)
    return figure


def energy_lines(view: View) -> dict[str, tuple[np.ndarray, dict[str, Any]]]:
    """Return the kinetic energy and the works by label, each with its line style; a channel without work has no
    line."""
    lines: dict[str, tuple[np.ndarray, dict[str, Any]]] = {}
    works = view.series("work")
    for channel in style.CHANNEL_ORDER:
        if channel in works and np.any(works[channel]):
            name = f"$W_\\mathrm{{{style.CHANNEL_LETTER[channel]}}}$ {style.CHANNEL_WORD[channel]}"
            lines[name] = (works[channel], style.CHANNEL_STYLE[channel])
    if "kinetic_energy" in view.observables:
        lines["$T$ kinetic"] = (view.observables["kinetic_energy"], style.KINETIC_STYLE)
    return lines


def by_size(series: Mapping[str, np.ndarray], apart: float = 8.0, most: int = 3) -> list[list[str]]:
    """Group the names of series by size, the largest first.

    A new group begins if a series is smaller than the previous one by the factor ``apart``. If this gives more than
    ``most`` groups, only the widest gaps separate groups.
    """
    sizes = {name: float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) for name, values in series.items()}
    names = sorted(series, key=lambda name: -sizes[name])
    tiny = float(np.finfo(float).tiny)
    gaps = [max(sizes[a], tiny) / max(sizes[b], tiny) for a, b in pairwise(names)]
    widest = sorted(range(len(gaps)), key=lambda k: -gaps[k])[: most - 1]
    ends = sorted(k + 1 for k in widest if gaps[k] > apart)
    groups = [names[a:b] for a, b in zip([0, *ends], [*ends, len(names)], strict=True)]
    order = {name: k for k, name in enumerate(series)}
    return [sorted(group, key=order.__getitem__) for group in groups]


def balance(view: View) -> Figure | None:
    """Draw the balance T − T₀ − ΣW of kinetic energy T and works W (Guy 5.18), and the largest work so far times the
    requested tolerance."""
    residual = view.observables.get("energy_balance")
    if residual is None:
        return None
    figure, (axes,) = style.panels()
    t = view.time_scale.factor * view.times
    axes.plot(t, residual, color=style.BLACK, label="$T - T_0 - \\Sigma W$")
    axes.set_ylabel(style.label("balance", view.case.units, "energy"))
    over_time(axes, view)
    mark_switches(axes, view)
    style.legend(axes)
    return figure


def forces(view: View) -> Figure | None:
    """Draw the sum over the bodies of the unscaled force magnitudes, by channel (Guy 5.7)."""
    sums = {channel: values for channel, values in view.series("force").items() if np.any(values)}
    if not sums:
        return None
    figure, (axes,) = style.panels(height=3.2)
    draw_forces(axes, view, sums, view.time_scale, sums.values())
    style.legend(axes)
    over_time(axes, view)
    return figure


def draw_forces(
    axes: Axes, view: View, sums: Mapping[str, np.ndarray], time: Scale, together: Iterable[np.ndarray]
) -> None:
    """Draw the force sums on an axis whose range includes all series in ``together``."""
    for channel in style.CHANNEL_ORDER:
        if channel in sums:
            name = f"$F_\\mathrm{{{style.CHANNEL_LETTER[channel]}}}$ {style.CHANNEL_WORD[channel]}"
            shown = np.where(sums[channel] > 0.0, sums[channel], np.nan)
            axes.plot(time.factor * view.times, shown, label=name, **style.CHANNEL_STYLE[channel])
    style.logarithmic(axes, together)
    mark_switches(axes, view, time)
    axes.set_ylabel(style.label("sum of |force|", view.case.units, "force"))


def factors(view: View) -> Figure | None:
    """Draw the scaling factor of each channel (Guy 5.8); return None for an unscaled run."""
    groups = factor_groups(view)
    if not groups:
        return None
    figure, (axes,) = style.panels()
    for name, values, look in groups:
        axes.step(view.time_scale.factor * view.times, values, where="mid", label=name, **look)
    style.logarithmic(axes, [np.ones(1), *(values for _, values, _ in groups)])
    axes.set_ylim(top=1.6 if axes.get_yscale() == "log" else 1.1)
    axes.set_ylabel("scaling factor")
    over_time(axes, view)
    style.legend(axes)
    return figure


def factor_groups(view: View) -> list[tuple[str, np.ndarray, dict[str, Any]]]:
    """Return the scaling factors with labels and line styles. Channels with equal factors are merged."""
    found = view.series("factor")
    if all(np.all(values == 1.0) for values in found.values()):
        return []
    groups: list[tuple[list[str], np.ndarray]] = []
    for channel in style.CHANNEL_ORDER:
        if channel not in found:
            continue
        values = found[channel]
        same = next((names for names, other in groups if np.array_equal(other, values)), None)
        if same is None:
            groups.append(([channel], values))
        else:
            same.append(channel)
    return [
        (", ".join(style.CHANNEL_WORD[name] for name in names).replace(", ", ",\n"), values, look)
        for names, values in groups
        for look in [style.CHANNEL_STYLE[names[0]]]
    ]


def kinetic_energy(view: View) -> Figure | None:
    """Draw the kinetic energy (Guy 5.9). If nothing dissipates energy, also draw the potential energy and the sum.
    Return None if bodies have no speeds or never move."""
    values, potential = view.observables.get("kinetic_energy"), view.potential_energy
    if values is None or not view.inertial or not (np.any(values) or potential is not None):
        return None
    figure, (axes,) = style.panels()
    t = view.time_scale.factor * view.times
    axes.plot(t, values, color=style.BLACK, label="$T$")
    shown = [values]
    if potential is not None:
        shown += [potential, values + potential]
        axes.plot(t, shown[1], color=style.BLUE, linestyle=(0, (5, 1.5)), label="$V - V_0$")
        axes.plot(t, shown[2], color=style.GREY, linewidth=1.0, label="$T + V - V_0$")
    _show_constants(axes, shown)
    mark_switches(axes, view)
    axes.set_ylabel(style.label("kinetic energy" if potential is None else "energy", view.case.units, "energy"))
    over_time(axes, view)
    if view.switches or potential is not None:
        style.legend(axes)
    return figure


def _show_constants(axes: Axes, series: Sequence[np.ndarray]) -> None:
    """If all series are constant up to integration errors, use an axis that begins at zero, so that they look
    constant."""
    low, high = min(values.min() for values in series), max(values.max() for values in series)
    size = max(abs(low), abs(high))
    if 0.0 < high - low < STEADY * size:
        axes.set_ylim(min(1.15 * low, 0.0), max(1.15 * high, 0.0))


def works_normalised(view: View) -> Figure | None:
    """Draw the work by damping and Brownian forces, each divided by its largest magnitude (Guy 5.10)."""
    works = {channel: view.series("work").get(channel) for channel in ("damping", "stochastic")}
    shown = {channel: values for channel, values in works.items() if values is not None and np.any(values)}
    if not shown:
        return None
    figure, (axes,) = style.panels()
    for channel, values in shown.items():
        name = f"$W_\\mathrm{{{style.CHANNEL_LETTER[channel]}}}$ {style.CHANNEL_WORD[channel]}"
        axes.plot(view.time_scale.factor * view.times, normalised(values), label=name, **style.CHANNEL_STYLE[channel])
    mark_switches(axes, view)
    axes.set_ylabel("work / largest work")
    over_time(axes, view)
    style.legend(axes)
    return figure


def normalised(values: np.ndarray) -> np.ndarray:
    """Divide by the largest magnitude."""
    largest = np.abs(values).max(initial=0.0)
    return values / largest if largest > 0.0 else values


def step_size(view: View) -> Figure | None:
    """Draw the length of the integration step."""
    values = view.observables.get("step_size")
    if values is None or not np.any(values > 0.0):
        return None
    figure, (axes,) = style.panels()
    scale = suited(view.case.units, "time", float(np.median(values[values > 0.0])))
    shown = np.where(values > 0.0, scale.factor * values, np.nan)
    axes.plot(view.time_scale.factor * view.times, shown, color=style.BLACK, linewidth=1.1, label="step")
    style.logarithmic(axes, [shown])
    mark_switches(axes, view)
    axes.set_ylabel(scale.axis("step"))
    over_time(axes, view)
    if view.switches:
        style.legend(axes)
    return figure


def of_chains(draw: Callable[..., Figure | None], view: View) -> Figure | None:
    """Draw a figure of polymer chains; return None if there are no chains."""
    found = view.chain_statistics
    return None if found is None else draw(found, view.case.units)


FIGURES: dict[str, Callable[[View], Figure | None]] = {
    **molecule_words.FIGURES,
    **{name: partial(of_chains, draw) for name, draw in polymer_figures.FIGURES.items()},
    "position": position,
    "joints": joints,
    "activity": activity,
    "spheres": sphere_drawing.spheres,
    "grain_motion": grain_figures.grain_motion,
    "contacts": grain_figures.contacts,
    "force_distribution": grain_figures.force_distribution,
    "contact_ledger": grain_figures.contact_ledger,
    "model": model_drawing,
    "energies": energies,
    "balance": balance,
    "forces": forces,
    "factors": factors,
    "fidelity": fidelity_figure.fidelity,
    "kinetic_energy": kinetic_energy,
    "temperature": temperature,
    "configurational_temperature": configurational_temperature,
    "thermostat_energies": thermostat_energies,
    "thermostat_phase": thermostat_phase,
    "works_normalised": works_normalised,
    "step_size": step_size,
}
"""Every figure by name, in the order of the report."""

CAPTIONS: dict[str, str] = {
    **molecule_words.CAPTIONS,
    **polymer_figures.CAPTIONS,
    **grain_figures.CAPTIONS,
    "position": (
        "Displacement of the centre of mass of {core} from its start, or distance from the body at which the run ends."
    ),
    "joints": "Coordinates of the joints; angular velocities of free and spherical joints in the body's own axes.",
    "activity": (
        "Active joints and modes of flexible bodies over time: dark while free, in the order of the "
        "bodies (above); number of active degrees of freedom, and the net kinetic energy that locking has removed "
        "(below)."
    ),
    "model": (
        "The model in its first frame (above) and its last (below), from the side, along the direction of motion, and "
        "in detail near the closest site that is fixed in space. Bodies are drawn to scale where their radius is "
        "known; crosses are sites fixed in space."
    ),
    "energies": "Kinetic energy and the scaled work of each kind of force since the start.",
    "balance": ("Change of the kinetic energy minus all work: zero except for the integration error."),
    "forces": "Magnitudes of the unscaled forces by kind, summed over the bodies.",
    "factors": "Scaling factor of each kind of force.",
    "fidelity": fidelity_figure.CAPTION,
    "kinetic_energy": "Kinetic energy.",
    "temperature": "Kinetic temperature.",
    "configurational_temperature": (
        "Temperature of the positions, the mean of |∇Φ|² over that of k∇²Φ in a tenth of the run, and the means of the "
        "kinetic temperature over the same times."
    ),
    "thermostat_energies": (
        "Kinetic energy, scaled potential energy, the work of the thermostat and of all forces without an energy, and "
        "T + Φ − W, which is constant up to the integration error."
    ),
    "thermostat_phase": "The thermostat's variable ζ and its rate.",
    "works_normalised": "Work of friction and of Brownian forces, each divided by its largest magnitude.",
    "step_size": "Length of the integration step.",
}
"""Captions of the figures; ``{core}`` is the body that the figures follow."""
