"""Random flexible bodies, and the sums over nodes that their inertia integrals stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

import articulon as ar
from articulon.model.mode_checks import off_rigid_motion, rigid_motions
from articulon.model.modes import ModeShapes
from articulon.units import unit_system
from tests.support.flexible_reference import FlexibleReference
from tests.support.random_models import Description, random_coordinates, random_forest
from tests.support.reference import EXTENDED

BETA = {
    "clamped": (1.875104068711961, 4.694091132974174, 7.854757438237612, 10.99554073487546, 14.13716839104647),
    "free": (4.730040744862704, 7.853204624095838, 10.99560783800167, 14.13716549125746, 17.27875965739948),
}
"""Blevins, table 8-1, to the digits of a double."""

UNITS = unit_system("fg-um-us")


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
        shapes, rotations = off_rigid_motion(positions, masses, shapes, rotations)
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


def natural_frequencies(modes: ar.Modes) -> np.ndarray:
    """ω of a body's modes as they were declared, rising: those of a free body that floats, or of a clamped one."""
    masses, shapes = np.asarray(modes.masses), np.asarray(modes.shapes)
    M = np.einsum("i,iaj,iak->jk", masses, shapes, shapes)
    K = np.asarray(modes.stiffness)
    return np.sqrt(scipy.linalg.eigvalsh(np.diag(K) if K.ndim == 1 else K, M))


def beam_elements(nodes: int, length: float, EI: tuple[float, float], GJ: float, EA: float) -> np.ndarray:
    """Stiffness of a straight beam along x of cubic elements, six coordinates a node (Przemieniecki, section 5.6).

    ``EI`` is of bending along y and along z.
    """
    h = length / (nodes - 1)
    K = np.zeros((6 * nodes, 6 * nodes))
    for e in range(nodes - 1):
        k = np.zeros((12, 12))
        for i, stiffness in ((0, EA), (3, GJ)):
            k[np.ix_([i, i + 6], [i, i + 6])] = stiffness / h * np.array([[1.0, -1.0], [-1.0, 1.0]])
        for (a, turn, sign), stiffness in zip(((1, 5, 1.0), (2, 4, -1.0)), EI, strict=True):
            s = sign * h
            block = np.array([[12, 6 * s, -12, 6 * s], [0, 4 * s * s, -6 * s, 2 * s * s], [0, 0, 12, -6 * s]])
            block = np.vstack([block, [0, 0, 0, 4 * s * s]])
            at = [a, turn, a + 6, turn + 6]
            k[np.ix_(at, at)] = stiffness / h**3 * (block + np.triu(block, 1).T)
        K[6 * e : 6 * e + 12, 6 * e : 6 * e + 12] += k
    return K


def rigid_parts(modes: ar.Modes) -> np.ndarray:
    """Overlap of each mode with each rigid motion, of a mode of norm one by mass."""
    m, shapes = np.asarray(modes.masses), np.asarray(modes.shapes)
    motions, _ = rigid_motions(np.asarray(modes.positions), m)
    norm = np.sqrt(np.einsum("i,iaj,iaj->j", m, shapes, shapes))
    return np.abs(np.einsum("i,iar,iaj->rj", m, motions, shapes)) / norm


def correlation(modes: ar.Modes) -> np.ndarray:
    """Modal mass matrix of shapes scaled to norm one by mass."""
    weighted = (np.sqrt(modes.masses)[:, None, None] * np.asarray(modes.shapes)).reshape(-1, len(modes.stiffness))
    weighted /= np.linalg.norm(weighted, axis=0)
    return weighted.T @ weighted


def flexible_tree(
    rng: np.random.Generator, n: int, part: float = 0.6, **options: Any
) -> tuple[Description, list[ar.Modes | None], list[int | None]]:
    """Bodies, the modes of those that are flexible, and the node of the parent that each hangs on."""
    description = random_forest(rng, n, **options)
    modes: list[ar.Modes | None] = []
    nodes: list[int | None] = []
    for body in description.bodies:
        flexible = rng.random() < part or (not modes and n == 1)
        boundary = str(rng.choice(["clamped", "free"]))
        count = int(rng.integers(4, 9))
        modes.append(random_modes(rng, count, int(rng.integers(1, 4)), boundary) if flexible else None)
        above = None if body.parent is None else modes[body.parent]
        nodes.append(None if above is None else int(rng.integers(len(above.masses))))
    return description, modes, nodes


def flexible_reference(
    description: Description, modes: list[ar.Modes | None], nodes: list[int | None], dtype: Any = EXTENDED
) -> FlexibleReference:
    """The oracle of such a tree."""
    shapes = [None if m is None else m.resolved(UNITS, f"body {i}") for i, m in enumerate(modes)]
    return FlexibleReference(description, shapes, nodes, dtype)


def random_flexible_state(
    reference: FlexibleReference, rng: np.random.Generator, deformation: float = 0.2
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds, modal coordinates of the given size."""
    q, joints, starts = np.zeros(reference.nq), reference.description, reference.description.q_starts
    of_joints = random_coordinates(joints, rng)
    for i in range(len(joints)):
        own = of_joints[starts[i] : starts[i + 1]]
        q[reference.q_starts[i] : reference.q_starts[i] + own.size] = own
        q[reference.modal_q(i)] = deformation * rng.normal(size=reference.modes[i])
    return q, rng.normal(size=reference.nu)
