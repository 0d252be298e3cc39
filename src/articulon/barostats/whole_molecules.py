"""Molecules that move with the box as wholes: which trees belong together, and how they are moved."""

import numpy as np

from articulon.dynamics.state_functions import scratch
from articulon.forces.point_springs import PointSpring
from articulon.forces.pressure import tree_motions
from articulon.forces.sites.list_sizes import terms_of
from articulon.forces.sites.site_terms import SumTerm
from articulon.model import Model, kernel_tables
from articulon.model.array_rotations import matrices
from articulon.model.joints import UNBOUND


def why_not_free(model: Model) -> str | None:
    """What ties a model to space, so that no box can carry it along; None where nothing does."""
    forest = model.forest
    roots = forest.tree[:-1]
    tied = [int(root) for root in roots if int(forest.kind[root]) not in UNBOUND]
    if tied:
        return f"the body '{model.names[int(model.head[tied[0]])]}' is on a joint with the ground"
    if (model.site_links < 0).any():
        return "sites are fixed in space"
    if model.drives:
        return f"the motion of '{model.drives[0].name}' is given"
    if ((model.loops.link_a < 0) | (model.loops.link_b < 0)).any():
        return "loops tie it to the ground"
    return None


def molecule_of_tree(model: Model) -> np.ndarray:
    """The molecule that each tree belongs to: trees that loops, bonded terms or point springs join are one, shape
    (trees,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tree, links = model.tree_of_link, model.site_links
    pairs = [np.stack([tree[model.loops.link_a], tree[model.loops.link_b]], axis=1)]
    for term in terms_of(model):
        if isinstance(term, SumTerm) and term.level == "bonded" and term.table.members.size:
            members = term.table.members
            for k in range(1, members.shape[1]):
                some = (members[:, 0] >= 0) & (members[:, k] >= 0)
                pairs.append(np.stack([tree[links[members[some, 0]]], tree[links[members[some, k]]]], axis=1))
    for force in model.forces:
        if isinstance(force, PointSpring):
            ends = [link for link, _ in force.ends(model, "barostat") if link >= 0]
            pairs.append(tree[ends].reshape(-1, 2) if len(ends) == 2 else np.zeros((0, 2)))
    joined = np.concatenate(pairs).astype(np.int64)
    graph = coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(model.trees, model.trees))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


class WholeMolecules:
    """The molecules of a model.

    Parameters
    ----------
    model
        A model that nothing ties to space.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.forest = model, kernel_tables(model).forest
        starts = self.forest.tree[:-1]
        self.of_tree = molecule_of_tree(model)
        self.number = int(self.of_tree.max(initial=-1)) + 1
        self.owner = np.repeat(np.arange(starts.size), np.diff(self.forest.tree))
        self.mass = np.bincount(self.of_tree, weights=np.add.reduceat(self.forest.mass, starts), minlength=self.number)
        self.frames = matrices(self.forest.rotation[starts])
        self.q = self.forest.q_start[starts, None] + np.arange(3)
        self.u = self.forest.u_start[starts, None] + np.arange(3)
        self._ws, self._sums = scratch(model), np.zeros((starts.size, 6))

    def motions(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centres of mass [length] and their velocities [length/time] of the molecules, shape (molecules, 3)."""
        self._sums[:] = 0.0
        tree_motions(self.forest, q, u, self._ws, self.owner, self._sums)
        sums = np.zeros((self.number, 6))
        np.add.at(sums, self.of_tree, self._sums)
        return sums[:, :3] / self.mass[:, None], sums[:, 3:] / self.mass[:, None]

    def twice_kinetic(self, velocities: np.ndarray) -> float:
        """Σ M V² of velocities of the centres of mass [energy]."""
        return float(self.mass @ (velocities**2).sum(axis=1))

    def shift(self, q: np.ndarray, by: np.ndarray) -> None:
        """Moves the molecules by vectors (molecules, 3) [length]."""
        q[self.q] += np.einsum("tji,tj->ti", self.frames, by[self.of_tree])

    def push(self, u: np.ndarray, by: np.ndarray) -> None:
        """Adds velocities (molecules, 3) to all of each molecule [length/time]."""
        u[self.u] += np.einsum("tji,tj->ti", self.frames, by[self.of_tree])

    def inner_virial(self, centres: np.ndarray, forces: np.ndarray, positions: np.ndarray) -> float:
        """Σ F·(r − R) of forces on sites, (sites, 3), with R the centre of mass of the site's molecule [energy]."""
        on = self.of_tree[self.model.tree_of_link[self.model.site_links]]
        return float((forces * (positions - centres[on])).sum())
