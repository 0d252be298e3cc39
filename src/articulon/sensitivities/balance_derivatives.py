"""Derivatives of motion without inertia, ζ(q) u = Γ(q, t) + F (``integrate/overdamped_steps.py``).

Here ζ = Jᵀ B J is the drag matrix, made from the drag B of the links like a mass matrix from inertias. The equation
is then the equation of motion of links with inertias B. These links are at rest, have the joint accelerations u, and
are under the wrenches that all forces exert at rest. Let w be weights of u, and ν = ζ⁻¹ w. The derivative of w·u is the
derivative of −ν·(inverse dynamics of these links) plus the derivative of the virtual power of the forces at ν, as in
``adjoint_program.py``. The weights of F are ν. F = Jᵀ f is the generalised force of the noise f that is held from the
start of a step; it is computed as the joint forces of links without inertia under wrenches.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.rotations import exponential, matrix
from articulon.algebra.vectors import add, apply, apply_t, cross, load, load_at, load_matrix, scale, store_at
from articulon.dynamics import joints
from articulon.dynamics.derivatives import composites, inverse_mass, motion_columns, products
from articulon.dynamics.derivatives.composites import WRENCH_WIDTH, add_from
from articulon.dynamics.derivatives.derivative_definitions import (
    Carried,
    copy_row,
    factorise,
    find_motion_columns,
    find_products,
    find_transposed_products,
    solve_rows,
)
from articulon.dynamics.derivatives.motion_columns import load_motion
from articulon.dynamics.motion_passes import solve_and_keep
from articulon.dynamics.newton_euler import project_on_joints
from articulon.forces.base import AdjointAt, TangentAt
from articulon.forces.determinant_forces import determinant_adjoint, determinant_tangent
from articulon.forces.evaluation import Evaluator
from articulon.forces.linear_flow import flow_adjoint, flow_tangent
from articulon.forces.stokes_drag import drag_adjoint, drag_tangent
from articulon.integrate.overdamped_steps import Scratch
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.acting_forces import ALL
from articulon.sensitivities.adjoint_program import (
    begin,
    forces_adjoint,
    gravity_adjoint,
    inertia_adjoint,
    keep_wrenches,
    project_powers,
)
from articulon.sensitivities.drift_derivatives import left_jacobian
from articulon.sensitivities.frame_derivatives import (
    frame_adjoint,
    frame_power_adjoint,
    frame_scratch,
    frame_tangent,
)
from articulon.sensitivities.noise_derivatives import held_noise_wrenches, noise_adjoint, noise_tangent
from articulon.sensitivities.table_gradients import Tables, links_of
from articulon.sensitivities.tangent_program import (
    clear_changes,
    displace,
    forces_tangent,
    gravity_tangent,
    inertia_tangent,
)
from articulon.sensitivities.turning_derivatives import spread_shift


class Balanced(NamedTuple):
    """Weights or changes in motion without inertia, at the coordinates ``Scratch.middle``."""

    weight: np.ndarray
    """Weights of u, or changes of u, shape (nu,)."""
    by_coordinate: np.ndarray
    """Derivatives with respect to the coordinates in their tangent space, or changes of the coordinates, shape
    (nu,)."""
    by_noise: np.ndarray
    """Derivatives with respect to F, or changes of F, shape (nu,)."""


class Balance(NamedTuple):
    """Links at rest with the joint accelerations u, and the passes that prepare them."""

    passes: list[Bound]
    carried: Carried
    factors: np.ndarray
    """Factors of the inverse drag matrix ζ⁻¹."""
    noise: Carried
    """The links without inertia under the wrenches of noise."""


def balanced(e: Evaluator) -> Balanced:
    """Allocate the arrays for a model."""
    return Balanced(*np.zeros((3, e.model.nu)))


def balance(e: Evaluator, arrays: Scratch, programs: list[Program]) -> Balance:
    """Prepare the quantities that derivatives in the middle of a step need, from the programs of the step's passes."""
    forest, ws, nu = e.system.forest, e.ws, e.model.nu
    links, nothing, none = forest.mass.size, np.zeros(nu), np.zeros(3)
    still = ws._replace(twist=arrays.still, bias=arrays.no_bias)
    dragged = forest._replace(mass=arrays.mass, moment=arrays.moment, inertia=arrays.inertia)
    bare = {name: np.zeros_like(getattr(forest, name)) for name in ("mass", "moment", "inertia")}
    loads = e.channels.total_joint, e.channels.total_wrench
    kept, factors = np.zeros((links, inverse_mass.ARTICULATED)), np.zeros((nu, inverse_mass.FACTORS))
    drawn = np.zeros((links, 6))
    found = [
        _carried(one, wrench, still, nu) for one, wrench in ((dragged, loads[1]), (forest._replace(**bare), drawn))
    ]
    carried, noise = found
    passes = [
        *programs[1].passes,  # place the links in the middle of the step, and compute the forces there
        *programs[3].passes[:-1],  # sum the forces, use drag as inertias, and solve
        solve_and_keep.bind(dragged, *loads, none, np.ones(1), still, arrays.u, kept),
        find_motion_columns.bind(dragged, nothing, arrays.u, none, still, carried.columns, carried.acceleration),
        find_motion_columns.bind(dragged, nothing, nothing, none, still, noise.columns, noise.acceleration),
        factorise.bind(dragged, carried.columns, kept, factors),
        keep_wrenches.bind(loads[1], carried.given),
    ]
    if e.system.forces.noise.choice[0]:
        held = e.system.forces.drag, still, e.channels.held
        passes += [held_noise_wrenches.bind(*held, drawn), keep_wrenches.bind(drawn, noise.given)]
    return Balance(passes, carried, factors, noise)


