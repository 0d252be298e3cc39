"""Sites of an OpenMM System that has massless sites in addition to the atoms of a structure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.molecules.articulation import Articulation
from articulon.molecules.structure import Structure
from articulon.molecules.virtual_sites import virtual_sites, with_virtual_sites


class SystemSites(NamedTuple):
    """Positions of the particles of a system, and the atoms and clusters to which they belong."""

    atom: np.ndarray
    """Atom of the structure for each particle, −1 for a massless site, shape (particles,)."""
    cluster: np.ndarray
    """Cluster that carries each particle, shape (particles,)."""
    positions: np.ndarray
    """Positions [nm], shape (particles, 3)."""

    @property
    def of_atoms(self) -> np.ndarray:
        """Particle of each atom, shape (atoms,)."""
        return np.flatnonzero(self.atom >= 0)


def sites_of(system: Any, structure: Structure, articulation: Articulation | None) -> SystemSites | None:
    """Return the particles of a system that consists of the atoms of a structure, in their order, and of virtual sites.

    The result is None if the system has only atoms. Raises ModelError if the number of atoms differs.
    """
    count = system.getNumParticles()
    if count == len(structure):
        return None
    carried = {site.site: site.parents[0] for site in virtual_sites(system)}
    if count - len(carried) != len(structure):
        raise ModelError(
            f"model.system: has {count - len(carried)} particles other than virtual sites, but {structure.source} has "
            f"{len(structure)} atoms; make it of these atoms, in their order"
        )
    massive = np.array([k not in carried for k in range(count)])
    atom = np.where(massive, np.cumsum(massive) - 1, -1)
    near = atom.copy()
    for site, parent in carried.items():
        near[site] = near[parent]
    positions = np.zeros((count, 3))
    positions[massive] = structure.positions
    cluster = near if articulation is None else articulation.cluster[near]
    return SystemSites(atom, cluster, with_virtual_sites(system, positions))


def of_particles(articulation: Articulation, sites: SystemSites) -> Articulation:
    """Return an articulation for the particles of a system: clusters and axes refer to particles instead of atoms."""
    number: Sequence[int] = sites.of_atoms.tolist()
    axis = [[-1 if a < 0 else number[a] for a in pair] for pair in articulation.axis.tolist()]
    return replace(articulation, cluster=sites.cluster, axis=np.array(axis, dtype=np.int64).reshape(-1, 2))
