"""The figures of contacts: the spheres and the forces between them, their ledger, and what is counted of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from articulon.forces.contact.engine import contact_of
from articulon.forces.gravity import Gravity
from articulon.report import style
from articulon.report.quantities import Scale, suited
from articulon.report.thermal_figures import over_time
from articulon.report.view import View
from articulon.simulate.contact_statistics import contact_counts, sphere_centres

MOST_SPHERES = 20_000
"""More spheres are not drawn one by one: the page would weigh tens of megabytes."""
FEW_GRAINS = 4
"""So many grains at most have their own lines."""
OUTLINED = 100
"""So many spheres at most are outlined behind their forces."""
LEAST_FORCES = 50
"""Contacts from which on their forces make a distribution."""
KINDS = (style.SKY, style.ORANGE, style.GREEN, style.PURPLE, style.OLIVE, style.VERMILION)
"""Colours of kinds of spheres."""
CHAIN_LINES: dict[str, Any] = {"colors": style.BLACK, "linewidths": 0.9, "zorder": 5}

LEDGER: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("kinetic_translation", "kinetic, translation", {"color": style.BLACK, "linestyle": "-"}),
    ("kinetic_rotation", "kinetic, rotation", {"color": style.BLACK, "linestyle": (0, (4, 2))}),
    ("energy_normal_elastic", "elastic, normal", {"color": style.BLUE, "linestyle": "-"}),
    ("energy_external", "gravity", {"color": style.GREY, "linestyle": "-"}),
    ("work_tangential_spring", "tangential springs", {"color": style.SKY, "linestyle": (0, (5, 1.5))}),
    ("work_contact_damping", "damping", {"color": style.VERMILION, "linestyle": (0, (5, 1.5))}),
    ("work_friction", "friction", {"color": style.ORANGE, "linestyle": (0, (6, 1.5, 1, 1.5))}),
)
"""Observables of the ledger, what they are called, and their lines. Works are shown with their sign turned, as what the
spheres have given."""


def spheres(view: View) -> Figure | None:
    """The spheres in the first frame and the last, and the normal forces between them in the last."""
    model = view.model
    own = np.flatnonzero(model.sites.radius > 0.0)
    if not own.size or own.size > MOST_SPHERES:
        return None
    right, up, depth = _axes(view, own)
    centres = [sphere_centres(model, view.positions[k], view.rotations[k]) for k in (0, -1)]
    radii = model.sites.radius
    # Few spheres are followed on their way.
    way = centres
    if own.size <= FEW_GRAINS:
        way = [sphere_centres(model, x, e) for x, e in zip(view.positions, view.rotations, strict=True)]
    middle, half = _window(way, own, radii, (right, up))
    length = suited(view.case.units, "length", 2.0 * float(half.max()))
    tall = half[1] / half[0]
    records = view.last_contacts
    columns = 3 if records is not None and records.first.size else 2
    width = style.WIDTH
    figure = Figure(figsize=(width, min(max(width / columns * tall, 1.2), 6.0) + 0.6), layout="constrained")
    panels = figure.subplots(1, columns, sharey=True, squeeze=False)[0]
    for axes, places, time in zip(panels, centres, (view.times[0], view.times[-1]), strict=False):
        _draw_spheres(axes, view, own, places, (right, up, depth), length)
        if own.size <= FEW_GRAINS:
            for site in own.tolist():
                path = length.factor * np.array([there[site, [right, up]] for there in way])
                axes.plot(*path.T, color=style.GREY, linewidth=0.8, zorder=3)
        axes.set_title(view.time_scale.text(float(time), 3))
    if columns == 3:
        _draw_forces(panels[2], view, own, centres[1], (right, up, depth), length)
        panels[2].set_title("normal forces")
    for axes in panels:
        _draw_walls(axes, view, (right, up, depth), length)
        axes.set_aspect("equal", adjustable="box")
        axes.grid(False)
        axes.set_xlim(*(length.factor * (middle[0] + s * half[0]) for s in (-1, 1)))
        axes.set_ylim(*(length.factor * (middle[1] + s * half[1]) for s in (-1, 1)))
        axes.set_xlabel(length.axis("xyz"[right]))
    panels[0].set_ylabel(length.axis("xyz"[up]))
    return figure


def _axes(view: View, own: np.ndarray) -> tuple[int, int, int]:
    """World axes to the right, upwards, and into the picture: upwards is against gravity, or else y."""
    weight = sum(
        (np.array([float(g) for g in f.acceleration]) for f in view.model.forces if isinstance(f, Gravity)), np.zeros(3)
    )
    extent = np.ptp(view.positions.reshape(-1, 3), axis=0)
    up = int(np.argmax(np.abs(weight))) if weight.any() else int(np.argsort(extent)[1])
    others = [k for k in range(3) if k != up]
    right = max(others, key=lambda k: (extent[k], -k))
    return right, up, next(k for k in others if k != right)


def _window(
    centres: list[np.ndarray], own: np.ndarray, radii: np.ndarray, plane: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half extent of what holds all spheres in some frames [length]."""
    at = list(plane)
    low = np.min([(places[own][:, at] - radii[own, None]).min(axis=0) for places in centres], axis=0)
    high = np.max([(places[own][:, at] + radii[own, None]).max(axis=0) for places in centres], axis=0)
    half = 0.5 * (high - low) + 0.5 * float(radii[own].max())
    return 0.5 * (low + high), np.maximum(half, 0.25 * half.max())


