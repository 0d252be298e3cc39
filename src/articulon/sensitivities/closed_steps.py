"""Projection onto loop constraints and prescribed motions after each step, with its tangent and its adjoint."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.armatures import adding_armatures
from articulon.dynamics.loops.conditions import LoopScratch, loop_scratch
from articulon.dynamics.loops.constrained_articulated import OPEN
from articulon.dynamics.loops.loop_passes import MOST_PROJECTIONS, closing_loops
from articulon.forces.derivatives import close
from articulon.forces.evaluation import Evaluator
from articulon.kernels import jit
from articulon.model import workspace
from articulon.passes import Bound, Program, pass_of, run
from articulon.sensitivities.closing_derivatives import (
    Turns,
    carry_changes,
    carry_weights,
    changing_moves,
    note_turn,
    set_move,
    weighing_moves,
)
from articulon.sensitivities.table_gradients import Tables
from articulon.sensitivities.turning_derivatives import coordinates_of, tangents_of

BEGIN, END = 0.0, 1.0
"""Time at which a state is projected, as a fraction of the step."""


class Shutting(NamedTuple):
    """The program that projects a state onto the constraints and records the moves, and the arrays for its inputs and
    results."""

    code: np.ndarray
    """Code of the program, shape (passes, 2)."""
    time: np.ndarray
    """Time of the state [time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    arrays: LoopScratch
    """Scratch arrays of the constraints: the latest move, and the remaining error."""
    turns: Turns
    """The recorded moves of the coordinates."""
    by_shift: np.ndarray
    """Scratch array for weights of the coordinates in their tangent space, shape (nu,)."""


def _shutting(e: Evaluator) -> tuple[Shutting, Program]:
    """Build the projection program of a model; the caller must keep the program alive."""
    (forest, loops, motions), nq, nu = (*e.system[:1], *e.system[2:4]), e.model.nq, e.model.nu
    time, q, u, rows = np.zeros(1), np.zeros(nq), np.zeros(nu), loops.kind.size
    arrays = loop_scratch(forest, loops, motions, nu)
    of_turns = (np.zeros((MOST_PROJECTIONS, n)) for n in (nq, nu, rows))
    turns = Turns(np.zeros(1, dtype=np.int64), *of_turns)
    noting = (note_turn.bind(q, arrays, turns),)
    constraints = loops, motions, e.motion_functions, time
    adding = adding_armatures(e.model, u)
    program = Program([closing_loops(forest, constraints, q, u, workspace(forest), arrays, noting, adding)])
    return Shutting(program.code, time, q, u, arrays, turns, np.zeros(nu)), program


def closing_pass(e: Evaluator, clock: np.ndarray, y: np.ndarray) -> Bound:
    """Return the pass that projects the state y (nq + nu,) at the end of a step onto the constraints, in place."""
    return close_step.bind(e.closing, e.rhs, clock, y)


def weighing_closing(
    e: Evaluator,
    gradients: Tables,
    bodies: bool,
    clock: np.ndarray,
    end: np.ndarray,
    start: np.ndarray,
    weight: np.ndarray,
) -> tuple[Bound, Bound, Sequence[Program]]:
    """Return two passes and their programs, which the caller must keep alive. The first pass converts weights (nq +
    nu,) of a state that was projected at the end of a step into weights of the state ``end`` before the projection, in
    place. The second pass does this for the initial state ``start``."""
    (shutting, program), (moves, programs) = _shutting(e), weighing_moves(e, gradients, bodies)
    of_step, of_start = (
        weigh_closing.bind(e.system.forest, shutting, *moves, when, clock, y, weight)
        for when, y in ((END, end), (BEGIN, start))
    )
    return of_step, of_start, [program, *programs]


def changing_closing(
    e: Evaluator,
    tables: Tables,
    clock: np.ndarray,
    number: np.ndarray,
    numbers: np.ndarray,
    columns: np.ndarray,
    y: np.ndarray,
    changes: np.ndarray,
) -> tuple[Bound, Bound, Sequence[Program]]:
    """Return two passes and their programs, which the caller must keep alive. The first pass projects the state y (nq +
    nu,) at the end of a step, together with its changes. The second pass projects the changes of the initial state."""
    (shutting, program), (moves, programs) = _shutting(e), changing_moves(e, tables)
    shifts = np.zeros((len(changes), e.model.nu))
    of_step, of_start = (
        change_closing.bind(
            e.system.forest, shutting, *moves, when, clock, number, numbers, columns, y, changes, shifts
        )
        for when in (END, BEGIN)
    )
    return of_step, of_start, [program, *programs]


@pass_of
def close_step(closing, rhs, clock, y):
    """Project y onto the constraints; y becomes NaN if that is not possible."""
    close(closing, rhs, clock[0] + clock[1], y)
    if not closing.left[0] <= OPEN:
        y[:] = np.nan


@jit
def shut(shutting, when, clock, y):
    """Project the coordinates and speeds of y onto the constraints, in the arrays of the program, and record the
    moves."""
    nq, turns = shutting.q.size, shutting.turns
    turns.made[0], shutting.time[0] = 0, clock[0] + when * clock[1]
    copy_into(shutting.q, y[:nq])
    copy_into(shutting.u, y[nq : nq + shutting.u.size])
    run(shutting.code)
    if when == BEGIN and turns.made[0] == 0:
        # The state satisfies the constraints, but with other parameters it would not, so a zero move is recorded.
        copy_into(turns.q[0], shutting.q)
        turns.x[0, :] = 0.0
        turns.exerted[0, :] = 0.0
        turns.made[0] = 1


@pass_of
def weigh_closing(forest, shutting, of_q, of_u, when, clock, y, weight):
    """Convert weights of the projected state into weights of the state y before the projection, in place."""
    nq, nu, turns, by_shift = shutting.q.size, shutting.u.size, shutting.turns, shutting.by_shift
    shut(shutting, when, clock, y)
    by_q, by_u = weight[:nq], weight[nq : nq + nu]
    tangents_of(forest, shutting.q, by_q, 0.5, by_shift)
    set_move(of_u, shutting.q, shutting.arrays.response, shutting.arrays.correction, shutting.u)
    copy_into(of_u.weight, by_u)
    run(of_u.point)
    run(of_u.code)
    for k in range(nu):
        by_shift[k] += of_u.by_shift[k]
        by_u[k] += of_u.by_speed[k]
    for turn in range(turns.made[0] - 1, -1, -1):
        set_move(of_q, turns.q[turn], turns.x[turn], turns.exerted[turn], turns.x[turn])
        carry_weights(forest, turns.x[turn], by_shift, of_q.weight)
        run(of_q.point)
        run(of_q.code)
        for k in range(nu):
            by_shift[k] += of_q.by_shift[k]
    coordinates_of(forest, y[:nq], by_shift, 2.0, by_q)


@pass_of
def change_closing(forest, shutting, of_q, of_u, when, clock, number, numbers, columns, y, changes, shifts):
    """Project the state y and its changes (parameters, nq + nu) onto the constraints, in place. At the start of the
    first step, project only the changes; at the start of later steps, do nothing."""
    if when == BEGIN and number[0] > 0:
        return
    nq, nu, turns = shutting.q.size, shutting.u.size, shutting.turns
    shut(shutting, when, clock, y)
    for p in range(changes.shape[0]):
        tangents_of(forest, y[:nq], changes[p, :nq], 2.0, shifts[p])
    for turn in range(turns.made[0]):
        set_move(of_q, turns.q[turn], turns.x[turn], turns.exerted[turn], turns.x[turn])
        run(of_q.point)
        for p in range(changes.shape[0]):
            change_move(of_q, numbers, columns[p], shifts[p], False, changes[p, nq:])
            carry_changes(forest, turns.x[turn], shifts[p], of_q.weight)
    set_move(of_u, shutting.q, shutting.arrays.response, shutting.arrays.correction, shutting.u)
    run(of_u.point)
    for p in range(changes.shape[0]):
        change_move(of_u, numbers, columns[p], shifts[p], True, changes[p, nq:])
        for k in range(nu):
            changes[p, nq + k] += of_u.weight[k]
        coordinates_of(forest, shutting.q, shifts[p], 0.5, changes[p, :nq])
    if when == END:
        copy_into(y[:nq], shutting.q)
        copy_into(y[nq : nq + nu], shutting.u)
        if not shutting.arrays.left[0] <= OPEN:
            y[:] = np.nan


@jit
def change_move(move, numbers, column, shift, moving, speed):
    """Compute the change of a move from changes of the coordinates in their tangent space and of the tables. For a move
    of speeds, changes of the speeds are included."""
    copy_into(numbers, column)
    copy_into(move.by_shift, shift)
    for k in range(speed.size):
        move.by_speed[k] = speed[k] if moving else 0.0
    run(move.code)