def _carried(forest: Any, wrench: np.ndarray, still: Any, nu: int) -> Carried:
    links = forest.mass.size
    columns, acceleration = np.zeros((nu, motion_columns.WIDTH)), np.zeros((links, 6))
    loads = np.zeros((2, links, WRENCH_WIDTH))
    return Carried(forest, wrench, still, columns, acceleration, np.zeros((links, composites.WIDTH)), *loads)


def balance_adjoint(
    e: Evaluator, arrays: Scratch, there: Balance, at: Balanced, gradients: Tables, bodies: bool
) -> Iterator[Bound]:
    """Yield passes that compute the derivatives of weighted u with respect to the coordinates and F, and add the
    derivatives with respect to the tables."""
    forest, forces, nu = e.system.forest, e.system.forces, e.model.nu
    links, carried, weight = forest.mass.size, there.carried, at.by_noise
    still, motion, rows = carried.ws, np.zeros((links, 6)), np.zeros((links, products.WIDTH))
    by_q, by_u, by_speed = np.zeros((3, nu))
    yield from there.passes
    yield copy_row.bind(at.weight, weight)
    yield solve_rows.bind(carried.forest, still, carried.columns, there.factors, weight[None], np.zeros((links, 6)))
    yield find_transposed_products.bind(*carried, weight, motion, rows, by_q, by_u)
    by = np.zeros((links, 6)), np.zeros((links, 6)), at.by_coordinate, by_speed
    by_links = links_of(gradients) if bodies else None
    power = AdjointAt(forest, still, arrays.middle, arrays.no_speeds, arrays.time, weight, motion, *by, by_links)
    yield begin.bind(by_q, by_u, *by)
    yield from forces_adjoint(e, gradients, power, ALL)
    at_rest = np.zeros((links, 6))  # drag of the flow on bodies at rest is one of the forces
    yield drag_adjoint.bind(forces.drag, gradients.drag, still, motion, by[0], at_rest)
    if forces.flow is not None:
        yield flow_adjoint.bind(forces.flow, gradients.flow, still, motion, by[0])
    yield gravity_adjoint.bind(forest, still, motion, gradients.gravity)
    yield weight_adjoint.bind(forest, still, forces.gravity, motion, by[0], gradients.mass, gradients.moment)
    if arrays.kT[0] > 0.0:
        yield from determinant_adjoint(power, 0.5, arrays.kT, gradients.bath, arrays.determinant)
    yield project_powers.bind(forest, still, carried.columns, *by)
    drag = gradients.drag.mass, gradients.drag.moment, gradients.drag.inertia
    yield inertia_adjoint.bind(still, carried.acceleration, motion, *drag)
    if bodies:
        frames = gradients.position, gradients.turn
        held = np.zeros(3), carried.acceleration, carried.composite, carried.loads, motion, rows
        yield frame_adjoint.bind(forest, still, *held, *frames)
        yield frame_power_adjoint.bind(forest, still, *by[:2], *frames)


