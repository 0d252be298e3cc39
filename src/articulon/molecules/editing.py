"""Add atoms to residues of a structure, and remove atoms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from articulon.molecules.elements import masses
from articulon.molecules.structure import Structure


class NewAtom(NamedTuple):
    """An atom to be added at the end of a residue."""

    name: str
    """Name of the atom."""
    element: str
    """Chemical symbol of the atom."""
    place: np.ndarray
    """Position [nm], shape (3,)."""
    bonded: tuple[str, ...]
    """Names of the atoms of the residue to which the new atom is bonded; names that do not occur are ignored."""


def edited(structure: Structure, added: Mapping[int, Sequence[NewAtom]], gone: Sequence[int] = ()) -> Structure:
    """Return a copy with atoms added at the end of residues, and with the atoms ``gone`` removed. ``added`` has the new
    atoms by index of their residue."""
    without = set(gone)
    names: list[str] = []
    elements: list[str] = []
    weights: list[float] = []
    places: list[np.ndarray] = []
    moved = np.full(len(structure), -1, dtype=np.int64)
    residues = []
    bonds: list[tuple[int, int]] = []
    for k, residue in enumerate(structure.residues):
        start = len(names)
        for a in range(residue.start, residue.stop):
            if a not in without:
                moved[a] = len(names)
                names.append(structure.names[a])
                elements.append(structure.elements[a])
                weights.append(float(structure.masses[a]))
                places.append(structure.positions[a])
        for atom in added.get(k, ()):
            names.append(atom.name)
            elements.append(atom.element)
            weights.append(float(masses([atom.element])[0]))
            places.append(np.asarray(atom.place, dtype=float))
        at = {name: start + j for j, name in enumerate(names[start:])}
        for atom in added.get(k, ()):
            bonds.extend((at[atom.name], at[other]) for other in atom.bonded if other in at)
        residues.append(residue._replace(start=start, stop=len(names)))
    kept = [(int(moved[a]), int(moved[b])) for a, b in structure.bonds.tolist() if moved[a] >= 0 and moved[b] >= 0]
    pairs = sorted({(min(pair), max(pair)) for pair in (*kept, *bonds)})
    return replace(
        structure,
        names=tuple(names),
        elements=tuple(elements),
        residues=tuple(residues),
        positions=np.array(places).reshape(-1, 3),
        masses=np.array(weights),
        bonds=np.array(pairs, dtype=np.int64).reshape(-1, 2),
    )
