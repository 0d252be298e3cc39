"""Derivatives, in canonical variables, of the speeds u = M⁻¹ μ and of the rates κ = ∂T/∂q + forces. They are with
respect to coordinates in their tangent space, to the momenta μ of the speeds, and to the tables of a model, in O(n).

Changes of coordinates and momenta change the speeds by δu = M⁻¹ (δμ − δμ₀), where δμ₀ is the change of M u at constant
u (``momentum_derivatives.py``). They change κ by the change of F = ∂T/∂q at constant u plus the change of the
generalised forces. The latter is computed as in ``tangent_program.py`` and ``adjoint_program.py``, for links at rest
that are accelerated by −g and are under the wrenches of the forces.

For the adjoint, let a be the weights of u, and w the weights of κ. With the virtual power P of the forces at the joint
speeds w,

    ν = M⁻¹ (a + ∂P/∂u + ∂(w·F)/∂u)

are the weights of μ. The derivatives with respect to coordinates and tables are those of P + w·F − ν·M u.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import load_from
from articulon.dynamics.derivatives import composites, inverse_mass, motion_columns, products
from articulon.dynamics.derivatives.composites import WRENCH_WIDTH
from articulon.dynamics.derivatives.derivative_definitions import (
    Carried,
    factorise,
    find_motion_columns,
    find_products,
    find_transposed_products,
    solve_rows,
)
from articulon.dynamics.derivatives.motion_columns import store_motion
from articulon.dynamics.motion_passes import solve_and_keep
from articulon.dynamics.newton_euler import project_on_joints
from articulon.forces.base import AdjointAt, TangentAt
from articulon.forces.evaluation import Evaluator
from articulon.integrate.canonical import Scratch
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.acting_forces import Acting
from articulon.sensitivities.adjoint_program import (
    begin,
    factor_adjoint,
    gravity_adjoint,
    inertia_adjoint,
    keep_wrenches,
    multiply,
    powers_adjoint,
    project_powers,
    weight_adjoint,
)
from articulon.sensitivities.canonical_coordinates import torques_of_rates
from articulon.sensitivities.frame_derivatives import (
    frame_adjoint,
    frame_power_adjoint,
    frame_scratch,
    frame_tangent,
)
from articulon.sensitivities.momentum_derivatives import WIDTH, change_momenta, momentum_frame_adjoint
from articulon.sensitivities.table_gradients import Tables, differentiated, in_one, links_of
from articulon.sensitivities.tangent_program import (
    change_twists,
    clear_changes,
    displace,
    factor_tangent,
    gravity_tangent,
    inertia_tangent,
    sum_forces,
    weight_tangent,
    wrenches_tangent,
)


class CanonicalPoint(NamedTuple):
    """A state whose rates have been evaluated, with the quantities that derivatives need."""

    passes: list[Bound]
    """Passes that prepare these quantities; the program ``field`` of ``integrate/canonical.py`` must have run
    before."""
    torque: np.ndarray
    """Rates κ, shape (nu,)."""
    columns: np.ndarray
    """Motion columns, shape (nu, 24)."""
    factors: np.ndarray
    """Factors of M⁻¹, shape (nu, 7)."""
    twist: np.ndarray
    """Velocities of the links, angular part first, shape (links, 6)."""
    pushed: Carried
    """The links at rest, under gravity and the wrenches of the forces."""
    fall: np.ndarray
    """Acceleration of free fall times the factor of the forces, shape (3,)."""


def canonical_point(e: Evaluator, arrays: Scratch, acting: Acting) -> CanonicalPoint:
    """Build the passes that prepare derivatives at the state (``arrays.stage_q``, ``arrays.stage_p``)."""
    forest, ws, channels, nu = e.system.forest, e.ws, e.channels, e.model.nu
    links, nothing, fall = forest.mass.size, np.zeros(nu), acting.factor * e.system.forces.gravity
    columns, factors, twist, torque = (
        np.zeros((nu, motion_columns.WIDTH)),
        np.zeros((nu, inverse_mass.FACTORS)),
        np.zeros((links, 6)),
        np.zeros(nu),
    )
    still = ws._replace(twist=np.zeros((links, 6)), bias=np.zeros((links, 6)))
    given = np.zeros((links if e.system.forces.wrench_channels.size else 0, WRENCH_WIDTH))
    shape = np.zeros((nu, motion_columns.WIDTH)), np.zeros((links, 6)), np.zeros((links, composites.WIDTH))
    pushed = Carried(forest, channels.total_wrench, still, *shape, np.zeros_like(given), given)
    articulated, at = np.zeros((links, inverse_mass.ARTICULATED)), (arrays.stage_q, arrays.stage_p)
    solved = arrays.mu, np.zeros((links, 6)), np.zeros(3), np.ones(1)
    passes = [
        find_torques.bind(forest, *at, arrays.u, arrays.fresh_p, torque),
        find_motion_columns.bind(forest, arrays.u, nothing, np.zeros(3), ws, columns, np.zeros((links, 6))),
        find_motion_columns.bind(forest, nothing, nothing, fall, still, pushed.columns, pushed.acceleration),
        solve_and_keep.bind(forest, *solved, still, np.zeros(nu), articulated),
        factorise.bind(forest, columns, articulated, factors),
        keep_twists.bind(ws, twist),
    ]
    if given.size:
        passes.append(keep_wrenches.bind(channels.total_wrench, given))
    return CanonicalPoint(passes, torque, columns, factors, twist, pushed, fall)


@pass_of
def find_torques(forest, q, p, u, p_rate, torque):
    """Compute the rates κ (nu,) of a state whose rates of coordinates and canonical momenta are known."""
    torques_of_rates(forest, q, p, u, p_rate, torque)


@pass_of
def keep_twists(ws, twist):
    """Store the velocities of the links, with the angular part first."""
    for i in range(twist.shape[0]):
        store_motion(twist, i, 0, load_from(ws.twist, i, 3), load_from(ws.twist, i, 0))


class CanonicalWeights(NamedTuple):
    """Programs of the adjoint at a state, and the arrays for their inputs and results."""

    prepare: np.ndarray
    """Program that prepares the state."""
    push: np.ndarray
    """Program that computes the derivatives of P, and adds those with respect to tables."""
    push_again: np.ndarray
    """Program that computes the derivatives of P, but not those with respect to tables."""
    speeds: np.ndarray
    """Program that computes ν."""
    coordinates: np.ndarray
    """Program that computes ``by_shift``."""
    tables: np.ndarray
    """Program that adds the derivatives of w·F − ν·M u with respect to tables; it runs after ``coordinates``."""
    factors: np.ndarray
    """Factors of M⁻¹, shape (nu, 7)."""
    torque: np.ndarray
    """Rates κ, shape (nu,)."""
    of_speed: np.ndarray
    """Weights a of the speeds u, shape (nu,)."""
    of_torque: np.ndarray
    """Weights w of κ, shape (nu,)."""
    power_by_shift: np.ndarray
    """Derivatives ∂P/∂q, shape (nu,)."""
    power_by_speed: np.ndarray
    """Derivatives ∂P/∂u, shape (nu,)."""
    by_shift: np.ndarray
    """Derivatives with respect to the coordinates in their tangent space, shape (nu,)."""
    by_momentum: np.ndarray
    """Weights ν of the momenta μ, shape (nu,)."""
    by_speed: np.ndarray
    """Derivatives of ν·M u − w·F with respect to u, shape (nu,)."""


def canonical_weights(
    e: Evaluator, arrays: Scratch, gradients: Tables, bodies: bool, acting: Acting
) -> tuple[CanonicalWeights, list[Program]]:
    """Build the adjoint of a model. Derivatives with respect to the numbers of links are computed only if ``bodies``
    are parameters. Return the adjoint and its programs, which the caller must keep alive."""
    forest, ws, nu = e.system.forest, e.ws, e.model.nu
    links, there = forest.mass.size, canonical_point(e, arrays, acting)
    of_speed, of_torque, by_q, by_u, by_shift, line, by_speed = np.zeros((7, nu))
    turned, known, nothing, dropped = np.zeros((4, nu))
    same = [np.zeros_like(one) for one in (forest.position, forest.position)]
    same += [np.zeros_like(one) for one in (forest.mass, forest.moment, forest.inertia)]
    field, held = np.zeros((links, 6)), np.zeros((links, WIDTH))
    moving = forest, ws, there.columns
    speeds = [
        turn_round.bind(of_torque, turned),
        change_momenta.bind(*moving, turned, nothing, *same, 1, field, held, known, dropped),
        weigh_momenta.bind(of_speed, by_u, known, line),
        solve_rows.bind(*moving[:2], there.columns, there.factors, line[None], np.zeros((links, 6))),
    ]
    coordinates = [
        turn_round.bind(of_torque, turned),
        change_momenta.bind(*moving, turned, line, *same, 1, field, held, by_speed, dropped),
        less.bind(by_q, dropped, by_shift),
    ]
    tables = []
    if bodies:
        tables.append(
            inertia_adjoint.bind(
                there.pushed.ws, there.twist, field, gradients.mass, gradients.moment, gradients.inertia
            )
        )
        tables.append(momentum_frame_adjoint.bind(forest, ws, field, held, gradients.position, gradients.turn))
    nowhere, _ = in_one(differentiated(*e.system[:3]))
    power = of_torque, by_q, by_u
    groups = [
        there.passes,
        list(_pushing(e, arrays, there, power, gradients, bodies, acting)),
        list(_pushing(e, arrays, there, power, nowhere, False, acting)),
        speeds,
        coordinates,
        tables,
    ]
    programs = [Program(group) for group in groups]
    codes = [program.code for program in programs]
    made = (*codes, there.factors, there.torque, of_speed, *power, by_shift, line, by_speed)
    return CanonicalWeights(*made), programs


def _pushing(
    e: Evaluator,
    arrays: Scratch,
    there: CanonicalPoint,
    power: tuple[np.ndarray, np.ndarray, np.ndarray],
    gradients: Tables,
    bodies: bool,
    acting: Acting,
) -> Iterator[Bound]:
    """Yield passes for the derivatives of the virtual power of the forces at joint speeds that are the weights of κ."""
    forest, forces, ws, nu = e.system.forest, e.system.forces, e.ws, e.model.nu
    links, pushed, (weight, by_coordinate, by_speed) = forest.mass.size, there.pushed, power
    motion, rows = np.zeros((links, 6)), np.zeros((links, products.WIDTH))
    by_q, by_u = np.zeros((2, nu))
    yield find_transposed_products.bind(*pushed, weight, motion, rows, by_q, by_u)
    acted = weight, motion
    if acting.scaled:
        acted = np.zeros(nu), np.zeros((links, 6))
        yield multiply.bind(acting.factor, weight, motion, *acted)
        total = e.channels.total_joint, e.channels.total_wrench, weight, motion
        yield factor_adjoint.bind(1.0 / acting.factor, *total, gradients.factor)
        yield weight_adjoint.bind(forest, ws, forces.gravity, motion, gradients.factor)
    by = np.zeros((links, 6)), np.zeros((links, 6)), by_coordinate, by_speed
    by_links = links_of(gradients) if bodies else None
    at = AdjointAt(forest, ws, arrays.unit, arrays.u, arrays.time, *acted, *by, by_links)
    yield begin.bind(by_q, by_u, *by)
    yield from powers_adjoint(e, gradients, at, acting)
    yield gravity_adjoint.bind(forest, ws, acted[1], gradients.gravity)
    yield project_powers.bind(forest, ws, there.columns, *by)
    if bodies:
        frames = gradients.position, gradients.turn
        of_mass = gradients.mass, gradients.moment, gradients.inertia
        yield inertia_adjoint.bind(pushed.ws, pushed.acceleration, motion, *of_mass)
        stays = there.fall, pushed.acceleration, pushed.composite, pushed.loads, motion, rows
        yield frame_adjoint.bind(forest, pushed.ws, *stays, *frames)
        yield frame_power_adjoint.bind(forest, ws, *by[:2], *frames)


class CanonicalChanges(NamedTuple):
    """Programs of the tangent at a state, and the arrays for their inputs and results."""

    prepare: np.ndarray
    """Program that prepares the state."""
    speeds: np.ndarray
    """Program that computes δu."""
    forces: np.ndarray
    """Program that computes the change of the generalised forces; it runs after ``speeds``."""
    torques: np.ndarray
    """Program that computes δκ; it runs after ``speeds`` and ``forces``."""
    momenta: np.ndarray
    """Program that computes ``momentum`` from δq and δu."""
    factors: np.ndarray
    """Factors of M⁻¹, shape (nu, 7)."""
    torque: np.ndarray
    """Rates κ, shape (nu,)."""
    q_change: np.ndarray
    """Changes δq, with four numbers for Euler parameters, shape (nq,)."""
    shift: np.ndarray
    """Changes δq in the tangent space, shape (nu,)."""
    momentum: np.ndarray
    """Changes δμ of the momenta, shape (nu,)."""
    u_change: np.ndarray
    """Changes δu of the speeds, shape (nu,)."""
    torque_change: np.ndarray
    """Changes δκ, shape (nu,)."""


def canonical_changes_at(
    e: Evaluator, arrays: Scratch, changes: Tables, acting: Acting
) -> tuple[CanonicalChanges, list[Program]]:
    """Build the tangent of a model, for ``changes`` of the numbers of its tables. Return the tangent and its programs,
    which the caller must keep alive."""
    forest, ws, nu = e.system.forest, e.ws, e.model.nu
    links, there, q_change = forest.mass.size, canonical_point(e, arrays, acting), np.zeros(e.model.nq)
    shift, momentum, u_change, pushed, torque_change = np.zeros((5, nu))
    known, nothing, dropped = np.zeros((3, nu))
    frames, of_mass = (changes.position, changes.turn), (changes.mass, changes.moment, changes.inertia)
    scratch = np.zeros((links, 6)), np.zeros((links, WIDTH))
    moving = forest, ws, there.columns
    by = *frames, *of_mass, 0, *scratch
    speeds = [
        change_momenta.bind(*moving, shift, nothing, *by, known, dropped),
        less.bind(momentum, known, u_change),
        solve_rows.bind(*moving[:2], there.columns, there.factors, u_change[None], np.zeros((links, 6))),
    ]
    own = [change_momenta.bind(*moving, shift, u_change, *by, momentum, dropped)]
    torques = [
        change_momenta.bind(*moving, shift, u_change, *by, known, dropped),
        sum_forces.bind(dropped, pushed, torque_change),
    ]
    given = arrays.stage_q, q_change, u_change
    groups = [
        there.passes,
        speeds,
        list(_pushed_changes(e, arrays, there, changes, acting, given, pushed)),
        torques,
        own,
    ]
    programs = [Program(group) for group in groups]
    codes = [program.code for program in programs]
    made = (*codes, there.factors, there.torque, q_change, shift, momentum, u_change, torque_change)
    return CanonicalChanges(*made), programs


def _pushed_changes(
    e: Evaluator,
    arrays: Scratch,
    there: CanonicalPoint,
    changes: Tables,
    acting: Acting,
    given: tuple[np.ndarray, np.ndarray, np.ndarray],
    found: np.ndarray,
) -> Iterator[Bound]:
    """Yield passes that compute the change of the generalised forces (nu,), from changes of coordinates and speeds."""
    forest, forces, ws, nu = e.system.forest, e.system.forces, e.ws, e.model.nu
    links, pushed, frames = forest.mass.size, there.pushed, (changes.position, changes.turn)
    shift, joint, projected, nothing = np.zeros((4, nu))
    moved, twist, wrench, field = (np.zeros((links, 6)) for _ in range(4))
    yield displace.bind(forest, ws, there.columns, *given, *frames, shift, moved, field)
    yield change_twists.bind(ws, moved, field, twist)
    yield clear_changes.bind(wrench, joint)
    by = shift, given[2], moved, twist, wrench, joint, links_of(changes)
    at = TangentAt(forest, ws, arrays.unit, arrays.u, arrays.time, *by)
    yield from wrenches_tangent(e, changes, at, acting)
    yield gravity_tangent.bind(forest, changes.gravity, ws, wrench)
    if acting.scaled:
        yield multiply.bind(acting.factor, joint, wrench, joint, wrench)
        acted = e.channels.total_joint, e.channels.total_wrench, joint, wrench
        yield factor_tangent.bind(1.0 / acting.factor, changes.factor, *acted)
        yield weight_tangent.bind(forest, forces.gravity, changes.factor, ws, wrench)
    yield inertia_tangent.bind(pushed.ws, pushed.acceleration, changes.mass, changes.moment, changes.inertia, wrench)
    resting = there.pushed.wrench, pushed.ws, there.fall, pushed.acceleration
    yield frame_tangent.bind(forest, *resting, *frames, *frame_scratch(links), wrench)
    yield project_on_joints.bind(forest, ws, wrench, projected)
    yield sum_forces.bind(joint, projected, found)
    scratch: Any = np.zeros((links, products.WIDTH)), np.zeros((links, 6))
    yield find_products.bind(*pushed, shift, nothing, *scratch, found)


@pass_of
def turn_round(numbers, result):
    """Write the numbers with the opposite sign to ``result``."""
    for k in range(numbers.size):
        result[k] = -numbers[k]


@pass_of
def less(a, b, result):
    """Compute a − b."""
    for k in range(a.size):
        result[k] = a[k] - b[k]


@pass_of
def weigh_momenta(of_speed, by_speed, known, result):
    """Compute a + ∂P/∂u − ``known`` (nu,), where ``known`` is the derivative of −w·F with respect to u."""
    for k in range(result.size):
        result[k] = of_speed[k] + by_speed[k] - known[k]
