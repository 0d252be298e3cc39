"""Derivatives of the projection that moves the state back onto loop constraints and prescribed motions after a step.

The coordinates are moved in iterations, q⁺ = q ∘ x. Each x is the smallest move, in the metric of the mass matrix M,
that removes the constraint errors φ to first order. Then the speeds are moved once, u⁺ = u + x
(``dynamics/loops/loop_passes.py``). With the Jacobian J of the constraints, multipliers ν and prescribed velocities
v(t),

        M x = Jᵀ ν,   J x = −φ(q)   for the coordinates,   J (u + x) = v(t)   for the speeds.

Each move is differentiated exactly, including terms that are proportional to x and therefore small. At x = 0 the
derivative is the projection 1 − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ J. Let y = x for the coordinates and y = u + x for the speeds. Then
x is an acceleration of links at rest under the forces of the constraint rows, as in ``row_derivatives.py``. With
weights w of x, let p = M⁻¹ (w + Jᵀ μ), with multipliers μ for which J p = 0. Then

        w·δx = −p·δ(M x − Jᵀ ν) + μ·(δ(J y) + δφ)     at fixed x, ν and y; without δφ for the speeds.

The derivative with respect to u is Jᵀ μ. All derivatives are in the tangent space of q, because Euler parameters have
unit length before and after the projection.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import exponential, matrix
from articulon.algebra.vectors import add, apply, apply_t, copy_into, load_at, scale, store_at
from articulon.dynamics import joints
from articulon.dynamics.armatures import adding_armatures
from articulon.dynamics.derivatives import composites, inverse_mass, motion_columns, products
from articulon.dynamics.derivatives.composites import WRENCH_WIDTH
from articulon.dynamics.derivatives.derivative_definitions import (
    copy_row,
    factorising,
    find_products,
    find_separate_columns,
    find_transposed_products,
    solve_rows,
)
from articulon.dynamics.derivatives.loop_row_products import (
    change_forces,
    change_rate,
    change_residual,
    weigh_rates,
    weigh_residuals,
)
from articulon.dynamics.derivatives.products import move_by
from articulon.dynamics.loops.conditions import add_loop_forces, loop_scratch
from articulon.dynamics.loops.constrained_articulated import at_rest
from articulon.dynamics.loops.loop_passes import NO_GRAVITY, factoring_under
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.dynamics.newton_euler import project_on_joints
from articulon.dynamics.state_functions import clear
from articulon.forces.evaluation import Evaluator
from articulon.kernels import jit
from articulon.model import Workspace, workspace
from articulon.model.loop_declarations import DRIVE
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.adjoint_program import begin, inertia_adjoint, keep_wrenches, project_powers
from articulon.sensitivities.drift_derivatives import left_jacobian, turns_freely
from articulon.sensitivities.frame_derivatives import (
    frame_adjoint,
    frame_power_adjoint,
    frame_scratch,
    frame_tangent,
)
from articulon.sensitivities.row_derivatives import HeldRows, held_rows, holding
from articulon.sensitivities.table_gradients import Tables
from articulon.sensitivities.tangent_program import change_twists, clear_changes, displace, inertia_tangent
from articulon.sensitivities.turning_derivatives import spread_shift

NOTHING = np.zeros((0, 2), dtype=np.int64)


class Move(NamedTuple):
    """One move onto the constraints, of coordinates or of speeds, and the programs that differentiate it."""

    point: np.ndarray
    """Code of the program that computes the quantities that derivatives at the state need, shape (passes, 2)."""
    code: np.ndarray
    """Code of the program that computes the derivatives of the weighted x, or the change of x, shape (passes, 2)."""
    q: np.ndarray
    """Coordinates of the links, shape (nq,)."""
    x: np.ndarray
    """The move x, shape (nu,)."""
    exerted: np.ndarray
    """Multipliers ν, shape (rows,)."""
    y: np.ndarray
    """Vector y in the product J y, shape (nu,)."""
    weight: np.ndarray
    """Weights of x, or the change of x, shape (nu,)."""
    by_shift: np.ndarray
    """Derivatives with respect to the coordinates in their tangent space, or changes of the coordinates, shape
    (nu,)."""
    by_speed: np.ndarray
    """Derivatives with respect to y, or changes of y, shape (nu,)."""


class _Point(NamedTuple):
    """Quantities that derivatives of a move need."""

    ws: Workspace
    """Workspace of the links that move with joint speeds y."""
    still: Workspace
    """Workspace of the same links at rest."""
    columns: np.ndarray
    """Motion columns of links at rest with the joint accelerations x, shape (nu, 24)."""
    moving: np.ndarray
    """Motion columns of links that move with joint speeds y, shape (nu, 24)."""
    acceleration: np.ndarray
    """Accelerations of the links due to x, shape (links, 6)."""
    factors: np.ndarray
    """Factors of M⁻¹, shape (nu, 7)."""
    wrench: np.ndarray
    """Wrenches of the rows with multipliers ν, shape (links, 6)."""
    given: np.ndarray
    """The same wrenches, in the form of wrenches that are held fixed while bodies turn, shape (links, 15)."""
    held: HeldRows
    """The constraint rows."""
    passes: tuple[Bound, ...]
    """Passes that compute these quantities."""


def _move(nq: int, nu: int, rows: int) -> Move:
    return Move(NOTHING, NOTHING, *(np.zeros(n) for n in (nq, nu, rows, nu, nu, nu, nu)))


def _point(e: Evaluator, move: Move) -> _Point:
    forest, loops, motions = e.system.forest, e.system.loops, e.system.motions
    links, nu, ws = forest.mass.size, e.model.nu, workspace(forest)
    arrays = loop_scratch(forest, loops, motions, nu)
    still, held = at_rest.py_func(ws, arrays), held_rows(loops, arrays, links, nu)
    columns, moving = (np.zeros((nu, motion_columns.WIDTH)) for _ in range(2))
    acceleration, wrench, given = (np.zeros((links, n)) for n in (6, 6, WRENCH_WIDTH))
    factors = np.zeros((nu, inverse_mass.FACTORS))
    loads = arrays.tau, arrays.total, *NO_GRAVITY
    passes = (
        place_links.bind(forest, move.q, ws),
        *factoring_under(forest, loops, loads, still, arrays, arrays.response, adding_armatures(e.model, arrays.tau)),
        exert.bind(loops, arrays, move.exerted, held.arrays.tau, wrench),
        keep_wrenches.bind(wrench, given),
        move_links.bind(forest, move.y, ws),
        find_separate_columns.bind(forest, move.y, move.x, ws, moving, columns, acceleration),
        factorising(e.model, forest, columns, arrays.articulated, factors),
    )
    return _Point(ws, still, columns, moving, acceleration, factors, wrench, given, held, passes)


def _weighing(e: Evaluator, at: _Point, move: Move, gradients: Tables, bodies: bool, of_q: bool) -> Iterator[Bound]:
    """Yield passes that compute, at the prepared state, the derivatives of a weighted move with respect to the state
    before it, and add the derivatives with respect to the tables."""
    forest, loops = e.system.forest, e.system.loops
    links, nu, held = forest.mass.size, e.model.nu, at.held
    weight, by_q, by_u = (np.zeros(nu) for _ in range(3))
    motion, moved, by_place, by_velocity = (np.zeros((links, 6)) for _ in range(4))
    composite, rows, loads = (np.zeros((links, n)) for n in (composites.WIDTH, products.WIDTH, WRENCH_WIDTH))
    yield copy_row.bind(move.weight, weight)
    yield solve_rows.bind(forest, at.ws, at.columns, at.factors, weight[None], np.zeros((links, 6)))
    yield from holding(forest, at.ws, at.columns, at.factors, held, weight)
    carried = forest, at.wrench, at.still, at.columns, at.acceleration, composite, loads, at.given
    yield find_transposed_products.bind(*carried, weight, motion, rows, by_q, by_u)
    by = by_place, by_velocity, move.by_shift, move.by_speed
    yield begin.bind(by_q, by_u, *by)
    own = at.moving, move.y, moved, held.arrays.wrench, move.exerted, held.arrays.multiplier, motion
    yield weigh_rows.bind(forest, loops, at.ws, *own, by_place, by_velocity, move.by_speed, gradients.rows)
    if of_q:
        yield weigh_residuals.bind(loops, at.ws, held.arrays.multiplier, by_place, move.by_shift, gradients.rows)
    yield project_powers.bind(forest, at.ws, at.moving, *by)
    if bodies:
        of_mass, frames = (gradients.mass, gradients.moment, gradients.inertia), (gradients.position, gradients.turn)
        yield inertia_adjoint.bind(at.still, at.acceleration, motion, *of_mass)
        stays = np.zeros(3), at.acceleration, composite, loads, motion, rows
        yield frame_adjoint.bind(forest, at.still, *stays, *frames)
        yield frame_power_adjoint.bind(forest, at.ws, by_place, by_velocity, *frames)


def _changing(e: Evaluator, at: _Point, move: Move, changes: Tables, of_q: bool) -> Iterator[Bound]:
    """Yield passes that compute the change of a move at the prepared state."""
    forest, loops = e.system.forest, e.system.loops
    links, nu, held = forest.mass.size, e.model.nu, at.held
    q_change, shift, joint = np.zeros(e.model.nq), np.zeros(nu), np.zeros(nu)
    moved, field, twist, wrench = (np.zeros((links, 6)) for _ in range(4))
    frames = changes.position, changes.turn
    yield spread_shift.bind(forest, move.q, move.by_shift, q_change)
    given = move.q, q_change, move.by_speed
    yield displace.bind(forest, at.ws, at.moving, *given, *frames, shift, moved, field)
    yield change_twists.bind(at.ws, moved, field, twist)
    yield clear_changes.bind(wrench, joint)
    own = move.exerted, shift, move.by_speed, moved, twist, changes.rows
    yield change_rows.bind(loops, at.ws, int(of_q), *own, wrench, held.given)
    of_mass = changes.mass, changes.moment, changes.inertia
    yield inertia_tangent.bind(at.still, at.acceleration, *of_mass, wrench)
    pushing = at.wrench, at.still, np.zeros(3), at.acceleration
    yield frame_tangent.bind(forest, *pushing, *frames, *frame_scratch(links), wrench)
    yield project_on_joints.bind(forest, at.still, wrench, move.weight)
    composite, loads = np.zeros((links, composites.WIDTH)), np.zeros((links, WRENCH_WIDTH))
    carried = forest, at.wrench, at.still, at.columns, at.acceleration, composite, loads, at.given
    scratch = np.zeros((links, products.WIDTH)), np.zeros((links, 6))
    yield find_products.bind(*carried, shift, np.zeros(nu), *scratch, move.weight)
    yield solve_rows.bind(forest, at.ws, at.columns, at.factors, move.weight[None], np.zeros((links, 6)))
    yield from holding(forest, at.ws, at.columns, at.factors, held, move.weight)


def weighing_moves(e: Evaluator, gradients: Tables, bodies: bool) -> tuple[tuple[Move, Move], list[Program]]:
    """Return the moves of coordinates and of speeds with their adjoints, and the programs, which the caller must keep
    alive."""
    return _moves(e, lambda at, move, of_q: _weighing(e, at, move, gradients, bodies, of_q))


def changing_moves(e: Evaluator, changes: Tables) -> tuple[tuple[Move, Move], list[Program]]:
    """Return the moves of coordinates and of speeds with their tangents, and the programs, which the caller must keep
    alive."""
    return _moves(e, lambda at, move, of_q: _changing(e, at, move, changes, of_q))


def _moves(
    e: Evaluator, passes: Callable[[_Point, Move, bool], Iterable[Bound]]
) -> tuple[tuple[Move, Move], list[Program]]:
    """Return the moves of coordinates and of speeds with the given passes, and their programs."""
    found: list[Move] = []
    programs: list[Program] = []
    for of_q in (True, False):
        move = _move(e.model.nq, e.model.nu, e.system.loops.kind.size)
        at = _point(e, move)
        both = Program(at.passes), Program(passes(at, move, of_q))
        found.append(move._replace(point=both[0].code, code=both[1].code))
        programs += both
    return (found[0], found[1]), programs


@pass_of
def exert(loops, arrays, exerted, driving, wrench):
    """Compute the wrenches on links that constraint rows exert, shape (links, 6)."""
    clear(wrench)
    add_loop_forces(loops, arrays.wrench, exerted, driving, wrench)


@pass_of
def weigh_rows(
    forest,
    loops,
    ws,
    columns,
    y,
    moved,
    wrench,
    exerted,
    multiplier,
    motion,
    by_place,
    by_velocity,
    by_speed,
    gradient,
):
    """Add the derivatives of ν·J p and μ·J y at fixed p and y, for which the links have different motions."""
    move_by(forest, ws, columns, y, moved)
    weigh_rates(loops, ws, exerted, motion, by_place, gradient)
    weigh_rates(loops, ws, multiplier, moved, by_place, gradient)
    add_loop_forces(loops, wrench, multiplier, by_speed, by_velocity)


@pass_of
def change_rows(loops, ws, of_q, exerted, shift, speed, moved, twist, change, wrench, given):
    """Add the changes of the rows' forces at fixed ν to the changes of the wrenches on links. Compute the changes of J
    y, and, if coordinates are moved, of φ (rows,)."""
    change_forces(loops, ws, exerted, moved, change, wrench)
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            given[r] = shift[loops.speed[r]] if of_q else speed[loops.speed[r]]
            continue
        given[r] = change_rate(loops, ws, r, moved, twist, change)
        if of_q:
            given[r] += change_residual(loops, ws, r, moved, change)


@jit
def carry_changes(forest, x, shift, x_change):
    """Convert changes of the coordinates before a move x, and changes of x, into changes of the coordinates after the
    move, in place."""
    for i in range(forest.kind.size):
        kind, j = forest.kind[i], forest.u_start[i]
        plain = joints.degrees_of_freedom(kind)
        if turns_freely(kind):
            plain -= 3
            phi = load_at(x, j + plain)
            turned = apply_t(matrix(exponential(phi)), load_at(shift, j + plain))
            by_x = left_jacobian(scale(-1.0, phi), load_at(x_change, j + plain))
            store_at(shift, j + plain, add(turned, by_x))
        for k in range(j, j + plain):
            shift[k] += x_change[k]


@jit
def carry_weights(forest, x, by_shift, by_x):
    """Convert weights of the coordinates after a move x into weights of the coordinates before it, at fixed x and in
    place, and into weights of x."""
    for i in range(forest.kind.size):
        kind, j = forest.kind[i], forest.u_start[i]
        plain = joints.degrees_of_freedom(kind)
        if turns_freely(kind):
            plain -= 3
            phi, t = load_at(x, j + plain), load_at(by_shift, j + plain)
            store_at(by_x, j + plain, left_jacobian(phi, t))
            store_at(by_shift, j + plain, apply(matrix(exponential(phi)), t))
        for k in range(j, j + plain):
            by_x[k] = by_shift[k]


@jit
def set_move(move, q, x, exerted, y):
    """Set the arrays of ``move`` to one recorded move, for differentiation."""
    copy_into(move.q, q)
    copy_into(move.x, x)
    copy_into(move.exerted, exerted)
    copy_into(move.y, y)


class Turns(NamedTuple):
    """The moves of coordinates that a projection has made."""

    made: np.ndarray
    """Number of moves, shape (1,)."""
    q: np.ndarray
    """Coordinates before each move, shape (turns, nq)."""
    x: np.ndarray
    """The moves, shape (turns, nu)."""
    exerted: np.ndarray
    """Multipliers ν, shape (turns, rows)."""


@pass_of
def note_turn(q, arrays, turns):
    """Record a move of the coordinates that is about to be made."""
    k = turns.made[0]
    copy_into(turns.q[k], q)
    copy_into(turns.x[k], arrays.response)
    copy_into(turns.exerted[k], arrays.correction)
    turns.made[0] = k + 1
