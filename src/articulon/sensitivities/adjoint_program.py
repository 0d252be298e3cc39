"""The adjoint of a right-hand side: what weights of q' and u' are to coordinates, speeds and parameters, in O(n).

With weights w of u' and λ = M⁻¹ w, the derivative of w·u' is that of −λ·τ of inverse dynamics at the accelerations
that there are, with wrenches that stay as they are while bodies turn (``dynamics/derivatives/products.py``), and what
the virtual power P = Σ V_i·W_i + λ·τ of the forces changes by, V being the motion of the links by λ, which is held:
every force adds that by places and velocities of links. As column s of a joint displaces all that it carries, the
velocities there change by s × v + ψ' (``motion_columns.py``), so that with wrenches A = ∂P by places and B by
velocities, summed over all that is carried,

    ∂P/∂q = s·(A + v × B + ω × B's moment) + ψ'·B,   ∂P/∂u = s·B.

The rates of Euler parameters are e' = ½ e ω, products of quaternions, and their adjoint is −½ μ ω by e and the vector
of ½ ē μ by ω. A change of e turns the body by 2 ē δe/|e|² in its frame: what is found in the tangent space of q is
e t times 2/|e|² by e.
"""

from collections.abc import Iterator
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
from articulon.sensitivities.table_gradients import Tables


class Adjoint(NamedTuple):
    """The program, and the arrays through which it is called."""

    code: np.ndarray
    """Of the program, shape (passes, 2)."""
    time: np.ndarray
    """[time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    q_weight: np.ndarray
    """Weights of q', shape (nq,)."""
    u_weight: np.ndarray
    """Weights of u', shape (nu,)."""
    by_q: np.ndarray
    """Derivatives by the coordinates, Euler parameters one by one, shape (nq,)."""
    by_u: np.ndarray
    """Derivatives by the speeds, shape (nu,)."""


def adjoint_program(
    e: Evaluator, gradients: Tables, bodies: bool = True, acting: Acting = ALL
) -> tuple[Program, Adjoint]:
    """The adjoint of the right-hand side of a model with these forces, and the program, which is to be kept; it adds
    derivatives by the numbers of the model's tables to ``gradients``, those of its links only where ``bodies`` are
    parameters."""
    nq, nu = e.model.nq, e.model.nu
    found = Adjoint(np.zeros((0, 2), dtype=np.int64), np.zeros(1), *(np.zeros(n) for n in (nq, nu, nq, nu, nq, nu)))
    program = Program(_passes(e, found, gradients, bodies, acting))
    return program, found._replace(code=program.code)


class Point(NamedTuple):
    """What derivatives at a state read, and how it is found."""

    weights: np.ndarray
    """Scratch in which M⁻¹ is applied, shape (nu,)."""
    factors: np.ndarray
    """Of M⁻¹, shape (nu, 7)."""
    carried: Carried
    """The links, their columns, and scratch."""
    passes: tuple[Bound, ...]
    """What finds them, of coordinates and speeds."""
    held: HeldRows | None
    """The rows of loops and driven joints, where there are some."""


def point_of(e: Evaluator, q: np.ndarray, u: np.ndarray, time: np.ndarray, acting: Acting = ALL) -> Point:
    """Links under their forces, their accelerations, columns, and factors of M⁻¹."""
    forest, forces, ws, channels = e.system.forest, e.system.forces, e.ws, e.channels
    links, nu, factor, ones = forest.mass.size, e.model.nu, np.full(8, acting.factor), np.ones(1)
    gravity = acting.factor * forces.gravity
    friction = channels.wrench[DAMPING], channels.wrench[STOCHASTIC]
    # Noise is that of the window in which the right-hand side is; without resistance there is none.
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


class Weighed(NamedTuple):
    """A state, weights of its accelerations, and where what these are to it is written."""

    time: np.ndarray
    """[time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    u_weight: np.ndarray
    """Weights of u', shape (nu,)."""
    by_coordinate: np.ndarray
    """Derivatives by the coordinates in their tangent space, shape (nu,)."""
    by_speed: np.ndarray
    """Derivatives by the speeds, shape (nu,)."""


def _passes(e: Evaluator, found: Adjoint, gradients: Tables, bodies: bool, acting: Acting) -> Iterator[Bound]:
    by_coordinate, by_speed = np.zeros(e.model.nu), np.zeros(e.model.nu)
    at = Weighed(found.time, found.q, found.u, found.u_weight, by_coordinate, by_speed)
    yield from weighing(e, at, gradients, bodies, acting)
    yield finish.bind(
        e.system.forest, found.q, found.u, found.q_weight, by_coordinate, by_speed, found.by_q, found.by_u
    )


