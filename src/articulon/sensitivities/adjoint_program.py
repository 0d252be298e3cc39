"""The adjoint of a right-hand side: from weights of q' and u', which are the adjoint variables, it computes derivatives
with respect to coordinates, speeds and parameters, in O(n).

Let w be the weights of u', and λ = M⁻¹ w. The derivative of w·u' has two parts. The first part is the derivative of
−λ·τ, where τ are the joint forces of inverse dynamics at the actual accelerations and with wrenches held fixed while
bodies turn (``dynamics/derivatives/products.py``). The second part is the derivative of the virtual power of the
forces, P = Σ V_i·W_i + λ·τ, where V is the motion of the links at joint speeds λ, held fixed, W are the wrenches on the
links, and τ are here the joint forces that act. Every force adds its derivatives with respect to poses and velocities
of links. Column s of a joint displaces everything that the joint carries, so velocities there change by s × v + ψ'
(``motion_columns.py``). Let the wrenches A = ∂P/∂pose and B = ∂P/∂velocity be summed over all carried links. Then, with
the velocity v and the angular velocity ω,

    ∂P/∂q = s·(A + v × B + ω × B's moment) + ψ'·B,   ∂P/∂u = s·B.

The rates of Euler parameters are e' = ½ e ω (a quaternion product). With weights μ of e', the derivative with respect
to e is −½ μ ω, and the derivative with respect to ω is the vector part of ½ ē μ. A change δe turns the body by
2 ē δe/|e|² in its own frame, so a derivative t in the tangent space of q becomes 2 e t/|e|² with respect to e.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import conjugate, product, quaternion_at, rate
from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_at,
    load_from,
    load_matrix,
    scale,
)
from articulon.dynamics import joints
from articulon.dynamics.armatures import adding_armatures, kept_solution
from articulon.dynamics.derivatives import composites, inverse_mass, motion_columns, products
from articulon.dynamics.derivatives.composites import WRENCH_WIDTH, add_from
from articulon.dynamics.derivatives.derivative_definitions import (
    Carried,
    copy_row,
    factorising,
    find_motion_columns,
    find_transposed_products,
    solve_rows,
)
from articulon.dynamics.derivatives.motion_columns import FIRST, SHIFT, load_motion
from articulon.dynamics.loops.conditions import loop_scratch
from articulon.dynamics.loops.loop_passes import solving_with_loops
from articulon.dynamics.motion_passes import find_motions, move_links, place_links
from articulon.forces.base import AdjointAt, At
from articulon.forces.evaluation import Evaluator
from articulon.forces.filling import fill_all, filling, scaling
from articulon.forces.linear_flow import flow_adjoint
from articulon.forces.stokes_drag import drag_adjoint
from articulon.model.state import DAMPING, STOCHASTIC
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.acting_forces import ALL, Acting
from articulon.sensitivities.frame_derivatives import frame_adjoint, frame_power_adjoint
from articulon.sensitivities.mode_coordinates import finish_modes
from articulon.sensitivities.noise_derivatives import noise_adjoint
from articulon.sensitivities.row_derivatives import (
    HeldRows,
    frame_acceleration_adjoint,
    held_rows,
    holding,
    project_accelerations,
    weigh_loops,
)
from articulon.sensitivities.site_derivatives import sites_adjoint
from articulon.sensitivities.table_gradients import Tables, links_of


class Adjoint(NamedTuple):
    """The adjoint program, and the arrays for its inputs and results."""

    code: np.ndarray
    """Code of the program, shape (passes, 2)."""
    time: np.ndarray
    """Time of the evaluation [time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    q_weight: np.ndarray
    """Weights of q', shape (nq,)."""
    u_weight: np.ndarray
    """Weights of u', shape (nu,)."""
    by_q: np.ndarray
    """Derivatives with respect to the coordinates, shape (nq,); those of Euler parameters have four numbers."""
    by_u: np.ndarray
    """Derivatives with respect to the speeds, shape (nu,)."""


class Weighed(NamedTuple):
    """A state, weights of its accelerations, and arrays for the derivatives with respect to the state."""

    time: np.ndarray
    """Time of the state [time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    u_weight: np.ndarray
    """Weights of u', shape (nu,)."""
    by_coordinate: np.ndarray
    """Derivatives with respect to the coordinates in their tangent space, shape (nu,)."""
    by_speed: np.ndarray
    """Derivatives with respect to the speeds, shape (nu,)."""


Weighing = Callable[[Evaluator, Weighed, Tables, bool, Acting], Iterable[Bound]]
"""Function that yields the passes of :func:`weighing`, or of the corresponding function for flexible bodies."""


def adjoint_program(
    e: Evaluator, gradients: Tables, bodies: bool = True, acting: Acting = ALL, weigh: Weighing | None = None
) -> tuple[Program, Adjoint]:
    """Build the adjoint of the right-hand side of a model with the selected forces. Return the program, which the
    caller must keep alive, and its arrays. The program adds derivatives with respect to the numbers of the model's
    tables to ``gradients``; derivatives with respect to the numbers of links are computed only if ``bodies`` are
    parameters. ``weigh`` replaces :func:`weighing` unless it is None."""
    forest, nq, nu = e.system.forest, e.model.nq, e.model.nu
    found = Adjoint(np.zeros((0, 2), dtype=np.int64), np.zeros(1), *(np.zeros(n) for n in (nq, nu, nq, nu, nq, nu)))
    by = np.zeros(nu), np.zeros(nu)
    at = Weighed(found.time, found.q, found.u, found.u_weight, *by)
    passes = list((weigh or weighing)(e, at, gradients, bodies, acting))
    passes.append(finish.bind(forest, found.q, found.u, found.q_weight, *by, found.by_q, found.by_u))
    if forest.flexible is not None:
        passes.append(finish_modes.bind(forest, found.q_weight, *by, found.by_q, found.by_u))
    program = Program(passes)
    return program, found._replace(code=program.code)


class Point(NamedTuple):
    """Quantities at a state that derivatives need, and the passes that compute them."""

    weights: np.ndarray
    """Scratch array to which M⁻¹ is applied, shape (nu,)."""
    factors: np.ndarray
    """Factors of the inverse mass matrix M⁻¹, shape (nu, 7)."""
    carried: Carried
    """The links, their motion columns, and scratch."""
    passes: tuple[Bound, ...]
    """Passes that compute these quantities from coordinates and speeds."""
    held: HeldRows | None
    """Rows of loop constraints and driven joints; None if there are none."""


def point_of(e: Evaluator, q: np.ndarray, u: np.ndarray, time: np.ndarray, acting: Acting = ALL) -> Point:
    """Prepare the links under their forces, their accelerations, their motion columns, and the factors of M⁻¹."""
    forest, forces, ws, channels = e.system.forest, e.system.forces, e.ws, e.channels
    links, nu, factor, ones = forest.mass.size, e.model.nu, np.full(8, acting.factor), np.ones(1)
    gravity = acting.factor * forces.gravity
    friction = channels.wrench[DAMPING], channels.wrench[STOCHASTIC]
    # Noise is that of the right-hand side's window. Without resistance there is no noise.
    window = e.rhs.window if acting.resistance else np.zeros(1, dtype=np.int64)
    at = At(forest, ws, q, u, time, window, channels, *friction)
    udot, articulated = np.zeros(nu), np.zeros((links, inverse_mass.ARTICULATED))
    columns, acceleration = np.zeros((nu, motion_columns.WIDTH)), np.zeros((links, 6))
    composite, factors = np.zeros((links, composites.WIDTH)), np.zeros((nu, inverse_mass.FACTORS))
    loops, loads = e.system.loops, (channels.total_joint, channels.total_wrench, gravity, ones)
    looped, wrench = bool(loops.kind.size), channels.total_wrench
    given = np.zeros((links if forces.wrench_channels.size or looped else 0, WRENCH_WIDTH))
    if looped:
        rows = loop_scratch(forest, loops, e.system.motions, nu)
        wrench, articulated = rows.total, rows.articulated
        solved = [find_motions.bind(e.system.motions, e.motion_functions, time, rows.motion)]
        solved += solving_with_loops(forest, loops, loads, ws, rows, udot, adding_armatures(e.model, loads[0]))
    else:
        solved = [kept_solution(e.model, forest, loads, ws, udot, articulated)]
    passes = [
        place_links.bind(forest, q, ws),
        move_links.bind(forest, u, ws),
        *(fill_all(e, at) if acting.resistance else filling(e, at, resistance=False)),
        *scaling(e, channels, factor),
        *solved,
        find_motion_columns.bind(forest, u, udot, gravity, ws, columns, acceleration),
        factorising(e.model, forest, columns, articulated, factors),
    ]
    if given.size:
        passes.append(keep_wrenches.bind(wrench, given))
    carried = Carried(forest, wrench, ws, columns, acceleration, composite, np.zeros_like(given), given)
    held = held_rows(loops, rows, links, nu) if looped else None
    return Point(np.zeros(nu), factors, carried, tuple(passes), held)


def weighing(e: Evaluator, at: Weighed, gradients: Tables, bodies: bool, acting: Acting = ALL) -> Iterator[Bound]:
    """Yield passes that compute the derivatives of weighted accelerations under the selected forces with respect to the
    state, and add the derivatives with respect to the tables. Derivatives with respect to the numbers of links are
    added only if ``bodies`` are parameters."""
    forest, forces, ws = e.system.forest, e.system.forces, e.ws
    links, nu = forest.mass.size, e.model.nu
    weight, factors, carried, passes, held = point_of(e, at.q, at.u, at.time, acting)
    motion, rows = np.zeros((links, 6)), np.zeros((links, products.WIDTH))
    by_q, by_u = np.zeros(nu), np.zeros(nu)
    yield from passes
    yield copy_row.bind(at.u_weight, weight)
    yield solve_rows.bind(forest, ws, carried.columns, factors, weight[None], np.zeros((links, 6)))
    if held is not None:
        yield from holding(forest, ws, carried.columns, factors, held, weight)
    yield find_transposed_products.bind(*carried, weight, motion, rows, by_q, by_u)
    pushed = weight, motion
    if acting.scaled:
        pushed = np.zeros(nu), np.zeros((links, 6))
        yield multiply.bind(acting.factor, weight, motion, *pushed)
        acted = e.channels.total_joint, e.channels.total_wrench, weight, motion
        yield factor_adjoint.bind(1.0 / acting.factor, *acted, gradients.factor)
        yield weight_adjoint.bind(forest, ws, forces.gravity, motion, gradients.factor)
    by = np.zeros((links, 6)), np.zeros((links, 6)), at.by_coordinate, at.by_speed
    by_links = links_of(gradients) if bodies else None
    power = AdjointAt(forest, ws, at.q, at.u, at.time, *pushed, *by, by_links)
    yield begin.bind(by_q, by_u, *by)
    yield from powers_adjoint(e, gradients, power, acting)
    yield gravity_adjoint.bind(forest, ws, pushed[1], gradients.gravity)
    fall, of_accelerations = acting.factor * forces.gravity, np.zeros((links, 6))
    if held is not None:
        own = held.exerted, held.arrays.wrench, held.arrays.multiplier, motion, carried.acceleration, fall
        summed = held.arrays.tau, *by[:2], of_accelerations
        yield weigh_loops.bind(held.loops, ws, *own, *summed, gradients.rows)
        yield project_accelerations.bind(forest, ws, carried.columns, of_accelerations, *by[2:])
    yield project_powers.bind(forest, ws, carried.columns, *by)
    if bodies:
        acceleration = carried.acceleration
        of_mass = gradients.mass, gradients.moment, gradients.inertia
        yield inertia_adjoint.bind(ws, acceleration, motion, *of_mass)
        frames = gradients.position, gradients.turn
        stays = fall, acceleration, carried.composite, carried.loads, motion, rows
        yield frame_adjoint.bind(forest, ws, *stays, *frames)
        yield frame_power_adjoint.bind(forest, ws, *by[:2], *frames)
        if held is not None:
            yield frame_acceleration_adjoint.bind(forest, ws, fall, acceleration, of_accelerations, *frames)


def powers_adjoint(e: Evaluator, gradients: Tables, power: AdjointAt, acting: Acting) -> Iterator[Bound]:
    """Yield passes that add the derivatives of the virtual power of all selected forces except gravity, for the poses
    of the links at which the forces were last computed."""
    forces, ws, motion, by_place = e.system.forces, e.ws, power.motion, power.by_place
    yield from forces_adjoint(e, gradients, power, acting, found=True)
    if acting.resistance and forces.drag.link.size:
        yield drag_adjoint.bind(forces.drag, gradients.drag, ws, motion, by_place, power.by_velocity)
    if acting.resistance and forces.flow is not None:
        yield flow_adjoint.bind(forces.flow, gradients.flow, ws, motion, by_place)
    if acting.resistance and forces.noise.choice[0]:
        noisy = forces.drag, forces.noise, ws, e.channels.held, motion
        yield noise_adjoint.bind(*noisy, by_place, gradients.drag.centre, gradients.noise)


def forces_adjoint(
    e: Evaluator, gradients: Tables, power: AdjointAt, acting: Acting, found: bool = False
) -> Iterator[Bound]:
    """Yield passes that add the derivatives of the virtual power of all forces except drag and gravity. ``found`` tells
    that the forces between sites were last computed at the same poses of the links; they are then not computed
    again."""
    for (kind, table), gradient in zip(e.system.forces.terms, gradients.terms, strict=True):
        if acting.resistance or kind.resistance != "joints":
            yield from kind.adjoint(table, gradient, power)
    yield from sites_adjoint(e, gradients.sites, power, found)


@pass_of
def factor_adjoint(factor, tau, wrench, weight, motion, gradient):
    """Add the virtual power λ·τ + Σ V·W, times a factor."""
    power = 0.0
    for k in range(tau.size):
        power += weight[k] * tau[k]
    for i in range(motion.shape[0]):
        w, v = load_motion(motion, i, 0)
        power += dot(v, load_from(wrench, i, 0)) + dot(w, load_from(wrench, i, 3))
    gradient[0] += factor * power


@pass_of
def weight_adjoint(forest, ws, gravity, motion, gradient):
    """Add the virtual power of gravity."""
    g = load_at(gravity, 0)
    for i in range(forest.mass.size):
        w, v = load_motion(motion, i, 0)
        h = apply(load_matrix(ws.rotation, i), load(forest.moment, i))
        gradient[0] += dot(g, add(scale(forest.mass[i], v), cross(w, h)))


@pass_of
def multiply(factor, weight, motion, pushed, moved):
    """Multiply joint speeds (nu,), and the motion of the links at these speeds (links, 6), by the factor of the
    forces."""
    for k in range(weight.size):
        pushed[k] = factor * weight[k]
    for i in range(motion.shape[0]):
        for k in range(6):
            moved[i, k] = factor * motion[i, k]


@pass_of
def keep_wrenches(wrench, given):
    """Store wrenches on links (links, 6), force first, in the form in which ``composites.py`` reads wrenches that are
    held fixed."""
    for i in range(wrench.shape[0]):
        for k in range(6):
            given[i, k] = wrench[i, k]


@pass_of
def begin(by_q, by_u, by_place, by_velocity, by_coordinate, by_speed):
    """Initialise the derivatives of P with the derivatives of −λ·τ of inverse dynamics (nu,)."""
    for i in range(by_place.shape[0]):
        for k in range(6):
            by_place[i, k], by_velocity[i, k] = 0.0, 0.0
    for k in range(by_speed.size):
        by_coordinate[k], by_speed[k] = -by_q[k], -by_u[k]


@pass_of
def gravity_adjoint(forest, ws, motion, gradient):
    """Add the derivative ∂P/∂g = Σ m V + Ω × h, with mass m, first moment h, virtual velocity V and angular velocity
    Ω."""
    for i in range(forest.mass.size):
        w, v = load_motion(motion, i, 0)
        h = apply(load_matrix(ws.rotation, i), load(forest.moment, i))
        part = add(scale(forest.mass[i], v), cross(w, h))
        gradient[0] += part[0]
        gradient[1] += part[1]
        gradient[2] += part[2]


@pass_of
def project_powers(forest, ws, columns, by_place, by_velocity, by_coordinate, by_speed):
    """Sum the derivatives of P with respect to poses and velocities of links (links, 6) towards the roots, and add them
    to the derivatives with respect to joint coordinates and speeds."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):
        v, w = load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
        turning = add(cross(v, load_from(by_velocity, i, 0)), cross(w, load_from(by_velocity, i, 3)))
        add_from(by_place, i, 3, turning)
    for i in range(parent.size - 1, -1, -1):
        p = parent[i]
        f, n = load_from(by_velocity, i, 0), load_from(by_velocity, i, 3)
        a, b = load_from(by_place, i, 0), load_from(by_place, i, 3)
        for k in range(u_start[i], u_start[i] + joints.degrees_of_freedom(kinds[i])):
            sw, sv = load_motion(columns, k, SHIFT)
            fw, fv = load_motion(columns, k, FIRST)
            by_coordinate[k] += dot(sw, b) + dot(sv, a) + dot(fw, n) + dot(fv, f)
            by_speed[k] += dot(sw, n) + dot(sv, f)
        if p >= 0:
            r = load(ws.reach, i)
            add_from(by_velocity, p, 0, f)
            add_from(by_velocity, p, 3, add(n, cross(r, f)))
            add_from(by_place, p, 0, a)
            add_from(by_place, p, 3, add(b, cross(r, a)))


@pass_of
def inertia_adjoint(ws, acceleration, motion, by_mass, by_moment, by_inertia):
    """Subtract the derivatives of V·(I a + v × I v) with respect to masses, first moments and inertias in the links'
    frames. I are spatial inertias, and V, a and v spatial motions, about the links' origins."""
    for i in range(by_mass.size):
        R = load_matrix(ws.rotation, i)
        v, w = load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
        (aw, av), (turn, way) = load_motion(acceleration, i, 0), load_motion(motion, i, 0)
        crossed = cross(turn, w)
        by_mass[i] -= dot(way, add(av, cross(w, v)))
        h = add(add(cross(way, aw), cross(w, cross(w, way))), add(cross(av, turn), cross(v, crossed)))
        h = apply_t(R, add(h, cross(cross(turn, v), w)))
        for k in range(3):
            by_moment[i, k] -= h[k]
        a, b, c, d = apply_t(R, turn), apply_t(R, aw), apply_t(R, crossed), apply_t(R, w)
        by_inertia[i, 0] -= a[0] * b[0] + c[0] * d[0]
        by_inertia[i, 1] -= a[0] * b[1] + a[1] * b[0] + c[0] * d[1] + c[1] * d[0]
        by_inertia[i, 2] -= a[0] * b[2] + a[2] * b[0] + c[0] * d[2] + c[2] * d[0]
        by_inertia[i, 3] -= a[1] * b[1] + c[1] * d[1]
        by_inertia[i, 4] -= a[1] * b[2] + a[2] * b[1] + c[1] * d[2] + c[2] * d[1]
        by_inertia[i, 5] -= a[2] * b[2] + c[2] * d[2]


@pass_of
def finish(forest, q, u, q_weight, by_coordinate, by_speed, by_q, by_u):
    """Compute derivatives with respect to coordinates (nq,) and speeds (nu,), including the contributions of weighted
    q'."""
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for i in range(kinds.size):
        kind, k, j = kinds[i], q_start[i], u_start[i]
        count, moves = joints.degrees_of_freedom(kind), joints.quaternion(kind)
        if moves < 0:
            moves = count
        for m in range(moves):
            by_q[k + m], by_u[j + m] = by_coordinate[j + m], by_speed[j + m] + q_weight[k + m]
        if moves < count:
            k, j = k + moves, j + moves
            e, mu = quaternion_at(q, k), quaternion_at(q_weight, k)
            w, t = load_at(u, j), load_at(by_coordinate, j)
            s = 4.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
            turned, rated, speed = rate(e, t), rate(mu, w), product(conjugate(e), mu)
            for m in range(4):
                by_q[k + m] = s * turned[m] - rated[m]
            for m in range(3):
                by_u[j + m] = by_speed[j + m] + 0.5 * speed[1 + m]
