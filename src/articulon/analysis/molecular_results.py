"""The complete analysis of the molecules of a run, as numbers and as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulon.analysis.molecular_clusters import clusters, write_clusters
from articulon.analysis.molecular_runs import Reference, conformations_of
from articulon.analysis.molecular_torsions import mean_temperature, torsion_correlation
from articulon.analysis.result_files import Rows, rows_of, write_results
from articulon.analysis.time_averages import first_frame
from articulon.conformations.conformation_clusters import Clusters
from articulon.conformations.conformation_record import Conformations
from articulon.conformations.conformation_summary import INSTALL, mean_with_error
from articulon.errors import ArticulonError
from articulon.fidelity.settling import SETTLED
from articulon.inputs import path_of
from articulon.simulation.results import Run

NAN = float("nan")


@dataclass(frozen=True)
class MoleculeAnalysis:
    """Results for the molecules of a run."""

    run: Run
    """The run."""
    figures: dict[str, Any]
    """Means with their errors, by name; lengths in units of the case."""
    tables: dict[str, Rows]
    """Tables by name: ``time_series``, ``phi_psi`` [rad], ``residues``, ``torsions``, ``hydrogen_bonds`` and
    ``clusters``, as far as available."""
    clusters: Clusters | None
    """Clusters by backbone deviation; None for molecules too small for superposition."""
    notes: tuple[str, ...]
    """Reasons for quantities that were not computed."""

    def write(self, folder: str | Path) -> list[Path]:
        """Write the figures as ``molecules.json``, each table as CSV, and the central frame of each cluster as PDB.

        The folder is created if it does not exist. Returns the files.

        Raises ArticulonError for a file that exists already.

        Parameters
        ----------
        folder
            Folder for the files.
        """
        place = path_of(folder, "write, folder", ArticulonError)
        written = write_results(place, "molecules.json", self.figures, self.tables)
        return written if self.clusters is None else [*written, *write_clusters(self.run, self.clusters, place)]


def analyse_molecules(run: Run, reference: Reference | None = None, skip: float = SETTLED) -> MoleculeAnalysis:
    """Analyse the molecules of a run with all functions of this package.

    Parameters
    ----------
    run
        A run of molecules.
    reference
        Structure for comparisons, a PDB or mmCIF file or a structure; by default the first frame.
    skip
        Fraction of the frames at the start that means leave out; tables over time include all frames.

    Returns
    -------
    MoleculeAnalysis
        Results; ``write(folder)`` writes them as CSV and JSON.

    Raises
    ------
    ArticulonError
        For a run without molecules, or a reference that lacks the atoms.
    """
    seen = conformations_of(run, "analyse_molecules", reference=reference)
    notes: list[str] = []
    series, tables = _series(seen, notes), {}
    tables["time_series"] = rows_of({"time": seen.times, **series})
    found = seen.backbone_torsions
    if found is not None:
        angles = {f"phi:{label}": found.phi[:, k] for k, label in enumerate(found.labels)}
        angles |= {f"psi:{label}": found.psi[:, k] for k, label in enumerate(found.labels)}
        tables["phi_psi"] = rows_of({"time": found.times, **angles})
    late = first_frame(len(seen.times), skip)
    tables["residues"] = _residues(seen, late, notes)
    figures: dict[str, Any] = {
        "reference": "first frame" if reference is None else str(getattr(reference, "source", reference)),
        "skip": skip,
        **{name: {**mean_with_error(values[late:]), "final": float(values[-1])} for name, values in series.items()},
    }
    try:
        memory = torsion_correlation(run, skip)
        columns = (memory.names, memory.correlation_times, memory.effective_samples)
        tables["torsions"] = rows_of(
            dict(zip(("torsion", "correlation_time", "effective_samples"), columns, strict=True))
        )
        figures["slowest_torsion"] = {"name": memory.names[memory.slowest], **_slowest(memory.slowest, columns)}
    except ArticulonError as reason:
        notes.append(str(reason))
    try:
        bonds = seen.hydrogen_bonds
        tables["hydrogen_bonds"] = rows_of({"bond": bonds.labels, "occupancy": bonds.occupancy})
    except ImportError:
        notes.append(f"hydrogen bonds: {INSTALL}")
    groups = clusters(run, skip=skip) if seen.rmsd is not None else None
    if groups is not None:
        middles = {"frame": groups.representatives, "time": np.asarray(run.times)[groups.representatives]}
        tables["clusters"] = rows_of(
            {"cluster": np.arange(1, len(groups.populations) + 1), "population": groups.populations, **middles}
        )
    try:
        heat = mean_temperature(run, skip)
        figures["temperature"] = heat._asdict()
    except ArticulonError as reason:
        notes.append(str(reason))
    return MoleculeAnalysis(run, figures, tables, groups, tuple(notes))


def _series(seen: Conformations, notes: list[str]) -> dict[str, np.ndarray]:
    """Return all quantities over time, by name, and add to ``notes`` why some are missing."""
    found = {
        "rmsd": seen.rmsd,
        "radius_of_gyration": seen.radius_of_gyration,
        "end_to_end_distance": seen.end_to_end,
        "native_contacts": None if seen.native_contacts is None else seen.native_contacts.values,
    }
    try:
        found["hydrogen_bonds"] = seen.hydrogen_bonds.counts.astype(float)
        if seen.secondary_structure is not None:
            parts = seen.secondary_structure.fractions
            found |= {"helix": parts[:, 1], "strand": parts[:, 2]}
    except ImportError:
        notes.append(f"secondary structure: {INSTALL}")
    return {name: values for name, values in found.items() if values is not None}


def _residues(seen: Conformations, late: int, notes: list[str]) -> Rows:
    """Return a table of residues, with two quantities for each: its fluctuation after the skipped frames, and the
    fraction of frames in which it is part of a helix or a strand."""
    sub = Conformations(seen.model, seen.all_times, seen.all_q, first=int(seen.frames[late]), most=None)
    names = [sub.atoms.residue_label(r) for r in range(len(sub.atoms.residue_names))]
    columns: dict[str, Any] = {"residue": names, "rmsf": sub.rmsf}
    if not any("secondary" in note for note in notes) and sub.secondary_structure is not None:
        structure = sub.secondary_structure
        for k, kind in ((1, "helix"), (2, "strand")):
            parts = np.full(len(names), NAN)
            parts[structure.residue] = (structure.codes == k).mean(axis=0)
            columns[kind] = parts
    return rows_of(columns)


def _slowest(k: int, columns: tuple[Any, ...]) -> dict[str, float]:
    return {"correlation_time": float(columns[1][k]), "effective_samples": float(columns[2][k])}
