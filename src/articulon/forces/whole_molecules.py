"""Whole molecules: which trees belong together, how they move with the box, and their pressure."""

import numpy as np

from articulon.algebra.vectors import add, apply, load, load_at, load_matrix, scale, store_at
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.kinetic_energies import first_moment, link_momentum
from articulon.dynamics.state_functions import scratch
from articulon.forces.point_springs import PointSpring
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_terms import BONDED
from articulon.kernels import kernel
from articulon.model import Model, kernel_tables
from articulon.model.array_rotations import matrices
from articulon.model.joints import UNBOUND


@kernel
def tree_motions(forest, q, u, ws, owner, result):
    """Add Σ m c and Σ m c' of each tree's links to its row, with c their centres of mass and c' the velocities of
    these; ``result`` has shape (trees, 6)."""
    links = forest.mass.size
    place(forest, q, ws, 0, links)
    move(forest, u, ws, 0, links)
    for i in range(links):
        h, row = apply(load_matrix(ws.rotation, i), first_moment(forest, ws, i)), result[owner[i]]
        store_at(row, 0, add(load_at(row, 0), add(scale(forest.mass[i], load(ws.position, i)), h)))
        store_at(row, 3, add(load_at(row, 3), link_momentum(forest, ws, i)[0]))


def why_not_free(model: Model) -> str | None:
    """Return what ties a model to space, so that it cannot move with a box; None if nothing does."""
    forest = model.forest
    roots = forest.tree[:-1]
    tied = [int(root) for root in roots if int(forest.kind[root]) not in UNBOUND]
    if tied:
        return f"the body '{model.names[int(model.head[tied[0]])]}' is on a joint with the ground"
    if (model.site_links < 0).any():
        return "sites are fixed in space"
    if model.drives:
        return f"the motion of '{model.drives[0].name}' is prescribed"
    if ((model.loops.link_a < 0) | (model.loops.link_b < 0)).any():
        return "loops connect it to the ground"
    return None


def molecule_of_tree(model: Model, sites: SiteForces) -> np.ndarray:
    """Molecule of each tree: trees connected by loops, bonded terms or point springs belong to one molecule, shape
    (trees,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tree, links = model.tree_of_link, model.site_links
    pairs = [np.stack([tree[model.loops.link_a], tree[model.loops.link_b]], axis=1)]
    for table, level in zip(sites.tables, sites.level.tolist(), strict=True):
        members = table.members if level == BONDED else table.members[:0]
        for k in range(1, members.shape[1]):
            both = members[(members[:, 0] >= 0) & (members[:, k] >= 0)][:, [0, k]]
            pairs.append(tree[links[both]])
    for force in model.forces:
        if isinstance(force, PointSpring):
            ends = [link for link, _ in force.ends(model, "barostat") if link >= 0]
            pairs.append(tree[ends].reshape(-1, 2) if len(ends) == 2 else np.zeros((0, 2)))
    joined = np.concatenate(pairs).astype(np.int64)
    graph = coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(model.trees, model.trees))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


class WholeMolecules:
    """Molecules of a model.

    Parameters
    ----------
    model
        A model that is not tied to space.
    sites
        Site forces of the model.
    """

    def __init__(self, model: Model, sites: SiteForces) -> None:
        self.model, self.forest = model, kernel_tables(model).forest
        starts = self.forest.tree[:-1]
        self.of_tree = molecule_of_tree(model, sites)
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
        """Σ M V² for velocities of the centres of mass [energy]."""
        return float(self.mass @ (velocities**2).sum(axis=1))

    def shift(self, q: np.ndarray, by: np.ndarray) -> None:
        """Move the molecules by vectors (molecules, 3) [length]."""
        q[self.q] += np.einsum("tji,tj->ti", self.frames, by[self.of_tree])

    def push(self, u: np.ndarray, by: np.ndarray) -> None:
        """Add velocities (molecules, 3) to all bodies of each molecule [length/time]."""
        u[self.u] += np.einsum("tji,tj->ti", self.frames, by[self.of_tree])

    def pressure(
        self,
        motions: tuple[np.ndarray, np.ndarray],
        forces: np.ndarray,
        positions: np.ndarray,
        trace: float,
        volume: float,
        scaled: float = 1.0,
    ) -> float:
        """Pressure (2K + W)/(3V) [energy/length³]. K is the kinetic energy of the centres of mass, divided by the
        factor ``scaled`` by which scaling has reduced it. W is the trace of the virial of the site forces minus Σ F·(r
        − R) over the sites, with R the centre of mass of the site's molecule: the forces within a molecule drop out
        (Allen and Tildesley, Computer Simulation of Liquids, 2nd ed., 2.4).

        ``motions`` are those of :meth:`motions`; ``forces`` and ``positions`` are those of the sites, shape (sites, 3).
        """
        centres, velocities = motions
        on = self.of_tree[self.model.tree_of_link[self.model.site_links]]
        inner = float((forces * (positions - centres[on])).sum())
        return (self.twice_kinetic(velocities) / scaled + trace - inner) / (3.0 * volume)
