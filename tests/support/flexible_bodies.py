"""Random flexible bodies, and the sums over nodes that their inertia integrals stand for."""

from __future__ import annotations

import numpy as np

import articulon as ar
from articulon.model.mode_checks import rigid_motions
from articulon.model.modes import ModeShapes
from articulon.units import unit_system

UNITS = unit_system("fg-um-us")


def free_of_rigid_motion(positions: np.ndarray, masses: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Shapes with their rigid part, by mass, taken off."""
    motions = rigid_motions(positions, masses)
    return shapes - np.einsum("iar,rj->iaj", motions, np.einsum("i,iar,iaj->rj", masses, motions, shapes))


def random_modes(rng: np.random.Generator, nodes: int = 7, modes: int = 3, boundary: str = "clamped") -> ar.Modes:
    """Nodes anywhere, handle 1 among them, and shapes of any kind that the boundary allows."""
    handle = int(rng.integers(nodes))
    positions = rng.normal(size=(nodes, 3))
    positions -= positions[handle]
    masses = rng.uniform(0.5, 2.0, nodes)
    shapes, rotations = rng.normal(size=(2, nodes, 3, modes))
    if boundary == "clamped":
        shapes[handle] = rotations[handle] = 0.0
    else:
        shapes = free_of_rigid_motion(positions, masses, shapes)
    root = rng.normal(size=(modes, modes))
    stiffness = root @ root.T + np.eye(modes)
    damping = np.diag(rng.uniform(0.1, 1.0, modes))
    return ar.Modes(positions, masses, shapes, stiffness, damping, rotations, boundary, handle)


def random_shapes(rng: np.random.Generator, nodes: int = 7, modes: int = 3, boundary: str = "clamped") -> ModeShapes:
    """The same, resolved."""
    return random_modes(rng, nodes, modes, boundary).resolved(UNITS, "body 'random'")


def deformed(shapes: ModeShapes, eta: np.ndarray) -> np.ndarray:
    """X of every node, shape (nodes, 3)."""
    return shapes.positions + shapes.shapes @ eta


def symmetric(six: np.ndarray) -> np.ndarray:
    """(xx, xy, xz, yy, yz, zz) as a matrix."""
    return six[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(*six.shape[:-1], 3, 3)
