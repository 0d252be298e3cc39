"""Conformations that come up again: clusters of frames, and their middle ones as files."""

from pathlib import Path

import numpy as np

from articulon.analysis.molecular_runs import conformations_of
from articulon.conformations.chosen_atoms import positions_of
from articulon.conformations.conformation_clusters import Clusters, Measure, clusters_of, torsion_distances
from articulon.conformations.conformation_record import FRAMES, Conformations
from articulon.errors import ArticulonError
from articulon.inputs import number as checked_number
from articulon.inputs import path_of, whole, word
from articulon.model.atoms import Atoms
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.structure_writing import write_structure
from articulon.simulation.results import Run


def clusters(
    run: Run,
    by: Measure = "rmsd",
    *,
    cutoff: float | None = None,
    number: int | None = None,
    frames: int = FRAMES,
    skip: float = 0.0,
) -> Clusters:
    """Clusters of frames by average linkage, the largest first, with the frame in the middle of each.

    Parameters
    ----------
    run
        A run of a molecule.
    by
        ``"rmsd"``, the least deviation of the backbone of two frames after superposition, or ``"torsions"``, the
        distance √⟨2 (1 − cos Δφ)⟩ over φ and ψ, or over all torsions where there is no peptide.
    cutoff
        Clusters nearer than that on average become one: 0.15 nm, or 40° in radians, by default.
    number
        Instead, how many clusters there shall be at most.
    frames
        How many are looked at at most, evenly over the run.
    skip
        Fraction of the frames at the start that are left out.

    Raises
    ------
    ArticulonError
        For a run without molecules or torsions, or options that cannot be.
    """
    by = word(by, ("rmsd", "torsions"), "clusters, by", ArticulonError)  # type: ignore[assignment]
    if cutoff is not None and number is not None:
        raise ArticulonError("clusters: give a cutoff or a number of clusters, and not both")
    if cutoff is not None:
        cutoff = checked_number(cutoff, "clusters, cutoff", ArticulonError)
        if not cutoff > 0.0:
            raise ArticulonError(f"clusters, cutoff: must be positive, got {cutoff:g}")
    if number is not None:
        number = whole(number, "clusters, number", least=1, error=ArticulonError)
    most = whole(frames, "clusters, frames", least=1, most=5000, error=ArticulonError)
    seen = conformations_of(run, "clusters", skip, most=most)
    return clusters_of(distances(seen, by), seen.frames, seen.times, by, cutoff=cutoff, number=number)


def distances(seen: Conformations, by: Measure) -> np.ndarray:
    """Between every two of the frames that are looked at, shape (frames, frames)."""
    if by == "rmsd":
        return seen.deviations(np.arange(len(seen.frames)))
    found = seen.backbone_torsions
    angles = seen.joint_torsions.angles if found is None else np.concatenate([found.phi, found.psi], axis=1)
    if not np.isfinite(angles).all(axis=0).any():
        raise ArticulonError("clusters: there are no torsions; take by='rmsd'")
    return torsion_distances(angles)


def write_clusters(run: Run, found: Clusters, folder: str | Path) -> list[Path]:
    """Write the frame in the middle of each cluster as ``cluster-1.pdb`` and so on, laid upon the first.

    Parameters
    ----------
    run
        The run that they are of.
    found
        What :func:`clusters` has given.
    folder
        Where they go; it is made where it is missing.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ArticulonError
        For files that are there already, and a folder that cannot be made.
    """
    if not isinstance(found, Clusters):
        raise ArticulonError("write_clusters: expected what analysis.clusters gives")
    seen = conformations_of(run, "write_clusters", most=1)
    place = path_of(folder, "write_clusters, folder", ArticulonError)
    files = [place / f"cluster-{k + 1}.pdb" for k in range(len(found.representatives))]
    there = next((file for file in files if file.exists()), None)
    if there is not None:
        raise ArticulonError(f"{there} is there already; write into another folder")
    if found.representatives.max(initial=0) >= len(run.q):
        raise ArticulonError("write_clusters: these clusters are of another run: it has fewer frames")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise ArticulonError(f"{place}: cannot be made: {failure.strerror}") from None
    positions = positions_of(seen.model, np.asarray(run.q)[found.representatives], seen.atoms.site)
    structure = structure_of(seen.atoms, positions[0])
    for file, laid in zip(files, seen.upon(positions[0], positions), strict=True):
        write_structure(structure, file, laid)
    return files


def structure_of(atoms: Atoms, positions: np.ndarray) -> Structure:
    """Atoms at positions [nm] as a structure that can be written."""
    first = atoms.first.tolist()
    residues = tuple(
        Residue(name, number, insertion, chain, kind, "", start, stop)
        for name, number, insertion, chain, kind, start, stop in zip(
            atoms.residue_names,
            atoms.residue_numbers,
            atoms.insertions,
            atoms.chains,
            atoms.residue_kinds,
            first[:-1],
            first[1:],
            strict=True,
        )
    )
    return Structure("run", atoms.names, atoms.elements, residues, positions, atoms.masses, atoms.bonds)
