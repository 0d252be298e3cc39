"""Figures of a molecular run over time: deviation, size, contacts, and fluctuation of each residue."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from articulon.conformations.conformation_record import Conformations
from articulon.conformations.hydrogen_bonds import HydrogenBonds
from articulon.conformations.secondary_structure import SecondaryStructure
from articulon.report import style
from articulon.report.thermal_figures import over_time
from articulon.report.view import View

LOOP, HELIX, STRAND = "#d4d4d4", style.VERMILION, style.BLUE
"""Colours of secondary structure, in the order of its codes."""
SMOOTHED = 0.02
"""Fraction of the frames over which the average for the dark line is taken."""
MOST_BONDS = 10
"""Largest number of hydrogen bonds shown by name."""


def molecule_shape(view: View) -> Figure | None:
    """Draw one panel each for deviation from the first frame, radius of gyration, end-to-end distance, native contacts
    and hydrogen bonds."""
    seen = view.conformations
    if seen is None:
        return None
    lines = list(_lines(view, seen))
    if not lines:
        return None
    figure, all_axes = style.panels(len(lines), height=1.85)
    t = view.time_scale.factor * seen.times
    for axes, (label, values, colour) in zip(all_axes, lines, strict=True):
        width = max(1, round(SMOOTHED * values.size))
        smooth = width > 2
        axes.plot(t, values, color=colour, linewidth=0.7 if smooth else 1.2, alpha=0.35 if smooth else 1.0)
        if smooth:
            window = np.ones(width) / width
            axes.plot(np.convolve(t, window, "valid"), np.convolve(values, window, "valid"), color=colour)
        axes.set_ylabel(label)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=label == "H bonds"))
        axes.yaxis.set_major_formatter(style.PlainTicks(useOffset=False))
        if label == "$Q$":
            axes.set_ylim(min(0.9, 0.98 * float(values.min())), 1.02)
    figure.align_ylabels(all_axes)
    figure.subplots_adjust(right=0.98)
    over_time(all_axes[-1], view)
    return figure


def _lines(view: View, seen: Conformations) -> Iterator[tuple[str, np.ndarray, str]]:
    """Label, values and colour of each panel; quantities that are constant up to rounding are left out."""
    length = style.unit(view.case.units, "length")
    given = [
        (f"RMSD ({length})", seen.rmsd, style.BLUE),
        (f"$R_\\mathrm{{g}}$ ({length})", seen.radius_of_gyration, style.GREEN),
        (f"ends ({length})", seen.end_to_end, style.PURPLE),
        ("$Q$", None if seen.native_contacts is None else seen.native_contacts.values, style.ORANGE),
        ("H bonds", None if (bonds := hydrogen_bonds_of(seen)) is None else bonds.counts.astype(float), style.SKY),
    ]
    for label, values, colour in given:
        if values is not None and np.ptp(values) > 1e-9:
            yield label, values, colour


def hydrogen_bonds_of(seen: Conformations) -> HydrogenBonds | None:
    """Return the hydrogen bonds; None if MDAnalysis is missing."""
    try:
        return seen.hydrogen_bonds
    except ImportError:
        return None


def secondary_structure_of(view: View) -> SecondaryStructure | None:
    """Return the secondary structure; None without a peptide, if all residues are loops, or if MDAnalysis is
    missing."""
    if view.conformations is None:
        return None
    try:
        found = view.conformations.secondary_structure
    except ImportError:
        return None
    return found if found is not None and found.codes.any() else None


def fluctuations(view: View) -> Figure | None:
    """Draw the fluctuation of each residue, with its secondary structure beneath. Return None for fewer than three
    residues or frames."""
    seen = view.conformations
    if seen is None or len(seen.atoms.residue_names) < 3 or len(seen.times) < 3:
        return None
    figure = Figure(figsize=(style.WIDTH, style.HEIGHT))
    structure = secondary_structure_of(view)
    heights = (1.0,) if structure is None else (1.0, 0.09)
    all_axes = figure.subplots(len(heights), 1, sharex="col", height_ratios=heights, squeeze=False)[:, 0]
    figure.subplots_adjust(left=0.75 / style.WIDTH, right=0.98, bottom=0.62 / style.HEIGHT, top=0.94, hspace=0.06)
    axes, place = all_axes[0], np.arange(len(seen.rmsf))
    size = 3.0 if place.size <= 60 else 0.0
    for own in chains_of(seen):
        axes.plot(place[own], seen.rmsf[own], "-o", color=style.BLUE, markersize=size, linewidth=1.1)
    axes.set_ylabel(style.label("RMSF", view.case.units, "length"))
    axes.set_ylim(bottom=0.0)
    axes.set_xlim(-0.7, len(place) - 0.3)
    if structure is not None:
        strip = all_axes[1]
        draw_strip(strip, structure, len(place))
        axes.tick_params(labelbottom=False, bottom=False)
    name_residues(all_axes[-1], seen)
    return figure


def draw_strip(axes: Axes, structure: SecondaryStructure, residues: int) -> None:
    """Draw for each residue how often it is in a helix and how often in a strand; darker means more often."""
    image = np.ones((1, residues, 3))
    for column, residue in enumerate(structure.residue.tolist()):
        parts = [(structure.codes[:, column] == k).mean() for k in range(3)]
        image[0, residue] = sum(
            part * np.array(rgb(colour)) for part, colour in zip(parts, (LOOP, HELIX, STRAND), strict=True)
        )
    axes.imshow(image, aspect="auto", interpolation="nearest", extent=(-0.5, residues - 0.5, 0.0, 1.0))
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def rgb(colour: str) -> tuple[float, float, float]:
    """Return red, green and blue of a colour, from 0 to 1."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return float(red), float(green), float(blue)


