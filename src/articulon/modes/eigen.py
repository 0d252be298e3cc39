"""Lowest modes of nodes with masses and a sparse stiffness matrix, and the rotations of the nodes in these modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from articulon.errors import ModelError
from articulon.model.mode_checks import rigid_motions

FLOPPY = 1e-13
"""Ratio to the largest eigenvalue below which an eigenvalue counts as zero. Rounding errors are a hundredth of it; the
bending modes of a helical rod of five thousand residues are above it."""
DENSE = 300
"""Largest number of coordinates for a dense eigenproblem."""


def lowest_modes(
    positions: np.ndarray,
    masses: np.ndarray,
    stiffness: Any,
    count: int,
    *,
    free: bool,
    fault: Callable[[str], ModelError],
    label: Callable[[int], str],
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the lowest modes of Kφ = ω² mφ, orthogonal to rigid motion if the body is free.

    The mass-weighted matrix is inverted on the complement of the rigid motions (Lanczos with a shift below zero). Rigid
    motions therefore do not appear among the modes and do not mix with them.

    Parameters
    ----------
    positions, masses
        Positions and masses of the nodes, shapes (nodes, 3) and (nodes,).
    stiffness
        Sparse K, symmetric, shape (3 nodes, 3 nodes), coordinates node by node.
    count
        Number of modes.
    free
        Whether the body is free, that is, no node is clamped.
    fault, label
        Function that makes an error from a message, and function that returns the name of a node.

    Returns
    -------
    squared_frequencies
        Squared frequencies ω², ascending, shape (count,).
    shapes
        Displacements with Σ mφ·φ = 1, the largest component positive, shape (nodes, 3, count).
    """
    n = masses.size
    weight = 1.0 / np.sqrt(np.repeat(masses, 3))
    D = scipy.sparse.diags_array(weight)
    A = scipy.sparse.csc_array(D @ scipy.sparse.csc_array(stiffness) @ D)
    largest = float(abs(A).sum(axis=0).max())
    R = np.zeros((3 * n, 0))
    if free:
        motions, _ = rigid_motions(positions, masses)
        R = (np.sqrt(masses)[:, None, None] * motions).reshape(3 * n, 6)
        R = R[:, np.linalg.norm(R, axis=0) > 0.5]
    most = 3 * n - R.shape[1]
    if count > most:
        raise fault(
            f"{count} modes were requested, but {n} nodes have only {most} non-rigid motions; request fewer "
            "modes, or choose more nodes"
        )
    if 3 * n <= DENSE or count > n:
        values, vectors = _dense(A.toarray(), R, count, largest)
    else:
        values, vectors = _sparse(A, R, count, largest)
    if values[0] < -1e4 * FLOPPY * largest:
        raise fault(f"the stiffness has the negative eigenvalue {values[0]:.3g}; no elastic body at rest has one")
    floppy = np.flatnonzero(values < FLOPPY * largest)
    if floppy.size:
        moved = np.linalg.norm(vectors[:, 0].reshape(n, 3), axis=1)
        raise fault(
            f"nothing resists a motion that is not rigid, mainly of {label(int(moved.argmax()))}; every node needs "
            "partners in three directions"
        )
    shapes = (weight[:, None] * vectors).reshape(n, 3, count)
    flat = shapes.reshape(3 * n, count)
    sign = np.sign(flat[np.abs(flat).argmax(axis=0), np.arange(count)])
    return values, shapes * sign


def local_rotations(positions: np.ndarray, shapes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Compute the rotation of each node that best fits the displacements of its neighbours; NaN if they are collinear.

    The minimum of Σ |φ_j − φ_i − ψ × (x_j − x_i)|² over the rotation ψ of node i solves I ψ = Σ (x_j − x_i) × (φ_j −
    φ_i). The sums are over its neighbours j, x are positions, φ displacements; the inertia of the neighbours about the
    node is written I. For rigid motion, the rotation is exact.

    Parameters
    ----------
    positions
        Positions of the nodes, shape (nodes, 3).
    shapes
        Displacements, shape (nodes, 3, modes).
    pairs
        Neighbours, each pair once, shape (pairs, 2).
    """
    nodes, _, modes = shapes.shape
    i, j = np.concatenate([pairs, pairs[:, ::-1]]).T
    arm = positions[j] - positions[i]
    moved = np.cross(arm[:, :, None], shapes[j] - shapes[i], axis=1)
    square = np.einsum("pa,pa->p", arm, arm)
    inertia, torque = np.zeros((nodes, 3, 3)), np.zeros((nodes, 3, modes))
    np.add.at(inertia, i, square[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None, :])
    np.add.at(torque, i, moved)
    moments = np.linalg.eigvalsh(inertia)
    determined = moments[:, 0] > 1e-6 * moments[:, 2]
    rotations = np.full((nodes, 3, modes), np.nan)
    rotations[determined] = np.linalg.solve(inertia[determined], torque[determined])
    return rotations


def _dense(A: np.ndarray, R: np.ndarray, count: int, largest: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the lowest ``count`` eigenvalues; the eigenvalues of rigid motions are shifted above all others."""
    rest = A - R @ (R.T @ A)
    rest = rest - (rest @ R) @ R.T + (3.0 * largest) * R @ R.T
    values, vectors = scipy.linalg.eigh(0.5 * (rest + rest.T), subset_by_index=[0, count - 1])
    return values, _orthogonal(vectors, R)


def _sparse(A: Any, R: np.ndarray, count: int, largest: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the lowest ``count`` eigenvalues by Lanczos iteration on P (A − σ)⁻¹ P, where P projects out the rigid
    motions R and σ is slightly below zero."""
    size = A.shape[0]
    shift = -1e-7 * largest
    solved = scipy.sparse.linalg.splu(
        scipy.sparse.csc_array(A - shift * scipy.sparse.eye_array(size)),
        permc_spec="MMD_AT_PLUS_A",
        options={"SymmetricMode": True},
    )

    def apply(x: np.ndarray) -> np.ndarray:
        x = np.ravel(x)
        y = solved.solve(x - R @ (R.T @ x))
        return y - R @ (R.T @ y)

    start = np.random.default_rng(0).normal(size=size)  # a fixed start gives the same bits every time
    inverse = scipy.sparse.linalg.LinearOperator((size, size), matvec=apply, dtype=np.float64)
    _, vectors = scipy.sparse.linalg.eigsh(A, k=count, sigma=shift, OPinv=inverse, v0=start - R @ (R.T @ start))
    vectors = _orthogonal(vectors, R)
    # Rayleigh–Ritz method: compute the eigenvalues of A itself in the subspace that Lanczos found.
    values, within = np.linalg.eigh(vectors.T @ (A @ vectors))
    return values, vectors @ within


def _orthogonal(vectors: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Remove the rigid motions R from vectors and orthonormalise them; a second pass removes the rounding errors of the
    first."""
    for _ in range(2):
        vectors, triangle = np.linalg.qr(vectors - R @ (R.T @ vectors))
        vectors = vectors * np.sign(np.diag(triangle))
    return vectors
