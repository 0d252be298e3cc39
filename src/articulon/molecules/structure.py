"""Structure of a molecular system: atoms, residues, bonds, and a list of inferred properties."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.model.box import Box

Kind = Literal["amino-acid", "cap", "nucleotide", "water", "ion", "ligand"]


class Residue(NamedTuple):
    """A contiguous group of atoms."""

    name: str
    """Name in the file, such as ``HSD``."""
    number: int
    """Number in the file."""
    insertion: str
    """Insertion code, empty if there is none."""
    chain: str
    """Name of the chain, empty if the file gives none."""
    kind: Kind
    """Kind of the residue."""
    standard: str
    """Name of the residue's template, such as ``HIS``; empty if there is no template."""
    start: int
    """Index of the residue's first atom."""
    stop: int
    """Index of the residue's last atom plus one."""

    @property
    def label(self) -> str:
        """Chain, name and number, such as ``A:LYS12``."""
        place = f"{self.name}{self.number}{self.insertion}"
        return f"{self.chain}:{place}" if self.chain else place


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """Atoms and bonds in the order of the file. Lengths are in nm, masses in Da."""

    source: str
    """The file of the structure."""
    names: tuple[str, ...]
    """Name of each atom."""
    elements: tuple[str, ...]
    """Chemical symbol of each atom."""
    residues: tuple[Residue, ...]
    """Residues, with consecutive atoms."""
    positions: np.ndarray
    """Positions of the atoms [nm], shape (atoms, 3)."""
    masses: np.ndarray
    """Masses of the atoms [Da], shape (atoms,)."""
    bonds: np.ndarray
    """Pairs of bonded atoms, sorted, each with the smaller index first, shape (bonds, 2)."""
    inferred: tuple[str, ...] = ()
    """Properties that were inferred because the file does not give them, one line each."""
    box: Box | None = None
    """The periodic box [nm]; None for a molecule in open space."""

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        """Describe the structure in a line: numbers of atoms and residues, and the box."""
        edges = "" if self.box is None else f", box {' x '.join(f'{float(a):.4g}' for a in self.box.lengths)} nm"
        return f"Structure({self.source!r}: {len(self)} atoms in {len(self.residues)} residues{edges})"

    @cached_property
    def residue(self) -> np.ndarray:
        """Residue of each atom, shape (atoms,)."""
        return np.repeat(np.arange(len(self.residues)), [r.stop - r.start for r in self.residues])

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """Atoms bonded to each atom."""
        found: list[list[int]] = [[] for _ in self.names]
        for a, b in self.bonds.tolist():
            found[a].append(b)
            found[b].append(a)
        return tuple(tuple(sorted(partners)) for partners in found)

    def label(self, atom: int) -> str:
        """Return chain, residue and name of an atom, such as ``A:LYS12:CB``.

        Parameters
        ----------
        atom
            Index of the atom.
        """
        return f"{self.residues[self.residue[atom]].label}:{self.names[atom]}"

    def bond_label(self, a: int, b: int) -> str:
        """Return the label of a bond, such as ``A:LYS12:CA-CB``. The residue appears once if both atoms belong to it.

        Parameters
        ----------
        a
            Index of the first atom.
        b
            Index of the second atom.
        """
        other = self.names[b] if self.residue[a] == self.residue[b] else self.label(b)
        return f"{self.label(a)}-{other}"

    def atom(self, residue: int, name: str) -> int:
        """Return the index of an atom of a residue by its name; −1 if there is none.

        Parameters
        ----------
        residue
            Index of the residue.
        name
            Name of the atom.
        """
        start, stop = self.residues[residue].start, self.residues[residue].stop
        return next((k for k in range(start, stop) if self.names[k] == name), -1)


def check_structure(structure: object, where: str) -> None:
    """Raise ModelError for an object that is not a structure."""
    if not isinstance(structure, Structure):
        raise ModelError(f"{where}: expected a structure from read_structure, got {shown(structure)}")
