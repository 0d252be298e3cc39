"""Selection of the atoms that a trajectory stores, and of the frames in which it stores them."""

from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.forces.sites.atom_positions import atom_positions
from articulon.model import Model
from articulon.model.atom_selection import ALL, selected_atoms
from articulon.storage.atom_columns import AtomColumns, atom_columns

NONE = "none"
"""Selection of no atoms; the trajectory then stores bodies."""


def kept_atoms(model: Model, selection: str | None, every: int, where: str) -> AtomColumns | None:
    """Return the atoms that a trajectory stores; None if it stores bodies.

    Parameters
    ----------
    model
        The model that is simulated.
    selection
        A selection in the language of MDAnalysis, "none", or None for all atoms.
    every
        Atoms are stored in each frame whose number is a multiple of ``every``.
    where
        Location of the keys ``atoms`` and ``atoms_every``; messages begin with it.

    Raises
    ------
    CaseError
        For an empty selection, and for atom keys on a model without atoms.
    """
    if model.atoms is None or model.units.length is None:
        if selection not in (None, NONE) or every != 1:
            key = "atoms" if selection is not None else "atoms_every"
            raise CaseError(f"{where}.{key}: the model has no atoms; leave it out")
        return None
    if selection == NONE:
        return None
    chosen = ALL if selection is None else selection
    try:
        some = selected_atoms(
            model.atoms,
            np.zeros((len(model.atoms), 3)) if chosen == ALL else atom_positions(model, model.q0),
            chosen,
            f"{where}.atoms",
            None if model.box is None or not model.box.periodic.all() else model.box.vectors,
        )
    except ModelError as error:
        raise CaseError(str(error)) from None
    return atom_columns(model, some, every)


def atoms_of_case(case: Any, model: Model) -> AtomColumns | None:
    """Return the atoms that ``[run]`` of a case selects; raise CaseError with the file and the key."""
    return kept_atoms(model, case.run.atoms, case.run.atoms_every, f"{case.source}: run")
