"""Derivatives of the friction part of a friction-implicit step: drag and noise by the midpoint rule.

During a step h the speeds change by h x. Let D = Jᵀ B J be the drag matrix, made from the drag B of the links like a
mass matrix from inertias, and f the factor of the forces. Then

    A x = f Jᵀ (−B (J u − flow) + noise),   A = M + ½ h f D.

This is the equation of motion of links with inertias I + ½ h f B at rest, under the wrenches of drag and noise at u.
Let w be weights of x, and ν = A⁻¹ w. The derivative of w·x is the derivative of −ν·(inverse dynamics at rest, with the
accelerations x) plus the derivative of the virtual power of the wrenches at ν, as in ``adjoint_program.py``. The
derivatives with respect to drag increase by ½ h f times those with respect to inertias. Noise is held: its forces F are
drawn from N(0, v/h) with v = 2 β k T along the world axes, so a change δv changes F by F δv/2v.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.dynamics.derivatives import composites, inverse_mass, motion_columns, products
from articulon.dynamics.derivatives.composites import WRENCH_WIDTH
from articulon.dynamics.derivatives.derivative_definitions import (
    Carried,
    copy_row,
    factorise,
    find_products,
    find_separate_columns,
    find_transposed_products,
    solve_rows,
)
from articulon.dynamics.motion_passes import move_links, place_links, solve_and_keep
from articulon.dynamics.newton_euler import project_on_joints
from articulon.forces.evaluation import Evaluator
from articulon.forces.joint_friction import resistance_of
from articulon.forces.linear_flow import flow_adjoint, flow_tangent
from articulon.forces.stokes_drag import drag_adjoint, drag_tangent
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.passes import Bound, pass_of
from articulon.sensitivities.acting_forces import Acting
from articulon.sensitivities.adjoint_program import (
    begin,
    factor_adjoint,
    inertia_adjoint,
    keep_wrenches,
    multiply,
    project_powers,
)
from articulon.sensitivities.frame_derivatives import (
    frame_adjoint,
    frame_power_adjoint,
    frame_scratch,
    frame_tangent,
)
from articulon.sensitivities.noise_derivatives import noise_adjoint, noise_tangent
from articulon.sensitivities.rubbing_derivatives import Resistance
from articulon.sensitivities.table_gradients import Tables
from articulon.sensitivities.tangent_program import (
    change_twists,
    clear_changes,
    displace,
    factor_tangent,
    inertia_tangent,
    sum_forces,
)
from articulon.sensitivities.turning_derivatives import spread_shift


class Rubbed(NamedTuple):
    """State at which the friction of a step is evaluated, with weights or changes."""

    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds before the friction part, shape (nu,)."""
    weight: np.ndarray
    """Weights of x, or changes of x, shape (nu,)."""
    by_coordinate: np.ndarray
    """Derivatives with respect to the coordinates in their tangent space, or changes of the coordinates, shape
    (nu,)."""
    by_speed: np.ndarray
    """Derivatives with respect to the speeds, or changes of the speeds, shape (nu,)."""


def rubbed(e: Evaluator) -> Rubbed:
    """Allocate the arrays for a model."""
    return Rubbed(np.zeros(e.model.nq), *(np.zeros(e.model.nu) for _ in range(4)))


def has_friction(e: Evaluator) -> bool:
    """Whether a model has drag, or damping or friction in joints."""
    return bool(e.system.forces.drag.link.size) or resistance_of(e.system.forces.terms) is not None


class _Point(NamedTuple):
    """Friction of the step at a state."""

    passes: list[Bound]
    columns: np.ndarray
    """Motion columns of the joints at the actual speeds."""
    carried: Carried
    """Links at rest with the accelerations x."""
    factors: np.ndarray
    """Factors of the inverse A⁻¹."""
    acceleration: np.ndarray


def _point(
    e: Evaluator, arrays: Scratch, at: Rubbed, resistance: Resistance, solved: np.ndarray | None = None
) -> _Point:
    """Prepare the quantities that derivatives at a state need, from ``arrays`` in the state in which the step leaves
    them. ``solved`` (links, 21) are the step's articulated inertias if no joint has resistance; if None, they are
    computed."""
    forest, ws, links, nu = e.system.forest, e.ws, e.system.forest.mass.size, e.model.nu
    heavier = forest._replace(mass=arrays.mass, moment=arrays.moment, inertia=arrays.inertia)
    still = ws._replace(twist=arrays.still, bias=arrays.no_bias)
    nothing, none = np.zeros(nu), np.zeros(3)
    columns, moving = (np.zeros((nu, motion_columns.WIDTH)) for _ in range(2))
    factors, acceleration = np.zeros((nu, inverse_mass.FACTORS)), np.zeros((links, 6))
    loads = np.zeros((2, links, WRENCH_WIDTH))
    passes = [
        place_links.bind(forest, at.q, ws),
        move_links.bind(forest, at.u, ws),
        find_separate_columns.bind(forest, at.u, arrays.udot, ws, moving, columns, acceleration),
    ]
    if solved is None:
        solved, acting = np.zeros((links, inverse_mass.ARTICULATED)), (nothing, arrays.total, none, np.ones(1))
        passes.append(solve_and_keep.bind(heavier, *acting, still, np.zeros(nu), solved))
    if resistance.rows is None:
        passes.append(factorise.bind(heavier, columns, solved, factors))
    else:
        passes += resistance.factoring((heavier, still), columns, factors)
    passes.append(keep_wrenches.bind(arrays.total, loads[1]))
    composite = np.zeros((links, composites.WIDTH))
    carried = Carried(heavier, arrays.total, still, columns, acceleration, composite, loads[0], loads[1])
    return _Point(passes, moving, carried, factors, acceleration)


