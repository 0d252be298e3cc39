"""The shapes that bodies have where nothing but their numbers is known: radii of what they carry, or their inertia."""

from __future__ import annotations

import numpy as np

from articulon.model import Model
from articulon.model.array_rotations import quaternions

THINNEST = 0.07
"""Of a solid: its least edge over its longest."""
ROD = 0.35
"""A solid whose two lesser edges are below this part of the longest is drawn round, as a rod."""
ROUND = 0.8
"""A solid whose least edge is above this part of the longest is drawn as a ball."""


def site_radii(model: Model) -> np.ndarray:
    """Radius of each site [length], shape (sites,): that by which it touches others, or else half the length σ of its
    kind in a Lennard-Jones or a Weeks-Chandler-Andersen force; 0 where it has none, and for atoms, which are drawn by
    their bonds."""
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
    """Edges [length] (3,), the longest last, of the uniform box with the mass and the inertia of a body, and its frame
    in the body's, Euler parameters (4,); None for a body without inertia.

    Moments I of a box with edges l are m/12 (l_y² + l_z²) and so on, so that l_x² = 6 (I_y + I_z − I_x)/m.
    """
    mass = float(model.masses[body])
    xx, xy, xz, yy, yz, zz = model.inertias[body]
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if mass <= 0.0 or moments[-1] <= 0.0:
        return None
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    # Moments come in rising order and edges then in falling order: z is to be the longest.
    edges, axes = np.sqrt(np.maximum(squares, 0.0))[::-1], axes[:, ::-1]
    if np.linalg.det(axes) < 0.0:
        axes = axes * np.array([-1.0, 1.0, 1.0])
    return np.maximum(edges, THINNEST * edges[-1]), quaternions(axes[None])[0]
