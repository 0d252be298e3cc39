"""The passes of the articulated-body algorithm with loops, and those that project a state onto the loops.

The recursion over the tree and the factorisation of the rows are programs that these passes run. Each of these programs
is compiled once for all callers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.kinematics import drift
from articulon.dynamics.loops.conditions import (
    LoopScratch,
    evaluate_motions,
    row_accelerations,
    row_biases,
    row_rates,
    row_residuals,
)
from articulon.dynamics.loops.constrained_articulated import (
    CLOSED,
    at_rest,
    correct_multipliers,
    factor_loops,
    largest_error,
)
from articulon.dynamics.motion_passes import move_links, place_links, scaled, solve_and_keep
from articulon.kernels import jit
from articulon.model import Forest, Loops, Workspace
from articulon.passes import Bound, Program, pass_of, run

MOST_PROJECTIONS = 8
NO_GRAVITY = np.zeros(3), np.ones(1)


@pass_of
def factor_rows(forest, loops, ws, arrays):
    """Factors of J M⁻¹ Jᵀ for links whose articulated inertias have been stored."""
    factor_loops(forest, loops, ws, arrays)


class OpenForest(NamedTuple):
    """How the open forest is solved."""

    solve: Any
    """The pass that finds the accelerations, and keeps the articulated inertias."""
    factor: Any
    """The pass that factors J M⁻¹ Jᵀ."""
    arrays: tuple[Any, ...]
    """Further arrays that both passes read: the terms added to the mass matrix."""


BARE = OpenForest(solve_and_keep, factor_rows, ())
"""The open forest with an unchanged mass matrix."""


@pass_of
def correct_coordinates(forest, q, correction):
    """Moves the coordinates by a correction (nu,)."""
    drift(forest, q, correction, 1.0)


@pass_of
def begin_rows(loops, ws, arrays):
    """Computes the velocity products of the rows, and sets the multipliers to zero."""
    row_biases(loops, ws, arrays.gamma)
    for r in range(loops.kind.size):
        arrays.multiplier[r] = 0.0


@pass_of
def solve_rows(loops, tau, wrench, gravity, factor, ws, arrays, udot, tree):
    """Adds the effect of the loops to accelerations of the open forest, after :func:`begin_rows` and the factorisation
    of the rows. ``tree`` recomputes the accelerations with the forces of the loops."""
    g = scaled(gravity, factor)
    ground = (-g[0], -g[1], -g[2])
    copy_into(arrays.tau, tau)
    copy_into(arrays.total.reshape(-1), wrench.reshape(-1))
    # The second pass removes the rounding of the first, which grows with the condition of J M⁻¹ Jᵀ.
    for _ in range(2):
        row_accelerations(loops, udot, ground, ws.acceleration, arrays)
        correct_multipliers(loops, arrays)
        run(tree)


def solving_with_loops(
    forest: Forest,
    loops: Loops,
    loads: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ws: Workspace,
    arrays: LoopScratch,
    udot: np.ndarray,
    adding: OpenForest = BARE,
) -> list[Bound]:
    """The passes that find u' (nu,) under ``loads`` (see :class:`articulon.dynamics.solvers.Loads`), when poses and
    velocities of the links and given motions are known."""
    return [
        *factoring_under(forest, loops, loads, ws, arrays, udot, adding),
        begin_rows.bind(loops, ws, arrays),
        solve_rows.bind(loops, *loads, ws, arrays, udot, solving_again(forest, loads, ws, arrays, udot, adding)),
    ]


def factoring_under(
    forest: Forest,
    loops: Loops,
    loads: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ws: Workspace,
    arrays: LoopScratch,
    udot: np.ndarray,
    adding: OpenForest = BARE,
) -> list[Bound]:
    """The passes that find accelerations of the open forest, and the factors of its rows."""
    return [
        adding.solve.bind(forest, *loads, ws, *adding.arrays, udot, arrays.articulated),
        adding.factor.bind(forest, loops, ws, *adding.arrays, arrays),
    ]


def solving_again(
    forest: Forest,
    loads: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ws: Workspace,
    arrays: LoopScratch,
    udot: np.ndarray,
    adding: OpenForest = BARE,
) -> Program:
    """The program that finds accelerations of the open forest under the forces in the scratch."""
    again = arrays.tau, arrays.total, *loads[2:], ws, *adding.arrays, udot, arrays.articulated[:0]
    return Program([adding.solve.bind(forest, *again)])


def factoring(forest: Forest, loops: Loops, ws: Workspace, arrays: LoopScratch, adding: OpenForest = BARE) -> Program:
    """The program that factors J M⁻¹ Jᵀ for links with known poses."""
    loads = arrays.tau, arrays.total, *NO_GRAVITY
    return Program(factoring_under(forest, loops, loads, at_rest.py_func(ws, arrays), arrays, arrays.response, adding))


def responding(forest: Forest, ws: Workspace, arrays: LoopScratch, adding: OpenForest = BARE) -> Program:
    """The program that finds M⁻¹ f of the forces in the scratch, for links with known poses; the result is in
    ``response``."""
    loads = arrays.tau, arrays.total, *NO_GRAVITY
    return solving_again(forest, loads, at_rest.py_func(ws, arrays), arrays, arrays.response, adding)


@jit
def respond(loops, arrays, responding):
    """Writes M⁻¹ Jᵀ λ to ``response``, for the λ that removes the residual. The poses of the links must be known, and J
    M⁻¹ Jᵀ must have been factorised."""
    for k in range(arrays.tau.size):
        arrays.tau[k] = 0.0
    flat = arrays.total.reshape(-1)
    for k in range(flat.size):
        flat[k] = 0.0
    correct_multipliers(loops, arrays)
    run(responding)


@pass_of
def project(loops, motions, functions, time, q, u, ws, arrays, placing, moving, factoring, responding, correcting):
    """Projects q, then u, onto the loops by the smallest step in the metric of the mass matrix.

    The errors before the projection, max |φ| and max |φ'|, are written to ``drift``, and the remaining error to
    ``left``.
    """
    evaluate_motions(motions, functions, time[0], arrays.motion)
    before = math.inf
    for turn in range(MOST_PROJECTIONS + 1):
        run(placing)
        row_residuals(loops, q, ws, arrays.motion, arrays.residual)
        error, relative, worst = largest_error(loops, q, ws, arrays)
        if turn == 0:
            arrays.drift[0] = error
        arrays.left[0], arrays.rank[1] = relative, worst
        if relative <= CLOSED or turn == MOST_PROJECTIONS or not relative < 0.5 * before:
            break
        before = relative
        run(factoring)
        respond(loops, arrays, responding)
        run(correcting)
    run(factoring)
    run(moving)
    row_rates(loops, u, ws, arrays.wrench, arrays.motion, arrays.residual)
    fastest = 0.0
    for r in range(loops.kind.size):
        fastest = max(fastest, abs(arrays.residual[r]))
    arrays.drift[1] = fastest
    respond(loops, arrays, responding)
    for k in range(u.size):
        u[k] += arrays.response[k]


def closing_loops(
    forest: Forest,
    constraints: tuple[Any, ...],
    q: np.ndarray,
    u: np.ndarray,
    ws: Workspace,
    arrays: LoopScratch,
    noting: tuple[Bound, ...] = (),
    adding: OpenForest = BARE,
) -> Bound:
    """The pass that projects q and u onto loops and driven joints; the errors before the projection are written to the
    scratch. The passes ``noting`` run before every move of the coordinates."""
    return project.bind(
        *constraints,
        q,
        u,
        ws,
        arrays,
        Program([place_links.bind(forest, q, ws)]),
        Program([move_links.bind(forest, u, ws)]),
        factoring(forest, constraints[0], ws, arrays, adding),
        responding(forest, ws, arrays, adding),
        Program([*noting, correct_coordinates.bind(forest, q, arrays.response)]),
    )
