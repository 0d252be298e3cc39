"""Atoms of a structure file as balls, also for a structure that cannot be simulated."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped
from articulon.molecules.elements import ANGSTROM, van_der_waals_radii
from articulon.molecules.structure_reading import LIMIT, content_of, parsed_structure

KEPT = 16
"""Number of files that are cached in memory after reading."""


class AtomBalls(NamedTuple):
    """Balls in the units of a structure file, ångström."""

    places: np.ndarray
    """Positions of the atoms, shape (atoms, 3)."""
    radii: np.ndarray
    """Van der Waals radii, shape (atoms,)."""
    elements: tuple[str, ...]
    """Chemical symbols of the atoms."""


def balls_of_atoms(path: str, age: int, where: str) -> AtomBalls:
    """Return the balls of the first model in a structure file, without water, with each atom at its first location.

    Parameters
    ----------
    path, age
        The file, and its modification time [ns]. The time is part of the cache key.
    where
        Prefix of messages.

    Raises
    ------
    ModelError
        If the file does not exist, cannot be read, or contains only water.
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
        raise ModelError(f"{clipped(path)}: contains no atoms except those of water")
    symbols = tuple(str(atom.element.name) for atom in atoms)
    places, radii = np.array([atom.pos.tolist() for atom in atoms]), van_der_waals_radii(symbols) / ANGSTROM
    for array in (places, radii):
        array.setflags(write=False)
    return AtomBalls(places, radii, symbols)
