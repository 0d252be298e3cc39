"""Default shapes of bodies: radii from the sites that they carry, or solids from their inertia."""

from __future__ import annotations

import numpy as np

from articulon.model import Model
from articulon.model.array_rotations import quaternions

THINNEST = 0.07
"""Smallest ratio of the shortest to the longest edge of a solid."""
ROD = 0.35
"""A solid is drawn as a round rod if its two shorter edges are below this fraction of its longest edge."""
ROUND = 0.8
"""A solid is drawn as a ball if its shortest edge is above this fraction of its longest edge."""


def site_radii(model: Model) -> np.ndarray:
    """Return the radius of each site [length], shape (sites,). It is the contact radius of the site if it has one,
    otherwise half the length σ of its kind in a Lennard-Jones or Weeks-Chandler-Andersen force, otherwise 0. It is also
    0 for atoms, because molecules are drawn as bonds."""
    sites = model.sites
    radii = np.array(sites.radius, dtype=float)
    for force in model.forces:
        parameters = getattr(force, "parameters", None)
        if not isinstance(parameters, dict):
            continue
        for k, kind in enumerate(sites.kinds):
            sigma = getattr(parameters.get(kind), "sigma", None)
            if sigma is not None:
                radii[(sites.kind == k) & (radii == 0.0)] = 0.5 * float(sigma)
    if model.atoms is not None:
        radii[model.atoms.site] = 0.0
    return radii


def solid_edges(model: Model, body: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the edges (3,) of the uniform box with the mass and the inertia of a body [length], the longest edge last.
    Return also the orientation of the box in the body's frame, Euler parameters (4,). None for a body without inertia.

    A box with edges l has the moments I_x = m/12 (l_y² + l_z²) and so on, so l_x² = 6 (I_y + I_z − I_x)/m.
    """
    mass = float(model.masses[body])
    xx, xy, xz, yy, yz, zz = model.inertias[body]
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if mass <= 0.0 or moments[-1] <= 0.0:
        return None
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    # Moments are in ascending order and edges therefore in descending order; z must be the longest.
    edges, axes = np.sqrt(np.maximum(squares, 0.0))[::-1], axes[:, ::-1]
    if np.linalg.det(axes) < 0.0:
        axes = axes * np.array([-1.0, 1.0, 1.0])
    return np.maximum(edges, THINNEST * edges[-1]), quaternions(axes[None])[0]