def _draw_spheres(
    axes: Axes, view: View, own: np.ndarray, places: np.ndarray, seen: tuple[int, int, int], length: Scale
) -> None:
    right, up, depth = seen
    sites = view.model.sites
    # The farthest first, and paler.
    order = own[np.argsort(-places[own, depth], kind="stable")]
    far = places[order, depth]
    part = (far - far.min()) / max(float(np.ptp(far)), 1e-300)
    colours = np.array([to_rgb(KINDS[k % len(KINDS)]) for k in sites.kind[order]])
    pale = 0.55 * part[:, None]
    faces = (1.0 - pale) * colours + pale
    d = 2.0 * length.factor * sites.radius[order]
    axes.add_collection(
        EllipseCollection(
            d,
            d,
            np.zeros(order.size),
            units="xy",
            offsets=length.factor * places[order][:, [right, up]],
            offset_transform=axes.transData,
            facecolors=faces,
            edgecolors=style.BLACK,
            linewidths=0.25 if order.size > 200 else 0.7,
            zorder=2,
        )
    )
    _draw_chains(axes, view, places, seen, length)


def _draw_chains(axes: Axes, view: View, places: np.ndarray, seen: tuple[int, int, int], length: Scale) -> None:
    """Lines between spheres whose bodies are joined."""
    sites, parents = view.model.sites, view.model.parents
    first = {int(body): site for site, body in reversed(list(enumerate(sites.body.tolist()))) if body >= 0}
    joined = [(first[k], first[int(p)]) for k, p in enumerate(parents.tolist()) if p >= 0 and k in first and p in first]
    if joined:
        ends = length.factor * places[np.array(joined)][:, :, list(seen[:2])]
        axes.add_collection(LineCollection(list(ends), **CHAIN_LINES))


