"""Initial coordinates and joint frames that follow from the place to which a handle was dragged. Loops stay closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.building.closing import CLOSED, close_loops, close_positions
from articulon.dynamics import body_poses
from articulon.dynamics.multibody_functions import body_velocities, moved
from articulon.errors import ModelError
from articulon.model import Model
from articulon.model.array_rotations import matrices, quaternion_product, quaternions
from articulon.model.joints.axis import AxisJoint
from articulon.studio.solids import along

TURNS = 20
"""Largest number of iterations that move a joint to its handle. One iteration is enough if the joint can follow
exactly; a joint with two axes needs more."""
BISECTIONS = 8
"""Number of bisections of a drag that goes farther than the loops allow."""


class Handle(NamedTuple):
    """Pose of a joint in the world."""

    position: np.ndarray
    """Origin of the moving side of the joint [length], shape (3,)."""
    rotation: np.ndarray
    """Euler parameters, shape (4,), of a frame with its z axis along the axis of the joint. For a joint without an
    axis, the frame is that of the moving side."""


def joint_slice(model: Model, body: int) -> tuple[slice, slice]:
    """Return the slices of a body's joint in the model's coordinates and speeds."""
    joint, link = model.joints[body], int(model.link[body])
    q, u = int(model.forest.q_start[link]), int(model.forest.u_start[link])
    return slice(q, q + joint.nq), slice(u, u + joint.nu)


def joint_handle(model: Model, body: int, q: np.ndarray) -> Handle:
    """Return the pose of a body's joint at coordinates q (nq,)."""
    positions, rotations = body_poses(model, q)
    joint = model.joints[body]
    if isinstance(joint, AxisJoint):
        turned = along(np.asarray(joint.direction, dtype=float)[None])[0]
        return Handle(positions[body], quaternion_product(rotations[body][None], turned[None])[0])
    return Handle(positions[body], rotations[body])


def dragged(model: Model, body: int, q: np.ndarray, before: Handle, after: Handle) -> np.ndarray:
    """Return the coordinates at which a joint has followed its handle, as far as the loops allow.

    The joint's own coordinates follow the drag. The coordinates of other joints change by the smallest steps, in the
    metric of the mass matrix, that close the loops. If the loops cannot be closed, the joint moves by a part of the
    drag only.

    Parameters
    ----------
    model
        The model.
    body
        The body that the joint carries.
    q
        Coordinates before the drag (nq,), with closed loops.
    before, after
        Handle before and after the drag.
    """
    own = joint_slice(model, body)[1]
    step = np.zeros(model.nu)
    step[own] = joint_step(model, body, q, before, after)
    if not model.loops.kind.size:
        for _ in range(TURNS):
            q = moved(model, q, step)
            step[own] = joint_step(model, body, q, joint_handle(model, body, q), after)
            if np.abs(step).max() < CLOSED:
                break
        return q
    free = np.ones(model.nu, dtype=bool)
    free[own] = False
    for halvings in range(BISECTIONS):
        closed, error = close_positions(model, moved(model, q, step * 0.5**halvings), free, 0.0)
        if error <= CLOSED:
            try:
                # The usual projection. It also rejects loops with ends that meet, but are rotated by half a turn.
                return close_loops(model, closed, np.zeros(model.nu))[0]
            except ModelError:
                continue
    return q


def joint_step(model: Model, body: int, q: np.ndarray, before: Handle, after: Handle) -> np.ndarray:
    """Return the speeds of the joint that move it from one pose of its handle to the other in unit time."""
    joint = model.joints[body]
    turn = quaternion_product((before.rotation * [1.0, -1.0, -1.0, -1.0])[None], after.rotation[None])[0]
    vector = _rotation_vector(turn)
    away = after.position - before.position
    if isinstance(joint, AxisJoint):
        axis = matrices(before.rotation)[:, 2]
        return np.array([float(away @ axis)] if joint.translations else [float(vector[2])])
    # Translations are along axes of the joint frame, rotations about axes of the body.
    step = np.zeros(joint.nu)
    if joint.translations:
        step[: joint.translations] = matrices(joint_frame(model, body, q).rotation).T @ away
    turning = slice(joint.translations, joint.nu)
    if joint.nu - joint.translations == 3:
        step[turning] = vector
    elif joint.nu > joint.translations:
        # Two axes cannot follow every rotation; they follow as closely as possible.
        first = joint_slice(model, body)[1].start + joint.translations
        units = np.eye(joint.nu - joint.translations, model.nu, first)
        axes = np.array([body_velocities(model, q, unit)[body, 3:] for unit in units]).T
        step[turning] = np.linalg.lstsq(axes, vector, rcond=None)[0]
    return step


def joint_frame(model: Model, body: int, q: np.ndarray) -> Handle:
    """Return the pose of a body's joint frame in the world: position and Euler parameters."""
    link = int(model.link[body])
    parent = int(model.parents[body])
    position, rotation = np.asarray(model.forest.position[link]), np.asarray(model.forest.rotation[link])
    above = int(model.link[parent]) if parent >= 0 else -1
    if above < 0:
        return Handle(position, rotation)
    positions, rotations = body_poses(model, q)
    head = int(model.head[above])
    turned = quaternion_product(rotations[head][None], rotation[None])[0]
    return Handle(positions[head] + matrices(rotations[head]) @ position, turned)


def _rotation_vector(turn: np.ndarray) -> np.ndarray:
    """Return the rotation vector [rad] (3,) of Euler parameters, of at most half a turn."""
    e = turn if turn[0] >= 0.0 else -turn
    size = float(np.linalg.norm(e[1:]))
    if size < 1e-300:
        return np.zeros(3)
    return np.asarray(2.0 * np.arctan2(size, e[0]) / size * e[1:])


def placed_joint(model: Model, body: int, q: np.ndarray, after: Handle) -> dict[str, list[float]]:
    """Return the keys of a body after a drag of its joint frame: the joint's position in the parent's frame and, if the
    drag has rotated the frame, the joint's axis or rotation.

    Parameters
    ----------
    model, body, q
        The model, the body that the joint carries, and coordinates (nq,).
    after
        Handle of the joint after the drag; see :func:`joint_handle`. The drag rotates the joint frame, not the body
        relative to it.
    """
    before = joint_handle(model, body, q)
    parent = int(model.parents[body])
    positions, rotations = body_poses(model, q)
    origin, R = (positions[parent], matrices(rotations[parent])) if parent >= 0 else (np.zeros(3), np.eye(3))
    frame = joint_frame(model, body, q) if model.joints[body].nq else before
    position = R.T @ (frame.position + after.position - before.position - origin)
    changed = {"position": position.tolist()}
    turn = matrices(after.rotation) @ matrices(before.rotation).T
    if np.allclose(turn, np.eye(3), atol=1e-9):
        return changed
    joint = model.joints[body]
    if isinstance(joint, AxisJoint):
        axis = matrices(frame.rotation).T @ turn @ matrices(before.rotation)[:, 2]
        changed["axis"] = axis.tolist()
    else:
        turned = R.T @ turn @ matrices(frame.rotation)
        changed["rotation"] = quaternions(turned[None])[0].tolist()
    return changed