def held_noise_adjoint(e: Evaluator, there: Balance, at: Balanced, gradients: Tables, bodies: bool) -> Iterator[Bound]:
    """Yield passes that compute the derivatives of F, weighted by ``at.by_noise``, with respect to the coordinates at
    which F is drawn, and add the derivatives with respect to the tables."""
    forest, forces, nu = e.system.forest, e.system.forces, e.model.nu
    links, noise = forest.mass.size, there.noise
    motion, rows = np.zeros((links, 6)), np.zeros((links, products.WIDTH))
    by_q, by_u, by_speed = np.zeros((3, nu))
    by = np.zeros((links, 6)), np.zeros((links, 6)), at.by_coordinate, by_speed
    yield find_transposed_products.bind(*noise, at.by_noise, motion, rows, by_q, by_u)
    yield begin.bind(by_q, by_u, *by)
    held = forces.drag, forces.noise, noise.ws, e.channels.held, motion
    yield noise_adjoint.bind(*held, by[0], gradients.drag.centre, gradients.noise)
    yield project_powers.bind(forest, noise.ws, noise.columns, *by)
    if bodies:
        frames = gradients.position, gradients.turn
        held_there = np.zeros(3), noise.acceleration, noise.composite, noise.loads, motion, rows
        yield frame_adjoint.bind(forest, noise.ws, *held_there, *frames)
        yield frame_power_adjoint.bind(forest, noise.ws, *by[:2], *frames)


@pass_of
def weight_adjoint(forest, ws, gravity, motion, by_place, by_mass, by_moment):
    """Add the derivatives of the virtual power of the bodies' weights, m g at the centres of mass, with respect to
    rotations of links (links, 6), masses and first moments."""
    g = load_at(gravity, 0)
    for i in range(forest.mass.size):
        R = load_matrix(ws.rotation, i)
        turning, way = load_motion(motion, i, 0)
        h, arm = apply(R, load(forest.moment, i)), cross(g, turning)
        add_from(by_place, i, 3, cross(h, arm))
        by_mass[i] += g[0] * way[0] + g[1] * way[1] + g[2] * way[2]
        arm = apply_t(R, arm)
        for k in range(3):
            by_moment[i, k] += arm[k]


@pass_of
def weight_tangent(forest, ws, gravity, mass, moment, moved, wrench):
    """Add the changes of the bodies' weights to the wrenches (links, 6)."""
    g = load_at(gravity, 0)
    for i in range(forest.mass.size):
        R = load_matrix(ws.rotation, i)
        h = apply(R, load(forest.moment, i))
        changed = add(cross((moved[i, 3], moved[i, 4], moved[i, 5]), h), apply(R, load(moment, i)))
        add_from(wrench, i, 0, scale(mass[i], g))
        add_from(wrench, i, 3, cross(changed, g))


class BalanceChange(NamedTuple):
    """Passes that compute changes of u and F at a state."""

    speeds: list[Bound]
    """Passes for the change of u."""
    noise: list[Bound]
    """Passes for the change of F at the coordinates at which F is drawn."""


