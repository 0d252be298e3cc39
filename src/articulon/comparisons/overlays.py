"""Figures that overlay the runs of a comparison (joints, paths, potential energies), and differences between the runs.

The content follows Guy (2018), figures 2.5 to 2.9 and 3.11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from articulon.comparisons.compared import Compared
from articulon.report import particle_drawing, style, thermal
from articulon.report.joint_figures import angles
from articulon.report.particle_drawing import final_positions
from articulon.report.readable_numbers import number, suited, unit_text
from articulon.report.thermal_figures import draw_energies
from articulon.report.view import View

Looks = Mapping[str, dict[str, Any]]
"""Line style of each run, by name."""

MOST_JOINTS = 8
"""Maximum number of joints in an overlay; if there are more, those nearest to the ground are used."""
MOST_ENERGIES = 6
"""Maximum number of runs whose energies are drawn, each in its own panel."""
LEAST = 1e-3
"""Smallest component of a path that is drawn, as a fraction of the largest component."""


class Series(NamedTuple):
    """One quantity in all runs that have it, in the units of the case."""

    name: str
    """Name, such as ``"L57-CB"`` or ``"x of drug"``."""
    dimension: str
    """Dimension of the quantity."""
    values: dict[str, np.ndarray]
    """Values by run, each of shape (frames,)."""


def joint_series(done: Compared) -> list[Series]:
    """Return the angles of the joints nearest to the ground, for runs that have the same joints as the first run."""
    found = {name: angles(view, MOST_JOINTS) for name, view in done.views.items()}
    first = next(iter(found.values()), {})
    return [
        Series(joint, "angle", {run: lines[joint] for run, lines in found.items() if joint in lines})
        for joint in first
        if any(np.ptp(lines[joint]) > 0.0 for lines in found.values() if joint in lines)
    ]


def path_series(done: Compared) -> list[Series]:
    """Return the components of the position of the core's centre of mass that change during the runs."""
    first = next(iter(done.views.values()), None)
    if first is None:
        return []
    extent = max(float(np.ptp(view.path, axis=0).max()) for view in done.views.values())
    paths = [
        Series(f"{axis} of {first.core_name}", "length", {name: view.path[:, k] for name, view in done.views.items()})
        for k, axis in enumerate("xyz")
    ]
    return [one for one in paths if max(float(np.ptp(v)) for v in one.values.values()) > LEAST * extent > 0.0]


def potential_series(done: Compared) -> list[Series]:
    """Return the unscaled potential energy of each run."""
    found = {name: energy for name, view in done.views.items() if (energy := potential_energy(view)) is not None}
    return [Series("potential energy", "energy", found)] if any(np.ptp(v) > 0.0 for v in found.values()) else []


def potential_energy(view: View) -> np.ndarray | None:
    """Return the unscaled energy of all forces with a potential [energy], shape (frames,); None without such forces."""
    names = ("energy_potential", "energy_conformational", "energy_external")
    parts = [view.observables[name] for name in names if name in view.observables]
    return np.asarray(sum(parts)) if parts else None


def figures_over_each_other(done: Compared, looks: Looks) -> dict[str, Figure | None]:
    """Return the overlay figures by name; None for figures without data. With a thermostat, paths are chaotic and are
    not compared."""
    single = not all(thermal.thermostat_of(view) is not None for view in done.views.values())
    stops = done.case.run.stop is not None
    return {
        "joints": _laid(done, looks, joint_series(done)) if single else None,
        "path": _laid(done, looks, path_series(done)) if single and not stops else None,
        "final_positions": final_positions(done.views),
        "energies": _energies(done),
        "potential_energy": _laid(done, looks, potential_series(done)) if single else None,
    }


CAPTIONS = {
    "joints": "Angles of the joints nearest to the ground, in all runs.",
    "path": "Position of the core's centre of mass in all runs.",
    "final_positions": particle_drawing.CAPTION,
    "energies": (
        "Kinetic energy T, scaled potential energy Φ, work W of all forces without an energy, such as friction, and T "
        "+ Φ − W, which changes only by the error of the integration. Runs with changing factors have no such sum; "
        "with noise and friction it is hidden by the error of their works."
    ),
    "potential_energy": "Potential energy in all runs, before scaling.",
}


