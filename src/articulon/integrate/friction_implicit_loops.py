"""The passes of a friction-implicit step for loop constraints and driven joints.

Every part of a step leads from a state on the constraints to another such state: φ(q, t) = 0 and J u = v, where J is
the Jacobian of the rows and v the rates of given motions.

A kick, and a step of friction and noise, change the speeds at fixed coordinates by A Δu = h Γ + Jᵀλ with J Δu = 0. A is
the mass matrix, or M + h/2 D with the drag, and J A⁻¹ Jᵀ λ = −J A⁻¹ h Γ. With Z a basis of the speeds that J leaves
free, this is ZᵀAZ Δy = h ZᵀΓ, the step of the same model in independent speeds y. So a midpoint step of drag and noise
keeps the Gaussian distribution kT (ZᵀMZ)⁻¹ of y exactly, and Langevin's noise w from N(0, kT M⁻¹) is that of y after
the projection w − M⁻¹Jᵀ(J M⁻¹ Jᵀ)⁻¹ J w.

A drift step is that of RATTLE (Andersen, J. Comput. Phys. 52, 24, 1983) around any time-reversible map of (q, u): an
impulse M⁻¹Jᵀλ at the start brings the end onto φ = 0, and an impulse at the end brings the speeds there to J u = v. The
result is time-reversible again, so of second order, and symplectic if the map is. Compare the splitting of Leimkuhler
and Matthews (Proc. R. Soc. A 472, 20160138, 2016) for bonds.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.kinematics import accelerate_at_constant_speeds
from articulon.dynamics.kinetic_energies import kinetic_energy
from articulon.dynamics.loops.conditions import (
    LoopScratch,
    add_loop_forces,
    evaluate_motions,
    on_links,
    row_rates,
    row_residuals,
    row_wrenches,
)
from articulon.dynamics.loops.constrained_articulated import CLOSED, OPEN, largest_error
from articulon.dynamics.loops.loop_passes import (
    OpenForest,
    factoring,
    factoring_under,
    respond,
    responding,
    solve_rows,
    solving_again,
)
from articulon.dynamics.loops.semidefinite import solve_semidefinite
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.integrate.status import DIVERGED, NOT_CLOSED, REACHED
from articulon.kernels import jit
from articulon.model import Forest, Loops, Workspace
from articulon.model.loop_declarations import DRIVE
from articulon.model.state import EXTERNAL, THERMOSTAT
from articulon.passes import Bound, Program, pass_of, run
from articulon.thermostats.langevin import langevin_speeds

MOST_IMPULSES = 300
"""Most iterations for the impulse of a drift. Each reduces the error by about the angle by which the constraints
turn."""
FIRST_IMPULSES, NEAR = 60, 1e-5
"""Iterations after which the drift must be near its constraints, and the error, relative in the same sense as
``CLOSED``, that counts as near. An iteration that is not near by then may end on another branch of the constraints,
which the mechanism has not reached."""
ROUNDED = 1e-11
"""Error, relative in the same sense as ``CLOSED``, below which an iteration that gains less than a factor of two has
reached rounding."""


class Departure(NamedTuple):
    """The start of a drift; it may be discarded between steps."""

    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    wrench: np.ndarray
    """The rows' unit forces, shape (rows, 12)."""


def departure(nq: int, nu: int, rows: int) -> Departure:
    """Zeroed arrays for a model."""
    return Departure(np.zeros(nq), np.zeros(nu), np.zeros((rows, 12)))


@pass_of
def begin_tangent(forest, loops, ws, arrays):
    """Set rows with J u' = 0 at links whose poses and velocities are known, for a part of a step with constant
    coordinates and therefore constant J. The links' velocity-product accelerations, ``ws.bias``, are not part of J
    u'."""
    row_wrenches(loops, ws, arrays.wrench)
    accelerate_at_constant_speeds(forest, ws)
    for r in range(loops.kind.size):
        arrays.multiplier[r] = arrays.gamma[r] = 0.0
        if loops.kind[r] == DRIVE:
            arrays.motion[loops.motion[r], 2] = 0.0
        else:
            arrays.gamma[r] = -on_links(loops, arrays.wrench, r, ws.acceleration, 3, 0)


def solving_tangent(
    forest: Forest,
    loops: Loops,
    loads: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ws: Workspace,
    arrays: LoopScratch,
    udot: np.ndarray,
    adding: OpenForest,
) -> list[Bound]:
    """The passes that solve for accelerations with J u' = 0; the inertias are those of ``forest``, which may include
    friction, with the terms ``adding`` to the mass matrix."""
    return [
        begin_tangent.bind(forest, loops, ws, arrays),
        *factoring_under(forest, loops, loads, ws, arrays, udot, adding),
        solve_rows.bind(loops, *loads, ws, arrays, udot, solving_again(forest, loads, ws, arrays, udot, adding)),
    ]


@pass_of
def book_drives(loops, u, multiplier, span, work):
    """Record the work of the forces that drive joints over a time ``span`` (1,), at the mean speeds."""
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            work[EXTERNAL] += span[0] * multiplier[r] * u[loops.speed[r]]


@jit
def book_impulse(loops, impulse, u, change, work):
    """Record the work of the impulses that drive joints and have changed the speeds u by ``change``."""
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            k = loops.speed[r]
            work[EXTERNAL] += impulse[r] * (u[k] + 0.5 * change[k])


