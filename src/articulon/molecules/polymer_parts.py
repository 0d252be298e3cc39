"""Classification of the bonds of biopolymers as backbone or side chain."""

import numpy as np

from articulon.molecules.structure import Structure

BACKBONE = frozenset(("N", "CA", "C", "O", "OXT", "CH3"))
"""Backbone atoms of amino acids and caps."""
SUGAR = frozenset(("P", "OP1", "OP2", "OP3", "O5'", "C5'", "C4'", "O4'", "C3'", "O3'", "C2'", "C1'"))
"""Sugar and phosphate atoms of nucleotides."""
POLYMERS = ("amino-acid", "cap", "nucleotide")
"""Kinds of residues that form chains."""


def backbone(structure: Structure) -> np.ndarray:
    """Return whether each bond joins two backbone atoms, shape (bonds,). These are the bonds of φ, ψ and ω, or of sugar
    and phosphate."""
    return np.asarray(_of_backbone(structure)[structure.bonds].all(axis=1))


def side_chain(structure: Structure) -> np.ndarray:
    """Return whether each bond is a polymer's bond outside its backbone, shape (bonds,). These are the bonds of χ₁, χ₂
    …, other bonds within a side chain or base, and the bonds about which the methyl groups of caps rotate."""
    polymer = np.array([residue.kind in POLYMERS for residue in structure.residues], dtype=bool)
    here = polymer[structure.residue[structure.bonds]].all(axis=1)
    cap = np.array([residue.kind == "cap" for residue in structure.residues], dtype=bool)
    of_cap = cap[structure.residue[structure.bonds]].all(axis=1)
    return np.asarray(here & (~backbone(structure) | of_cap))


def _of_backbone(structure: Structure) -> np.ndarray:
    """Whether each atom is in a backbone, shape (atoms,)."""
    found = np.zeros(len(structure), dtype=bool)
    for residue in structure.residues:
        if residue.kind in POLYMERS:
            names = SUGAR if residue.kind == "nucleotide" else BACKBONE
            for k in range(residue.start, residue.stop):
                found[k] = structure.names[k] in names
    return found
