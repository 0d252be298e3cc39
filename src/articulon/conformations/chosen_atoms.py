"""Subsets of a model's atoms, and their positions in the frames of a run."""

import numpy as np

from articulon.dynamics import body_poses
from articulon.forces.sites.site_positions import site_positions
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.model.atoms import Atoms

SOLVENT = ("water", "ion")
"""Kinds of residues that surround a molecule and are not part of it."""


def solute(atoms: Atoms) -> np.ndarray:
    """All atoms except water and ions, shape (chosen,)."""
    inside = np.array([kind not in SOLVENT for kind in atoms.residue_kinds], dtype=bool)
    return np.flatnonzero(inside[atoms.residue])


def chosen_atoms(atoms: Atoms, chosen: np.ndarray) -> Atoms:
    """Atoms with the given numbers, in ascending order, with the bonds and torsions between them; residues without any
    chosen atom are omitted."""
    new = np.full(len(atoms), -1)
    new[chosen] = np.arange(chosen.size)
    residues, residue = np.unique(atoms.residue[chosen], return_inverse=True)
    bonds = new[atoms.bonds]
    kept = {b: four for b, four in atoms.dihedrals.items() if (new[list(four)] >= 0).all()}

    def of_residues(values: tuple) -> tuple:
        return tuple(values[r] for r in residues.tolist())

    return Atoms(
        site=atoms.site[chosen],
        names=tuple(atoms.names[a] for a in chosen.tolist()),
        elements=tuple(atoms.elements[a] for a in chosen.tolist()),
        masses=atoms.masses[chosen],
        residue=residue.astype(np.int64),
        residue_names=of_residues(atoms.residue_names),
        residue_numbers=of_residues(atoms.residue_numbers),
        insertions=of_residues(atoms.insertions),
        chains=of_residues(atoms.chains),
        residue_kinds=of_residues(atoms.residue_kinds),
        bonds=bonds[(bonds >= 0).all(axis=1)].reshape(-1, 2),
        torsions={b: name for b, name in atoms.torsions.items() if b in kept},
        dihedrals={b: tuple(new[list(four)].tolist()) for b, four in kept.items()},
    )


def positions_of(model: Model, q: np.ndarray, sites: np.ndarray) -> np.ndarray:
    """World positions of some sites at coordinates (frames, nq) [length], shape (frames, sites, 3)."""
    q = np.asarray(q, dtype=float)
    found = np.empty((len(q), sites.size, 3))
    if not len(q) or not sites.size:
        return found
    body, local = model.sites.body[sites], model.sites.position[sites]
    plain = not model.sites_on_nodes[sites].any() and bool((body >= 0).all())
    for k, row in enumerate(q):
        if plain:
            # One state at a time, by the kernel that runs have compiled already.
            origins, quaternions = body_poses(model, row)
            found[k] = origins[body] + np.einsum("kij,kj->ki", matrices(quaternions)[body], local)
        else:
            found[k] = site_positions(model, row)[sites]
    return found
