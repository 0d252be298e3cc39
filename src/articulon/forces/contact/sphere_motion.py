"""Positions, motion and names of spheres, for Python."""

import numpy as np

from articulon.dynamics.poses import link_velocities
from articulon.dynamics.state_functions import scratch
from articulon.model import Model, kernel_tables
from articulon.model.array_rotations import matrices


def sphere_centres(model: Model, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """Centres of all sites, world frame [length], shape (sites, 3), from the poses of the bodies."""
    sites = model.sites
    carried = sites.body >= 0
    result = sites.position.copy()
    body = sites.body[carried]
    offset = sites.position[carried]
    turned = np.einsum("kij,kj->ki", matrices(rotations[body]), offset) if offset.any() else offset
    result[carried] = positions[body] + turned
    return result


def sphere_velocities(model: Model, q: np.ndarray, u: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Velocities of all sites at their centres, world frame [velocity], shape (sites, 3)."""
    ws = scratch(model)
    link_velocities(kernel_tables(model).forest, q, u, ws)
    result = np.zeros_like(centres)
    moving = np.flatnonzero(model.site_links >= 0)
    at = model.site_links[moving]
    result[moving] = ws.twist[at, :3] + np.cross(ws.twist[at, 3:], centres[moving] - ws.position[at])
    return result


def angular_velocities(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Angular velocities of all bodies, world frame [angle/time], shape (bodies, 3)."""
    ws = scratch(model)
    link_velocities(kernel_tables(model).forest, q, u, ws)
    return np.where((model.link >= 0)[:, None], ws.twist[model.link, 3:], 0.0)


def sphere_name(model: Model, site: int) -> str:
    """Name of a sphere: its body, with its site if the body has several."""
    body = int(model.sites.body[site])
    if body < 0:
        return f"site {site} on the ground"
    several = int((model.sites.body == body).sum()) > 1
    return f"'{model.names[body]}'" + (f" (site {site})" if several else "")