def _draw_forces(
    axes: Axes, view: View, own: np.ndarray, places: np.ndarray, seen: tuple[int, int, int], length: Scale
) -> None:
    """A line from centre to centre, or to the wall, as wide as the normal force is large."""
    records, (right, up, _) = view.last_contacts, seen
    assert records is not None
    if own.size <= OUTLINED:
        d = 2.0 * length.factor * view.model.sites.radius[own]
        circles = EllipseCollection(
            d,
            d,
            np.zeros(own.size),
            units="xy",
            offsets=length.factor * places[own][:, [right, up]],
            offset_transform=axes.transData,
            facecolors="none",
            edgecolors="#c8c8c8",
            linewidths=0.6,
            zorder=2,
        )
        axes.add_collection(circles)
    start = places[records.first]
    reach = records.arms[:, 0] + np.where(records.between_spheres, records.arms[:, 1], 0.0)
    ends = start - reach[:, None] * records.normal
    size = np.abs(records.normal_force)
    mean = float(size.mean()) or 1.0
    order = np.argsort(size)
    lines = length.factor * np.stack([start, ends], axis=1)[order][:, :, [right, up]]
    finest = 1.2 if own.size < 50 else 0.5
    widths = np.minimum(finest * size[order] / mean, 6.0)
    colours = [style.VERMILION if f > mean else style.GREY for f in size[order]]
    axes.add_collection(LineCollection(list(lines), linewidths=widths, colors=colours, zorder=3))


def _draw_walls(axes: Axes, view: View, seen: tuple[int, int, int], length: Scale) -> None:
    """Planes and cylinders that are seen edge-on, as they were at the start, and faces of the box."""
    law, (right, up, depth) = contact_of(view.model), seen
    look: dict[str, Any] = {"color": style.BLACK, "linewidth": 1.2, "zorder": 4}
    for wall in getattr(law, "walls", ()):
        if wall.shape == "plane":
            point, normal = (np.array([float(x) for x in v]) for v in (wall.point, wall.normal))
            across = np.array([-normal[up], normal[right]])
            if abs(normal[depth]) < 1e-9 * np.linalg.norm(normal) and across.any():
                x, y = length.factor * point[[right, up]]
                axes.axline((x, y), (x + across[0], y + across[1]), **look)
        elif wall.shape == "cylinder":
            axis = np.abs([float(x) for x in wall.axis])
            if axis[depth] > 0.999 * np.linalg.norm(axis):
                x, y = length.factor * np.array([float(v) for v in wall.point])[[right, up]]
                axes.add_patch(Circle((x, y), length.factor * float(wall.radius), fill=False, **look))
        elif wall.shape == "box" and view.model.box is not None:
            _draw_faces(axes, view, wall, (right, up), length, look)


def _draw_faces(axes: Axes, view: View, wall: Any, plane: tuple[int, int], length: Scale, look: dict[str, Any]) -> None:
    box = view.model.box
    assert box is not None
    origin, lengths = (np.array([float(x) for x in v]) for v in (box.origin, box.lengths))
    every = [f"{'xyz'[k]}{side}" for k in range(3) for side in "-+" if not box.periodic[k]]
    for face in every if wall.faces == "all" else wall.faces:
        k = "xyz".index(face[0])
        if k in plane:
            at = length.factor * float(origin[k] + (lengths[k] if face[1] == "+" else 0.0))
            (axes.axvline if k == plane[0] else axes.axhline)(at, **look)


def contact_ledger(view: View) -> Figure | None:
    """Where the energy is and where it went: kinetic, elastic, of gravity, in tangential springs, and what damping and
    friction have taken."""
    if "energy_normal_elastic" not in view.observables:
        return None
    figure, (axes,) = style.panels(height=3.4)
    t = view.time_scale.factor * view.times
    for name, called, look in LEDGER:
        values = view.observables.get(name)
        if values is None or not np.any(values):
            continue
        if name == "energy_external":
            values = values - values.min()
        axes.plot(t, -values if name.startswith("work_") else values, label=called, **look)
    axes.set_ylabel(style.label("energy", view.case.units, "energy"))
    style.legend(axes)
    over_time(axes, view)
    return figure


def contacts(view: View) -> Figure | None:
    """How many contacts a sphere has, and the parts of contacts that slide and of spheres that rattle."""
    seen = view.observables
    if "coordination_number" not in seen or not np.any(seen["contacts"] > 1.0):
        return None
    figure, (number, parts) = style.panels(2, height=2.3)
    t = view.time_scale.factor * view.times
    number.plot(t, seen["coordination_number"], color=style.BLACK, label="contacts of a sphere")
    parts.plot(t, seen["sliding_contacts"], color=style.ORANGE, label="contacts that slide")
    parts.plot(t, seen["rattlers"], color=style.BLUE, linestyle=(0, (5, 1.5)), label="spheres with one\nor none")
    number.set_ylabel("coordination")
    parts.set_ylabel("part")
    parts.set_ylim(-0.03, 1.03)
    for axes in (number, parts):
        style.legend(axes)
    over_time(parts, view)
    return figure


