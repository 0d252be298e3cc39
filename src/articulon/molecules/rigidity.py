"""Detection of rotatable bonds: all single bonds outside rings and conjugated systems."""

from collections import deque
from typing import Literal, NamedTuple

import numpy as np

from articulon.molecules.structure import Structure
from articulon.molecules.templates import template

RING = 8
"""Largest number of atoms in a rigid ring. Larger rings are flexible through torsions, and must be cut to give a tree
of bodies."""

SHORT = {
    frozenset("C"): 0.1425,
    frozenset("CN"): 0.1385,
    frozenset("CO"): 0.1300,
    frozenset("CS"): 0.1690,
    frozenset("N"): 0.1340,
    frozenset("NO"): 0.1320,
    frozenset("OP"): 0.1530,
    frozenset("OS"): 0.1500,
    frozenset("NS"): 0.1560,
}
"""Lengths below which a bond in a ligand counts as double or conjugated [nm]. They lie between the lengths of single
bonds and of double or aromatic bonds in the tables of Allen et al., J. Chem. Soc. Perkin Trans. 2, S1 (1987)."""


class Rigidity(NamedTuple):
    """Properties of each bond, in the order of ``Structure.bonds``."""

    turns: np.ndarray
    """Whether the bond may rotate, shape (bonds,)."""
    ring: np.ndarray
    """Whether the bond is in a ring of at most :data:`RING` atoms, shape (bonds,)."""
    inferred: tuple[str, ...]
    """Decisions that were based on bond lengths, one line each."""


def rigidity(structure: Structure, omega: Literal["rigid", "free"] = "rigid") -> Rigidity:
    """Find the rotatable bonds of a structure. Terminal, double and conjugated bonds and bonds in small rings do not
    rotate; peptide bonds rotate if ``omega`` is ``"free"``."""
    degree = [len(partners) for partners in structure.neighbours]
    # Terminal bonds are in no ring, so most bonds in a box of water need no search.
    ring = np.array(
        [min(degree[a], degree[b]) > 1 and in_ring(structure, a, b) for a, b in structure.bonds.tolist()], dtype=bool
    )
    turns = ~ring
    inferred: dict[str, list[str]] = {}
    for k, (a, b) in enumerate(structure.bonds.tolist()):
        if not turns[k]:
            continue
        if min(degree[a], degree[b]) < 2:
            turns[k] = False
            continue
        ra, rb = int(structure.residue[a]), int(structure.residue[b])
        one, other = structure.residues[ra], structure.residues[rb]
        if ra == rb and one.standard:
            turns[k] = (structure.names[a], structure.names[b]) not in template(one.standard).conjugated
        elif ra != rb and is_peptide(structure, a, b):
            turns[k] = omega == "free" and "NH2" not in (one.standard, other.standard)
        elif one.standard and other.standard:
            continue
        elif _short(structure, a, b):
            turns[k] = False
            inferred.setdefault(one.label, []).append(structure.bond_label(a, b).removeprefix(f"{one.label}:"))
    lines = tuple(f"{label}: {', '.join(bonds)}: rigid, by length" for label, bonds in inferred.items())
    return Rigidity(turns, ring, lines)


def is_peptide(structure: Structure, a: int, b: int) -> bool:
    """Whether a bond joins C and N of two residues."""
    names = {structure.names[a], structure.names[b]}
    return names == {"C", "N"} and structure.residue[a] != structure.residue[b]


def in_ring(structure: Structure, a: int, b: int, most: int = RING) -> bool:
    """Whether a bond is in a ring of at most ``most`` atoms."""
    seen, queue = {a}, deque([(a, 1)])
    while queue:
        atom, length = queue.popleft()
        for partner in structure.neighbours[atom]:
            if atom == a and partner == b:
                continue
            if partner == b:
                return True
            if partner not in seen and length + 1 < most:
                seen.add(partner)
                queue.append((partner, length + 1))
    return False


def _short(structure: Structure, a: int, b: int) -> bool:
    longest = SHORT.get(frozenset((structure.elements[a], structure.elements[b])), 0.0)
    return bool(np.linalg.norm(structure.positions[a] - structure.positions[b]) < longest)