def chains_of(seen: Conformations) -> list[np.ndarray]:
    """Return the residues of each chain, in order."""
    chains = np.array(seen.atoms.chains)
    cuts = np.flatnonzero(chains[1:] != chains[:-1]) + 1
    return np.split(np.arange(chains.size), cuts)


def name_residues(axes: Axes, seen: Conformations, chosen: np.ndarray | None = None, most: int = 30) -> None:
    """Label a horizontal axis of residues with their names, as many as fit."""
    axes.set_xticks(*_ticks(seen, chosen, most), rotation=90 if _count(seen, chosen) > 12 else 0, fontsize=7.0)


def name_rows(axes: Axes, seen: Conformations, chosen: np.ndarray, most: int = 30) -> None:
    """Label a vertical axis of residues, counted downwards, with their names, as many as fit."""
    axes.set_yticks(*_ticks(seen, chosen, most), fontsize=6.5)


def _count(seen: Conformations, chosen: np.ndarray | None) -> int:
    return len(seen.atoms.residue_names) if chosen is None else len(chosen)


def _ticks(seen: Conformations, chosen: np.ndarray | None, most: int) -> tuple[list[int], list[str]]:
    residues = np.arange(len(seen.atoms.residue_names)) if chosen is None else chosen
    several = len({seen.atoms.chains[r] for r in residues.tolist()}) > 1
    stride = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if residues.size <= s * most), 1000)
    numbers = [seen.atoms.residue_numbers[r] for r in residues.tolist()]
    places = [k for k, number in enumerate(numbers) if number % stride == 0] or [0]
    names = [seen.atoms.residue_label(int(residues[k])) for k in places]
    return places, names if several else [name.rpartition(":")[2] for name in names]


def hydrogen_bond_table(view: View) -> Figure | None:
    """Draw the hydrogen bonds that last longest, with the fraction of frames in which each exists."""
    found = None if view.conformations is None else hydrogen_bonds_of(view.conformations)
    if found is None or not len(found.occupancy):
        return None
    shown = min(MOST_BONDS, len(found.occupancy))
    inches = 0.65 + 0.2 * shown
    figure = Figure(figsize=(style.WIDTH, inches))
    axes = figure.subplots()
    figure.subplots_adjust(left=2.2 / style.WIDTH, right=0.97, bottom=0.46 / inches, top=1.0 - 0.1 / inches)
    axes.barh(np.arange(shown), 100.0 * found.occupancy[:shown], color=style.SKY, height=0.62)
    axes.set_yticks(np.arange(shown), [label.replace("–", " – ") for label in found.labels[:shown]], fontsize=7.5)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0.0, 100.0)
    axes.set_xlabel("part of the frames (%)")
    return figure
