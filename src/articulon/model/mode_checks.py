"""Checks that mode shapes are possible for an elastic body, with messages that name the mode.

Modes are numbered from 1, as in ``("rod", "mode1")`` of a transition.
"""

import numpy as np

from articulon.errors import ModelError

RIGID_TOLERANCE = 1e-6
"""Tolerance for a motion that the boundary of a shape excludes, relative to the norm of the shape. It allows for the
rounding of printed digits."""
DEPENDENT = 1e-9
"""Smallest eigenvalue of the normalised mass matrix for which the mode shapes count as independent."""


def extent(positions: np.ndarray, masses: np.ndarray) -> float:
    """Length of a body: twice the distance from its centre of mass to the farthest node [length]."""
    centre = masses @ positions / masses.sum()
    return 2.0 * float(np.linalg.norm(positions - centre, axis=1).max())


def rigid_motions(positions: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Basis of the rigid motions, orthonormal with respect to mass: Σ m R_a·R_b over the nodes is one for a = b,
    otherwise zero.

    Returns
    -------
    motions
        Displacement of the nodes in each motion, shape (nodes, 3, 6); zero for rotations that move no node.
    turns
        Rotation in each motion, shape (3, 6).
    """
    centre = masses @ positions / masses.sum()
    arm = positions - centre
    inertia = (masses[:, None] * arm).T @ arm
    moments, axes = np.linalg.eigh(np.trace(inertia) * np.eye(3) - inertia)
    motions, turns = np.zeros((masses.size, 3, 6)), np.zeros((3, 6))
    motions[:, :, :3] = np.eye(3) / np.sqrt(masses.sum())
    for k in range(3):
        if moments[k] > 1e-14 * moments[2]:
            turns[:, 3 + k] = axes[:, k] / np.sqrt(moments[k])
            motions[:, :, 3 + k] = np.cross(turns[:, 3 + k], arm)
    return motions, turns


def off_rigid_motion(
    positions: np.ndarray, masses: np.ndarray, shapes: np.ndarray, rotations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Subtract from shapes and rotations their rigid part, a projection by mass; rigid motion causes no strain."""
    motions, turns = rigid_motions(positions, masses)
    for _ in range(2):  # the second pass removes rounding errors
        part = np.einsum("i,iar,iaj->rj", masses, motions, shapes)
        shapes = shapes - np.einsum("iar,rj->iaj", motions, part)
        rotations = rotations - turns @ part
    return shapes, rotations


def not_negative(matrix: np.ndarray, what: str, where: str) -> None:
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -1e-12 * np.abs(values).max():
        mode = int(np.abs(vectors[:, 0]).argmax())
        amount = f"{values[0]:g}" + ("" if np.array_equal(matrix, np.diag(np.diag(matrix))) else " (an eigenvalue)")
        raise ModelError(
            f"{where}, mode {mode + 1}: the {what} is negative, {amount}; the body would be unstable in this mode"
        )


def moving_mass(masses: np.ndarray, shapes: np.ndarray, where: str) -> None:
    still = np.flatnonzero(~(np.einsum("i,iaj,iaj->j", masses, shapes, shapes) > 0.0))
    if still.size:
        raise ModelError(f"{where}, mode {still[0] + 1}: its shape moves no node; leave it out")


def independent(masses: np.ndarray, shapes: np.ndarray, where: str) -> None:
    """Raises ModelError, naming the modes, if a combination of shapes moves almost no mass."""
    weighted = (np.sqrt(masses)[:, None, None] * shapes).reshape(-1, shapes.shape[2])
    weighted = weighted / np.linalg.norm(weighted, axis=0)
    values, vectors = np.linalg.eigh(weighted.T @ weighted)
    if values[0] < DEPENDENT:
        part = np.abs(vectors[:, 0])
        guilty = (np.flatnonzero(part > 1e-3 * part.max()) + 1).tolist()
        raise ModelError(
            f"{where}: modes {', '.join(map(str, guilty))} are not independent: a combination of their shapes moves no "
            f"node (eigenvalue {values[0]:.2g} of the normalised mass matrix); leave one of them out"
        )


def vanishing(shapes: np.ndarray, rotations: np.ndarray, handle: int, where: str) -> None:
    """Raises ModelError, naming the mode, unless the shapes vanish at handle 1, and so do their rotations if known
    there."""
    for what, array in (("moves", shapes), ("turns", rotations)):
        there = np.abs(array[handle]).max(axis=0)
        bound = RIGID_TOLERANCE * np.nanmax(np.abs(array), axis=(0, 1), initial=0.0)
        bad = np.flatnonzero(there > bound)
        if bad.size:
            raise ModelError(
                f"{where}, mode {bad[0] + 1}: its shape {what} handle 1 (node {handle}) by {there[bad[0]]:.3g}, but "
                "clamped shapes vanish there, with their rotations; state boundary='free' for shapes without rigid "
                "motion"
            )


def without_rigid_motion(positions: np.ndarray, masses: np.ndarray, shapes: np.ndarray, where: str) -> None:
    """Raises ModelError, naming the mode, unless the shapes are orthogonal to rigid motions in the mass metric."""
    motions, _ = rigid_motions(positions, masses)
    overlap = np.einsum("i,iar,iaj->rj", masses, motions, shapes)
    part = np.sqrt((overlap**2).sum(axis=0) / np.einsum("i,iaj,iaj->j", masses, shapes, shapes))
    bad = np.flatnonzero(~(part <= RIGID_TOLERANCE))
    if bad.size:
        raise ModelError(
            f"{where}, mode {bad[0] + 1}: its shape is not orthogonal to rigid motion: {part[bad[0]]:.3g} of it, by "
            "mass, is rigid. Subtract that part with the masses given here, or state boundary='clamped' for shapes "
            "that vanish at handle 1"
        )
