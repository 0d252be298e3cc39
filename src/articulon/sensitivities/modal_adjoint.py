"""The adjoint of the right-hand side of a model with flexible bodies, in O(n).

With weights w and λ = M⁻¹ w, the derivative of w·u' is the derivative of a virtual power P at the speeds λ and
accelerations u', both held fixed: P = Σ V·(W − W_in) + Σ λ_j (Q − Q_in)_j. V are the virtual velocities of the links, W
the wrenches of the forces on them, and W_in the inertial wrenches of ``floating_frame.py``. Q and Q_in are the modal
forces and the inertial modal forces of mode j. In a body's own frame, its inertial part depends only on its velocities,
accelerations and virtual velocities, and on its own modal coordinates η and speeds η' (:func:`weigh_inertia`). W is
held fixed in the world.

If a joint or a mode moves, these quantities change by the same amount for all links that it carries
(``motion_columns.py``, ``mode_columns.py``): velocities by ψ', accelerations by ψ'' − v × ψ', and virtual velocities by
the ψ' of the speeds λ. So derivatives with respect to places, velocities, accelerations and virtual velocities of links
are summed towards the roots. Each column of a joint, or of a mode at a node, is multiplied by the sums there.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import (
    add,
    add_scaled,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    scale,
    sub,
    symmetric_apply,
)
from articulon.dynamics import joints
from articulon.dynamics.armatures import open_solution
from articulon.dynamics.derivatives import mode_columns, motion_columns
from articulon.dynamics.derivatives.composites import add_from
from articulon.dynamics.derivatives.derivative_definitions import copy_row, find_motion_columns
from articulon.dynamics.derivatives.force_jacobians import power
from articulon.dynamics.derivatives.mode_columns import find_mode_columns, first_rate, slowing_of
from articulon.dynamics.derivatives.motion_columns import (
    FIRST,
    SECOND,
    SHIFT,
    load_motion,
    motion_cross,
    store_motion,
)
from articulon.dynamics.derivatives.products import carried_motion, stays
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes
from articulon.dynamics.flexible.floating_frame import axial
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.forces.base import AdjointAt, At
from articulon.forces.evaluation import Evaluator
from articulon.forces.filling import fill_all, scaling
from articulon.forces.gravity import gravity_power
from articulon.forces.modal_forces import subtract_products
from articulon.kernels import jit
from articulon.model import Workspace, workspace
from articulon.model.state import DAMPING, STOCHASTIC
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.acting_forces import ALL, Acting
from articulon.sensitivities.adjoint_program import (
    Adjoint,
    Weighed,
    adjoint_program,
    factor_adjoint,
    inertia_adjoint,
    multiply,
    powers_adjoint,
    project_powers,
)
from articulon.sensitivities.frame_derivatives import frame_power_adjoint
from articulon.sensitivities.row_derivatives import frame_acceleration_adjoint, project_accelerations
from articulon.sensitivities.table_gradients import Tables, links_of


class ModalPoint(NamedTuple):
    """Quantities that derivatives at a state read, and the passes that compute them."""

    udot: np.ndarray
    """Accelerations of joints and modes, shape (nu,)."""
    acceleration: np.ndarray
    """Spatial accelerations of the links, shape (links, 6)."""
    columns: np.ndarray
    """Columns of the joints, shape (nu, 24)."""
    fall: np.ndarray
    """Acceleration of gravity, times the factor of all forces, shape (3,)."""
    still: Workspace
    """Links at the same places, at rest."""
    force: np.ndarray
    """Generalised forces to which M⁻¹ is applied, shape (nu,)."""
    solve: Bound
    """Pass that applies M⁻¹ to ``force`` and writes the result to ``solution``."""
    solution: np.ndarray
    """M⁻¹ times ``force``, shape (nu,)."""
    passes: tuple[Bound, ...]
    """Passes that compute these arrays from coordinates and speeds, except ``force`` and ``solution``."""


def modal_point(e: Evaluator, q: np.ndarray, u: np.ndarray, time: np.ndarray, acting: Acting = ALL) -> ModalPoint:
    """Build the passes for the forces on the links, the accelerations and the columns of the joints, and their
    arrays."""
    forest, ws, channels, nu = e.system.forest, e.ws, e.channels, e.model.nu
    friction = channels.wrench[DAMPING], channels.wrench[STOCHASTIC]
    at = At(forest, ws, q, u, time, e.rhs.window, channels, *friction)
    links, fall, one, still = forest.mass.size, acting.factor * e.system.forces.gravity, np.ones(1), workspace(forest)
    udot, columns, acceleration = np.zeros(nu), np.zeros((nu, motion_columns.WIDTH)), np.zeros((links, 6))
    loads = channels.total_joint, channels.total_wrench, fall, one
    force, solution = np.zeros(nu), np.zeros(nu)
    solve = open_solution(e.model, forest, (force, np.zeros((links, 6)), np.zeros(3), one), still, solution)
    passes = [
        place_links.bind(forest, q, ws),
        move_links.bind(forest, u, ws),
        *fill_all(e, at),
        *scaling(e, channels, np.full(8, acting.factor)),
        open_solution(e.model, forest, loads, ws, udot),
        find_motion_columns.bind(forest, u, udot, fall, ws, columns, acceleration),
        place_links.bind(forest, q, still),
        move_links.bind(forest, np.zeros(nu), still),
    ]
    return ModalPoint(udot, acceleration, columns, fall, still, force, solve, solution, tuple(passes))


def modal_adjoint_program(
    e: Evaluator, gradients: Tables, bodies: bool = True, acting: Acting = ALL
) -> tuple[Program, Adjoint]:
    """Build the program of :func:`adjoint_program` for a model with flexible bodies."""
    return adjoint_program(e, gradients, bodies, acting, weighing_modes)


def weighing_modes(e: Evaluator, at: Weighed, gradients: Tables, bodies: bool, acting: Acting = ALL) -> Iterator[Bound]:
    """Yield passes that compute the derivatives of weighted accelerations with respect to the state, and add the
    derivatives with respect to the tables; for tables of links, only if ``bodies`` is true."""
    forest, ws, nu, links = e.system.forest, e.ws, e.model.nu, e.system.forest.mass.size
    assert forest.flexible is not None
    point = modal_point(e, at.q, at.u, at.time, acting)
    still, weight, motion = point.still, point.solution, np.zeros((links, 6))
    by_place, by_velocity, by_acceleration, by_virtual = (np.zeros((links, 6)) for _ in range(4))
    yield from point.passes
    yield copy_row.bind(at.u_weight, point.force)
    yield point.solve
    yield move_links.bind(forest, weight, still)
    yield begin_derivatives.bind(still, motion, by_place, by_velocity, at.by_coordinate, at.by_speed)
    pushed = weight, motion
    if acting.scaled:
        pushed = np.zeros(nu), np.zeros((links, 6))
        yield multiply.bind(acting.factor, weight, motion, *pushed)
        acted = e.channels.total_joint, e.channels.total_wrench, weight, motion
        yield factor_adjoint.bind(1.0 / acting.factor, *acted, gradients.factor)
    by = by_place, by_velocity, at.by_coordinate, at.by_speed
    power = AdjointAt(forest, ws, at.q, at.u, at.time, *pushed, *by, links_of(gradients) if bodies else None)
    yield from powers_adjoint(e, gradients, power, acting)
    yield modal_springs_adjoint.bind(forest, pushed[0], *by[2:])
    fallen = acting.factor, e.system.forces.gravity
    yield fall_adjoint.bind(forest, still, *fallen, gradients.gravity, gradients.factor)
    moving = forest, ws, still, point.udot, at.u, weight
    yield weigh_inertia.bind(*moving, e.channels.total_wrench, *by[:2], by_acceleration, by_virtual, *by[2:])
    yield project_accelerations.bind(forest, ws, point.columns, by_acceleration, *by[2:])
    yield project_powers.bind(forest, ws, point.columns, *by)
    yield project_virtual.bind(forest, ws, point.columns, weight, motion, by_virtual, at.by_coordinate)
    columns = np.zeros((forest.flexible.displacement.shape[0], mode_columns.WIDTH))
    yield find_mode_columns.bind(forest, ws, point.udot, columns)
    yield project_on_modes.bind(forest, still, columns, *by[:2], by_acceleration, by_virtual, *by[2:])
    if bodies:
        frames, acceleration = (gradients.position, gradients.turn), point.acceleration
        yield inertia_adjoint.bind(ws, acceleration, motion, gradients.mass, gradients.moment, gradients.inertia)
        yield frame_power_adjoint.bind(forest, ws, *by[:2], *frames)
        yield frame_power_adjoint.bind(forest, still, np.zeros((links, 6)), by_virtual, *frames)
        yield frame_acceleration_adjoint.bind(forest, ws, point.fall, acceleration, by_acceleration, *frames)


@pass_of
def begin_derivatives(still, motion, by_place, by_velocity, by_coordinate, by_speed):
    """Compute the motion of the links at the speeds λ (links, 6), angular part first, and set the derivatives to
    zero."""
    for i in range(motion.shape[0]):
        store_motion(motion, i, 0, load_from(still.twist, i, 3), load_from(still.twist, i, 0))
        for k in range(6):
            by_place[i, k], by_velocity[i, k] = 0.0, 0.0
    for k in range(by_speed.size):
        by_coordinate[k], by_speed[k] = 0.0, 0.0


@pass_of
def modal_springs_adjoint(forest, weight, by_coordinate, by_speed):
    """Add the derivatives −K λ and −D λ of the virtual power of modal stiffness and damping."""
    tables = forest.flexible
    subtract_products(tables, tables.stiffness, weight, tables.u_start, by_coordinate)
    subtract_products(tables, tables.damping, weight, tables.u_start, by_speed)


@pass_of
def fall_adjoint(forest, still, factor, gravity, by_gravity, by_factor):
    """Add the derivatives of the virtual power of gravity, for links that move at the speeds λ. They are taken with
    respect to the acceleration of gravity and to the factor of all forces."""
    by_gravity[0] += factor * gravity_power(forest, (1.0, 0.0, 0.0), still)
    by_gravity[1] += factor * gravity_power(forest, (0.0, 1.0, 0.0), still)
    by_gravity[2] += factor * gravity_power(forest, (0.0, 0.0, 1.0), still)
    by_factor[0] += gravity_power(forest, gravity, still)


@pass_of
def weigh_inertia(
    forest,
    ws,
    still,
    udot,
    u,
    weight,
    wrench,
    by_place,
    by_velocity,
    by_acceleration,
    by_virtual,
    by_coordinate,
    by_speed,
):
    """Subtract the derivatives of V·W_in + λ·Q_in with respect to places and velocities of links and to modal
    coordinates and speeds. Write the derivatives of P with respect to accelerations and to V, which is W − W_in (links,
    6)."""
    for i in range(forest.parent.size):
        b, R = forest.flexible.body[i], load_matrix(ws.rotation, i)
        w, v = load_from(ws.twist, i, 3), load_from(ws.twist, i, 0)
        moves = (
            apply_t(R, w),
            apply_t(R, load_from(ws.acceleration, i, 0)),
            apply_t(R, load_from(ws.acceleration, i, 3)),
        )
        virtual = apply_t(R, load_from(still.twist, i, 3)), apply_t(R, load_from(still.twist, i, 0))
        n, f, by_w, by_aw, by_a = weigh_link(forest, ws, i, *moves, *virtual)
        if b >= 0:
            n, f, by_w, by_aw, by_a = weigh_modes(
                forest, ws, i, udot, u, weight, moves, virtual, (n, f, by_w, by_aw, by_a), by_coordinate, by_speed
            )
        by_w, by_aw, by_a = apply(R, by_w), scale(-1.0, apply(R, by_aw)), scale(-1.0, apply(R, by_a))
        # a is the acceleration of a point of the body. As a spatial acceleration it changes by ψ'' + 2 ψ'_angular × v.
        turning = add(sub(cross(w, by_aw), by_w), scale(2.0, cross(v, by_a)))
        add_from(by_velocity, i, 3, turning)
        store_motion(by_acceleration, i, 0, by_a, by_aw)
        force, moment = load_from(wrench, i, 0), load_from(wrench, i, 3)
        # These derivatives are in the body frame, which rotates with the body; the wrenches of forces are fixed in the
        # world.
        W, V, turned = load_from(still.twist, i, 3), load_from(still.twist, i, 0), cross(turning, w)
        add_from(by_place, i, 3, add(turned, add(cross(W, moment), cross(V, force))))
        store_motion(by_virtual, i, 0, sub(force, apply(R, f)), sub(moment, apply(R, n)))


@jit
def weigh_link(forest, ws, i, w, aw, a, W, V):
    """Return the inertial wrench (moment, force) of link i without its modes, and the derivatives of its power at the
    virtual velocity (W, V) with respect to the angular velocity and to both accelerations, in the link frame."""
    m, h, A = forest.mass[i], load(ws.modal.moment, i), load_symmetric(ws.modal.inertia, i)
    momentum, swept = symmetric_apply(A, w), cross(w, h)
    n = add(add(symmetric_apply(A, aw), cross(h, a)), cross(w, momentum))
    f = add(add(scale(m, a), cross(aw, h)), cross(w, swept))
    by_w = add(cross(momentum, W), symmetric_apply(A, cross(W, w)))
    by_w = add(by_w, add(cross(swept, V), cross(h, cross(V, w))))
    return n, f, by_w, add(symmetric_apply(A, W), cross(h, V)), add(scale(m, V), cross(W, h))


@jit
def weigh_modes(forest, ws, i, udot, u, weight, moves, virtual, found, by_coordinate, by_speed):
    """Add the contribution of the modes of link i to the results of :func:`weigh_link`, and subtract the derivatives
    with respect to the link's modal coordinates and speeds."""
    tables, (w, aw, a), (W, V), (n, f, by_w, by_aw, by_a) = forest.flexible, moves, virtual, found
    b = tables.body[i]
    first, count, at = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.u_start[b]
    own, pair = tables.own_mode[b], tables.own_pair[b]
    for j in range(count):
        N, S = load_matrix(ws.modal.coriolis, first + j), load(tables.first, own + j)
        faster, speed, virtual_speed = udot[at + j], u[at + j], weight[at + j]
        B, turned, back = axial(N), apply(N, w), apply_t(N, w)
        n = add(add_scaled(n, faster, B), scale(2.0 * speed, turned))
        f = add(add_scaled(f, faster, S), scale(2.0 * speed, cross(w, S)))
        by_w = add(by_w, scale(2.0 * speed, add(apply_t(N, W), cross(S, V))))
        by_w = add_scaled(by_w, -virtual_speed, add(turned, back))
        by_aw, by_a = add_scaled(by_aw, virtual_speed, B), add_scaled(by_a, virtual_speed, S)
        by_rate = 2.0 * (dot(W, turned) + dot(V, cross(w, S)))
        # ∂A/∂η_j = N_j + N_jᵀ and ∂h/∂η_j = S_j.
        by_eta = dot(W, add(apply(N, aw), apply_t(N, aw))) + dot(cross(W, w), add(turned, back))
        by_eta += dot(W, cross(S, a)) + dot(V, add(cross(aw, S), cross(w, cross(w, S))))
        for k in range(count):
            # N_k and B_k change by N1_kj and B1_kj.
            row = pair + k * count + j
            N1, B1 = load_matrix(tables.coriolis_slope, row), load(tables.coupling_slope, row)
            turned = apply(N1, w)
            by_eta += udot[at + k] * dot(W, B1) + 2.0 * u[at + k] * dot(W, turned)
            by_eta += weight[at + k] * (dot(B1, aw) - dot(w, turned))
            by_rate += 2.0 * weight[at + k] * dot(w, B1)
            by_w = add_scaled(by_w, 2.0 * weight[at + k] * speed, B1)
        by_coordinate[at + j] -= by_eta
        by_speed[at + j] -= by_rate
    return n, f, by_w, by_aw, by_a


