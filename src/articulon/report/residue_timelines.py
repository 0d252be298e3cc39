"""Timelines of residues: secondary structure, φ and ψ, or the torsions of other molecules."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from articulon.report import style
from articulon.report.molecule_figures import HELIX, LOOP, STRAND, name_rows, secondary_structure_of
from articulon.report.thermal_figures import over_time
from articulon.report.view import View

MOST_TORSIONS = 60
"""Largest number of torsions that are drawn, one row each, for molecules without a peptide."""


def secondary_structure(view: View) -> Figure | None:
    """Draw a row for each residue, coloured by its secondary structure, and below it the fractions of all residues.
    Return None without a peptide of five residues, if all are loops, or if MDAnalysis is missing."""
    seen, found = view.conformations, secondary_structure_of(view)
    if seen is None or found is None or found.residue.size < 5:
        return None
    rows = min(3.4, max(1.3, 0.14 * found.residue.size))
    inches = rows + 1.75
    figure = Figure(figsize=(style.WIDTH, inches))
    axes, below = figure.subplots(2, 1, sharex="col", height_ratios=(rows, 1.0))
    figure.subplots_adjust(
        left=0.75 / style.WIDTH, right=0.98, bottom=0.48 / inches, top=1.0 - 0.3 / inches, hspace=0.2 / rows
    )
    _image(axes, view, found.codes.T, cmap=ListedColormap([LOOP, HELIX, STRAND]), low=-0.5, high=2.5)
    name_rows(axes, seen, found.residue)
    t, parts = view.time_scale.factor * found.times, found.fractions
    for k, colour in ((1, HELIX), (2, STRAND)):
        if parts[:, k].any():
            below.plot(t, 100.0 * parts[:, k], color=colour, linewidth=1.1)
    below.set_ylim(0.0, max(10.0, 108.0 * float(parts[:, 1:].max())))
    below.set_ylabel("residues (%)")
    over_time(below, view)
    patches = [Patch(color=c, label=name) for c, name in ((HELIX, "helix"), (STRAND, "strand"), (LOOP, "loop"))]
    axes.legend(handles=patches, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.1)
    return figure


def torsions(view: View) -> Figure | None:
    """Draw φ and ψ of each residue over time on a cyclic colour scale; without a peptide, draw the torsions of the
    molecule."""
    seen = view.conformations
    if seen is None:
        return None
    found = seen.backbone_torsions
    if found is not None:
        panels = {"φ": found.phi, "ψ": found.psi}
        kept = {name: np.isfinite(angles).all(axis=0) for name, angles in panels.items()}
        panels = {name: angles[:, kept[name]] for name, angles in panels.items() if kept[name].any()}
    else:
        names, angles, _ = seen.joint_torsions
        panels = {"torsion": angles[:, :MOST_TORSIONS]} if names else {}
    if not panels:
        return None
    rows = [min(2.6, max(0.7, 0.13 * angles.shape[1])) for angles in panels.values()]
    inches = sum(rows) + 0.25 * (len(rows) - 1) + 0.85
    figure = Figure(figsize=(style.WIDTH, inches))
    all_axes = figure.subplots(len(rows), 1, sharex="col", height_ratios=rows, squeeze=False)[:, 0]
    left = 0.75 if found is not None else 1.35
    figure.subplots_adjust(
        left=left / style.WIDTH, right=0.86, bottom=0.48 / inches, top=1.0 - 0.2 / inches,
        hspace=0.3 / (sum(rows) / len(rows)),
    )  # fmt: skip
    for axes, (name, angles) in zip(all_axes, panels.items(), strict=True):
        wrapped = np.degrees(np.arctan2(np.sin(angles), np.cos(angles)))
        image = _image(axes, view, wrapped.T, cmap="twilight_shifted", low=-180.0, high=180.0)
        if found is not None:
            name_rows(axes, seen, found.residue[kept[name]], most=max(4, int(7.0 * rows[0])))
            axes.set_ylabel(name, rotation=0, fontsize=11.0, labelpad=8.0)
        else:
            names = seen.joint_torsions.names[:MOST_TORSIONS]
            stride = -(-len(names) // 20)
            axes.set_yticks(range(0, len(names), stride), names[::stride], fontsize=6.5)
    over_time(all_axes[-1], view)
    bottom, top = all_axes[-1].get_position().y0, all_axes[0].get_position().y1
    height = min(top - bottom, 2.0 / inches)
    bar = figure.add_axes((0.885, 0.5 * (bottom + top - height), 0.016, height))
    figure.colorbar(image, cax=bar, ticks=[-180, -90, 0, 90, 180], label="angle (°)")
    bar.grid(visible=False)
    return figure


def _image(axes: Axes, view: View, rows: np.ndarray, cmap: Any, low: float, high: float) -> Any:
    """Draw an image with a row for each residue, from the first frame to the last."""
    assert view.conformations is not None
    t = view.time_scale.factor * view.conformations.times
    half = 0.5 * (float(t[-1]) - float(t[0])) / max(1, t.size - 1)
    axes.grid(visible=False)
    extent = (float(t[0]) - half, float(t[-1]) + half, rows.shape[0] - 0.5, -0.5)
    return axes.imshow(
        rows,
        aspect="auto",
        interpolation="nearest",
        cmap=cmap,
        vmin=low,
        vmax=high,
        extent=extent,
    )
