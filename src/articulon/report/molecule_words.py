"""Texts in the report of a molecular run: its results in numbers, captions, and reasons for missing figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from articulon.conformations.conformation_summary import warning_of_few_samples
from articulon.conformations.hydrogen_bonds import ANGLE, DISTANCE
from articulon.report import (
    cluster_figure,
    molecule_figures,
    ramachandran_figure,
    residue_timelines,
    torsion_memory_figure,
    water_figures,
)
from articulon.report.readable_numbers import number, percent, with_unit
from articulon.report.view import View

FIGURES: dict[str, Callable[[View], Figure | None]] = {
    "molecule_shape": molecule_figures.molecule_shape,
    "ramachandran": ramachandran_figure.ramachandran,
    "secondary_structure": residue_timelines.secondary_structure,
    "fluctuations": molecule_figures.fluctuations,
    "torsions": residue_timelines.torsions,
    "torsion_correlation": torsion_memory_figure.torsion_correlation,
    "clusters": cluster_figure.clusters,
    "hydrogen_bonds": molecule_figures.hydrogen_bond_table,
    "water_structure": water_figures.water_structure,
}
"""Figures of molecules by name, in the order of the report."""
LEFT_OUT = ("position", "joints", "model", "works_normalised")
"""General figures that are not informative for a molecule."""
LEFT_OUT_UNSCALED = ("forces", "kinetic_energy", "step_size")
"""General figures that are not informative for a molecule with unscaled forces."""
CAPTIONS = {
    "molecule_shape": (
        "From above, as far as the molecule has them: deviation of the backbone from {reference} after superposition, "
        "radius of gyration, distance between the ends of the longest chain, fraction Q of the contacts of "
        "{reference} that are kept, number of hydrogen bonds. Dark lines are running means."
    ),
    "ramachandran": (
        "Free energy −kT ln p of φ and ψ by class of residue, relative to the minimum of each; white was never "
        "visited. Circles are the first frame, diamonds the last."
    ),
    "secondary_structure": "Secondary structure of each residue by DSSP, and the fractions of all residues.",
    "fluctuations": (
        "Root mean square fluctuation of each residue about its mean position: of Cα or C4′, or over the heavy atoms "
        "of residues without one."
    ),
    "torsions": "Torsions over time, on a cyclic colour scale.",
    "torsion_correlation": (
        "Mean autocorrelation of e^{inφ} of the torsions by kind, with their number, and that of the slowest one "
        "(left); n is the rotational symmetry of a torsion. Number of independent samples of each torsion in the last "
        "three quarters of the run (right)."
    ),
    "clusters": (
        "The central frame of each of the largest clusters, with the fraction of frames in the cluster and the "
        "time of the frame"
    ),
    "hydrogen_bonds": (
        f"The hydrogen bonds that last longest: acceptor within {DISTANCE:g} nm of the donor and at least {ANGLE:g}° "
        "at the hydrogen."
    ),
    "water_structure": "Radial distribution of the oxygens of water, over the last three quarters of the run.",
}
"""Captions of the figures of molecules."""


def left_out(view: View) -> tuple[str, ...]:
    """Return the general figures that are left out of this run's report."""
    if not view.molecular:
        return ()
    if view.case.scaling.scales:
        return LEFT_OUT
    # The works of single channels matter only in a study of scaling. The energies of a thermostat have their own
    # figure.
    return LEFT_OUT + LEFT_OUT_UNSCALED + (() if view.case.thermostat is None else ("energies",))


def more_words(name: str, view: View) -> str:
    """Return the sentences that a caption adds for this run."""
    seen = view.conformations
    if seen is None:
        return ""
    if name == "fluctuations" and molecule_figures.secondary_structure_of(view) is not None:
        return "Beneath, how much of the time each is in a helix (orange) or a strand (blue)."
    if name == "clusters":
        found, _ = cluster_figure.report_clusters(seen)
        how = (
            f"by deviation of the backbone, at most {found.cutoff:g} nm on average within one"
            if found.by == "rmsd"
            else "by torsions, at most 40° on average within one"
        )
        colours = " Tubes are orange in helices and blue in strands." if seen.backbone.residue.size > 2 else ""
        below = " Below, the cluster of each frame." if len(found.representatives) > 1 else ""
        return f"({how}; average linkage).{colours}{below}"
    joints = 0 if seen.backbone_torsions is not None else len(seen.joint_torsions.names)
    if name == "torsions" and joints > residue_timelines.MOST_TORSIONS:
        return f"The first {residue_timelines.MOST_TORSIONS} of {joints} are shown."
    return ""