def friction_adjoint(
    e: Evaluator,
    arrays: Scratch,
    at: Rubbed,
    solved: np.ndarray,
    gradients: Tables,
    bodies: bool,
    acting: Acting,
) -> Iterator[Bound]:
    """Yield passes that compute the derivatives of weighted x with respect to the state, and add the derivatives with
    respect to the tables. ``arrays`` are in the state in which the step leaves them, and ``solved`` (links, 21) are the
    step's articulated inertias."""
    forest, forces, ws, nu = e.system.forest, e.system.forces, e.ws, e.model.nu
    links = forest.mass.size
    resistance = Resistance(e, arrays, at.u)
    point = _point(e, arrays, at, resistance, solved)
    carried, weight = point.carried, np.zeros(nu)
    still, heavier = carried.ws, carried.forest
    motion, rows, pushed, moved = (
        np.zeros((links, 6)),
        np.zeros((links, products.WIDTH)),
        np.zeros(nu),
        np.zeros((links, 6)),
    )
    by_q, by_u = np.zeros(nu), np.zeros(nu)
    yield from point.passes
    yield copy_row.bind(at.weight, weight)
    yield solve_rows.bind(heavier, still, carried.columns, point.factors, weight[None], np.zeros((links, 6)))
    yield find_transposed_products.bind(*carried, weight, motion, rows, by_q, by_u)
    factor = acting.factor
    yield multiply.bind(factor, weight, motion, pushed, moved)
    by = *(np.zeros((links, 6)) for _ in range(2)), at.by_coordinate, at.by_speed
    yield begin.bind(by_q, by_u, *by)
    yield drag_adjoint.bind(forces.drag, gradients.drag, ws, moved, *by[:2])
    if forces.flow is not None:
        yield flow_adjoint.bind(forces.flow, gradients.flow, ws, moved, by[0])
    if forces.noise.choice[0]:
        held = forces.drag, forces.noise, ws, e.channels.held, moved
        yield noise_adjoint.bind(*held, by[0], gradients.drag.centre, gradients.noise)
    yield project_powers.bind(forest, ws, point.columns, *by)
    yield from resistance.adjoint(gradients, pushed, at.by_speed)
    own = np.zeros(links), np.zeros((links, 3)), np.zeros((links, 6))
    yield clear_inertias.bind(own)
    yield inertia_adjoint.bind(still, point.acceleration, motion, *own)
    drag = gradients.drag.mass, gradients.drag.moment, gradients.drag.inertia
    yield add_inertias.bind(own, arrays.clock[1:], 0.5 * factor, drag)
    if acting.scaled:
        nothing = np.zeros(nu)
        yield factor_adjoint.bind(1.0 / factor, nothing, arrays.total, nothing, motion, gradients.factor)
        yield heavier_adjoint.bind(own, forces.drag, arrays.clock[1:], gradients.factor)
        if resistance.rows is not None:
            yield resistance.factor_adjoint(weight, gradients.factor)
    if bodies:
        yield add_inertias.bind(own, np.ones(1), 1.0, (gradients.mass, gradients.moment, gradients.inertia))
        frames = gradients.position, gradients.turn
        given = np.zeros(3), point.acceleration, carried.composite, carried.loads, motion, rows
        yield frame_power_adjoint.bind(forest, ws, *by[:2], *frames)
        yield frame_adjoint.bind(heavier, still, *given, *frames)


@pass_of
def clear_inertias(own):
    """Set masses, first moments and inertias of links to zero."""
    mass, moment, inertia = own
    mass[:] = 0.0
    moment[:] = 0.0
    inertia[:] = 0.0


@pass_of
def add_inertias(own, span, factor, total):
    """Add masses, first moments and inertias of links, multiplied by a factor and a time (1,), to ``total``."""
    s = factor * span[0]
    for i in range(own[0].size):
        total[0][i] += s * own[0][i]
        for k in range(3):
            total[1][i, k] += s * own[1][i, k]
        for k in range(6):
            total[2][i, k] += s * own[2][i, k]


