"""Backbone atoms and successive residues, determined from bonds."""

from typing import NamedTuple

import numpy as np

from articulon.model.atoms import Atoms

PEPTIDE = ("N", "CA", "C", "O")
"""Atoms of a peptide's backbone used for superposition."""
NUCLEOTIDE = ("P", "O5'", "C5'", "C4'", "C3'", "O3'")
"""Atoms of a nucleic acid's backbone."""
TRACES = {"amino-acid": "CA", "nucleotide": "C4'"}
"""Atom that represents a residue, by the kind of residue."""
NONE = -1
"""Index of a missing atom."""


class Backbone(NamedTuple):
    """Peptide backbones of some atoms: an entry for each residue with N, CA and C, and :data:`NONE` for missing
    atoms."""

    residue: np.ndarray
    """Number of the residue, shape (n,)."""
    n: np.ndarray
    ca: np.ndarray
    c: np.ndarray
    o: np.ndarray
    h: np.ndarray
    """Amide hydrogen, if N has exactly one hydrogen and the residue is not the first of its chain."""
    before: np.ndarray
    """Carbon that N is bonded to, in the previous residue or in a cap."""
    after: np.ndarray
    """Nitrogen that C is bonded to, in the next residue or in a cap."""
    following: np.ndarray
    """Entry of the next residue, if it has a backbone too."""


def backbone_of(atoms: Atoms) -> Backbone:
    """Peptide backbones of atoms, from their names and bonds."""
    partners: list[list[int]] = [[] for _ in atoms.names]
    for a, b in atoms.bonds.tolist():
        partners[a].append(b)
        partners[b].append(a)
    rows, elements, names = [], atoms.elements, atoms.names
    for r, kind in enumerate(atoms.residue_kinds):
        if kind != "amino-acid":
            continue
        own = {names[a]: a for a in range(int(atoms.first[r]), int(atoms.first[r + 1]))}
        if not {"N", "CA", "C"} <= own.keys():
            continue
        n, ca, c = own["N"], own["CA"], own["C"]
        oxygens = sorted((a for a in partners[c] if elements[a] == "O"), key=lambda a: (names[a] != "O", a))
        hydrogens = [a for a in partners[n] if elements[a] == "H"]
        before = [a for a in partners[n] if elements[a] == "C" and atoms.residue[a] != r]
        after = [a for a in partners[c] if elements[a] == "N" and atoms.residue[a] != r]
        hydrogen = hydrogens[0] if len(hydrogens) == 1 and before else NONE
        rows.append(
            (r, n, ca, c, oxygens[0] if oxygens else NONE, hydrogen, before[0] if before else NONE)
            + (after[0] if after else NONE,)
        )
    table = np.array(rows, dtype=np.int64).reshape(-1, 8)
    entry = {residue: k for k, residue in enumerate(table[:, 0].tolist())}
    following = [NONE if a == NONE else entry.get(int(atoms.residue[a]), NONE) for a in table[:, 7].tolist()]
    return Backbone(*(np.ascontiguousarray(column) for column in (*table.T, np.array(following, dtype=np.int64))))


def alignment_atoms(atoms: Atoms) -> np.ndarray:
    """Atoms for superposition: N, CA, C and O of peptides and their caps, and the chain from P to O3' of nucleotides;
    all heavy atoms if there is neither. Shape (chosen,)."""
    kinds = [atoms.residue_kinds[r] for r in atoms.residue.tolist()]
    found = [
        a
        for a, (name, kind) in enumerate(zip(atoms.names, kinds, strict=True))
        if (kind in ("amino-acid", "cap") and name in PEPTIDE) or (kind == "nucleotide" and name in NUCLEOTIDE)
    ]
    return np.array(found, dtype=np.int64) if len(found) >= 3 else heavy_atoms(atoms)


def heavy_atoms(atoms: Atoms) -> np.ndarray:
    """All atoms except hydrogens, shape (chosen,)."""
    return np.flatnonzero(np.array(atoms.elements) != "H")


def residue_atoms(atoms: Atoms) -> list[np.ndarray]:
    """Atoms whose fluctuation represents that of their residue, an array for each residue: CA of amino acids, C4' of
    nucleotides, and the heavy atoms of all others; all atoms of a residue without any of these."""
    found = []
    for r, kind in enumerate(atoms.residue_kinds):
        own = np.arange(int(atoms.first[r]), int(atoms.first[r + 1]))
        named = [a for a in own.tolist() if atoms.names[a] == TRACES.get(kind)]
        heavy = [a for a in own.tolist() if atoms.elements[a] != "H"]
        found.append(np.array(named or heavy or own, dtype=np.int64))
    return found


def traces(atoms: Atoms) -> list[np.ndarray]:
    """Atoms CA or C4' of each continuous chain of at least two residues, in order; chains follow from bonds between
    residues."""
    joined: dict[int, int] = {}
    for a, b in atoms.bonds.tolist():
        one, other = int(atoms.residue[a]), int(atoms.residue[b])
        if other == one + 1:
            joined[one] = other
    standing = {}
    for r, kind in enumerate(atoms.residue_kinds):
        name = TRACES.get(kind)
        own = [a for a in range(int(atoms.first[r]), int(atoms.first[r + 1])) if atoms.names[a] == name]
        if own:
            standing[r] = own[0]
    found: list[list[int]] = []
    for r, a in standing.items():
        if r - 1 in standing and joined.get(r - 1) == r:
            found[-1].append(a)
        else:
            found.append([a])
    return [np.array(one, dtype=np.int64) for one in found if len(one) > 1]


def ends(atoms: Atoms) -> tuple[int, int] | None:
    """CA or C4' of the first and the last residue of the longest chain; None without such a chain."""
    chains = traces(atoms)
    if not chains:
        return None
    longest = max(chains, key=len)
    return int(longest[0]), int(longest[-1])
