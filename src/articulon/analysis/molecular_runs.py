"""Access of the molecular analyses to the molecules of a run."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.analysis.reference_structures import reference_positions
from articulon.analysis.run_models import check_run, model_of
from articulon.analysis.time_averages import first_frame
from articulon.conformations.chosen_atoms import chosen_atoms, solute
from articulon.conformations.conformation_record import Conformations
from articulon.errors import ArticulonError
from articulon.molecules.structure import Structure
from articulon.simulation.results import Run

Reference = str | Path | Structure
"""Reference structure for a run: a file, or a structure that ``molecules.read_structure`` returned."""


class Series(NamedTuple):
    """A quantity over time."""

    times: np.ndarray
    """Times [time], shape (frames,)."""
    values: np.ndarray
    """Values, shape (frames,)."""


def conformations_of(
    run: Run, where: str, skip: float = 0.0, reference: Reference | None = None, most: int | None = None
) -> Conformations:
    """Return the conformations of the molecules in the frames of a run.

    Raises ArticulonError if the run contains no molecules other than water and ions.
    """
    check_molecular(run, where)
    model = model_of(run)
    assert model.atoms is not None
    chosen = solute(model.atoms)
    places = None if reference is None else reference_positions(chosen_atoms(model.atoms, chosen), reference, where)
    first = first_frame(len(run.times), skip)
    volumes = run.observables.get("volume")
    return Conformations(model, run.times, run.q, reference=places, first=first, most=most, volumes=volumes)


def check_molecular(run: Run, where: str) -> None:
    """Raise ArticulonError if the argument is not a run, or if it contains no molecules other than water and ions."""
    check_run(run)
    atoms = model_of(run).atoms
    if atoms is None:
        raise ArticulonError(
            f"{where}: the model of this run has no atoms; only models made from structures have atoms"
        )
    if not solute(atoms).size:
        raise ArticulonError(f"{where}: this run has no molecules besides water and ions")


def needs_mdanalysis(where: str) -> ArticulonError:
    """Return the error for an analysis that needs MDAnalysis, if MDAnalysis is not installed."""
    return ArticulonError(f"{where} needs MDAnalysis: pip install 'articulon[analysis]'")