def _laid(done: Compared, looks: Looks, series: list[Series]) -> Figure | None:
    """Draw one panel for each quantity, with a line for each run."""
    if not series:
        return None
    units, end = done.case.units, max(float(view.times[-1]) for view in done.views.values())
    time = suited(units, "time", end)
    figure, all_axes = style.grid(len(series), len(done.views))
    for axes, one in zip(all_axes, series, strict=False):
        factor, label = _axis(done, one)
        for name, values in one.values.items():
            axes.plot(time.factor * done.views[name].times, factor * values, label=name, **looks[name])
        style.name_panel(axes, one.name)
        axes.set_ylabel(label)
        axes.set_xlim(-0.01 * time.factor * end, 1.01 * time.factor * end)
    style.finish_grid(figure, all_axes, len(series), time.axis("time"))
    return figure


def _axis(done: Compared, one: Series) -> tuple[float, str]:
    """Return the factor by which a quantity is multiplied on its axis, and the label of the axis."""
    if one.dimension == "length":
        scale = suited(done.case.units, "length", max(float(np.abs(v).max()) for v in one.values.values()))
        return scale.factor, scale.axis(one.name[0])
    what = "angle" if one.dimension == "angle" else "$\\Phi$"
    return 1.0, style.label(what, done.case.units, one.dimension)


def _energies(done: Compared) -> Figure | None:
    # With Brownian forces, the works of noise and friction nearly cancel. Energies are then smaller than the errors of
    # these works.
    calm = {n: v for n, v in done.views.items() if v.bath_temperature is None or thermal.thermostat_of(v) is not None}
    found = {name: terms for name, view in calm.items() if (terms := thermal.energy_terms(view)) is not None}
    shown = dict(list(found.items())[:MOST_ENERGIES])
    if not any(np.ptp(terms["potential"]) > 0.0 for terms in shown.values()):
        return None
    figure, all_axes = style.panels(len(shown), height=1.9)
    for axes, (name, terms) in zip(all_axes, shown.items(), strict=True):
        draw_energies(axes, done.views[name], terms)
        style.name_panel(axes, name)
        axes.set_ylabel(style.label("energy", done.case.units, "energy"))
    style.legend(all_axes[0])
    all_axes[-1].set_xlabel(next(iter(done.views.values())).time_scale.axis("time"))
    return figure


HEADS = ("largest", "root mean\nsquare", "σ of the\nmagnitude")
"""Headings of the differences from the reference."""
EXPLAINED = (
    "Differences from the reference at equal times, until the earlier of the two ends: the largest magnitude, the root "
    "mean square, and the standard deviation of the magnitude, as given by Guy (2018, 2.6) for figures 2.5, 2.6 and "
    "2.9."
)


class Difference(NamedTuple):
    """Difference of a quantity of a run from the reference, in the units of the case."""

    quantity: str
    """Name of the quantity."""
    dimension: str
    """Dimension of the quantity."""
    run: str
    """Name of the run."""
    reference: str
    """Name of the reference run."""
    largest: float
    """Largest magnitude."""
    rms: float
    """Root mean square."""
    sigma: float
    """Standard deviation of the magnitude."""


def differences(done: Compared) -> list[Difference]:
    """Return the differences of each quantity between each run and its reference. There are none with a thermostat,
    because paths are then chaotic."""
    if all(thermal.thermostat_of(view) is not None for view in done.views.values()):
        return []
    paths = [] if done.case.run.stop is not None else path_series(done)
    found = []
    for one in [*joint_series(done), *paths, *potential_series(done)]:
        for row in done.rows:
            name, other = row["name"], row["reference"]
            if other is None or row["other_physics"] or name not in one.values or other not in one.values:
                continue
            apart = magnitudes(done.views[name], one.values[name], done.views[other], one.values[other])
            measures = (float(apart.max()), float(np.sqrt(np.mean(apart**2))), float(apart.std()))
            found.append(Difference(one.name, one.dimension, name, other, *measures))
    return found


def difference_rows(done: Compared) -> list[list[str]]:
    """Return the rows of the table of :func:`differences`: quantity, run, and the columns :data:`HEADS`."""
    return [
        [one.quantity, one.run, *(_text(done, one.dimension, value) for value in (one.largest, one.rms, one.sigma))]
        for one in differences(done)
    ]


def magnitudes(ours: View, values: np.ndarray, theirs: View, other: np.ndarray) -> np.ndarray:
    """Return the magnitudes of the differences of a quantity at the frames of the reference, up to the end of the
    shorter run."""
    common = theirs.times[theirs.times <= min(float(ours.times[-1]), float(theirs.times[-1]))]
    return np.abs(np.interp(common, ours.times, values) - np.interp(common, theirs.times, other))


def _text(done: Compared, dimension: str, value: float) -> str:
    units = done.case.units
    if dimension == "length":
        return suited(units, "length", value).text(value, 3)
    symbol = "rad" if dimension == "angle" else unit_text(units, dimension)
    return f"{number(value, 3)} {symbol}".rstrip()
