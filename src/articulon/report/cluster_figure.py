"""Figure of the clusters of conformations: the central frame of each, and their occurrence over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from articulon.conformations.conformation_clusters import Clusters, clusters_of, torsion_distances
from articulon.conformations.conformation_record import PAIRED, Conformations, some_frames
from articulon.report import style
from articulon.report.molecule_figures import secondary_structure_of
from articulon.report.readable_numbers import percent
from articulon.report.thermal_figures import over_time
from articulon.report.trace_drawing import draw_pieces, pieces_of, principal_view, residue_codes
from articulon.report.view import View

SHOWN = 4
"""Number of clusters drawn."""
DOTS = 220
"""Resolution of the pictures of large molecules [1/inch]."""
SMALL = 12
"""Number of backbone atoms below which torsions define the clusters; so few atoms always superpose well."""


def measure_of(seen: Conformations) -> str:
    """Return the distance measure of the clusters: the RMSD of the backbone, or torsions for small molecules."""
    return "rmsd" if seen.aligned.size >= SMALL or not seen.joint_torsions.names else "torsions"


def report_clusters(seen: Conformations) -> tuple[Clusters, np.ndarray]:
    """Return clusters of some of the analysed frames, and the indices of the clusters' central frames among the
    selected frames."""
    some = some_frames(len(seen.frames), 0, PAIRED)
    by = measure_of(seen)
    if by == "rmsd":
        between = seen.deviations(some)
    else:
        found = seen.backbone_torsions
        angles = seen.joint_torsions.angles if found is None else np.concatenate([found.phi, found.psi], axis=1)
        between = torsion_distances(angles[some])
    made = clusters_of(between, some, seen.times[some], by)  # type: ignore[arg-type]
    return made, made.representatives


def clusters(view: View) -> Figure | None:
    """Draw the central frame of each of the largest clusters, superposed on the first, and the clusters over time."""
    seen = view.conformations
    if seen is None or len(seen.atoms) < 3:
        return None
    found, middles = report_clusters(seen)
    shown = min(SHOWN, len(middles))
    laid = seen.upon(seen.positions[middles[0]], seen.positions[middles[:shown]])
    turn = principal_view(laid[0])
    laid = (laid - laid.mean(axis=1, keepdims=True)) @ turn
    wide, high = (1.1 * float(np.abs(laid[:, :, k]).max()) for k in (0, 1))
    half = wide, max(high, 0.45 * wide)
    structure = secondary_structure_of(view)
    several = len(middles) > 1
    places = max(shown, 3) if several else 2
    side = (style.WIDTH - 0.2) / places
    tall = side * half[1] / wide
    inches = tall + 0.4 + (1.35 if several else 0.05)
    figure = Figure(figsize=(style.WIDTH, inches), dpi=DOTS)
    for k in range(shown):
        left = (0.1 + k * side + 0.5 * side * (places - shown)) / style.WIDTH
        axes = figure.add_axes((left, 1.0 - (tall + 0.22) / inches, side / style.WIDTH, tall / inches))
        codes = residue_codes(structure, int(middles[k]), len(seen.atoms.residue_names))
        draw_pieces(axes, pieces_of(seen.atoms, laid[k], codes), half)
        at = view.time_scale.text(float(seen.times[middles[k]]), 3)
        axes.set_title(f"{k + 1}: {percent(found.populations[k], 2)}, {at}", fontsize=8.0, loc="center", pad=1.0)
    _scale_bar(figure.axes[0], view, half)
    if several:
        below = figure.add_axes((0.62 / style.WIDTH, 0.48 / inches, 1.0 - 0.75 / style.WIDTH, 0.75 / inches))
        most = min(len(middles), 8)
        label = np.minimum(found.labels, most - 1) + 1
        below.plot(view.time_scale.factor * found.times, label, ".", color=style.BLUE, markersize=3.0)
        below.set_ylim(most + 0.6, 0.4)
        last = f"≥{most}" if len(middles) > most else str(most)
        ticks = range(1, most + 1) if most <= 5 else (1, most // 2, most)
        below.set_yticks(list(ticks), [last if k == most else str(k) for k in ticks])
        below.set_ylabel("cluster")
        over_time(below, view)
    return figure


def _scale_bar(axes: Axes, view: View, half: tuple[float, float]) -> None:
    """Draw a bar of a round length below the first picture."""
    length = next((s for s in (5.0, 2.0, 1.0, 0.5, 0.2, 0.1) if s < 0.6 * half[0]), 0.1)
    start, height, unit = -0.95 * half[0], -1.02 * half[1], view.case.units.label("length")
    axes.plot([start, start + length], [height] * 2, color=style.BLACK, linewidth=1.4, clip_on=False)
    name = f" {length:g} {unit}"
    axes.text(start + length, height, name, fontsize=7.0, ha="left", va="center")