@pass_of
def project_virtual(forest, ws, columns, weight, motion, by_virtual, by_coordinate):
    """Sum the derivatives of P with respect to virtual velocities (links, 6) towards the roots, and add the result to
    the derivatives with respect to joint coordinates (nu,)."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size - 1, -1, -1):
        p, f, n = parent[i], load_from(by_virtual, i, 0), load_from(by_virtual, i, 3)
        pw, pv = carried_motion(parent, ws, motion, i)
        lw, lv = stays(kinds[i], columns, u_start[i], weight, u_start[i])
        for k in range(u_start[i], u_start[i] + joints.degrees_of_freedom(kinds[i])):
            sw, sv = load_motion(columns, k, SHIFT)
            by_coordinate[k] += power(n, f, *motion_cross(add(pw, lw), add(pv, lv), sw, sv))
        if p >= 0:
            add_from(by_virtual, p, 0, f)
            add_from(by_virtual, p, 3, add(n, cross(load(ws.reach, i), f)))


@pass_of
def project_on_modes(
    forest, still, columns, by_place, by_velocity, by_acceleration, by_virtual, by_coordinate, by_speed
):
    """Add the contributions of the links to the derivatives with respect to modal coordinates and speeds (nu,). The
    arguments are the derivatives with respect to places, velocities, accelerations and virtual velocities of links
    (links, 6), summed over all links that a node carries."""
    for i in range(forest.parent.size):
        if forest.flexible.node[i] < 0:
            continue
        _, count, _, row, _, at = carrying_modes(forest, i)
        a, b = load_from(by_place, i, 0), load_from(by_place, i, 3)
        f, n = load_from(by_velocity, i, 0), load_from(by_velocity, i, 3)
        af, an = load_from(by_acceleration, i, 0), load_from(by_acceleration, i, 3)
        vf, vn = load_from(by_virtual, i, 0), load_from(by_virtual, i, 3)
        rate, shrink, slowing = slowing_of(forest, still, i)
        for j in range(count):
            sw, sv = load_motion(columns, row + j, SHIFT)
            fw, fv = load_motion(columns, row + j, FIRST)
            gw, gv = load_motion(columns, row + j, SECOND)
            hw, hv, _ = first_rate(forest, still, i, row + j, rate, shrink, slowing)
            found = power(b, a, sw, sv) + power(n, f, fw, fv) + power(an, af, gw, gv) + power(vn, vf, hw, hv)
            by_coordinate[at + j] += found
            by_speed[at + j] += power(n, f, sw, sv) + 2.0 * power(an, af, fw, fv)
