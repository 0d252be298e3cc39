"""The atoms of a model: the sites that are atoms, with their chemical names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from articulon.model.freezing import Frozen


@dataclass(frozen=True, eq=False)
class Atoms(Frozen):
    """Names, residues, chains and bonds of the sites that are atoms. A model without molecules has no ``Atoms``."""

    site: np.ndarray
    """Site of each atom, shape (atoms,). Sites without mass, such as the fourth site of some water models, are not
    atoms."""
    names: tuple[str, ...]
    """Name of each atom, such as ``CA``."""
    elements: tuple[str, ...]
    """Chemical symbol of each atom."""
    masses: np.ndarray
    """Mass of each atom [mass], shape (atoms,)."""
    residue: np.ndarray
    """Residue of each atom, shape (atoms,)."""
    residue_names: tuple[str, ...]
    """Name of each residue, such as ``LYS``."""
    residue_numbers: tuple[int, ...]
    """Number of each residue, as in its file."""
    insertions: tuple[str, ...]
    """Insertion code of each residue, empty if it has none."""
    chains: tuple[str, ...]
    """Chain of each residue, empty if its file does not name the chain."""
    residue_kinds: tuple[str, ...]
    """Type of each residue: ``amino-acid``, ``cap``, ``nucleotide``, ``water``, ``ion`` or ``ligand``."""
    bonds: np.ndarray
    """Pairs of atoms, the smaller first, shape (bonds, 2)."""
    torsions: Mapping[int, str] = field(default_factory=dict)
    """Name of the torsion of each body that a revolute joint moves, by body: ``phi:A:TRP2``, ``chi1:A:LYS8`` or
    ``CB-OG:A:SER1``. The coordinate of the joint is the dihedral angle."""
    dihedrals: Mapping[int, tuple[int, int, int, int]] = field(default_factory=dict)
    """The four atoms that define the dihedral angle of a torsion, by the same body."""

    def __len__(self) -> int:
        return len(self.names)

    def residue_label(self, residue: int) -> str:
        """Label of a residue, made of chain, name and number: ``A:LYS12``."""
        place = f"{self.residue_names[residue]}{self.residue_numbers[residue]}{self.insertions[residue]}"
        return f"{self.chains[residue]}:{place}" if self.chains[residue] else place

    def label(self, atom: int) -> str:
        """Label of an atom, made of chain, residue and name: ``A:LYS12:CB``."""
        return f"{self.residue_label(int(self.residue[atom]))}:{self.names[atom]}"

    @cached_property
    def first(self) -> np.ndarray:
        """First atom of each residue, and the number of atoms at the end, shape (residues + 1,)."""
        return np.searchsorted(self.residue, np.arange(len(self.residue_names) + 1))


def torsion_names(atoms: Atoms) -> dict[int, str]:
    """Unique name of the torsion of each body: the second torsion of the same name is ``phi:A:TRP2(2)``."""
    found: dict[int, str] = {}
    used: dict[str, int] = {}
    for body, name in sorted(atoms.torsions.items()):
        used[name] = used.get(name, 0) + 1
        found[body] = name if used[name] == 1 else f"{name}({used[name]})"
    return found


def joined_atoms(parts: list[Atoms]) -> Atoms | None:
    """Concatenate the atoms of several molecules; return None if there are no molecules."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    atoms = np.cumsum([0, *(len(part) for part in parts)])
    residues = np.cumsum([0, *(len(part.residue_names) for part in parts)])
    torsions: dict[int, str] = {}
    dihedrals: dict[int, tuple[int, int, int, int]] = {}
    for part, start in zip(parts, atoms.tolist(), strict=False):
        torsions.update(part.torsions)
        for body, (i, j, k, m) in part.dihedrals.items():
            dihedrals[body] = i + start, j + start, k + start, m + start
    return Atoms(
        np.concatenate([part.site for part in parts]),
        sum((part.names for part in parts), ()),
        sum((part.elements for part in parts), ()),
        np.concatenate([part.masses for part in parts]),
        np.concatenate([part.residue + start for part, start in zip(parts, residues, strict=False)]),
        sum((part.residue_names for part in parts), ()),
        sum((part.residue_numbers for part in parts), ()),
        sum((part.insertions for part in parts), ()),
        sum((part.chains for part in parts), ()),
        sum((part.residue_kinds for part in parts), ()),
        np.concatenate([part.bonds + start for part, start in zip(parts, atoms, strict=False)]),
        torsions,
        dihedrals,
    )
