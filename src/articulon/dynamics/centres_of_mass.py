"""Centres of mass of bodies, and their displacement by the modes of flexible bodies."""

import numpy as np

from articulon.dynamics import body_poses
from articulon.model import Model
from articulon.model.array_rotations import matrices


def modal_arms(model: Model, q: np.ndarray, body: int) -> tuple[slice, slice, np.ndarray]:
    """Return the modal coordinates and speeds of a body, and the displacement of its centre of mass per unit of each
    modal coordinate, shape (modes, 3), world frame. A rigid body has no modes."""
    shapes = model.modes.get(body)
    if shapes is None:
        return slice(0, 0), slice(0, 0), np.zeros((0, 3))
    link, joint, count = int(model.link[body]), model.joints[body], shapes.stiffness.shape[0]
    k, j = int(model.forest.q_start[link]) + joint.nq, int(model.forest.u_start[link]) + joint.nu
    R = matrices(body_poses(model, q)[1][body])
    moved = np.einsum("i,iaj->ja", shapes.masses, shapes.shapes) / model.masses[body]
    return slice(k, k + count), slice(j, j + count), moved @ R.T


def centre_of_mass(
    model: Model, q: np.ndarray, body: int, poses: tuple[np.ndarray, np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre of mass of a body, deformed by its modes, and its arm from the body's origin, world frame.
    ``poses`` are the poses of all bodies at q, where they are known."""
    positions, rotations = body_poses(model, q) if poses is None else poses
    arm = matrices(rotations[body]) @ model.centres[body]
    place = positions[body] + arm
    if body not in model.modes:
        return place, arm
    modal, _, moved = modal_arms(model, q, body)
    shift = q[modal] @ moved
    return place + shift, arm + shift
