"""Draws peptide.png, the figure of the page on molecules: clusters, φ and ψ, secondary structure and fluctuations.

Run a peptide first, `articulon run trp-zipper --out DIR` say, then `python docs/figures/peptide.py DIR`.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from articulon.conformations.torsion_maps import torsion_map
from articulon.report import style
from articulon.report.cluster_figure import report_clusters
from articulon.report.molecule_figures import HELIX, LOOP, STRAND, chains_of, draw_strip, name_residues, name_rows
from articulon.report.ramachandran_figure import BINS, draw_map
from articulon.report.readable_numbers import percent
from articulon.report.trace_drawing import draw_pieces, pieces_of, principal_view, residue_codes
from articulon.report.view import View


def main(folder: Path) -> None:
    """Draw from a run of a peptide and write beside this file."""
    view = View.of_folder(folder)
    seen = view.conformations
    assert seen is not None and seen.backbone_torsions is not None and seen.secondary_structure is not None
    with style.applied():
        figure = Figure(figsize=(9.0, 5.2))
        one, other = (figure.add_axes((x, 0.63, 0.28, 0.3)) for x in (0.02, 0.31))
        plane = figure.add_axes((0.67, 0.6, 0.21, 0.364))
        timeline = figure.add_axes((0.065, 0.1, 0.5, 0.38))
        rmsf, strip = figure.add_axes((0.66, 0.2, 0.32, 0.28)), figure.add_axes((0.66, 0.16, 0.32, 0.03))
        found, middles = report_clusters(seen)
        laid = seen.upon(seen.positions[middles[0]], seen.positions[middles[:2]])
        laid = (laid - laid.mean(axis=1, keepdims=True)) @ principal_view(laid[0])
        wide, high = (1.1 * float(np.abs(laid[:, :, k]).max()) for k in (0, 1))
        # The pictures are 2.52 inches wide and 1.56 inches high.
        scale = max(wide / 2.52, high / 1.56)
        for k, (axes, places) in enumerate(zip((one, other), laid, strict=False)):
            codes = residue_codes(seen.secondary_structure, int(middles[k]), len(seen.atoms.residue_names))
            draw_pieces(axes, pieces_of(seen.atoms, places, codes), (2.52 * scale, 1.56 * scale))
            at = view.time_scale.text(float(seen.times[middles[k]]), 3)
            axes.set_title(f"{percent(found.populations[k], 2)}, {at}", fontsize=8.0, loc="center")
        both = torsion_map(seen.backbone_torsions.phi, seen.backbone_torsions.psi, 1.0, BINS)
        assert both is not None
        image = draw_map(plane, both)
        plane.set(xlabel="φ (°)", ylabel="ψ (°)")
        bar = figure.add_axes((0.895, 0.6, 0.014, 0.364))
        figure.colorbar(image, cax=bar, label="free energy (kT)")
        bar.grid(visible=False)
        structure, t = seen.secondary_structure, view.time_scale.factor * seen.times
        timeline.imshow(
            structure.codes.T,
            aspect="auto",
            interpolation="nearest",
            cmap=ListedColormap([LOOP, HELIX, STRAND]),
            vmin=-0.5,
            vmax=2.5,
            extent=(t[0], t[-1], structure.residue.size - 0.5, -0.5),
        )
        timeline.grid(visible=False)
        name_rows(timeline, seen, structure.residue)
        timeline.set_xlabel(view.time_scale.axis("time"))
        patches = [Patch(color=c, label=n) for c, n in ((HELIX, "helix"), (STRAND, "strand"), (LOOP, "loop"))]
        timeline.legend(handles=patches, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
        for own in chains_of(seen):
            rmsf.plot(own, seen.rmsf[own], "-o", color=style.BLUE, markersize=3.0, linewidth=1.1)
        rmsf.set_ylabel(style.label("RMSF", view.case.units, "length"))
        rmsf.set(ylim=(0.0, None), xlim=(-0.7, len(seen.rmsf) - 0.3))
        rmsf.tick_params(labelbottom=False)
        draw_strip(strip, structure, len(seen.rmsf))
        strip.set_xlim(-0.7, len(seen.rmsf) - 0.3)
        name_residues(strip, seen)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=200)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