def balance_tangent(e: Evaluator, arrays: Scratch, there: Balance, at: Balanced, changes: Tables) -> BalanceChange:
    """Build passes that compute changes. The first passes compute the change of u, in ``at.weight``, from changes of
    the coordinates, ``at.by_coordinate``, of F and of tables. The second passes compute the change of F, in
    ``at.by_noise``, from changes of coordinates and tables."""
    forest, forces, nu = e.system.forest, e.system.forces, e.model.nu
    links, carried, noise = forest.mass.size, there.carried, there.noise
    still, nothing, shift, q_change = carried.ws, np.zeros(nu), np.zeros(nu), np.zeros(e.model.nq)
    joint, projected = np.zeros(nu), np.zeros(nu)
    moved, field, wrench, no_twist = (np.zeros((links, 6)) for _ in range(4))
    frames, none, scratches = (changes.position, changes.turn), np.zeros(3), frame_scratch(links)
    moving = [
        spread_shift.bind(forest, arrays.middle, at.by_coordinate, q_change),
        displace.bind(forest, still, carried.columns, arrays.middle, q_change, nothing, *frames, shift, moved, field),
        clear_changes.bind(wrench, joint),
    ]
    by = shift, nothing, moved, no_twist, wrench, joint, links_of(changes)
    acting = TangentAt(forest, still, arrays.middle, arrays.no_speeds, arrays.time, *by)
    found = [*moving, *forces_tangent(e, changes, acting, ALL)]
    found.append(drag_tangent.bind(forces.drag, changes.drag, still, moved, no_twist, wrench))
    if forces.flow is not None:
        found.append(flow_tangent.bind(forces.flow, changes.flow, still, moved, wrench))
    if arrays.kT[0] > 0.0:
        found += determinant_tangent(acting, 0.5, arrays.kT, changes.bath)
    drag = changes.drag.mass, changes.drag.moment, changes.drag.inertia
    scratch = np.zeros((links, products.WIDTH)), np.zeros((links, 6))
    found += [
        gravity_tangent.bind(forest, changes.gravity, still, wrench),
        weight_tangent.bind(forest, still, forces.gravity, changes.mass, changes.moment, moved, wrench),
        inertia_tangent.bind(still, carried.acceleration, *drag, wrench),
        frame_tangent.bind(
            carried.forest, carried.wrench, still, none, carried.acceleration, *frames, *scratches, wrench
        ),
        project_on_joints.bind(forest, still, wrench, projected),
        sum_three.bind(joint, projected, at.by_noise, at.weight),
        find_products.bind(*carried, shift, nothing, *scratch, at.weight),
        solve_rows.bind(carried.forest, still, carried.columns, there.factors, at.weight[None], np.zeros((links, 6))),
    ]
    held = forces.drag, forces.noise, still, e.channels.held, moved
    shaken = [
        *moving,
        noise_tangent.bind(*held, changes.drag.centre, changes.noise, wrench),
        frame_tangent.bind(noise.forest, noise.wrench, still, none, noise.acceleration, *frames, *scratches, wrench),
        project_on_joints.bind(forest, still, wrench, at.by_noise),
        find_products.bind(*noise, shift, nothing, *scratch, at.by_noise),
    ]
    return BalanceChange(found, shaken)


@pass_of
def sum_three(first, second, third, total):
    """Sum three arrays of joint forces (nu,)."""
    for k in range(total.size):
        total[k] = first[k] + second[k] + third[k]


@pass_of
def joint_drift_tangent(forest, u, time, shift, u_change):
    """Advance changes of coordinates (nu,), in place, while joints move for a time t (1,) at constant speeds. If a body
    turns by exp(φ), φ = t ω, a change δ of its rotation becomes exp(−φ) δ + t J(−φ) δω in the body's frame; J is the
    left Jacobian of rotations."""
    t = time[0]
    for i in range(forest.kind.size):
        kind, j = forest.kind[i], forest.u_start[i]
        count, plain = joints.degrees_of_freedom(kind), joints.quaternion(kind)
        if plain < 0:
            plain = count
        for k in range(j, j + plain):
            shift[k] += t * u_change[k]
        if plain < count:
            k = j + plain
            phi = scale(t, load_at(u, k))
            turned = apply_t(matrix(exponential(phi)), load_at(shift, k))
            store_at(shift, k, add(turned, scale(t, left_jacobian(scale(-1.0, phi), load_at(u_change, k)))))


@pass_of
def joint_drift_adjoint(forest, u, time, by_shift, by_speed):
    """Adjoint of :func:`joint_drift_tangent`: convert weights of the coordinates (nu,) at the end of the motion into
    weights at its start, in place, and into weights of the speeds (nu,)."""
    t = time[0]
    for i in range(forest.kind.size):
        kind, j = forest.kind[i], forest.u_start[i]
        count, plain = joints.degrees_of_freedom(kind), joints.quaternion(kind)
        if plain < 0:
            plain = count
        for k in range(j, j + plain):
            by_speed[k] = t * by_shift[k]
        if plain < count:
            k = j + plain
            phi, w = scale(t, load_at(u, k)), load_at(by_shift, k)
            store_at(by_speed, k, scale(t, left_jacobian(phi, w)))
            store_at(by_shift, k, apply(matrix(exponential(phi)), w))
