"""The complete right-hand side as a program of passes: dy/dt of y = (q, u, works by channel, thermostat variables).

Kinematics computes the poses and velocities of the links and their sites, forces fill the channels, scaling sums them,
and dynamics converts them to accelerations. If Euler parameters are integrated by their accelerations, the rates q'
take the place of u.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics import motion_passes
from articulon.dynamics.armatures import adding_armatures
from articulon.dynamics.loops.loop_passes import closing_loops
from articulon.dynamics.solvers import Constraints, Loads, locating, solving
from articulon.dynamics.state_functions import PARALLEL_LINKS
from articulon.forces.base import At
from articulon.forces.evaluation_tables import ModelTables
from articulon.forces.filling import booking, fill_all, scaling
from articulon.forces.impacts.joint_limits import has_impacts
from articulon.forces.impacts.pressing import press
from articulon.kernels import jit, kernel
from articulon.model.state import DAMPING, EXTERNAL, STOCHASTIC
from articulon.passes import Bound, Program, pass_of, run


class RightHandSide(NamedTuple):
    """The program of the right-hand side, and the arrays through which it is called."""

    code: np.ndarray
    """Code of the program, shape (passes, 2)."""
    time: np.ndarray
    """Time [time], shape (1,)."""
    window: np.ndarray
    """Index of the noise window, shape (1,)."""
    factor: np.ndarray
    """Scaling factors of the channels, shape (8,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, or the rates of the coordinates, shape (nu,) or (nq,)."""
    bath: np.ndarray
    """Thermostat variables, and their rates, shape (2, variables)."""
    q_rate: np.ndarray
    """Rates q' of the coordinates, shape (nq,)."""
    u_rate: np.ndarray
    """Accelerations u' or q'', shape (nu,) or (nq,)."""
    power: np.ndarray
    """Unscaled power of each channel, shape (8,)."""
    driving: np.ndarray
    """Power of the constraint forces of driven joints, shape (1,)."""
    position: np.ndarray
    """Origins of the links at the latest evaluation [length], shape (links, 3)."""
    rotation: np.ndarray
    """Orientations of the links, row-major matrices, shape (links, 9)."""


class Closing(NamedTuple):
    """Projection of a state after every step, and the arrays through which it is called: its program projects the
    coordinates and speeds of the right-hand side onto the loop constraints and driven motions."""

    code: np.ndarray
    """Code of the program, shape (passes, 2); (0, 2) if there is nothing to project."""
    left: np.ndarray
    """Remaining error of the worst constraint row, relative to its size, shape (1,)."""
    drift: np.ndarray
    """Constraint drift before the projection, of positions and of speeds, shape (2,)."""


@pass_of
def copy(source, target):
    """Copy an array."""
    copy_into(target, source)


@jit
def put_state(rhs, time, y):
    """Write time, coordinates and speeds to the arrays that the passes read."""
    nq, nu = rhs.q.size, rhs.u.size
    rhs.time[0] = time
    copy_into(rhs.q, y[:nq])
    copy_into(rhs.u, y[nq : nq + nu])


@jit
def evaluate(rhs, time, window, factor, y, dy):
    """Evaluate dy/dt at a time, for a noise window and scaling factors (8,)."""
    nq, nu, start = rhs.q.size, rhs.u.size, rhs.q.size + rhs.u.size
    put_state(rhs, time, y)
    rhs.window[0] = window
    copy_into(rhs.factor, factor)
    copy_into(rhs.bath[0], y[start + 8 :])
    run(rhs.code)
    copy_into(dy[:nq], rhs.q_rate)
    copy_into(dy[nq : nq + nu], rhs.u_rate)
    for c in range(8):
        dy[start + c] = factor[c] * rhs.power[c]
    dy[start + EXTERNAL] += rhs.driving[0]
    copy_into(dy[start + 8 :], rhs.bath[1])


@jit
def close(closing, rhs, time, y):
    """Project q and u of y onto the loop constraints at a time."""
    nq, nu = rhs.q.size, rhs.u.size
    put_state(rhs, time, y)
    run(closing.code)
    copy_into(y[:nq], rhs.q)
    copy_into(y[nq : nq + nu], rhs.u)


@kernel
def call(rhs, time, window, factor, y, dy):
    """Evaluate the right-hand side, callable from Python."""
    evaluate(rhs, time, window, factor, y, dy)


@kernel
def call_rows(rhs, factor, y, dy):
    """Evaluate the right-hand side for every row of y, at time zero."""
    for k in range(y.shape[0]):
        evaluate(rhs, 0.0, 0, factor, y[k], dy[k])


@kernel
def call_closing(closing, rhs, time, y):
    """Evaluate the projection, callable from Python."""
    close(closing, rhs, time, y)


def right_hand_side(e: ModelTables) -> tuple[Program, RightHandSide]:
    """Return the right-hand side of a model for its solver, and the program, which the caller must keep alive."""
    model, channels, embedded = e.model, e.channels, e.rotations == "euler-parameters"
    nq, nu = model.nq, model.nu
    speeds = e.solver.u if embedded else np.zeros(nu)
    rates = e.solver.udot if embedded else np.zeros(nu)
    second = np.zeros((2, nq)) if embedded else (speeds, rates)
    found = RightHandSide(
        np.zeros((0, 2), dtype=np.int64),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        np.ones(8),
        np.zeros(nq),
        second[0],
        e.bath,
        np.zeros(nq),
        second[1],
        channels.power,
        np.zeros(1),
        e.ws.position,
        e.ws.rotation,
    )
    friction = channels.wrench[DAMPING], channels.wrench[STOCHASTIC]
    at = At(e.system.forest, e.ws, found.q, speeds, found.time, found.window, channels, *friction)
    program = Program(_embedded(e, at, found, rates) if embedded else _plain(e, at, found))
    return program, found._replace(code=program.code)


def closing(e: ModelTables, rhs: RightHandSide) -> tuple[Program, Closing]:
    """Return the projection of a model after every step, and the program, which the caller must keep alive."""
    solver, (forest, loops, motions) = e.solver, e.system[:1] + e.system[2:4]
    found: list[Bound] = []
    looped = bool(loops.kind.size)
    scratch = solver.loops
    constraints = loops, motions, e.motion_functions, rhs.time
    adding = adding_armatures(e.model, rhs.u)
    if e.rotations == "euler-parameters":
        found.append(motion_passes.embed_dependent.bind(forest, rhs.q, rhs.u, solver.dependent, solver.switches))
        if looped:
            found.append(motion_passes.find_speeds.bind(forest, rhs.q, rhs.u, solver.u))
            found.append(closing_loops(forest, constraints, rhs.q, solver.u, e.ws, scratch, adding=adding))
            found.append(motion_passes.find_rates.bind(forest, rhs.q, solver.u, rhs.u))
    elif looped:
        found.append(closing_loops(forest, constraints, rhs.q, rhs.u, e.ws, scratch, adding=adding))
    program = Program(found)
    return program, Closing(program.code, scratch.left, scratch.drift)


def _plain(e: ModelTables, at: At, rhs: RightHandSide) -> Iterator[Bound]:
    """Return the program for angular velocities."""
    yield from _locating(e, at)
    yield from _forces(e, at, rhs.factor)
    yield from _solving(e, at, rhs.factor[EXTERNAL:], rhs.u_rate)
    if has_impacts(e.model) and e.impacts.may_rest:
        impacts = e.impacts
        yield press.bind(impacts.response, impacts.table, impacts.pressed, at.q, at.u, rhs.u_rate, rhs.power)
    yield motion_passes.rate_coordinates.bind(at.forest, at.q, at.u, rhs.q_rate)
    yield from _driving(e, at, rhs)


def _embedded(e: ModelTables, at: At, rhs: RightHandSide, udot: np.ndarray) -> Iterator[Bound]:
    """Return the program for Euler parameters integrated by their accelerations."""
    solver, forest, gravity = e.solver, at.forest, rhs.factor[EXTERNAL:]
    yield motion_passes.find_speeds.bind(forest, at.q, rhs.u, at.u)
    yield motion_passes.place_links.bind(forest, at.q, at.ws)
    yield motion_passes.move_links.bind(forest, at.u, at.ws)
    yield from _forces(e, at, rhs.factor)
    tau, wrench = at.channels.total_joint, at.channels.total_wrench
    if e.system.loops.kind.size:
        yield from _solving(e, at, gravity, udot)
    else:
        kept = solver.loops.articulated
        yield motion_passes.solve_and_keep.bind(
            forest, tau, wrench, e.system.forces.gravity, gravity, at.ws, udot, kept
        )
    kept = solver.loops.articulated
    yield motion_passes.embed.bind(forest, at.ws, kept, at.q, rhs.u, udot, solver.dependent, rhs.u_rate)
    yield copy.bind(rhs.u, rhs.q_rate)
    yield from _driving(e, at, rhs)


def _forces(e: ModelTables, at: At, factor: np.ndarray) -> Iterator[Bound]:
    yield from fill_all(e, at)
    yield from scaling(e, at.channels, factor)
    yield from booking(e, at)


def _locating(e: ModelTables, at: At) -> Iterator[Bound]:
    if e.solver_name == "articulated" and _many_trees(e):
        yield motion_passes.locate_in_parallel.bind(at.forest, at.q, at.u, at.ws)
    else:
        yield from locating(e.model, e.solver_name, at.forest, at.q, at.u, at.ws, e.solver)


def _solving(e: ModelTables, at: At, factor: np.ndarray, udot: np.ndarray) -> Iterator[Bound]:
    """Return the passes of the solver; ``factor`` (1,) is the scaling factor of gravity."""
    loads = Loads(at.channels.total_joint, at.channels.total_wrench, e.system.forces.gravity, factor)
    if e.solver_name == "articulated" and _many_trees(e) and e.model.armature is None:
        yield motion_passes.solve_in_parallel.bind(at.forest, *loads, at.ws, udot)
        return
    constraints = Constraints(e.system.loops, e.system.motions, e.motion_functions, at.time)
    yield from solving(e.model, e.solver_name, at.forest, constraints, loads, at.ws, e.solver, udot)


def _driving(e: ModelTables, at: At, rhs: RightHandSide) -> Iterator[Bound]:
    if e.model.drives:
        yield motion_passes.power_drives.bind(e.system.loops, at.u, e.solver.loops.multiplier, rhs.driving)


def _many_trees(e: ModelTables) -> bool:
    forest = e.system.forest
    looped = bool(e.system.loops.kind.size)
    return not looped and e.model.trees > 1 and forest.mass.size >= PARALLEL_LINKS
