"""Find the polymer chains in a data file: molecules whose bonds form a linear chain, a ring or a star.

A data file does not name polymers. A molecule is a set of atoms connected by bonds, including rigid bonds. It is a
chain if it has at least four beads, the number of atoms in a dihedral angle; this excludes water, carbon dioxide and
similar molecules. Arms of a star have at least two beads, which excludes methane and nitrate ions. All-atom molecules
are not chains either, because their hydrogens are branches.
"""

from typing import NamedTuple

import numpy as np
import scipy

from articulon.lammps.molecule_images import partners

LEAST = 4
"""Least number of beads in a chain."""

KINDS = ("linear chain", "ring", "star")


class BondedChains(NamedTuple):
    """Chains in the order of their lowest atoms, as :meth:`articulon.ModelBuilder.add_chains` takes them."""

    site: np.ndarray
    """Beads, chain after chain: linear ones from the end with the lower number, rings from their lowest atom towards
    the lower of its neighbours, stars in ascending order, shape (beads,)."""
    first: np.ndarray
    """Index of each chain's first bead, followed by the number of beads, shape (chains + 1,)."""
    kind: np.ndarray
    """Index of each chain's kind in :data:`KINDS`, shape (chains,)."""
    others: int
    """Number of molecules with at least :data:`LEAST` beads that are not chains."""

    @property
    def notes(self) -> list[str]:
        """Describe the chains found and the other molecules, one line for each kind."""
        found, length = [], np.diff(self.first)
        for kind, name in enumerate(KINDS):
            own = length[self.kind == kind]
            if own.size:
                beads = f"{own.min()}" if np.ptp(own) == 0 else f"{own.min()} to {own.max()}"
                found.append(f"{own.size} {name}{'s' if own.size > 1 else ''} of {beads} beads")
        lines = [f"polymer chains by their bonds: {', '.join(found)} (chains = false for none)"] if found else []
        if self.others:
            lines.append(
                f"molecules of {LEAST} beads or more that are not linear chains, rings or stars, and have no chain "
                f"statistics: {self.others}"
            )
        return lines


def bonded_chains(bonds: np.ndarray, count: int) -> BondedChains:
    """Find the chains among ``count`` atoms with bonds between pairs of them, shape (bonds, 2); duplicate bonds count
    once."""
    pairs = np.unique(np.sort(bonds.reshape(-1, 2), axis=1), axis=0)
    graph = scipy.sparse.coo_array((np.ones(len(pairs)), pairs.T), shape=(count, count))
    molecules, owner = scipy.sparse.csgraph.connected_components(graph, directed=False)
    degree = np.bincount(pairs.ravel(), minlength=count)
    atoms = np.bincount(owner, minlength=molecules)
    edges = np.bincount(owner[pairs[:, 0]], minlength=molecules)
    branching = np.bincount(owner, degree > 2, minlength=molecules)
    # Each neighbour of a branching atom begins an arm, which must have a second bead.
    ends = degree[pairs] == 1
    short = np.bincount(owner[pairs[:, 0]], (ends & (degree[pairs[:, ::-1]] > 2)).any(axis=1), minlength=molecules)
    open_ended, unbranched = edges == atoms - 1, branching == 0
    kind = np.full(molecules, -1)
    kind[open_ended & unbranched] = KINDS.index("linear chain")
    kind[(edges == atoms) & unbranched] = KINDS.index("ring")
    kind[open_ended & (branching == 1) & (short == 0)] = KINDS.index("star")
    long = atoms >= LEAST
    chosen = np.flatnonzero(long & (kind >= 0))
    members = np.split(np.argsort(owner, kind="stable"), np.cumsum(atoms)[:-1])
    neighbours = partners(pairs, count)
    chains = [_in_order(members[m], kind[m], degree, neighbours) for m in chosen.tolist()]
    # Molecules are numbered by their lowest atoms; SciPy does not guarantee this order.
    order = sorted(range(len(chains)), key=lambda k: int(members[chosen[k]][0]))
    site = np.concatenate([np.zeros(0, dtype=np.int64), *(chains[k] for k in order)])
    first = np.concatenate([[0], np.cumsum([len(chains[k]) for k in order], dtype=np.int64)])
    return BondedChains(site, first, kind[chosen[order]], int((long & (kind < 0)).sum()))


def _in_order(members: np.ndarray, kind: int, degree: np.ndarray, neighbours: list[list[int]]) -> np.ndarray:
    """Return the atoms of a chain in their order along the backbone; those of a star are returned unchanged."""
    if KINDS[kind] == "star":
        return members
    ends = members[degree[members] == 1]
    chain = [int((ends if ends.size else members).min())]
    following = min(neighbours[chain[0]])
    while len(chain) < len(members):
        chain.append(following)
        following = next((one for one in neighbours[following] if one != chain[-2]), -1)
    return np.array(chain, dtype=np.int64)