def weighing(e: Evaluator, at: Weighed, gradients: Tables, bodies: bool, acting: Acting = ALL) -> Iterator[Bound]:
    """Passes that find what the accelerations by some forces change by with the state, and add what they change by with
    the tables, those of links only where ``bodies`` are parameters."""
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
    by = *(np.zeros((links, 6)) for _ in range(2)), at.by_coordinate, at.by_speed
    power = AdjointAt(forest, ws, at.q, at.u, at.time, *pushed, *by)
    yield begin.bind(by_q, by_u, *by)
    yield from forces_adjoint(e, gradients, power, acting, found=True)
    if acting.resistance and forces.drag.link.size:
        yield drag_adjoint.bind(forces.drag, gradients.drag, ws, pushed[1], *by[:2])
    if acting.resistance and forces.flow is not None:
        yield flow_adjoint.bind(forces.flow, gradients.flow, ws, pushed[1], by[0])
    if acting.resistance and forces.noise.choice[0]:
        noisy = forces.drag, forces.noise, ws, e.channels.held, pushed[1]
        yield noise_adjoint.bind(*noisy, by[0], gradients.drag.centre, gradients.noise)
    yield gravity_adjoint.bind(forest, ws, pushed[1], gradients.gravity)
    fall, of_accelerations = acting.factor * forces.gravity, np.zeros((links, 6))
    if held is not None:
        own = held.arrays.multiplier, held.arrays.wrench, held.multiplier, motion, carried.acceleration, fall
        summed = held.driving, *by[:2], of_accelerations
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


def forces_adjoint(
    e: Evaluator, gradients: Tables, power: AdjointAt, acting: Acting, found: bool = False
) -> Iterator[Bound]:
    """Passes that add what the virtual power of forces changes by, but for drag and gravity; where these have been
    ``found`` at the same links last, those between sites are not found anew."""
    for (kind, table), gradient in zip(e.system.forces.terms, gradients.terms, strict=True):
        if acting.resistance or kind.resistance != "joints":
            yield from kind.adjoint(table, gradient, power)
    yield from sites_adjoint(e, gradients.sites, power, found)


@pass_of
def factor_adjoint(factor, tau, wrench, weight, motion, gradient):
    """Adds λ·τ + Σ V·W, times a factor."""
    power = 0.0
    for k in range(tau.size):
        power += weight[k] * tau[k]
    for i in range(motion.shape[0]):
        w, v = load_motion(motion, i, 0)
        power += dot(v, load_from(wrench, i, 0)) + dot(w, load_from(wrench, i, 3))
    gradient[0] += factor * power


@pass_of
def weight_adjoint(forest, ws, gravity, motion, gradient):
    """Adds the virtual power of gravity."""
    g = load_at(gravity, 0)
    for i in range(forest.mass.size):
        w, v = load_motion(motion, i, 0)
        h = apply(load_matrix(ws.rotation, i), load(forest.moment, i))
        gradient[0] += dot(g, add(scale(forest.mass[i], v), cross(w, h)))


@pass_of
def multiply(factor, weight, motion, pushed, moved):
    """Joint speeds (nu,) and the motion of links by them (links, 6), times the factor of the forces."""
    for k in range(weight.size):
        pushed[k] = factor * weight[k]
    for i in range(motion.shape[0]):
        for k in range(6):
            moved[i, k] = factor * motion[i, k]


@pass_of
def keep_wrenches(wrench, given):
    """Wrenches on links (links, 6), force first, as ``composites.py`` has those that stay as they are."""
    for i in range(wrench.shape[0]):
        for k in range(6):
            given[i, k] = wrench[i, k]


@pass_of
def begin(by_q, by_u, by_place, by_velocity, by_coordinate, by_speed):
    """Begins the derivatives of P with those of −λ·τ of inverse dynamics (nu,)."""
    for i in range(by_place.shape[0]):
        for k in range(6):
            by_place[i, k], by_velocity[i, k] = 0.0, 0.0
    for k in range(by_speed.size):
        by_coordinate[k], by_speed[k] = -by_q[k], -by_u[k]


@pass_of
def gravity_adjoint(forest, ws, motion, gradient):
    """Adds ∂P/∂g = Σ m V + Ω × h."""
    for i in range(forest.mass.size):
        w, v = load_motion(motion, i, 0)
        h = apply(load_matrix(ws.rotation, i), load(forest.moment, i))
        part = add(scale(forest.mass[i], v), cross(w, h))
        gradient[0] += part[0]
        gradient[1] += part[1]
        gradient[2] += part[2]


@pass_of
def project_powers(forest, ws, columns, by_place, by_velocity, by_coordinate, by_speed):
    """Adds ∂P by places and velocities of links (links, 6), which are summed towards the roots, to those by the
    joints."""
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
    """Takes the derivatives of V·(I a + v × I v), with spatial motions about the links' origins, by masses, first
    moments and inertias in the links' frames."""
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
    """Derivatives by coordinates (nq,) and speeds (nu,), of the weights of q' too."""
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
