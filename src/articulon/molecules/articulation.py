"""Articulation of a structure: its division into rigid clusters, torsions between them, and loop constraints."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

Level = Literal["all-atom-torsion", "side-chains", "rigid-side-chains", "residue", "domain"]
LEVELS: tuple[str, ...] = get_args(Level)


class Torsion(NamedTuple):
    """A bond about which two clusters rotate relative to each other."""

    name: str
    """Name: ``phi``, ``psi``, ``omega``, ``chi1`` …, or the two atoms of the axis: ``CB-OG``."""
    residue: int
    """Index of the residue to which the torsion belongs."""
    atoms: tuple[int, int, int, int]
    """The four atoms whose dihedral angle is the coordinate; the bond is between the middle two."""
    parent: int
    """The cluster nearer to the root; for a torsion that closes a loop, the cluster with the first atom of the bond."""
    child: int
    """The cluster that rotates."""

    def towards_child(self, cluster: np.ndarray) -> tuple[int, int, int, int]:
        """Return the four atoms in the order from the parent to the child.

        Parameters
        ----------
        cluster
            The rigid cluster of each atom, shape (atoms,).
        """
        return self.atoms if cluster[self.atoms[1]] == self.parent else self.atoms[::-1]


@dataclass(frozen=True, eq=False)
class Articulation:
    """Division of a structure into rigid bodies. Clusters are in the order of the bodies, parents first."""

    level: Level
    """Level of resolution, such as ``all-atom-torsion``."""
    cluster: np.ndarray
    """Cluster of each atom, shape (atoms,)."""
    parent: np.ndarray
    """Parent of each cluster, −1 for the root of a molecule, shape (clusters,)."""
    joint: tuple[str, ...]
    """Joint of each cluster with its parent: ``free`` or ``xyz`` for a root, ``revolute``, or ``spherical`` at the
    level ``residue``."""
    axis: np.ndarray
    """Atoms of the bond to the parent, with the atom in the parent first; −1 for a root, shape (clusters, 2)."""
    torsions: tuple[Torsion, ...]
    """Torsions of the revolute joints, in the order of their clusters."""
    loops: tuple[Torsion, ...]
    """Bonds that close loops: revolute joints, or spherical ones at the level ``residue``."""
    inferred: tuple[str, ...]
    """Inferences about the structure and its division, one line each."""

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """Atoms of each cluster."""
        order = np.argsort(self.cluster, kind="stable")
        return tuple(np.split(order, np.cumsum(np.bincount(self.cluster, minlength=len(self.parent)))[:-1]))

    @cached_property
    def torsion(self) -> np.ndarray:
        """Index of the torsion about which each cluster rotates, or −1 if there is none, shape (clusters,)."""
        found = np.full(len(self.parent), -1, dtype=np.int64)
        found[[torsion.child for torsion in self.torsions]] = np.arange(len(self.torsions))
        return found
