"""Reads all models of a PDB or mmCIF file without changes, for drawing, which needs neither bonds nor whole
residues."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from articulon.errors import ModelError
from articulon.molecules.structure import Structure
from articulon.molecules.structure_reading import LIMIT, atoms_of, content_of, parsed_structure

__all__ = ["read_models"]


def read_models(path: Path) -> tuple[Structure, np.ndarray, list[int]]:
    """Read the atoms of all models.

    Parameters
    ----------
    path
        The file. Of several alternative locations, the one with the highest occupancy is read.

    Returns
    -------
    tuple
        The structure of the first model, without bonds; the positions in all models [nm], shape (models, atoms, 3);
        and the numbers of the models in the file.

    Raises
    ------
    ModelError
        For a file that cannot be read, and for models that differ in their atoms.
    """
    file = parsed_structure(path, content_of(path, LIMIT))
    found = [atoms_of(path, model, "highest", None, ())[0] for model in file]
    numbers = [int(model.num) for model in file]
    first = found[0]
    for number, other in zip(numbers, found, strict=True):
        if other.names != first.names or len(other.residues) != len(first.residues):
            raise ModelError(
                f"{path}: the atoms of model {number} differ from those of model {numbers[0]}, so they are not "
                "frames of one molecule; write each model into a separate file"
            )
    return first, np.stack([structure.positions for structure in found]), numbers