def force_distribution(view: View) -> Figure | None:
    """Densities of the normal and the tangential forces at the last frame, by the mean normal force."""
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
    """Whether a model is one of free spheres, of which there are more than a few."""
    model = view.model
    return int((model.sites.radius > 0.0).sum()) > FEW_GRAINS and not (model.parents >= 0).any()


def coordination(view: View) -> np.ndarray | None:
    """How many spheres have 0, 1, 2, ... contacts at the last frame; None without contacts."""
    records = view.last_contacts
    if records is None:
        return None
    sites = view.model.sites
    moving = (sites.radius > 0.0) & (sites.body >= 0)
    return np.bincount(contact_counts(records, sites.body.size)[moving])


def grain_motion(view: View) -> Figure | None:
    """Height or advance, velocity, and the surface speed of few grains over time."""
    model = view.model
    own = np.flatnonzero(model.sites.radius > 0.0)
    free = model.forest.parent.size == model.bodies and view.speeds.shape[1] == 6 * model.bodies
    if not 0 < own.size <= FEW_GRAINS or not free:
        return None
    t, units = view.time_scale.factor * view.times, view.case.units
    moved = np.ptp(view.positions, axis=0)
    linear = view.speeds.reshape(view.times.size, model.bodies, 6)[:, :, :3]
    figure, (place, speed, spin) = style.panels(3, height=2.3)
    length = suited(units, "length", float(np.abs(view.positions).max()))
    dashes = ("-", (0, (5, 1.5)), (0, (1, 1)))
    for site in own.tolist():
        body = int(model.sites.body[site])
        colour = KINDS_OF_GRAINS[site % len(KINDS_OF_GRAINS)]
        velocity, turning = (view.speeds[:, 6 * body + k : 6 * body + k + 3] for k in (0, 3))
        name = model.names[body]
        for k in range(3):
            look: dict[str, Any] = {"color": colour, "linestyle": dashes[k]}
            if moved[body, k] > 1e-3 * moved.max():
                place.plot(t, length.factor * view.positions[:, body, k], label=f"{name}, {'xyz'[k]}", **look)
            if np.abs(velocity[:, k]).max() > 1e-3 * np.abs(linear).max():
                speed.plot(t, velocity[:, k], label=f"{name}, v$_{'xyz'[k]}$", **look)
        size = model.sites.radius[site] * np.linalg.norm(turning, axis=1)
        if np.any(size):
            spin.plot(t, size, color=colour, label=f"{name}, |ω| R")
    place.set_ylabel(length.axis("centre"))
    speed.set_ylabel(style.label("velocity", units, "velocity"))
    spin.set_ylabel(style.label("|ω| R", units, "velocity"))
    for axes in (place, speed, spin):
        style.legend(axes)
    over_time(spin, view)
    return figure


KINDS_OF_GRAINS = (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE)
"""Colours of single grains."""

CAPTIONS = {
    "spheres": (
        "The spheres in the first frame and the last, the farther ones paler, and the normal forces between them and "
        "of the walls: lines are as wide as forces are large, and coloured where they are larger than the mean."
    ),
    "grain_motion": "Centres, velocities, and the speed of the surface against the centre.",
    "contact_ledger": (
        "Where the energy is and where it went. Of the tangential springs, whose stiffness grows with the overlap, it "
        "is the work, as they have no energy function; damping and friction are shown as what they have taken."
    ),
    "contacts": "Contacts of a sphere, those with walls included, and what part of them slides.",
    "force_distribution": "Densities of the contact forces in the last frame.",
}
"""Captions of these figures."""