def not_drawn(view: View) -> str:
    """Name the figures that are missing because a package is not installed, and the packages to install; empty if no
    figure is missing."""
    if not view.molecular or view.times.size < 2:
        return ""
    missing = []
    if view.conformations is not None and find_spec("MDAnalysis") is None:
        missing.append("secondary structure and hydrogen bonds need MDAnalysis")
    atoms, box = view.model.atoms, view.model.box
    if atoms is not None and box is not None and find_spec("freud") is None:
        if water_figures.water_oxygens(atoms).size >= water_figures.FEWEST:
            missing.append("the radial distribution of water needs freud")
    if not missing:
        return ""
    text = "; ".join(missing)
    return f"Not drawn: {text}. To draw them: pip install 'articulon[analysis]', and write the report again."


def molecule_rows(view: View) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the results of a molecular run, from its summary."""
    found = view.summary.get("molecules")
    if not found:
        return
    units = view.case.units
    length, time = units.label("length"), units.label("time")
    if found.get("skip") is not None:
        many = f", at most {number(found['frames'])} of them" if found["frames"] < view.times.size else ""
        yield "means and errors", f"over the frames{many}, without the first {percent(found['skip'], 2)}"
    warning = warning_of_few_samples(found.get("slowest_torsion"))
    if warning:
        yield "note", warning
    if "atoms" in found:
        yield "atoms, residues", f"{number(found['atoms'])}, {number(found['residues'])} (without water and ions)"
    yield from density_rows(view)
    for key, name in (("rmsd", "RMSD from the first frame"), ("radius_of_gyration", "radius of gyration")):
        yield name, mean_text(found.get(key), length)
    yield "distance of the ends", mean_text(found.get("end_to_end_distance"), length)
    kept = found.get("native_contacts")
    if kept:
        yield "native contacts", f"Q = {mean_text(kept, '')}, of {number(kept['contacts'])} in the first frame"
    parts = found.get("secondary_structure")
    if parts:
        yield (
            "secondary structure",
            ", ".join(f"{percent(parts[kind], 2)} {kind}" for kind in ("helix", "strand", "loop")),
        )
    yield "hydrogen bonds", mean_text(found.get("hydrogen_bonds"), "")
    slowest = found.get("slowest_torsion")
    if slowest:
        yield (
            "slowest torsion",
            f"{slowest['name']}: {number(slowest['effective_samples'], 2)} independent samples in "
            f"{number(slowest['frames'])} frames, correlation time {with_unit(slowest['correlation_time'], time, 3)}",
        )
    heat = found.get("temperature")
    if heat:
        aim = "" if heat["target"] is None else f", target {with_unit(heat['target'], 'K')}"
        yield (
            "mean temperature",
            f"{value_text(heat, 'K')} over {number(heat['degrees_of_freedom'])} degrees of freedom{aim}",
        )


def molecule_words(found: Mapping[str, Any]) -> str:
    """Summarise the section "molecules" of a summary in a line; lengths of molecules are always in nm."""
    said = []
    for key, name in (("rmsd", "RMSD"), ("radius_of_gyration", "Rg")):
        if found.get(key):
            said.append(f"{name} {value_text(found[key], 'nm')}")
    if found.get("temperature"):
        said.append(value_text(found["temperature"], "K"))
    slowest = found.get("slowest_torsion")
    if slowest:
        said.append(f"{number(slowest['effective_samples'], 2)} independent samples of {slowest['name']}, the slowest")
    skipped = [] if found.get("skip") is None else [f"means without the first {percent(found['skip'], 2)}"]
    warning = warning_of_few_samples(slowest)
    return ", ".join([*said, *skipped]) + (f". {warning}" if warning else "")


def density_rows(view: View) -> Iterator[tuple[str, str]]:
    """Size of the box and density of its contents."""
    atoms, box = view.model.atoms, view.model.box
    if atoms is None or box is None or not box.periodic.all():
        return
    assert view.edges is not None
    settled = view.edges[view.times.size // 2 :]
    lengths = " × ".join(number(float(edge), 4) for edge in np.diagonal(settled, axis1=1, axis2=2).mean(axis=0))
    kilograms = view.case.units.mass, view.case.units.length
    if kilograms[0] is None or kilograms[1] is None:
        return
    volume = float(np.linalg.det(settled).mean())
    density = float(view.model.masses.sum()) * kilograms[0] / (volume * kilograms[1] ** 3)
    where = f"{with_unit(density, 'kg/m³')} at a box of {lengths} {view.case.units.label('length')}"
    yield "density", where


def value_text(found: Mapping[str, Any], unit: str) -> str:
    """A mean with its error, with as many digits as the error justifies."""
    mean, error = found["mean"], found.get("error")
    if not error or not mean:
        return with_unit(mean, unit, 4)
    digits = max(1, min(6, 2 + math.floor(math.log10(abs(mean))) - math.floor(math.log10(error))))
    return f"{number(mean, digits)} ± {with_unit(error, unit, 2)}"


def mean_text(found: Mapping[str, Any] | None, unit: str) -> str:
    """Mean with its error, and the value in the last frame; empty if there is none."""
    if not found:
        return ""
    return f"{value_text(found, unit)}, in the last frame {with_unit(found['final'], unit, 3)}"
