"""Figures of contacts: spheres and forces, the energy ledger, and contact statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from articulon.report import style
from articulon.report.readable_numbers import suited
from articulon.report.sphere_drawing import FEW_GRAINS
from articulon.report.thermal_figures import over_time
from articulon.report.view import View
from articulon.simulation.contact_statistics import contact_counts

LEAST_FORCES = 50
"""Smallest number of contacts for which the distribution of their forces is drawn."""
LEAST_LINE = 1e-3
"""Fraction of the largest line of the ledger; smaller lines are not drawn."""

LEDGER: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("kinetic_translation", "kinetic, translation", {"color": style.BLACK, "linestyle": "-"}),
    ("kinetic_rotation", "kinetic, rotation", {"color": style.BLACK, "linestyle": (0, (4, 2))}),
    ("energy_normal_elastic", "elastic, normal", {"color": style.BLUE, "linestyle": "-"}),
    ("energy_external", "gravity", {"color": style.GREY, "linestyle": "-"}),
    ("work_tangential_spring", "tangential springs", {"color": style.SKY, "linestyle": (0, (5, 1.5))}),
    ("work_contact_damping", "damping", {"color": style.VERMILION, "linestyle": (0, (5, 1.5))}),
    ("work_friction", "friction", {"color": style.ORANGE, "linestyle": (0, (6, 1.5, 1, 1.5))}),
)
"""Observables of the ledger, with their labels and line styles. Works are shown with the opposite sign, as energy that
the spheres have lost."""


def contact_ledger(view: View) -> Figure | None:
    """Draw the energy ledger: kinetic, elastic and gravitational energy, the energy of tangential springs, and the
    energy dissipated by damping and friction."""
    if "energy_normal_elastic" not in view.observables:
        return None
    figure, (axes,) = style.panels(height=3.4)
    t = view.time_scale.factor * view.times
    lines = {}
    for name, called, look in LEDGER:
        values = view.observables.get(name)
        if values is not None:
            values = values - values.min() if name == "energy_external" else values
            lines[called] = (-values if name.startswith("work_") else values, look)
    largest = max(float(np.abs(values).max()) for values, _ in lines.values())
    for called, (values, look) in lines.items():
        if float(np.abs(values).max()) > LEAST_LINE * largest:
            axes.plot(t, values, label=called, **look)
    axes.set_ylabel(style.label("energy", view.case.units, "energy"))
    style.legend(axes)
    over_time(axes, view)
    return figure


def contacts(view: View) -> Figure | None:
    """Draw the number of contacts of a sphere, and the fractions of sliding contacts and of rattlers."""
    seen = view.observables
    if "coordination_number" not in seen or not np.any(seen["contacts"] > 1.0):
        return None
    figure, (number, parts) = style.panels(2, height=2.3)
    t = view.time_scale.factor * view.times
    number.plot(t, seen["coordination_number"], color=style.BLACK, label="contacts of a sphere")
    parts.plot(t, seen["sliding_contacts"], color=style.ORANGE, label="contacts that slide")
    parts.plot(t, seen["rattlers"], color=style.BLUE, linestyle=(0, (5, 1.5)), label="rattlers: at most\none contact")
    number.set_ylabel("coordination")
    parts.set_ylabel("part")
    parts.set_ylim(-0.03, 1.03)
    for axes in (number, parts):
        style.legend(axes)
    over_time(parts, view)
    return figure


def force_distribution(view: View) -> Figure | None:
    """Draw the distributions of normal and tangential forces in the last frame, in units of the mean normal force."""
    records = view.last_contacts
    if records is None or records.first.size < LEAST_FORCES:
        return None
    normal = np.abs(records.normal_force)
    tangential = np.linalg.norm(records.tangential, axis=1)
    mean = float(normal.mean())
    figure, (axes,) = style.panels(height=3.0)
    bins = np.linspace(0.0, min(float(normal.max()) / mean, 10.0), 31)
    shown = []
    for values, name, colour, marker in (
        (normal, "normal", style.BLUE, "o"),
        (tangential, "tangential", style.ORANGE, "s"),
    ):
        density, _ = np.histogram(values / mean, bins=bins, density=True)
        middle = 0.5 * (bins[1:] + bins[:-1])
        some = density > 0.0
        axes.plot(middle[some], density[some], color=colour, marker=marker, markersize=3.0, linewidth=0.9, label=name)
        shown.append(density)
    style.logarithmic(axes, shown)
    axes.set_xlabel("force / mean normal force")
    axes.set_ylabel("probability density")
    style.legend(axes)
    return figure


def many_grains(view: View) -> bool:
    """Whether the model consists of many free spheres."""
    model = view.model
    return int((model.sites.radius > 0.0).sum()) > FEW_GRAINS and not (model.parents >= 0).any()


def coordination(view: View) -> np.ndarray | None:
    """Return the numbers of spheres with 0, 1, 2, … contacts at the last frame; None without contacts."""
    records = view.last_contacts
    if records is None:
        return None
    sites = view.model.sites
    moving = (sites.radius > 0.0) & (sites.body >= 0)
    return np.bincount(contact_counts(records, sites.body.size)[moving])


def few_free(view: View) -> bool:
    """Whether the model consists of a few free spheres, each on a body of its own."""
    model = view.model
    own = np.flatnonzero(model.sites.radius > 0.0)
    free = model.forest.parent.size == model.bodies and view.u.shape[1] == 6 * model.bodies
    return 0 < own.size <= FEW_GRAINS and free and bool((model.sites.body[own] >= 0).all())


def grain_motion(view: View) -> Figure | None:
    """Draw the positions and velocities of a few grains over time if they move, and their surface speeds if they
    rotate."""
    if not few_free(view):
        return None
    model, units = view.model, view.case.units
    own = np.flatnonzero(model.sites.radius > 0.0)
    t = view.time_scale.factor * view.times
    # For spheres that hardly move, show the displacement.
    moved = view.positions - view.positions[0]
    little = float(np.abs(moved).max()) < HARDLY * float(np.abs(view.positions).max())
    places = moved if little else view.positions
    linear = view.u.reshape(view.times.size, model.bodies, 6)
    length = suited(units, "length", float(np.abs(places).max()))
    panels: dict[str, dict[str, tuple[int, int, np.ndarray]]] = {"place": {}, "velocity": {}, "spin": {}}
    for n, site in enumerate(own.tolist()):
        body = int(model.sites.body[site])
        name, range_of = model.names[body], np.ptp(places, axis=0)
        for k, axis in enumerate("xyz"):
            if range_of[body, k] > LEAST_LINE * range_of.max():
                panels["place"][f"{name}, {axis}"] = n, k, length.factor * places[:, body, k]
            if np.abs(linear[:, body, k]).max() > LEAST_LINE * np.abs(linear[:, :, :3]).max():
                panels["velocity"][f"{name}, v$_{axis}$"] = n, k, linear[:, body, k]
        surface = model.sites.radius[site] * np.linalg.norm(linear[:, body, 3:], axis=1)
        if surface.max() > LEAST_LINE * np.abs(linear[:, :, :3]).max():
            panels["spin"][f"{name}, |ω| R"] = n, n, surface
    labels = {
        "place": length.axis("displacement" if little else "centre"),
        "velocity": style.label("velocity", units, "velocity"),
        "spin": style.label("|ω| R", units, "velocity"),
    }
    shown = {what: lines for what, lines in panels.items() if lines}
    if not shown:
        return None
    figure, every = style.panels(len(shown), height=2.3)
    for axes, (what, lines) in zip(every, shown.items(), strict=True):
        kinds = sorted({k for _, k, _ in lines.values()})
        for label, (n, k, values) in lines.items():
            look = {
                "color": KINDS_OF_GRAINS[n % len(KINDS_OF_GRAINS)],
                "linestyle": DASHES[kinds.index(k) % len(DASHES)],
            }
            axes.plot(t, values, label=label, **look)
        axes.set_ylabel(labels[what])
        style.legend(axes)
    over_time(every[-1], view)
    return figure


KINDS_OF_GRAINS = (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE)
"""Colours of individual grains."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)))
"""Line styles of components, and of grains whose lines may coincide."""
HARDLY = 0.02
"""Displacement, as a fraction of the distance from the origin, below which a sphere counts as hardly moving."""

CAPTIONS = {
    "spheres": (
        "The spheres in the first and the last frame. Spheres farther away are paler. Free spheres, if there are more "
        "than a few, are drawn inside the periodic box. If there are contact forces, lines show the normal forces "
        "between spheres and on walls: the width shows the magnitude, and forces above the mean are coloured. Meshes "
        "are cut at half the depth of the spheres. For few spheres, paths and velocities (arrows) are shown. If there "
        "are many spheres, up to one in fifty may be outside the picture, because they have moved far away."
    ),
    "grain_motion": "Positions of the centres, their velocities, and the speed of the surface relative to the centre.",
    "contact_ledger": (
        "Where the energy is and where it went. For the tangential springs, whose stiffness grows with the overlap, "
        "the work is shown, as they have no energy function; for damping and friction, the dissipated energy. A "
        "line that never reaches a thousandth of the largest is left out."
    ),
    "contacts": "Contacts of a sphere, including walls, and the fractions of sliding contacts and of rattlers.",
    "force_distribution": "Densities of the contact forces in the last frame.",
}
"""Captions of these figures."""
