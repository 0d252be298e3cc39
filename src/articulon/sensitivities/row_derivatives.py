"""Adjoint and tangent of accelerations under the constraints of loops and driven joints.

The constraint rows φ, with Jacobian J and multipliers λ, exert the forces Jᵀλ. With M the mass matrix, F the other
forces, and δφ'' the change of a row's second derivative at fixed u',

    M δu' = δF + Jᵀ δλ,   J δu' + δφ'' = 0,

where δF is the change of the other forces, of the inertial terms, and of Jᵀλ at fixed λ. For weights w of u', solve for
μ such that J p = 0 with p = M⁻¹ (w + Jᵀ μ); then w·δu' = p·δF + μ·δφ''. So the rows act as one more force, with virtual
power λ·J p. They add one more power, μ·φ'', which depends on places, velocities and accelerations of links
(``derivatives/loop_row_products.py``). The factors of J M⁻¹ Jᵀ come from the solution for accelerations: redundant rows
have no λ and no μ.

Column s of a joint displaces all links that the joint carries. With a coordinate, the spatial accelerations of these
links change by s × a + ψ'' − v × ψ' (``motion_columns.py``), and with a speed by ψ' + s' − v × s. Derivatives with
respect to accelerations are summed over all carried links. The terms −v × ψ' and −v × s are treated as derivatives with
respect to velocities, and the other terms multiply the columns.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import ZERO, add, cross, load, load_from, scale, sub
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import add_from
from articulon.dynamics.derivatives.derivative_definitions import solve_rows
from articulon.dynamics.derivatives.force_jacobians import power
from articulon.dynamics.derivatives.loop_row_products import (
    RowNumbers,
    change_acceleration,
    change_forces,
    weigh_accelerations,
    weigh_rates,
)
from articulon.dynamics.derivatives.motion_columns import SECOND, SPEED, load_motion, motion_cross, store_motion
from articulon.dynamics.derivatives.products import move_by
from articulon.dynamics.loops.conditions import LoopScratch, add_loop_forces, on_links
from articulon.dynamics.loops.constrained_articulated import correct_multipliers
from articulon.dynamics.newton_euler import project
from articulon.dynamics.state_functions import clear
from articulon.forces import filling
from articulon.kernels import jit
from articulon.model import Forest, Loops, Workspace
from articulon.model.loop_declarations import DRIVE
from articulon.passes import Bound, pass_of
from articulon.sensitivities.frame_derivatives import (
    add_gradient,
    cross_transposed,
    frame_changes,
    frame_motion,
    parent_acceleration,
    parent_velocity,
)

TURNS = 2
"""Number of solutions for the multipliers; the second solution removes the rounding error of the first."""


class HeldRows(NamedTuple):
    """Constraint rows that are imposed on a result x, which was found without them."""

    loops: Loops
    arrays: LoopScratch
    """Forces of the rows, the factors of J M⁻¹ Jᵀ, and multipliers μ; ``tau`` and ``total`` are scratch."""
    exerted: np.ndarray
    """Multipliers λ of the result found without μ, shape (rows,)."""
    given: np.ndarray
    """Required values of −J x, shape (rows,)."""
    answer: np.ndarray
    """Scratch: generalised forces of the rows, then the accelerations due to them, shape (nu,)."""
    motion: np.ndarray
    """Scratch, shape (links, 6)."""
    force: np.ndarray
    """Scratch, shape (links, 6)."""


def held_rows(loops: Loops, arrays: LoopScratch, links: int, nu: int) -> HeldRows:
    """Return rows with zero required values, for the factors and multipliers λ in ``arrays``."""
    rows = loops.kind.size
    motion, total, force = np.zeros((3, links, 6))
    own = arrays._replace(multiplier=np.zeros(rows), tau=np.zeros(nu), total=total)
    return HeldRows(loops, own, arrays.multiplier, np.zeros(rows), np.zeros(nu), motion, force)


def holding(
    forest: Forest, ws: Workspace, columns: np.ndarray, factors: np.ndarray, held: HeldRows, x: np.ndarray
) -> Iterator[Bound]:
    """Yield passes that add M⁻¹ Jᵀ μ to ``x`` (nu,), such that J x is minus ``held.given``."""
    yield filling.clear.bind(held.arrays.multiplier)
    for _ in range(TURNS):
        yield answer_rows.bind(forest, ws, columns, x, held.loops, held.arrays, held.given, held.answer, held.motion)
        yield solve_rows.bind(forest, ws, columns, factors, held.answer[None], held.force)
        yield add_answer.bind(held.answer, x)


@pass_of
def answer_rows(forest, ws, columns, x, loops, arrays, given, answer, motion):
    """Compute the generalised forces of the rows that are still missing, and add the missing multipliers to μ."""
    move_by(forest, ws, columns, x, motion)
    for r in range(loops.kind.size):
        own = x[loops.speed[r]] if loops.kind[r] == DRIVE else on_links(loops, arrays.wrench, r, motion, 3, 0)
        arrays.residual[r] = given[r] + own
    clear(arrays.total)
    for k in range(answer.size):
        arrays.tau[k] = 0.0
    correct_multipliers(loops, arrays)
    project(forest, ws, arrays.total, answer)
    for k in range(answer.size):
        answer[k] += arrays.tau[k]


@pass_of
def add_answer(answer, x):
    """Add the accelerations due to the rows."""
    for k in range(x.size):
        x[k] += answer[k]


@pass_of
def weigh_loops(
    loops,
    ws,
    exerted,
    wrench,
    multiplier,
    motion,
    acceleration,
    gravity,
    driving,
    by_place,
    by_velocity,
    by_acceleration,
    gradient,
):
    """Add the derivatives of λ·J p and μ·φ'' with respect to places and velocities of links (links, 6), and write their
    derivatives with respect to accelerations. :func:`turn_accelerations` adds the contribution of accelerations to the
    derivatives with respect to places and velocities."""
    weigh_rates(loops, ws, exerted, motion, by_place, gradient)
    weigh_accelerations(loops, ws, multiplier, acceleration, gravity, by_place, by_velocity, gradient)
    clear(by_acceleration)
    add_loop_forces(loops, wrench, multiplier, driving, by_acceleration)
    turn_accelerations(ws, acceleration, by_acceleration, by_place, by_velocity)


@jit
def turn_accelerations(ws, acceleration, by_acceleration, by_place, by_velocity):
    """Add the contribution of derivatives with respect to accelerations to the derivatives with respect to places and
    velocities, for links that move along with a joint. Terms that ``project_powers`` adds from velocities are left
    out."""
    for i in range(acceleration.shape[0]):
        f, n = load_from(by_acceleration, i, 0), load_from(by_acceleration, i, 3)
        (aw, av), v, w = load_motion(acceleration, i, 0), load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
        linear, angular = cross(w, f), add(cross(w, n), cross(v, f))
        turning = sub(add(cross(av, f), cross(aw, n)), add(cross(v, linear), cross(w, angular)))
        add_from(by_place, i, 3, turning)
        add_from(by_velocity, i, 0, linear)
        add_from(by_velocity, i, 3, angular)


@pass_of
def project_accelerations(forest, ws, columns, by_acceleration, by_coordinate, by_speed):
    """Sum the derivatives with respect to accelerations of links (links, 6) towards the roots, and add the result to
    the derivatives with respect to joint coordinates and speeds."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size - 1, -1, -1):
        p = parent[i]
        f, n = load_from(by_acceleration, i, 0), load_from(by_acceleration, i, 3)
        for k in range(u_start[i], u_start[i] + joints.degrees_of_freedom(kinds[i])):
            by_coordinate[k] += power(n, f, *load_motion(columns, k, SECOND))
            by_speed[k] += power(n, f, *load_motion(columns, k, SPEED))
        if p >= 0:
            add_from(by_acceleration, p, 0, f)
            add_from(by_acceleration, p, 3, add(n, cross(load(ws.reach, i), f)))


