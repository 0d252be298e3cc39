"""Clusters of frames with similar conformations, and their central frames as files."""

from pathlib import Path

import numpy as np

from articulon.analysis.molecular_runs import conformations_of
from articulon.conformations.chosen_atoms import positions_of
from articulon.conformations.conformation_clusters import Clusters, Measure, clusters_of, torsion_distances
from articulon.conformations.conformation_record import FRAMES, Conformations
from articulon.errors import ArticulonError
from articulon.inputs import exists, path_of, whole, word
from articulon.inputs import number as checked_number
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
    """Group the frames of a run into clusters by average linkage. The largest cluster comes first, and each has a
    central frame.

    Parameters
    ----------
    run
        A run of a molecule.
    by
        Distance of two frames: ``"rmsd"``, the minimum deviation of their backbones after superposition, or
        ``"torsions"``, √⟨2 (1 − cos Δφ)⟩ over φ and ψ, or over all torsions if there is no peptide.
    cutoff
        Mean distance below which two clusters are merged; by default 0.15 nm for ``"rmsd"`` and 40° (in radians) for
        ``"torsions"``.
    number
        Maximum number of clusters, instead of a cutoff.
    frames
        Maximum number of frames to use, evenly distributed over the run.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        For a run without molecules or torsions, or invalid options.
    """
    by = word(by, ("rmsd", "torsions"), "clusters, by", ArticulonError)  # type: ignore[assignment]
    if cutoff is not None and number is not None:
        raise ArticulonError("clusters: give a cutoff or a number of clusters, not both")
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
    """Return the distances between all pairs of frames, shape (frames, frames)."""
    if by == "rmsd":
        return seen.deviations(np.arange(len(seen.frames)))
    found = seen.backbone_torsions
    angles = seen.joint_torsions.angles if found is None else np.concatenate([found.phi, found.psi], axis=1)
    if not np.isfinite(angles).all(axis=0).any():
        raise ArticulonError("clusters: there are no torsions; use by='rmsd'")
    return torsion_distances(angles)


def write_clusters(run: Run, found: Clusters, folder: str | Path) -> list[Path]:
    """Write the central frame of each cluster as ``cluster-1.pdb`` and so on, superposed on the first.

    Parameters
    ----------
    run
        Run of the clusters.
    found
        Result of :func:`clusters`.
    folder
        Folder for the files; created if it does not exist.

    Returns
    -------
    list of Path
        Paths of the files.

    Raises
    ------
    ArticulonError
        If a file exists already, or the folder cannot be created.
    """
    if not isinstance(found, Clusters):
        raise ArticulonError("write_clusters: expected the result of analysis.clusters")
    seen = conformations_of(run, "write_clusters", most=1)
    place = path_of(folder, "write_clusters, folder", ArticulonError)
    files = [place / f"cluster-{k + 1}.pdb" for k in range(len(found.representatives))]
    there = next((file for file in files if exists(file)), None)
    if there is not None:
        raise ArticulonError(f"{there} exists already; write to another folder")
    if found.representatives.max(initial=0) >= len(run.q):
        raise ArticulonError("write_clusters: these clusters belong to another run; this run has fewer frames")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise ArticulonError(f"{place}: cannot be created: {failure.strerror}") from None
    positions = positions_of(seen.model, np.asarray(run.q)[found.representatives], seen.atoms.site)
    structure = structure_of(seen.atoms, positions[0])
    for file, laid in zip(files, seen.upon(positions[0], positions), strict=True):
        write_structure(structure, file, laid)
    return files


def structure_of(atoms: Atoms, positions: np.ndarray) -> Structure:
    """Return a structure of the atoms at given positions [nm], which can be written to a file."""
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
