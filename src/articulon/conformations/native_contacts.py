"""Native contacts: contacts of a reference structure, and the fraction formed in a run."""

from typing import NamedTuple

import numpy as np

from articulon.conformations.backbones import heavy_atoms
from articulon.model.atoms import Atoms

CUTOFF = 0.45
"""Largest distance of heavy atoms in contact in the reference structure [nm]."""
APART = 3
"""Distance along a chain, in residues; residues of one chain form a contact only if they are further apart."""
STEEPNESS, SLACK = 50.0, 1.8
"""Parameters β [1/nm] and λ of Best, Hummer and Eaton (2013)."""


class NativeContacts(NamedTuple):
    """Fraction of the contacts of a reference structure that are formed."""

    pairs: np.ndarray
    """Atoms of each contact, shape (contacts, 2)."""
    distances: np.ndarray
    """Distances r₀ of the contacts in the reference structure [nm], shape (contacts,)."""
    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    values: np.ndarray
    """Fraction Q = ⟨1/(1 + exp(β (r − λ r₀)))⟩ over the contacts, with β = 50/nm and λ = 1.8 (Best, Hummer and Eaton,
    Proc. Natl. Acad. Sci. USA 110, 17874, 2013), shape (frames,)."""


def native_pairs(atoms: Atoms, reference: np.ndarray) -> np.ndarray:
    """Pairs of heavy atoms within :data:`CUTOFF` in a structure (atoms, 3), from different chains or from residues more
    than :data:`APART` positions apart, shape (contacts, 2)."""
    from scipy.spatial import cKDTree

    heavy = heavy_atoms(atoms)
    heavy = heavy[np.isfinite(reference[heavy]).all(axis=1)]
    if heavy.size < 2:
        return np.zeros((0, 2), dtype=np.int64)
    near = cKDTree(reference[heavy]).query_pairs(CUTOFF, output_type="ndarray")
    pairs = heavy[near].reshape(-1, 2)
    molecule = molecules_of(atoms)
    one, other = pairs.T
    far = np.abs(atoms.residue[one] - atoms.residue[other]) > APART
    kept = pairs[far | (molecule[one] != molecule[other])]
    return kept[np.lexsort(kept.T[::-1])]


def native_contacts(
    atoms: Atoms, reference: np.ndarray, times: np.ndarray, positions: np.ndarray
) -> NativeContacts | None:
    """Return the fraction Q over time for a reference structure (atoms, 3), in which unknown positions are NaN; None
    for a structure without contacts."""
    pairs = native_pairs(atoms, reference)
    if not len(pairs):
        return None
    start = np.linalg.norm(reference[pairs[:, 0]] - reference[pairs[:, 1]], axis=1)
    values = np.empty(len(positions))
    for k, x in enumerate(positions):
        r = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
        values[k] = (0.5 * (1.0 - np.tanh(0.5 * STEEPNESS * (r - SLACK * start)))).mean()
    return NativeContacts(pairs, start, times, values)


def molecules_of(atoms: Atoms) -> np.ndarray:
    """Molecule of each atom, from bonds, shape (atoms,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = atoms.bonds.reshape(-1, 2).T
    graph = coo_array((np.ones(a.size), (a, b)), shape=(len(atoms), len(atoms)))
    return np.asarray(connected_components(graph, directed=False)[1])
