"""The tangent of the right-hand side of a model with flexible bodies, in O(n) for each change.

Inverse dynamics is evaluated with coordinates, speeds, gravity and joint frames that have a small imaginary part
(``dynamics/derivatives/complex_steps.py``). The imaginary parts of its results are the changes of the places and
velocities of the links, and of the generalised forces that the accelerations need at fixed wrenches. From the changes
of the links, every force computes the changes of its wrenches. The adjoint (``modal_adjoint.py``) uses none of this, so
the two can be tested against each other.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import load_quaternion, product
from articulon.algebra.vectors import load
from articulon.dynamics.derivatives.complex_steps import STEP, complex_arrays
from articulon.dynamics.derivatives.derivative_definitions import copy_row
from articulon.dynamics.flexible.flexible_newton_euler import inverse_at
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.newton_euler import project_on_joints
from articulon.forces.base import TangentAt
from articulon.forces.evaluation import Evaluator
from articulon.forces.modal_forces import subtract_products
from articulon.model import Forest, Workspace, workspace
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.acting_forces import ALL, Acting
from articulon.sensitivities.adjoint_program import multiply
from articulon.sensitivities.modal_adjoint import ModalPoint, modal_point
from articulon.sensitivities.mode_coordinates import change_mode_rates, shift_modes
from articulon.sensitivities.table_gradients import Tables, links_of
from articulon.sensitivities.tangent_program import (
    Tangent,
    change_rates,
    clear_changes,
    factor_tangent,
    inertia_tangent,
    shift_joint,
    tangent_arrays,
    wrenches_tangent,
)


class Stepped(NamedTuple):
    """A model with a step along the imaginary axis. All arrays are complex."""

    forest: Forest
    """The links, with complex positions and rotations of joint frames."""
    ws: Workspace
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    fall: np.ndarray
    """Acceleration of gravity, shape (3,)."""
    wrench: np.ndarray
    """Wrenches on the links, shape (links, 6)."""
    force: np.ndarray
    """Scratch of inverse dynamics, shape (links, 6)."""
    tau: np.ndarray
    """Generalised forces, shape (nu,)."""


def stepped(e: Evaluator) -> Stepped:
    """Allocate the arrays for a model."""
    forest, links, nu = e.system.forest, e.system.forest.mass.size, e.model.nu
    frames = forest.position.astype(np.complex128), forest.rotation.astype(np.complex128)
    wrench, force = np.zeros((2, links, 6), np.complex128)
    q, u, fall, tau = (np.zeros(n, np.complex128) for n in (e.model.nq, nu, 3, nu))
    ws = complex_arrays(workspace(forest))
    moved = forest._replace(position=frames[0], rotation=frames[1])
    return Stepped(moved, ws, q, u, fall, wrench, force, tau)


def modal_tangent_program(
    e: Evaluator, changes: Tables, acting: Acting = ALL
) -> tuple[tuple[Program, Program], Tangent]:
    """Build the programs of :func:`tangent_program` for a model with flexible bodies."""
    found = tangent_arrays(e)
    at = modal_point(e, found.q, found.u, found.time, acting)
    point, program = Program(at.passes), Program(changing_modes(e, found, changes, at, acting))
    return (point, program), found._replace(point=point.code, code=program.code)


def changing_modes(
    e: Evaluator, found: Tangent, changes: Tables, point: ModalPoint, acting: Acting = ALL
) -> Iterator[Bound]:
    """Yield passes that compute a change of the accelerations due to the selected forces, at the prepared state."""
    forest, forces, ws, channels = e.system.forest, e.system.forces, e.ws, e.channels
    links, nu = forest.mass.size, e.model.nu
    shift, joint, projected, inertial = (np.zeros(nu) for _ in range(4))
    moved, twist, wrench = (np.zeros((links, 6)) for _ in range(3))
    fall_change = np.zeros(3)
    own, of_state = stepped(e), (found.q, found.u, found.q_change, found.u_change)
    yield change_fall.bind(acting.factor, forces.gravity, changes.gravity, changes.factor, fall_change)
    of_fall, frames = (point.fall, fall_change), (changes.position, changes.turn)
    fixed = point.udot, channels.total_wrench
    yield displace_modes.bind(forest, own, *of_state, *of_fall, *frames, *fixed, moved, twist, inertial)
    yield shift_joints.bind(forest, found.q, found.q_change, shift)
    yield shift_modes.bind(forest, found.q_change, shift)
    yield clear_changes.bind(wrench, joint)
    by = shift, found.u_change, moved, twist, wrench, joint, links_of(changes)
    at = TangentAt(forest, ws, found.q, found.u, found.time, *by)
    yield from wrenches_tangent(e, changes, at, acting)
    yield modal_springs_tangent.bind(forest, found.q_change, found.u_change, joint)
    if acting.scaled:
        yield multiply.bind(acting.factor, joint, wrench, joint, wrench)
        acted = channels.total_joint, channels.total_wrench, joint, wrench
        yield factor_tangent.bind(1.0 / acting.factor, changes.factor, *acted)
    yield inertia_tangent.bind(ws, point.acceleration, changes.mass, changes.moment, changes.inertia, wrench)
    yield project_on_joints.bind(forest, ws, wrench, projected)
    yield sum_needed.bind(joint, projected, inertial, point.force)
    yield point.solve
    yield copy_row.bind(point.solution, found.u_rate)
    yield change_rates.bind(forest, found.q, found.u, found.q_change, found.u_change, found.q_rate)
    yield change_mode_rates.bind(forest, found.u_change, found.q_rate)


@pass_of
def change_fall(factor, gravity, change, factor_change, fall_change):
    """Compute the change of the acceleration of gravity times the factor of all forces (3,)."""
    for k in range(3):
        fall_change[k] = factor * change[k] + factor_change[0] * gravity[k]


@pass_of
def displace_modes(
    forest,
    stepped,
    q,
    u,
    q_change,
    u_change,
    fall,
    fall_change,
    position,
    turn,
    udot,
    wrench,
    moved,
    twist,
    inertial,
):
    """Compute the displacements of the links, and the changes of the velocities at their origins, both (links, 6) with
    the linear part first. Compute also the change of the generalised forces (nu,) that ``udot`` needs at fixed
    wrenches."""
    own, links = stepped.ws, forest.parent.size
    for k in range(q.size):
        stepped.q[k] = complex(q[k], STEP * q_change[k])
    for k in range(u.size):
        stepped.u[k] = complex(u[k], STEP * u_change[k])
    for k in range(3):
        stepped.fall[k] = complex(fall[k], STEP * fall_change[k])
    for i in range(links):
        for k in range(3):
            stepped.forest.position[i, k] = complex(forest.position[i, k], STEP * position[i, k])
        # A small rotation θ in the parent's frame changes Euler parameters e by ½ θ e.
        theta = load(turn, i)
        e = product((0.0, theta[0], theta[1], theta[2]), load_quaternion(forest.rotation, i))
        for k in range(4):
            stepped.forest.rotation[i, k] = complex(forest.rotation[i, k], 0.5 * STEP * e[k])
        for k in range(6):
            stepped.wrench[i, k] = complex(wrench[i, k], 0.0)
    place(stepped.forest, stepped.q, own, 0, links)
    move(stepped.forest, stepped.u, own, 0, links)
    inverse_at(stepped.forest, udot, stepped.wrench, stepped.fall, own, stepped.force, stepped.tau)
    for i in range(links):
        for k in range(3):
            moved[i, k] = own.position[i, k].imag / STEP
        for k in range(6):
            twist[i, k] = own.twist[i, k].imag / STEP
        # With R' the change of the rotation matrix R, R' Rᵀ is the skew matrix of the small rotation.
        for k in range(3):
            a, b, angle = (k + 1) % 3, (k + 2) % 3, 0.0
            for m in range(3):
                angle += own.rotation[i, 3 * b + m].imag * own.rotation[i, 3 * a + m].real
            moved[i, 3 + k] = angle / STEP
    for k in range(u.size):
        inertial[k] = stepped.tau[k].imag / STEP


@pass_of
def shift_joints(forest, q, q_change, shift):
    """Convert changes of the coordinates of all joints (nq,) to their tangent space (nu,)."""
    for i in range(forest.kind.size):
        shift_joint(forest, q, q_change, i, shift)


@pass_of
def modal_springs_tangent(forest, q_change, u_change, joint):
    """Add the changes −K δη and −D δη' of the modal forces to the joint forces (nu,)."""
    tables = forest.flexible
    subtract_products(tables, tables.stiffness, q_change, tables.q_start, joint)
    subtract_products(tables, tables.damping, u_change, tables.u_start, joint)


@pass_of
def sum_needed(joint, projected, inertial, total):
    """Compute the total change of the joint forces (nu,): of joint forces, plus that from wrenches, minus that
    needed."""
    for k in range(total.size):
        total[k] = joint[k] + projected[k] - inertial[k]
