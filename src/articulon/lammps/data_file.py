"""Contents of a LAMMPS data file as plain arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from articulon.model.freezing import Frozen

STYLES: dict[str, tuple[str, ...]] = {
    "atomic": ("id", "type", "x", "y", "z"),
    "charge": ("id", "type", "q", "x", "y", "z"),
    "bond": ("id", "molecule", "type", "x", "y", "z"),
    "angle": ("id", "molecule", "type", "x", "y", "z"),
    "molecular": ("id", "molecule", "type", "x", "y", "z"),
    "full": ("id", "molecule", "type", "q", "x", "y", "z"),
}
"""Columns of a line of Atoms, by atom style; three image flags may follow."""

FAMILIES = {"bond": 2, "angle": 3, "dihedral": 4, "improper": 4}
"""Number of atoms in each kind of bonded term."""
CARRIED: dict[str, tuple[str, ...]] = {
    "atomic": (),
    "charge": (),
    "bond": ("bond",),
    "angle": ("bond", "angle"),
    "molecular": tuple(FAMILIES),
    "full": tuple(FAMILIES),
}
"""Kinds of bonded terms that an atom style supports."""


class Terms(NamedTuple):
    """Bonds, angles, dihedrals or impropers, in the order of the file."""

    type: np.ndarray
    """Types, from 1, shape (terms,)."""
    atoms: np.ndarray
    """Row indices of the atoms, not their ids, shape (terms, 2 to 4)."""
    line: np.ndarray
    """Line of each term in the file, 0 if it was not read from one, shape (terms,)."""


def no_terms(family: str) -> Terms:
    """Return an empty list of terms."""
    nothing = np.zeros(0, dtype=np.int64)
    return Terms(nothing, np.zeros((0, FAMILIES[family]), dtype=np.int64), nothing)


class Coefficients(NamedTuple):
    """A section of coefficients: the style, and the words after each type, whose meaning depends on the style."""

    style: str | None
    """Style in the comment after the title, such as ``fene`` in ``Bond Coeffs # fene``; None if there is none."""
    rows: Mapping[tuple[int, ...], tuple[str, ...]]
    """Coefficients by type; by the two types for the section PairIJ Coeffs."""
    line: int = 0
    """Line of the title."""


@dataclass(frozen=True, eq=False)
class DataFile(Frozen):
    """A LAMMPS data file: numbers in the units of the file, atoms in the order of their ids."""

    path: str
    """Path of the file, for messages."""
    title: str
    """First line of the file, which LAMMPS skips."""
    style: str
    """Atom style, one of :data:`STYLES`."""
    bounds: np.ndarray
    """Lower and upper bounds of the box along x, y and z [length], shape (3, 2)."""
    tilts: np.ndarray | None
    """Tilt factors xy, xz and yz [length], shape (3,); None for an orthogonal box."""
    ids: np.ndarray
    """Ids of the atoms, increasing, shape (atoms,)."""
    types: np.ndarray
    """Types of the atoms, from 1, shape (atoms,)."""
    molecules: np.ndarray
    """Id of each atom's molecule, zero if the style has none, shape (atoms,)."""
    charges: np.ndarray
    """Charges of the atoms [charge], shape (atoms,); zero if the style has none."""
    positions: np.ndarray
    """Positions of the atoms as in the file, usually within the box [length], shape (atoms, 3)."""
    images: np.ndarray | None
    """Image flags: number of box edges to add to each position so that molecules are whole, shape (atoms, 3); None if
    the file has none."""
    velocities: np.ndarray | None
    """Velocities of the atoms [length/time], shape (atoms, 3)."""
    masses: np.ndarray | None
    """Mass of each atom type [mass], shape (types,); None if the file has no section Masses."""
    terms: Mapping[str, Terms] = field(default_factory=dict)
    """Bonds, angles, dihedrals and impropers, under the keys ``"bond"`` and so on; all four exist."""
    type_counts: Mapping[str, int] = field(default_factory=dict)
    """Number of types, by ``"atom"``, ``"bond"`` and so on."""
    coefficients: Mapping[str, Coefficients] = field(default_factory=dict)
    """Sections of coefficients, by ``"pair"``, ``"pair-ij"``, ``"bond"`` and so on."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels of types, by ``"atom"``, ``"bond"`` and so on, if the file has any."""
    extra: Mapping[str, int] = field(default_factory=dict)
    """Numbers for which LAMMPS reserves memory, by the words of the header, such as ``"bond per atom"``."""
    atom_lines: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Line of each atom in the file, shape (atoms,); shape (0,) if the atoms were not read from a file."""

    def __len__(self) -> int:
        return int(self.ids.size)

    def __repr__(self) -> str:
        terms = "".join(f", {len(self.terms[one].type)} {one}s" for one in FAMILIES if len(self.terms[one].type))
        return f"DataFile({self.path!r}: {len(self)} atoms{terms}, style {self.style})"

    @property
    def edges(self) -> np.ndarray:
        """Edges of the box as rows [length], shape (3, 3)."""
        xy, xz, yz = (0.0, 0.0, 0.0) if self.tilts is None else self.tilts.tolist()
        lx, ly, lz = (self.bounds[:, 1] - self.bounds[:, 0]).tolist()
        return np.array([[lx, 0.0, 0.0], [xy, ly, 0.0], [xz, yz, lz]])

    def same(self, other: "DataFile") -> bool:
        """Whether two files have equal contents, to the last bit, apart from line numbers.

        Parameters
        ----------
        other
            The file that this one is compared with.
        """
        left_out = ("path", "title", "atom_lines")
        return all(
            _same(getattr(self, one.name), getattr(other, one.name)) for one in fields(self) if one.name not in left_out
        )

    def where(self, atom: int) -> str:
        """Describe an atom for messages: its id, and its line if it was read from a file.

        Parameters
        ----------
        atom
            Index of the atom.
        """
        line = f" (line {self.atom_lines[atom]})" if self.atom_lines.size else ""
        return f"atom {self.ids[atom]}{line}"


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, Terms | Coefficients):
        return type(one) is type(two) and all(_same(one[k], two[k]) for k in range(2))  # line numbers are not compared
    if isinstance(one, np.ndarray):
        return isinstance(two, np.ndarray) and np.array_equal(one, two)
    if isinstance(one, Mapping):
        return isinstance(two, Mapping) and one.keys() == two.keys() and all(_same(one[k], two[k]) for k in one)
    return bool(one == two)
