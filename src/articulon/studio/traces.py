"""Lines along flexible bodies, from node to node, and along the backbones of proteins and nucleic acids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from articulon.model import Model
from articulon.studio import colours
from articulon.studio.solids import on_bodies

MOST_NODES = 1_500
"""Largest number of nodes of a flexible body that are drawn. If the body has more nodes, a selection is drawn."""
BACKBONE = {"amino-acid": "CA", "nucleotide": "C4'"}
"""Atom that represents a residue, by its kind."""
FEWEST = 4
"""Smallest number of residues for which a backbone is drawn."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Lines between points of bodies, which may be flexible."""

    body: np.ndarray
    """Body of each point, −1 for the ground, shape (points,)."""
    position: np.ndarray
    """Undeformed positions of the points in the body's frame [length], shape (points, 3)."""
    pairs: np.ndarray
    """Pairs of points that a line joins, shape (lines, 2)."""
    colour: np.ndarray
    """Red, green and blue of each line, 0 to 255, shape (lines, 3), uint8."""
    width: float
    """Width of the lines [length]."""
    shapes: np.ndarray | None = None
    """Displacement of the points per coordinate, in the body's frame [dimensionless], shape (points, 3, modes); None if
    nothing deforms."""
    first: int = 0
    """Index in q of the coordinate of the first mode."""

    def placed(self, positions: np.ndarray, rotations: np.ndarray, q: np.ndarray | None) -> np.ndarray:
        """Return the ends of the lines in the world frame [length], shape (lines, 2, 3).

        Parameters
        ----------
        positions, rotations
            Poses of all bodies, shapes (bodies, 3) and (bodies, 4).
        q
            Joint coordinates, shape (nq,). If they are not known (None), bodies are drawn as if they were rigid.
        """
        local = self.position
        if self.shapes is not None and q is not None:
            local = local + self.shapes @ q[self.first : self.first + self.shapes.shape[2]]
        moves = self.body >= 0
        places = np.array(local)
        places[moves] = on_bodies(positions, rotations, self.body[moves], local[moves])
        return np.asarray(places[self.pairs])


def traces_of(model: Model, painted: np.ndarray, link: float) -> tuple[Trace, ...]:
    """Return the lines of a model's flexible bodies and backbones.

    Parameters
    ----------
    model
        The model.
    painted
        Colour of each body, shape (bodies, 3).
    link
        Typical length of a link [length].
    """
    found = [_of_flexible_body(model, body, painted[body], link) for body in sorted(model.modes)]
    backbone = _backbone(model, link)
    return (*found, *([] if backbone is None else [backbone]))


def _of_flexible_body(model: Model, body: int, colour: np.ndarray, link: float) -> Trace:
    """Return the lines along a flexible body. They are the minimum spanning tree of its nodes: for nodes in a row,
    lines from one node to the next."""
    modes = model.modes[body]
    chosen = np.unique(np.linspace(0, len(modes.positions) - 1, MOST_NODES).round().astype(int))
    places = modes.positions[chosen]
    tree = minimum_spanning_tree(cdist(places, places)).tocoo()
    pairs = np.stack([tree.row, tree.col], axis=1).astype(np.int64)
    first = int(model.forest.q_start[int(model.link[body])]) + model.joints[body].nq
    return Trace(
        np.full(len(chosen), body),
        places,
        pairs,
        np.tile(colour, (len(pairs), 1)).astype(np.uint8),
        0.12 * min(link, float(modes.length)),
        modes.shapes[chosen],
        first,
    )


def _backbone(model: Model, link: float) -> Trace | None:
    """Return lines between bonded residues, coloured by chain; None if there are too few residues."""
    atoms = model.atoms
    if atoms is None:
        return None
    standing = np.full(len(atoms.residue_names), -1)
    for atom, residue in enumerate(atoms.residue.tolist()):
        if atoms.names[atom] == BACKBONE.get(atoms.residue_kinds[residue]):
            standing[residue] = atom
    joined = np.unique(np.sort(atoms.residue[atoms.bonds.reshape(-1, 2)], axis=1), axis=0)
    joined = joined[(joined[:, 1] - joined[:, 0] == 1) & (standing[joined] >= 0).all(axis=1)]
    if len(joined) < FEWEST - 1:
        return None
    residues, ends = np.unique(joined, return_inverse=True)
    chain = {name: k for k, name in enumerate(dict.fromkeys(atoms.chains))}
    sites = atoms.site[standing[residues]]
    body, places = model.sites.body[sites], model.sites.position[sites]
    painted = colours.cycled(np.array([chain[atoms.chains[residue]] for residue in joined[:, 0].tolist()]))
    return Trace(body, places, ends.reshape(-1, 2), painted, 0.5 * link)
