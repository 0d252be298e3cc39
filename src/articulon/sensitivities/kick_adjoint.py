"""The adjoint of the accelerations of kicks, for several kicks at one place.

The accelerations of a kick are k = M⁻¹ (f Γ(q) − C(q, v)), plus the terms of ``spin_derivatives.py``. With weights w
and λ = M⁻¹ w, the derivative of w·k is derived in ``adjoint_program.py``. All kicks at one place (the same coordinates)
have the same forces, so these have one virtual power, at the sum of the λ of the kicks. M⁻¹ is factorised once for all
kicks, from the articulated inertias that the step has stored; the accelerations are also taken from the step.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import apply_t, load_at, load_matrix, store_at, sub
from articulon.dynamics import joints
from articulon.dynamics.derivatives import composites, inverse_mass, motion_columns, products
from articulon.dynamics.derivatives.composites import WRENCH_WIDTH
from articulon.dynamics.derivatives.derivative_definitions import (
    Carried,
    copy_row,
    factorise,
    find_motion_columns,
    find_transposed_products,
    solve_rows,
)
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.forces.base import AdjointAt, At
from articulon.forces.evaluation import Evaluator
from articulon.forces.filling import filling
from articulon.integrate.friction_implicit_rotors import keeps_spins
from articulon.passes import Bound, pass_of
from articulon.sensitivities.acting_forces import Acting
from articulon.sensitivities.adjoint_program import (
    begin,
    factor_adjoint,
    forces_adjoint,
    gravity_adjoint,
    inertia_adjoint,
    keep_wrenches,
    multiply,
    project_powers,
    weight_adjoint,
)
from articulon.sensitivities.drift_derivatives import turns_freely
from articulon.sensitivities.frame_derivatives import frame_adjoint, frame_power_adjoint
from articulon.sensitivities.spin_derivatives import find_turning, kept_spin, spin_adjoint
from articulon.sensitivities.table_gradients import Tables, links_of


class Kicks(NamedTuple):
    """Kicks at a place, weights of their accelerations, and derivatives with respect to the state."""

    time: np.ndarray
    """Time of the kicks [time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds at which the accelerations of a kick are evaluated, shape (nu,)."""
    rate: np.ndarray
    """Accelerations of the kick, shape (nu,)."""
    weight: np.ndarray
    """Weights of the accelerations, shape (nu,)."""
    articulated: np.ndarray
    """Articulated inertias of the links, shape (links, 21)."""
    joint: np.ndarray
    """Scaled joint forces at the place, shape (nu,)."""
    wrench: np.ndarray
    """Scaled wrenches on the links, shape (links, 6)."""
    by_coordinate: np.ndarray
    """Derivatives with respect to the coordinates in their tangent space, shape (nu,)."""
    by_speed: np.ndarray
    """Derivatives with respect to the speeds, shape (nu,)."""


def kicks(e: Evaluator) -> Kicks:
    """Allocate the arrays for a model."""
    nu, links = e.model.nu, e.system.forest.mass.size
    shapes = (
        (1,),
        (e.model.nq,),
        (nu,),
        (nu,),
        (nu,),
        (links, inverse_mass.ARTICULATED),
        (nu,),
        (links, 6),
        (nu,),
        (nu,),
    )
    return Kicks(*(np.zeros(shape) for shape in shapes))


class KickPasses(NamedTuple):
    """Groups of passes for the kicks at one place."""

    place: list[Bound]
    """Passes that place the links."""
    fill: list[Bound]
    """Passes that place the links and compute the forces; the adjoints of forces read them."""
    first: list[Bound]
    """Passes for the derivatives of the first kick at the place, without the derivatives of forces."""
    next: list[Bound]
    """Passes for the derivatives of another kick at the place."""
    forces: list[Bound]
    """Passes for the derivatives of the forces of all kicks since the last call; ``fill`` must have run at this
    place."""


def kick_passes(e: Evaluator, at: Kicks, gradients: Tables, bodies: bool, acting: Acting) -> KickPasses:
    """Build the passes of a model. Derivatives with respect to the numbers of its links are computed only if ``bodies``
    is true."""
    forest, forces, ws, nu = e.system.forest, e.system.forces, e.ws, e.model.nu
    links = forest.mass.size
    fall, factors, weight = acting.factor * forces.gravity, np.zeros((nu, inverse_mass.FACTORS)), np.zeros(nu)
    columns, acceleration = np.zeros((nu, motion_columns.WIDTH)), np.zeros((links, 6))
    given = np.zeros((links if forces.wrench_channels.size else 0, WRENCH_WIDTH))
    composite, motion, rows = (np.zeros((links, n)) for n in (composites.WIDTH, 6, products.WIDTH))
    carried = Carried(forest, at.wrench, ws, columns, acceleration, composite, np.zeros_like(given), given)
    pushed, moved, own = np.zeros(nu), np.zeros((links, 6)), np.zeros(nu)
    spins, turning = keeps_spins(forest), np.zeros((links, 3))
    moving = [move_links.bind(forest, at.u, ws), copy_row.bind(at.rate, own)]
    if spins:
        moving.append(take_spins.bind(forest, ws, at.u, turning, own))
    moving.append(find_motion_columns.bind(forest, at.u, own, fall, ws, columns, acceleration))
    placed = [factorise.bind(forest, columns, at.articulated, factors)]
    if given.size:
        placed.append(keep_wrenches.bind(at.wrench, given))
    by_q, by_u = np.zeros(nu), np.zeros(nu)
    weighing = [
        copy_row.bind(at.weight, weight),
        solve_rows.bind(forest, ws, columns, factors, weight[None], np.zeros((links, 6))),
        find_transposed_products.bind(*carried, weight, motion, rows, by_q, by_u),
        add_power.bind(weight, motion, by_q, by_u, pushed, moved, at.by_coordinate, at.by_speed),
    ]
    if bodies:
        of_mass = gradients.mass, gradients.moment, gradients.inertia
        weighing.append(inertia_adjoint.bind(ws, acceleration, motion, *of_mass))
        held = fall, acceleration, composite, carried.loads, motion, rows
        weighing.append(frame_adjoint.bind(forest, ws, *held, gradients.position, gradients.turn))
    if spins:
        scratch = turning, np.zeros((links, 6)), np.zeros((links, 3))
        by = at.by_coordinate, at.by_speed, gradients.turn
        weighing.append(spin_adjoint.bind(forest, ws, at.u, at.weight, *scratch, *by))
    pushing = list(_pushing(e, at, gradients, bodies, acting, columns, (pushed, moved)))
    friction, window = np.zeros((2, links, 6)), np.zeros(1, dtype=np.int64)
    filled = At(forest, ws, at.q, at.u, at.time, window, e.channels, *friction)
    place = [place_links.bind(forest, at.q, ws)]
    fill = [*place, *filling(e, filled, resistance=False)]
    return KickPasses(place, fill, [*moving, *placed, *weighing], [*moving, *weighing], pushing)


def _pushing(
    e: Evaluator,
    at: Kicks,
    gradients: Tables,
    bodies: bool,
    acting: Acting,
    columns: np.ndarray,
    summed: tuple[np.ndarray, np.ndarray],
) -> Iterator[Bound]:
    """Yield passes for the virtual power of forces at joint speeds λ, and at the motion of the links at these
    speeds."""
    forest, forces, ws = e.system.forest, e.system.forces, e.ws
    links, nu = forest.mass.size, e.model.nu
    pushed, moved = summed
    if acting.scaled:
        yield factor_adjoint.bind(1.0 / acting.factor, at.joint, at.wrench, pushed, moved, gradients.factor)
        yield weight_adjoint.bind(forest, ws, forces.gravity, moved, gradients.factor)
        yield multiply.bind(acting.factor, pushed, moved, pushed, moved)
    by = np.zeros((links, 6)), np.zeros((links, 6)), at.by_coordinate, at.by_speed
    by_links = links_of(gradients) if bodies else None
    power = AdjointAt(forest, ws, at.q, at.u, at.time, pushed, moved, *by, by_links)
    yield begin.bind(np.zeros(nu), np.zeros(nu), *by)
    yield from forces_adjoint(e, gradients, power, acting._replace(resistance=False), found=True)
    yield gravity_adjoint.bind(forest, ws, moved, gradients.gravity)
    yield project_powers.bind(forest, ws, columns, *by)
    if bodies:
        yield frame_power_adjoint.bind(forest, ws, *by[:2], gradients.position, gradients.turn)
    yield clear_power.bind(pushed, moved)


@pass_of
def take_spins(forest, ws, u, turning, rate):
    """Subtract from the accelerations of a kick (nu,) the terms of ``spin_derivatives.py``, which the equations of
    motion do not have; ``turning`` (links, 3) is scratch."""
    find_turning(forest, ws, u, turning)
    for i in range(forest.kind.size):
        kind = forest.kind[i]
        if turns_freely(kind):
            k = forest.u_start[i] + joints.degrees_of_freedom(kind) - 3
            d = apply_t(load_matrix(ws.rotation, i), kept_spin(forest, ws, turning, i))
            store_at(rate, k, sub(load_at(rate, k), d))


@pass_of
def add_power(weight, motion, by_q, by_u, pushed, moved, by_coordinate, by_speed):
    """Add λ (nu,) and the motion of the links at λ (links, 6) to the sums over all kicks. Initialise the derivatives
    with the derivatives of −λ·τ, where τ is the result of inverse dynamics."""
    for k in range(weight.size):
        pushed[k] += weight[k]
        by_coordinate[k], by_speed[k] = -by_q[k], -by_u[k]
    for i in range(motion.shape[0]):
        for k in range(6):
            moved[i, k] += motion[i, k]


@pass_of
def clear_power(pushed, moved):
    """Set the sums of λ (nu,) and of the motions at λ (links, 6) to zero."""
    for k in range(pushed.size):
        pushed[k] = 0.0
    for i in range(moved.shape[0]):
        for k in range(6):
            moved[i, k] = 0.0