@pass_of
def frame_acceleration_adjoint(forest, ws, gravity, acceleration, by_acceleration, position, turn):
    """Add the derivatives of μ·φ'' with respect to translations and rotations of joint frames (links, 3). They follow
    from the derivatives with respect to accelerations, summed over all links that a joint carries."""
    for i in range(forest.parent.size):
        pw, pv = parent_velocity(forest, ws, i)
        bw, bv = parent_acceleration(forest, ws, gravity, acceleration, i)
        f, n = load_from(by_acceleration, i, 0), load_from(by_acceleration, i, 3)
        a, b = cross_transposed(bw, bv, n, f)
        c, d = cross_transposed(pw, pv, n, f)
        c, d = cross_transposed(pw, pv, c, d)
        add_gradient(forest, ws, i, add(a, c), add(b, d), position, turn)


@pass_of
def change_accelerations(
    forest, ws, columns, gravity, acceleration, position, turn, shift, u_change, moved, field, carried, faster
):
    """Compute the changes of the spatial accelerations of links (links, 6), angular part first, due to changes of the
    joints at fixed u'; ``carried`` (links, 6) is scratch."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):
        p = parent[i]
        w, v = ZERO, ZERO
        if p >= 0:
            w = load_from(carried, p, 0)
            v = add(load_from(carried, p, 3), cross(w, load(ws.reach, i)))
        if frame_changes(position, turn, i):
            pw, pv = parent_velocity(forest, ws, i)
            bw, bv = parent_acceleration(forest, ws, gravity, acceleration, i)
            sw, sv = frame_motion(forest, ws, position, turn, i)
            fw, fv = motion_cross(pw, pv, sw, sv)
            gw, gv = motion_cross(pw, pv, fw, fv)
            hw, hv = motion_cross(bw, bv, sw, sv)
            w, v = add(w, add(gw, hw)), add(v, add(gv, hv))
        for k in range(u_start[i], u_start[i] + joints.degrees_of_freedom(kinds[i])):
            gw, gv = load_motion(columns, k, SECOND)
            hw, hv = load_motion(columns, k, SPEED)
            w = add(w, add(scale(shift[k], gw), scale(u_change[k], hw)))
            v = add(v, add(scale(shift[k], gv), scale(u_change[k], hv)))
        store_motion(carried, i, 0, w, v)
        theta, (aw, av) = load_from(moved, i, 3), load_motion(acceleration, i, 0)
        fw, fv = motion_cross(
            load_from(ws.twist, i, 3), load_from(ws.twist, i, 0), load_from(field, i, 0), load_from(field, i, 3)
        )
        store_motion(faster, i, 0, sub(add(w, cross(theta, aw)), fw), sub(add(v, cross(theta, av)), fv))


@pass_of
def change_loops(loops, ws, exerted, acceleration, gravity, moved, twist, faster, change, wrench, given):
    """Add the changes of the rows' forces at fixed λ to the changes of the wrenches on links (links, 6), and compute
    the changes of φ'' (rows,)."""
    change_forces(loops, ws, exerted, moved, change, wrench)
    for r in range(loops.kind.size):
        given[r] = 0.0
        if loops.kind[r] != DRIVE:
            given[r] = change_acceleration(loops, ws, r, acceleration, gravity, moved, twist, faster, change)


def changing_loops(
    forest: Forest,
    ws: Workspace,
    held: HeldRows,
    columns: np.ndarray,
    acceleration: np.ndarray,
    gravity: np.ndarray,
    frames: tuple[np.ndarray, np.ndarray],
    changes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    numbers: RowNumbers,
    wrench: np.ndarray,
) -> Iterator[Bound]:
    """Yield passes that compute the changes of the rows from the changes of the joints (shift, speeds, displacements,
    field and twists of links), and set them as the values that the solution must have."""
    shift, u_change, moved, field, twist = changes
    carried, faster = np.zeros_like(moved), np.zeros_like(moved)
    at = columns, gravity, acceleration, *frames, shift, u_change, moved, field
    yield change_accelerations.bind(forest, ws, *at, carried, faster)
    own = held.exerted, acceleration, gravity, moved, twist, faster, numbers
    yield change_loops.bind(held.loops, ws, *own, wrench, held.given)
