"""Balls in place of the atoms of a structure file, which need not be a molecule that can be simulated."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped
from articulon.molecules.elements import ANGSTROM, van_der_waals_radii
from articulon.molecules.structure_reading import LIMIT, content_of, parsed_structure

KEPT = 16
"""So many files are kept in memory once they have been read."""


class AtomBalls(NamedTuple):
    """Balls in the units of a structure file, ångström."""

    places: np.ndarray
    """Of the atoms, shape (atoms, 3)."""
    radii: np.ndarray
    """Of van der Waals, shape (atoms,)."""
    elements: tuple[str, ...]
    """Their symbols."""


def balls_of_atoms(path: str, age: int, where: str) -> AtomBalls:
    """Those of the first model of a structure file, each in its first place, without water.

    Parameters
    ----------
    path, age
        The file, and when it was changed last [ns]: what has been read of it is kept.
    where
        What messages begin with.

    Raises
    ------
    ModelError
        For a file that is not there, cannot be read, or holds no such atoms.
    """
    try:
        return _balls(path, age)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None


@lru_cache(KEPT)
def _balls(path: str, age: int) -> AtomBalls:
    file = parsed_structure(Path(path), content_of(Path(path), LIMIT))
    file.remove_waters()
    file.remove_alternative_conformations()
    atoms = [atom for chain in file[0] for residue in chain for atom in residue]
    if not atoms:
        raise ModelError(f"{clipped(path)}: holds no atoms but those of water")
    symbols = tuple(str(atom.element.name) for atom in atoms)
    places, radii = np.array([atom.pos.tolist() for atom in atoms]), van_der_waals_radii(symbols) / ANGSTROM
    for array in (places, radii):
        array.setflags(write=False)
    return AtomBalls(places, radii, symbols)