@jit
def project_speeds(loops, u, ws, arrays, work, moving, factoring, responding):
    """Project u onto J u = v, with v the rates in ``arrays.motion``, by the smallest change in the metric of the mass
    matrix, at links whose poses are known; return the initial error of J u."""
    run(factoring)
    run(moving)
    row_rates(loops, u, ws, arrays.wrench, arrays.motion, arrays.residual)
    fastest = 0.0
    for r in range(loops.kind.size):
        fastest = max(fastest, abs(arrays.residual[r]))
    respond(loops, arrays, responding)
    book_impulse(loops, arrays.correction, u, arrays.response, work)
    for k in range(u.size):
        u[k] += arrays.response[k]
    return fastest


@jit
def begin(loops, q, u, arrays, start, moving, factoring):
    """Save the start of a drift and the factors of J M⁻¹ Jᵀ there, at links whose poses are known."""
    run(factoring)
    copy_into(start.q, q)
    copy_into(start.u, u)
    copy_into(start.wrench.reshape(-1), arrays.wrench.reshape(-1))
    for r in range(loops.kind.size):
        arrays.multiplier[r] = 0.0
    for k in range(u.size):
        arrays.response[k] = 0.0
    run(moving)


@jit
def correct_impulses(loops, time, q, u, arrays, start, placing, moving, responding):
    """Correct the impulses by the error of φ = 0 after a drift over ``time``, ``arrays.residual``, and return to the
    start of the drift with the corrected speeds."""
    for r in range(loops.kind.size):
        arrays.residual[r] *= -1.0 / time
    solve_semidefinite(arrays.matrix, arrays.scale, arrays.pivot, arrays.rank[0], arrays.residual, arrays.correction)
    for k in range(u.size):
        arrays.tau[k] = 0.0
    flat = arrays.total.reshape(-1)
    for k in range(flat.size):
        flat[k] = 0.0
    for r in range(loops.kind.size):
        arrays.multiplier[r] += arrays.correction[r]
    add_loop_forces(loops, start.wrench, arrays.multiplier, arrays.tau, arrays.total)
    copy_into(q, start.q)
    run(placing)
    run(responding)
    for k in range(u.size):
        u[k] = start.u[k] + arrays.response[k]
    run(moving)


@jit
def drift_converged(loops, turn, q, ws, arrays, before):
    """Return whether a drift step has reached φ = 0 as closely as the iteration can, and its error relative to the size
    of the rows."""
    row_residuals(loops, q, ws, arrays.motion, arrays.residual)
    error, relative, worst = largest_error(loops, q, ws, arrays)
    if turn == 0:
        arrays.drift[0] = max(arrays.drift[0], error)
    arrays.left[0], arrays.rank[1] = relative, worst
    rounded = relative < ROUNDED and not relative < 0.5 * before
    lost = turn == MOST_IMPULSES or (turn >= FIRST_IMPULSES and not relative < NEAR) or not relative < math.inf
    return relative <= CLOSED or rounded or lost, relative


@pass_of
def drift_tangent(
    loops,
    motions,
    functions,
    part,
    clock,
    span,
    q,
    u,
    ws,
    arrays,
    start,
    work,
    status,
    travelling,
    placing,
    moving,
    factoring,
    responding,
):
    """A drift over a time ``span`` (1,) that ends on the constraints at the time ``clock[0] + part · clock[1]``;
    ``travelling`` is the drift without constraints."""
    evaluate_motions(motions, functions, clock[0] + part * clock[1], arrays.motion)
    begin(loops, q, u, arrays, start, moving, factoring)
    before = math.inf
    for turn in range(MOST_IMPULSES + 1):
        run(travelling)
        if status[0] != REACHED:
            return
        ended, before = drift_converged(loops, turn, q, ws, arrays, before)
        if ended:
            break
        correct_impulses(loops, span[0], q, u, arrays, start, placing, moving, responding)
    if not arrays.left[0] <= OPEN:
        status[0] = max(status[0], NOT_CLOSED if arrays.left[0] < math.inf else DIVERGED)
        return
    # The impulses of the final speeds, and the work of drives.
    book_impulse(loops, arrays.multiplier, start.u, arrays.response, work)
    off = project_speeds(loops, u, ws, arrays, work, moving, factoring, responding)
    arrays.drift[1] = max(arrays.drift[1], off)


def drifting_tangent(
    forest: Forest,
    constraints: tuple[Any, ...],
    times: tuple[Any, ...],
    q: np.ndarray,
    u: np.ndarray,
    ws: Workspace,
    arrays: LoopScratch,
    ends: tuple[Any, ...],
    travelling: list[Bound],
    adding: OpenForest,
) -> Bound:
    """Return :func:`drift_tangent` bound to its arguments: loops, motions and functions; part, clock and span; and the
    saved start, works and status. ``adding`` holds the terms added to the mass matrix."""
    return drift_tangent.bind(
        *constraints,
        *times,
        q,
        u,
        ws,
        arrays,
        *ends,
        Program(travelling),
        Program([place_links.bind(forest, q, ws)]),
        Program([move_links.bind(forest, u, ws)]),
        factoring(forest, constraints[0], ws, arrays, adding),
        responding(forest, ws, arrays, adding),
    )


@pass_of
def langevin_tangent(forest, loops, bath, clock, u, ws, noise, arrays, work, moving, factoring, responding):
    """Apply Langevin friction and noise over the time ``clock[1]`` from ``clock[0]`` on, to the speeds that the loops
    leave free, at links whose poses and velocities are known; add its work."""
    before, driven = kinetic_energy(forest, ws), work[EXTERNAL]
    langevin_speeds(bath, clock, u, noise)
    project_speeds(loops, u, ws, arrays, work, moving, factoring, responding)
    run(moving)
    # The work by which drives hold their joints is recorded as work of the drives.
    work[THERMOSTAT] += kinetic_energy(forest, ws) - before - (work[EXTERNAL] - driven)