@pass_of
def heavier_adjoint(own, drag, span, gradient):
    """Add the derivative with respect to the factor of drag in the inertias of links. It is half of a time (1,) times
    the product of the derivatives ``own`` with respect to inertias and the drag of the links."""
    s, mass, moment, inertia = 0.5 * span[0], own[0], own[1], own[2]
    for i in range(mass.size):
        gradient[0] += s * mass[i] * drag.mass[i]
        for k in range(3):
            gradient[0] += s * moment[i, k] * drag.moment[i, k]
        for k in range(6):
            gradient[0] += s * inertia[i, k] * drag.inertia[i, k]


class Rubbing(NamedTuple):
    """Passes that prepare the friction of a step at a state, and passes that then compute its change."""

    point: list[Bound]
    change: list[Bound]


def friction_tangent(e: Evaluator, arrays: Scratch, at: Rubbed, changes: Tables, acting: Acting) -> Rubbing:
    """Build passes that compute the change of x, in ``at.weight``. It follows from changes of the coordinates in their
    tangent space, ``at.by_coordinate``, of the speeds, ``at.by_speed``, and of tables."""
    forest, forces, ws, nu = e.system.forest, e.system.forces, e.ws, e.model.nu
    links = forest.mass.size
    resistance = Resistance(e, arrays, at.u)
    point = _point(e, arrays, at, resistance)
    carried, factor = point.carried, acting.factor
    still, heavier = carried.ws, carried.forest
    q_change, shift, joint, nothing, projected = np.zeros(e.model.nq), *(np.zeros(nu) for _ in range(4))
    moved, twist, wrench, field = (np.zeros((links, 6)) for _ in range(4))
    of_mass = np.zeros(links), np.zeros((links, 3)), np.zeros((links, 6))
    frames = changes.position, changes.turn
    drag = changes.drag.mass, changes.drag.moment, changes.drag.inertia
    found = [
        spread_shift.bind(forest, at.q, at.by_coordinate, q_change),
        displace.bind(forest, ws, point.columns, at.q, q_change, at.by_speed, *frames, shift, moved, field),
        change_twists.bind(ws, moved, field, twist),
        clear_changes.bind(wrench, joint),
        drag_tangent.bind(forces.drag, changes.drag, ws, moved, twist, wrench),
    ]
    if forces.flow is not None:
        found.append(flow_tangent.bind(forces.flow, changes.flow, ws, moved, wrench))
    if forces.noise.choice[0]:
        held = forces.drag, forces.noise, ws, e.channels.held, moved
        found.append(noise_tangent.bind(*held, changes.drag.centre, changes.noise, wrench))
    found += resistance.tangent(changes, at.by_speed, joint)
    scratch = np.zeros((links, products.WIDTH)), np.zeros((links, 6))
    found += [
        multiply.bind(factor, joint, wrench, joint, wrench),
        clear_inertias.bind(of_mass),
        add_inertias.bind((changes.mass, changes.moment, changes.inertia), np.ones(1), 1.0, of_mass),
        add_inertias.bind(drag, arrays.clock[1:], 0.5 * factor, of_mass),
        *(_scaled(e, arrays, changes, joint, wrench, of_mass, factor) if acting.scaled else ()),
        inertia_tangent.bind(still, point.acceleration, *of_mass, wrench),
        frame_tangent.bind(
            heavier, arrays.total, still, np.zeros(3), point.acceleration, *frames, *frame_scratch(links), wrench
        ),
        *((resistance.factor_tangent(changes.factor, joint),) if acting.scaled and resistance.rows is not None else ()),
        project_on_joints.bind(forest, ws, wrench, projected),
        sum_forces.bind(joint, projected, at.weight),
        find_products.bind(*carried, shift, nothing, *scratch, at.weight),
        solve_rows.bind(heavier, still, carried.columns, point.factors, at.weight[None], np.zeros((links, 6))),
    ]
    return Rubbing(point.passes, found)


def _scaled(
    e: Evaluator,
    arrays: Scratch,
    changes: Tables,
    joint: np.ndarray,
    wrench: np.ndarray,
    of_mass: tuple[np.ndarray, np.ndarray, np.ndarray],
    factor: float,
) -> Iterator[Bound]:
    """Yield passes that add the effect of a change of the forces' factor to wrenches and inertias."""
    drag = e.system.forces.drag
    yield factor_tangent.bind(1.0 / factor, changes.factor, np.zeros(joint.size), arrays.total, joint, wrench)
    yield heavier_tangent.bind((drag.mass, drag.moment, drag.inertia), arrays.clock[1:], changes.factor, of_mass)


@pass_of
def heavier_tangent(drag, span, change, of_mass):
    """Add half of a time (1,), times drag, times the change (1,) of the factor of drag, to the inertias of links."""
    s = 0.5 * span[0] * change[0]
    for i in range(of_mass[0].size):
        of_mass[0][i] += s * drag[0][i]
        for k in range(3):
            of_mass[1][i, k] += s * drag[1][i, k]
        for k in range(6):
            of_mass[2][i, k] += s * drag[2][i, k]
