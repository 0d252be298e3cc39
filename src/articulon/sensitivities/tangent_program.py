"""The tangent of a right-hand side. It maps changes of coordinates, speeds and parameters to changes of q' and u', in
O(n).

Changes δq of the joints displace the links by X = Σ s δq, with the columns s of the joints. Velocities v change by X ×
v, and by the motion Σ (s δu + ψ' δq) of all links that a joint carries (``motion_columns.py``). From these changes
every force computes the changes δW of its wrenches and δτ of its joint forces. With S the columns as a matrix
(``dynamics/derivatives/products.py``),

    δu' = M⁻¹ (δτ + Σ Sᵀ δW − ∂τ/∂q δq − ∂τ/∂u δu)

where ∂τ are the derivatives of inverse dynamics at fixed wrenches. This is the transpose of the adjoint. It is written
independently of the adjoint, so that the two can be tested against each other.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.rotations import conjugate, product, quaternion_at, rate
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    load,
    load_at,
    load_from,
    load_matrix,
    load_symmetric,
    scale,
    store_from,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.derivatives import products
from articulon.dynamics.derivatives.composites import add_from
from articulon.dynamics.derivatives.derivative_definitions import find_products, solve_rows
from articulon.dynamics.derivatives.motion_columns import FIRST, SHIFT, load_motion, motion_cross
from articulon.dynamics.newton_euler import project_on_joints
from articulon.forces.base import TangentAt
from articulon.forces.evaluation import Evaluator
from articulon.forces.linear_flow import flow_tangent
from articulon.forces.stokes_drag import drag_tangent
from articulon.kernels import jit
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.acting_forces import ALL, Acting
from articulon.sensitivities.adjoint_program import multiply, point_of
from articulon.sensitivities.frame_derivatives import (
    frame_changes,
    frame_motion,
    frame_scratch,
    frame_tangent,
    parent_velocity,
)
from articulon.sensitivities.noise_derivatives import noise_tangent
from articulon.sensitivities.row_derivatives import HeldRows, changing_loops, holding
from articulon.sensitivities.site_derivatives import sites_tangent
from articulon.sensitivities.table_gradients import Tables, links_of


class Tangent(NamedTuple):
    """Programs of a tangent, and the arrays for their arguments and results."""

    point: np.ndarray
    """Code of the program that prepares a state, shape (passes, 2)."""
    code: np.ndarray
    """Code of the program that computes a change at the prepared state, shape (passes, 2)."""
    time: np.ndarray
    """Time of the state [time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    q_change: np.ndarray
    """Change of the coordinates, with four numbers for Euler parameters, shape (nq,)."""
    u_change: np.ndarray
    """Change of the speeds, shape (nu,)."""
    q_rate: np.ndarray
    """Change of q', shape (nq,)."""
    u_rate: np.ndarray
    """Change of u', shape (nu,)."""


def tangent_program(e: Evaluator, changes: Tables, acting: Acting = ALL) -> tuple[tuple[Program, Program], Tangent]:
    """Build the tangent of the right-hand side of a model, for the selected forces and for changes of the numbers of
    its tables. Return its programs and its arrays. The caller must keep the programs alive."""
    found = tangent_arrays(e)
    _, factors, carried, passes, held = point_of(e, found.q, found.u, found.time, acting)
    point = Program(passes)
    program = Program(changing(e, found, changes, factors, carried, acting, held))
    return (point, program), found._replace(point=point.code, code=program.code)


def tangent_arrays(e: Evaluator) -> Tangent:
    """Allocate the arrays, without programs."""
    nq, nu = e.model.nq, e.model.nu
    nothing = np.zeros((0, 2), dtype=np.int64)
    return Tangent(nothing, nothing, np.zeros(1), *(np.zeros(n) for n in (nq, nu, nq, nu, nq, nu)))


def changing(
    e: Evaluator,
    found: Tangent,
    changes: Tables,
    factors: np.ndarray,
    carried: Any,
    acting: Acting = ALL,
    held: HeldRows | None = None,
) -> Iterator[Bound]:
    """Yield passes that compute a change of the accelerations due to the selected forces, at the prepared state."""
    forest, forces, ws = e.system.forest, e.system.forces, e.ws
    links, nu = forest.mass.size, e.model.nu
    shift, joint, projected = np.zeros(nu), np.zeros(nu), np.zeros(nu)
    moved, twist, wrench, field = (np.zeros((links, 6)) for _ in range(4))
    frames = changes.position, changes.turn
    given = found.q, found.q_change, found.u_change
    yield displace.bind(forest, ws, carried.columns, *given, *frames, shift, moved, field)
    yield change_twists.bind(ws, moved, field, twist)
    yield clear_changes.bind(wrench, joint)
    by = shift, found.u_change, moved, twist, wrench, joint, links_of(changes)
    at = TangentAt(forest, ws, found.q, found.u, found.time, *by)
    yield from wrenches_tangent(e, changes, at, acting)
    yield gravity_tangent.bind(forest, changes.gravity, ws, wrench)
    if acting.scaled:
        yield multiply.bind(acting.factor, joint, wrench, joint, wrench)
        acted = e.channels.total_joint, e.channels.total_wrench, joint, wrench
        yield factor_tangent.bind(1.0 / acting.factor, changes.factor, *acted)
        yield weight_tangent.bind(forest, forces.gravity, changes.factor, ws, wrench)
    fall = acting.factor * forces.gravity
    if held is not None:
        linked = held, carried.columns, carried.acceleration, fall, frames
        by_joints = shift, found.u_change, moved, field, twist
        yield from changing_loops(forest, ws, *linked, by_joints, changes.rows, wrench)
    of_mass = changes.mass, changes.moment, changes.inertia
    yield inertia_tangent.bind(ws, carried.acceleration, *of_mass, wrench)
    pushing = carried.wrench, ws, fall, carried.acceleration
    yield frame_tangent.bind(forest, *pushing, *frames, *frame_scratch(links), wrench)
    yield project_on_joints.bind(forest, ws, wrench, projected)
    yield sum_forces.bind(joint, projected, found.u_rate)
    scratch = np.zeros((links, products.WIDTH)), np.zeros((links, 6))
    yield find_products.bind(*carried, shift, found.u_change, *scratch, found.u_rate)
    yield solve_rows.bind(forest, ws, carried.columns, factors, found.u_rate[None], np.zeros((links, 6)))
    if held is not None:
        yield from holding(forest, ws, carried.columns, factors, held, found.u_rate)
    yield change_rates.bind(forest, found.q, found.u, found.q_change, found.u_change, found.q_rate)


def wrenches_tangent(e: Evaluator, changes: Tables, at: TangentAt, acting: Acting) -> Iterator[Bound]:
    """Yield passes that add the changes of all selected forces except gravity. The forces at the same state must be
    known."""
    forces, ws = e.system.forces, e.ws
    yield from forces_tangent(e, changes, at, acting)
    if acting.resistance and forces.drag.link.size:
        yield drag_tangent.bind(forces.drag, changes.drag, ws, at.moved, at.twist, at.wrench)
    if acting.resistance and forces.flow is not None:
        yield flow_tangent.bind(forces.flow, changes.flow, ws, at.moved, at.wrench)
    if acting.resistance and forces.noise.choice[0]:
        noisy = forces.drag, forces.noise, ws, e.channels.held, at.moved
        yield noise_tangent.bind(*noisy, changes.drag.centre, changes.noise, at.wrench)


def forces_tangent(e: Evaluator, changes: Tables, at: TangentAt, acting: Acting) -> Iterator[Bound]:
    """Yield passes that add the changes of all forces except drag and gravity. The forces at the same state must be
    known."""
    for (kind, table), change in zip(e.system.forces.terms, changes.terms, strict=True):
        if acting.resistance or kind.resistance != "joints":
            yield from kind.tangent(table, change, at)
    yield from sites_tangent(e, changes.sites, at)


@jit
def shift_joint(forest, q, q_change, i, shift):
    """Convert changes of the coordinates of link i's joint (nq,) to their tangent space (nu,)."""
    kind, k, j = forest.kind[i], forest.q_start[i], forest.u_start[i]
    count, plain = joints.degrees_of_freedom(kind), joints.quaternion(kind)
    if plain < 0:
        plain = count
    for m in range(plain):
        shift[j + m] = q_change[k + m]
    if plain < count:
        e = quaternion_at(q, k + plain)
        change = product(conjugate(e), quaternion_at(q_change, k + plain))
        s = 2.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        for m in range(3):
            shift[j + plain + m] = s * change[1 + m]


@pass_of
def displace(forest, ws, columns, q, q_change, u_change, position, turned, shift, moved, field):
    """Compute changes of the coordinates in their tangent space (nu,), and the displacements of the links (links, 6),
    linear part first. Compute also Σ (s δu + ψ' δq) about the links' origins (links, 6), angular part first. Both
    include translations and rotations of joint frames (links, 3)."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):
        p, j, count = parent[i], u_start[i], joints.degrees_of_freedom(kinds[i])
        shift_joint(forest, q, q_change, i, shift)
        turn, way, w, v = ZERO, ZERO, ZERO, ZERO
        if p >= 0:
            r = load(ws.reach, i)
            turn, w = load_from(moved, p, 3), load_from(field, p, 0)
            way, v = add(load_from(moved, p, 0), cross(turn, r)), add(load_from(field, p, 3), cross(w, r))
        if frame_changes(position, turned, i):
            sw, sv = frame_motion(forest, ws, position, turned, i)
            pw, pv = parent_velocity(forest, ws, i)
            fw, fv = motion_cross(pw, pv, sw, sv)
            turn, way, w, v = add(turn, sw), add(way, sv), add(w, fw), add(v, fv)
        for m in range(j, j + count):
            sw, sv = load_motion(columns, m, SHIFT)
            fw, fv = load_motion(columns, m, FIRST)
            turn, way = add(turn, scale(shift[m], sw)), add(way, scale(shift[m], sv))
            w = add(w, add(scale(u_change[m], sw), scale(shift[m], fw)))
            v = add(v, add(scale(u_change[m], sv), scale(shift[m], fv)))
        store_from(moved, i, 0, way)
        store_from(moved, i, 3, turn)
        store_from(field, i, 0, w)
        store_from(field, i, 3, v)


@pass_of
def change_twists(ws, moved, field, twist):
    """Compute changes of the velocities of the links' origins and of the links' angular velocities (links, 6)."""
    for i in range(moved.shape[0]):
        turn = load_from(moved, i, 3)
        store_from(twist, i, 0, add(load_from(field, i, 3), cross(turn, load_from(ws.twist, i, 0))))
        store_from(twist, i, 3, add(load_from(field, i, 0), cross(turn, load_from(ws.twist, i, 3))))


@pass_of
def clear_changes(wrench, joint):
    """Set changes of forces to zero."""
    for i in range(wrench.shape[0]):
        for k in range(6):
            wrench[i, k] = 0.0
    for k in range(joint.size):
        joint[k] = 0.0


@pass_of
def inertia_tangent(ws, acceleration, mass, moment, inertia, wrench):
    """Subtract the changes of I a + v × I v due to changes of masses, first moments and inertias from the wrenches
    (links, 6)."""
    for i in range(mass.size):
        R = load_matrix(ws.rotation, i)
        v, w = load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
        aw, av = load_motion(acceleration, i, 0)
        h, A = apply(R, load(moment, i)), symmetric_rotate(R, load_symmetric(inertia, i))
        P, L = add(scale(mass[i], v), cross(w, h)), add(symmetric_apply(A, w), cross(h, v))
        f = add(add(scale(mass[i], av), cross(aw, h)), cross(w, P))
        n = add(add(symmetric_apply(A, aw), cross(h, av)), add(cross(w, L), cross(v, P)))
        add_from(wrench, i, 0, scale(-1.0, f))
        add_from(wrench, i, 3, scale(-1.0, n))


@pass_of
def gravity_tangent(forest, change, ws, wrench):
    """Add the change of the weights m g, at the centres of mass, that is due to the change of g."""
    g = load_at(change, 0)
    for i in range(forest.mass.size):
        h = apply(load_matrix(ws.rotation, i), load(forest.moment, i))
        add_from(wrench, i, 0, scale(forest.mass[i], g))
        add_from(wrench, i, 3, cross(h, g))


@pass_of
def factor_tangent(factor, change, tau, wrench, joint_change, wrench_change):
    """Add the joint forces (nu,) and the wrenches (links, 6), multiplied by ``factor`` and by the change (1,) of the
    factor of all forces."""
    s = factor * change[0]
    for k in range(tau.size):
        joint_change[k] += s * tau[k]
    for i in range(wrench.shape[0]):
        for k in range(6):
            wrench_change[i, k] += s * wrench[i, k]


@pass_of
def weight_tangent(forest, gravity, change, ws, wrench):
    """Add the weights of the links, times the change (1,) of the factor of all forces."""
    g = scale(change[0], load_at(gravity, 0))
    for i in range(forest.mass.size):
        h = apply(load_matrix(ws.rotation, i), load(forest.moment, i))
        add_from(wrench, i, 0, scale(forest.mass[i], g))
        add_from(wrench, i, 3, cross(h, g))


@pass_of
def sum_forces(joint, projected, total):
    """Sum the changes of joint forces and the changes that come from wrenches (nu,)."""
    for k in range(total.size):
        total[k] = joint[k] + projected[k]


@pass_of
def change_rates(forest, q, u, q_change, u_change, q_rate):
    """Compute changes of q' (nq,)."""
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for i in range(kinds.size):
        k, j = q_start[i], u_start[i]
        count, plain = joints.degrees_of_freedom(kinds[i]), joints.quaternion(kinds[i])
        if plain < 0:
            plain = count
        for m in range(plain):
            q_rate[k + m] = u_change[j + m]
        if plain < count:
            k, j = k + plain, j + plain
            a = rate(quaternion_at(q_change, k), load_at(u, j))
            b = rate(quaternion_at(q, k), load_at(u_change, j))
            for m in range(4):
                q_rate[k + m] = a[m] + b[m]
