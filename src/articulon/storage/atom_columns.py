"""Constant properties of the atoms in a trajectory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulon.model import Model

_SYMBOLS = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y
    Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re
    Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg
    Cn Nh Fl Mc Lv Ts Og
"""
ATOMIC_NUMBERS = {symbol: number for number, symbol in enumerate(_SYMBOLS.split(), start=1)}
"""Atomic number by chemical symbol."""


@dataclass(frozen=True, eq=False)
class AtomColumns:
    """The atoms of a trajectory, in the order of the model's atoms."""

    atom: np.ndarray
    """Index of each atom in the model's list of atoms, shape (n,)."""
    names: tuple[str, ...]
    """Name of each atom, such as ``CA``."""
    species: np.ndarray
    """Atomic number of each atom, shape (n,); 0 for an atom that is not a chemical element."""
    masses: np.ndarray
    """Masses [mass unit of the case], shape (n,)."""
    residue_names: tuple[str, ...]
    """Name of each atom's residue."""
    residue_numbers: np.ndarray
    """Number of each atom's residue, shape (n,)."""
    chains: tuple[str, ...]
    """Chain of each atom."""
    charges: np.ndarray | None = None
    """Charges [e], shape (n,); None if the model has no charges."""
    every: int = 1
    """Interval of the frames with atoms: atoms are stored in each frame whose number is a multiple of ``every``."""

    def __len__(self) -> int:
        return self.atom.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AtomColumns):
            return NotImplemented
        for name in self.__dataclass_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
                same = mine is not None and theirs is not None and np.array_equal(mine, theirs)
            else:
                same = mine == theirs
            if not same:
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def rows(self, frames: int) -> int:
        """Return how many of the first ``frames`` frames contain atoms."""
        return -(-frames // self.every)


def atom_columns(model: Model, some: np.ndarray, every: int = 1) -> AtomColumns:
    """Return the columns of the atoms of a model with the given indices, which must be in ascending order."""
    atoms = model.atoms
    assert atoms is not None
    residue, charges = atoms.residue[some].tolist(), model.sites.charge[atoms.site[some]]
    return AtomColumns(
        atom=np.asarray(some, dtype=np.int64),
        names=tuple(atoms.names[k] for k in some.tolist()),
        species=np.array(
            [ATOMIC_NUMBERS.get(atoms.elements[k].capitalize(), 0) for k in some.tolist()], dtype=np.int64
        ),
        masses=atoms.masses[some],
        residue_names=tuple(atoms.residue_names[r] for r in residue),
        residue_numbers=np.array([atoms.residue_numbers[r] for r in residue], dtype=np.int64),
        chains=tuple(atoms.chains[r] for r in residue),
        # Charges are unknown if another program evaluates the model's force field.
        charges=charges.copy() if charges.any() else None,
        every=every,
    )
