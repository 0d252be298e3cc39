"""Ramachandran maps: free energy of φ and ψ by class of residue, with the start of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from articulon.conformations.backbone_torsions import CLASSES, BackboneTorsions
from articulon.conformations.torsion_maps import TorsionMap, torsion_map
from articulon.report import style
from articulon.report.view import View

DEEPEST = 6.0
"""Free energy above the minimum at which the colour scale ends [kT]."""
BINS = 48
START: dict[str, Any] = {
    "linestyle": "none", "marker": "o", "markersize": 3.4, "markerfacecolor": "white",
    "markeredgecolor": style.BLACK, "markeredgewidth": 0.9,
}  # fmt: skip
END: dict[str, Any] = {
    "linestyle": "none", "marker": "D", "markersize": 3.0, "markerfacecolor": style.VERMILION,
    "markeredgecolor": "white", "markeredgewidth": 0.6,
}  # fmt: skip


def ramachandran(view: View) -> Figure | None:
    """Draw a map for each class of residues in the molecule; return None if no residue has both angles."""
    found = None if view.conformations is None else view.conformations.backbone_torsions
    if found is None:
        return None
    maps = {kind: made for kind in CLASSES if (made := class_map(found, kind)) is not None}
    if not maps:
        return None
    columns = len(maps)
    wide = style.WIDTH if columns > 1 else 3.6
    side = min((wide - 1.35 - 0.22 * (columns - 1)) / columns, 2.5)
    inches = side + 0.85
    figure = Figure(figsize=(wide, inches))
    all_axes = figure.subplots(1, columns, sharex=True, sharey=True, squeeze=False)[0]
    left, right = 0.62 / wide, (0.62 + columns * side + 0.22 * (columns - 1)) / wide
    figure.subplots_adjust(left=left, right=right, bottom=0.55 / inches, top=1.0 - 0.3 / inches, wspace=0.22 / side)
    for axes, (kind, made) in zip(all_axes, maps.items(), strict=True):
        image = draw_map(axes, made, narrow=columns > 1)
        own = [k for k, c in enumerate(found.classes) if c == kind]
        for frame, look in ((-1, END), (0, START)):
            smaller = {"markersize": 0.6 * look["markersize"]} if len(own) > 30 else {}
            axes.plot(np.degrees(found.phi[frame, own]), np.degrees(found.psi[frame, own]), **{**look, **smaller})
        axes.set_title(kind, fontsize=8.5, loc="left")
        axes.set_xlabel("φ (°)")
    all_axes[0].set_ylabel("ψ (°)")
    bar = figure.add_axes((right + 0.1 / wide, 0.55 / inches, 0.1 / wide, side / inches))
    figure.colorbar(image, cax=bar, label="free energy (kT)")
    bar.grid(visible=False)
    return figure


def class_map(found: BackboneTorsions, kind: str) -> TorsionMap | None:
    """Compute the free energy of a class of residues in units of kT; None if no residue of the class has both
    angles."""
    own = [k for k, c in enumerate(found.classes) if c == kind]
    return torsion_map(found.phi[:, own], found.psi[:, own], 1.0, BINS) if own else None


def draw_map(axes: Axes, made: TorsionMap, narrow: bool = False) -> Any:
    """Draw a map of free energies on axes in degrees; bins that were never visited are white."""
    # The map is drawn as a bitmap, because vector graphics would make most of the size of the page.
    image = axes.imshow(
        made.free_energy.T,
        cmap="viridis",
        vmin=0.0,
        vmax=DEEPEST,
        origin="lower",
        interpolation="nearest",
        extent=(-180.0, 180.0, -180.0, 180.0),
        zorder=1,
    )
    axes.set_aspect("equal")
    axes.set(xlim=(-180.0, 180.0), ylim=(-180.0, 180.0))
    axes.set_xticks([-120, 0, 120] if narrow else [-180, -90, 0, 90, 180])
    axes.set_yticks([-180, -90, 0, 90, 180])
    for line in (axes.axhline, axes.axvline):
        line(0.0, color="#bdbdbd", linewidth=0.6, zorder=0.5)
    axes.grid(visible=False)
    axes.spines[["top", "right"]].set_visible(True)
    return image
