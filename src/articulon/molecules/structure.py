"""What a structure file says: atoms, residues, bonds, and a list of what was inferred."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.model.box import Box

Kind = Literal["amino-acid", "cap", "nucleotide", "water", "ion", "ligand"]


class Residue(NamedTuple):
    """A run of atoms that belong together."""

    name: str
    """As the file has it, such as ``HSD``."""
    number: int
    """As the file has it."""
    insertion: str
    """Insertion code, empty where there is none."""
    chain: str
    """Name of the chain, empty where the file gives none."""
    kind: Kind
    """What it is."""
    standard: str
    """Name of its template, such as ``HIS``; empty for a residue that has none."""
    start: int
    """Its first atom."""
    stop: int
    """One past its last atom."""

    @property
    def label(self) -> str:
        """Chain, name and number: ``A:LYS12``."""
        place = f"{self.name}{self.number}{self.insertion}"
        return f"{self.chain}:{place}" if self.chain else place


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """Atoms and bonds in the order of the file. Lengths are in nm, masses in Da."""

    source: str
    """The file it came from."""
    names: tuple[str, ...]
    """Name of each atom."""
    elements: tuple[str, ...]
    """Chemical symbol of each atom."""
    residues: tuple[Residue, ...]
    """Residues, their atoms one after the other."""
    positions: np.ndarray
    """[nm], shape (atoms, 3)."""
    masses: np.ndarray
    """[Da], shape (atoms,)."""
    bonds: np.ndarray
    """Pairs of atoms, the smaller first, sorted, shape (bonds, 2)."""
    inferred: tuple[str, ...] = ()
    """What the file does not say and was found otherwise, a line each."""
    box: Box | None = None
    """The periodic box [nm]; None for a molecule in open space."""

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        """In one line: how much there is of it."""
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
        """Chain, residue and name of an atom: ``A:LYS12:CB``.

        Parameters
        ----------
        atom
            Index of the atom.
        """
        return f"{self.residues[self.residue[atom]].label}:{self.names[atom]}"

    def bond_label(self, a: int, b: int) -> str:
        """Both atoms of a bond, the residue once where they share it: ``A:LYS12:CA-CB``.

        Parameters
        ----------
        a
            Index of one atom.
        b
            Index of the other.
        """
        other = self.names[b] if self.residue[a] == self.residue[b] else self.label(b)
        return f"{self.label(a)}-{other}"

    def atom(self, residue: int, name: str) -> int:
        """Index of an atom of a residue by its name; −1 where there is none.

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
    """Raises ModelError for what is no structure."""
    if not isinstance(structure, Structure):
        raise ModelError(f"{where}: expected a structure, as read_structure gives it, got {shown(structure)}")
