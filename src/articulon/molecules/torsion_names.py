"""Standard names and dihedral angles of torsions."""

import numpy as np

from articulon.molecules.articulation import Torsion
from articulon.molecules.rigidity import is_peptide
from articulon.molecules.structure import Structure
from articulon.molecules.templates import chi_angles

STRAIGHT = 1e-3
"""Sine of an angle below which three atoms count as collinear, so that they define no dihedral."""

NUCLEIC = {
    frozenset(row.split("-")[2:4]): (row.split("-")[0], tuple(row.split("-")[1:]))
    for row in (
        "alpha-O3'-P-O5'-C5'",
        "beta-P-O5'-C5'-C4'",
        "gamma-O5'-C5'-C4'-C3'",
        "epsilon-C4'-C3'-O3'-P",
        "chi-O4'-C1'-N9-C4",
        "chi-O4'-C1'-N1-C2",
    )
}
"""Torsions of a nucleotide by the atoms of their axis (IUPAC-IUB, Eur. J. Biochem. 131, 9, 1983). The atom O3' of alpha
and the atom P of epsilon belong to neighbouring residues."""


def torsion_of(structure: Structure, a: int, b: int, parent: int, child: int) -> Torsion:
    """Return the torsion about a bond, with its standard name."""
    one, other = (a, b) if a < b else (b, a)
    residue = int(structure.residue[one])
    here = structure.residues[residue]
    names = (structure.names[one], structure.names[other])
    same = structure.residue[other] == residue
    name, first, last = f"{names[0]}-{names[1]}", -1, -1
    if same and here.kind == "amino-acid":
        chi = chi_angles(here.standard).get(frozenset(names))
        if set(names) == {"N", "CA"}:
            name, one, other = "phi", structure.atom(residue, "N"), structure.atom(residue, "CA")
            first, last = _across(structure, one, "C"), structure.atom(residue, "C")
        elif set(names) == {"CA", "C"}:
            name, one, other = "psi", structure.atom(residue, "CA"), structure.atom(residue, "C")
            first, last = structure.atom(residue, "N"), _across(structure, other, "N")
        elif chi:
            name = chi[0]
            first, one, other, last = (structure.atom(residue, atom) for atom in chi[1])
    elif same and here.kind == "nucleotide" and frozenset(names) in NUCLEIC:
        name, quadruple = NUCLEIC[frozenset(names)]
        one, other = (structure.atom(residue, atom) for atom in quadruple[1:3])
        first, last = structure.atom(residue, quadruple[0]), structure.atom(residue, quadruple[3])
        first = _across(structure, one, "O3'") if name == "alpha" else first
        last = _across(structure, other, "P") if name == "epsilon" else last
    elif not same and set(names) == {"O3'", "P"}:
        one, other = (one, other) if structure.names[one] == "O3'" else (other, one)
        name, residue = "zeta", int(structure.residue[one])
        first, last = _named(structure, one, ("C3'",)), _named(structure, other, ("O5'",))
    elif not same and is_peptide(structure, one, other):
        if structure.names[one] != "C":
            one, other = other, one
        name, residue = "omega", int(structure.residue[one])
        first = _named(structure, one, ("CA", "CH3"))
        last = _named(structure, other, ("CA", "C", "CH3"))
    elif not same:
        name = f"{names[0]}-{structure.label(other)}"
    first = first if _bent(structure, first, one, other) else _end(structure, one, other)
    last = last if _bent(structure, last, other, one) else _end(structure, other, one)
    return Torsion(name, residue, (first, one, other, last), parent, child)


def dihedral(positions: np.ndarray, atoms: tuple[int, int, int, int]) -> float:
    """Compute the dihedral angle of four atoms, with the sign convention of IUPAC [rad]."""
    i, j, k, l = positions[list(atoms)]  # noqa: E741
    axis = (k - j) / np.linalg.norm(k - j)
    p, q = np.cross(j - i, axis), np.cross(axis, l - k)
    return float(np.arctan2(np.dot(np.cross(p, q), axis), np.dot(p, q)))


def _across(structure: Structure, atom: int, name: str) -> int:
    """Return the neighbour of a given name in another residue; −1 if there is none."""
    residue = structure.residue[atom]
    return next(
        (b for b in structure.neighbours[atom] if structure.residue[b] != residue and structure.names[b] == name), -1
    )


def _named(structure: Structure, atom: int, names: tuple[str, ...]) -> int:
    """Return the neighbour in the same residue that has one of the given names, the first name with a neighbour; −1 if
    there is none."""
    residue = int(structure.residue[atom])
    found = [structure.atom(residue, name) for name in names]
    return next((b for b in found if b in structure.neighbours[atom]), -1)


def _bent(structure: Structure, end: int, near: int, far: int) -> bool:
    """Whether an atom is off the axis of a bond."""
    if end < 0:
        return False
    x = structure.positions
    arm, axis = x[end] - x[near], x[far] - x[near]
    sine = np.linalg.norm(np.cross(arm, axis))
    return bool(sine > STRAIGHT * np.linalg.norm(arm) * np.linalg.norm(axis))


def _end(structure: Structure, near: int, far: int) -> int:
    """Return the atom that defines the dihedral of a bond on the side of the atom ``near``. This is the heaviest
    neighbour of ``near``; if the atoms there are collinear with the bond, it is the first atom off the axis. −1 if
    there is none."""
    seen, front = {near, far}, [near]
    while front:
        partners = [b for a in front for b in structure.neighbours[a] if b not in seen]
        seen.update(partners)
        bent = [b for b in partners if _bent(structure, b, near, far)]
        if bent:
            return max(bent, key=lambda b: (structure.masses[b], -b))
        front = partners
    return -1
