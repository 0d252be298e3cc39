"""Positions of the sites: on their links, and in the world."""

from weakref import WeakKeyDictionary

import numpy as np

from articulon.dynamics import body_poses
from articulon.dynamics.multibody_functions import check_model, points_on_links, vector
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.model.joints import XYZ


def site_places(model: Model, some: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    """Link of each site, −1 for the ground, and its position in the link's frame, shape (sites,) and (sites, 3)."""
    body, local = model.sites.body[some], np.ascontiguousarray(model.sites.position[some])
    if only_particles(model):
        return body.copy(), np.zeros(local.shape)
    carried = body >= 0
    link, on_node = model.site_links[some].copy(), model.sites_on_nodes[some]
    moved = model.offset_position[body] + np.einsum("kij,kj->ki", matrices(model.offset_rotation[body]), local)
    return link, np.where((carried & ~on_node)[:, None], moved, local)


_PARTICLES: WeakKeyDictionary[Model, bool] = WeakKeyDictionary()


def only_particles(model: Model) -> bool:
    """Whether a model consists of free particles with site forces only, or none, so that it needs no tree."""
    if model not in _PARTICLES:
        forest, sites, n = model.forest, model.sites, model.bodies
        _PARTICLES[model] = bool(
            forest.kind.size == n
            and (forest.kind == XYZ).all()
            and (forest.parent < 0).all()
            and not forest.position.any()
            and (forest.rotation == [1.0, 0.0, 0.0, 0.0]).all()
            and not model.centres.any()
            and not model.loops.kind.size
            and np.array_equal(sites.body, np.arange(n))
            and not sites.position.any()
            and all(hasattr(force, "site_terms") for force in model.forces)
        )
    return _PARTICLES[model]


def site_positions(model: Model, q: np.ndarray) -> np.ndarray:
    """World positions of the sites at coordinates q [length], shape (sites, 3).

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,).
    """
    check_model(model, "site_positions")
    q = vector(q, model.nq, "q")
    if only_particles(model):
        return q.reshape(-1, 3)
    positions, rotations = body_poses(model, q)
    body, local = model.sites.body, model.sites.position
    moved = positions[body] + np.einsum("kij,kj->ki", matrices(rotations[body]), local)
    moved = np.where((body >= 0)[:, None], moved, local)
    if model.sites_on_nodes.any():
        moved[model.sites_on_nodes] = points_on_links(
            model, q, model.site_links[model.sites_on_nodes], local[model.sites_on_nodes]
        )
    return moved
