"""Positions of the atoms of a model."""

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.site_positions import site_positions
from articulon.model import Model
from articulon.model.atoms import Atoms


def atoms_of(model: Model, where: str) -> Atoms:
    """Return the atoms of a model; raises ModelError if it has none."""
    if model.atoms is None or model.units.length is None:
        raise ModelError(f"{where}: the model has no atoms; models built from a structure or a sequence have them")
    return model.atoms


def atom_positions(model: Model, q: np.ndarray) -> np.ndarray:
    """World positions of the atoms at coordinates q [length], shape (atoms, 3); raises ModelError if there are none.

    Molecules are never split at the faces of a box: coordinates are not wrapped.
    """
    return site_positions(model, q)[atoms_of(model, "atom_positions").site]
