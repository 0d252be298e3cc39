"""The passes of a friction-implicit step for damping and Coulomb friction of joints.

Both are part of one midpoint step, together with drag: (M + h/2 (D + S)) Δu = h (−(D + S) u + D·flow + noise). S is a
diagonal of joint space, S = c + μ tanh(|ū|/u_s)/|ū| at the middle speed ū = u + Δu/2; (M + diag) u' = … is solved by
one recursion (``dynamics/damped_articulated.py``). The step takes h ū·S ū from the kinetic energy, and this work is
recorded: energy is dissipated at any step length and for any S ≥ 0.

For Coulomb's friction S depends on ū. With Φ(ū) = Σ μ u_s ln cosh(|ū|/u_s) and Φ' = S ū, ū is the unique minimum of the
convex function ½ (ū − u)·M(ū − u) + h/2 Φ(ū), here without drag and noise. The step is solved repeatedly with the S of
the latest ū: as Φ is concave in |ū|², each iteration decreases the function. If S is not converged, the accuracy
suffers, but not the energy balance or the stability.

Drives that resist speeds are solved together with joint damping and friction (``friction_implicit_drives.py``). None of
these forces has noise.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.damped_articulated import JointDampings, factor_damped, solve_damped
from articulon.dynamics.loops.conditions import mark_live_rows, row_accelerations, row_wrenches
from articulon.dynamics.loops.constrained_articulated import correct_multipliers
from articulon.integrate.friction_implicit_drives import (
    HALVINGS,
    Driving,
    add_drives,
    begin_search,
    differs,
    note_resistance,
    rises,
    set_along_iteration,
)
from articulon.kernels import jit
from articulon.lanes import any_of, choose
from articulon.model.loop_declarations import DRIVE
from articulon.model.state import DAMPING, EXTERNAL
from articulon.passes import pass_of

MOST_TURNS = 100
"""Most iterations of a step with Coulomb friction."""
SETTLED = 1e-12
"""Relative change of every coefficient below which the iteration has converged."""
NOWHERE = (0.0, 0.0, 0.0)


class Rubbing(NamedTuple):
    """Scratch arrays of the joint friction of a step; they may be discarded between steps."""

    coefficient: np.ndarray
    """S with which the latest solution was computed, unscaled, shape (nu,)."""
    latest: np.ndarray
    """S at the middle speeds of the latest solution, shape (nu,)."""
    other: np.ndarray
    """Other forces on the speeds, such as the damping of modes, shape (nu,)."""
    tau: np.ndarray
    """Sum of ``other`` and of −S u with the factor of the channel, shape (nu,)."""
    moving: np.ndarray
    """1 while the coefficients still change, else 0, shape (1,)."""
    damping: JointDampings
    """h/2 S, scaled by the factor of the channel, the armatures, and the quantities that the recursion stores."""
    armature: np.ndarray
    """Armatures of the joints, shape (nu,)."""
    driving: Driving | None
    """Drives that resist speeds."""


def rubbing(
    nu: int,
    diagonal: Any,
    other: Any,
    armature: np.ndarray | None = None,
    zeros: Callable[..., Any] = np.zeros,
    driving: Driving | None = None,
) -> Rubbing:
    """Arrays for a model with a number of speeds, armatures (nu,), drives and other forces (nu,); terms that are
    added to the diagonal of the mass matrix are written to ``diagonal`` (nu,)."""
    damping, rotors = JointDampings(diagonal, zeros((nu, 7))), np.zeros(nu)
    if armature is not None:
        rotors[:] = armature
    return Rubbing(zeros((nu,)), zeros((nu,)), other, zeros((nu,)), zeros((1,)), damping, rotors, driving)


@jit
def find_coefficients(rows, u, half, udot, found):
    """Compute S (nu,) at the speeds u + half · udot."""
    for k in range(found.size):
        found[k] = 0.0
    for r in range(rows.start.size):
        s = rows.damping[r]
        if rows.friction[r] > 0.0:
            total = 0.0 * u[rows.start[r]]  # a number of the same type as the speeds
            for k in range(rows.start[r], rows.end[r]):
                v = u[k] + half * udot[k]
                total += v * v
            speed = math.sqrt(total)
            tangent = choose(speed > 0.0, math.tanh(speed / rows.width[r]) / speed, 1.0 / rows.width[r])
            s += rows.friction[r] * tangent
        for k in range(rows.start[r], rows.end[r]):
            found[k] += s


@jit
def shorten(driving, turn, rows, half, u, udot, rubbing):
    """Shorten a Newton iteration that goes too far; return whether it was shortened."""
    if driving is None:
        return False
    begin_search(driving, udot)
    note_resistance(driving, rubbing.other, rubbing.tau, rubbing.damping.diagonal, rubbing.armature, udot)
    if turn == 1:  # the resistance at the start of the first iteration is not known
        return False
    copy_into(driving.steps[1], driving.resisted)
    find_coefficients(rows, u, half, udot, rubbing.latest)
    if not rises(driving, rubbing.latest, half, u, udot):
        return False
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        part = 0.5 * (low + high)
        set_along_iteration(driving, part, udot)
        find_coefficients(rows, u, half, udot, rubbing.latest)
        if rises(driving, rubbing.latest, half, u, udot):
            high = part
        else:
            low = part
    return True


@jit
def unsettled(driving, shortened, changes, half, u, udot, rubbing):
    """Return 1 while coefficients, or the resistance of drives, still change, else 0."""
    if driving is None:
        return changes
    if shortened or differs(driving, rubbing.latest, half, u, udot):
        return 1.0
    return changes


@jit
def begin_turn(turn, rows, half, factor, u, udot, rubbing):
    """Set up an iteration; return whether it has converged. The first starts from u, regardless of ``udot``.

    In lanes, each state iterates separately: the coefficients of a state that has converged stay as they are.
    """
    moving, shortened = rubbing.moving, False
    if turn == 0:
        moving[0] = 1.0
        for k in range(u.size):
            udot[k] = 0.0
    else:
        shortened = shorten(rubbing.driving, turn, rows, half, u, udot, rubbing)
    find_coefficients(rows, u, half, udot, rubbing.latest)
    if turn > 0:
        changes = 0.0 * moving[0]
        for k in range(u.size):
            a, b = rubbing.coefficient[k], rubbing.latest[k]
            changes = choose(abs(a - b) > SETTLED * a, 1.0, changes)
        moving[0] *= unsettled(rubbing.driving, shortened, changes, half, u, udot, rubbing)
        if not any_of(moving[0] > 0.0):
            return True
    for k in range(u.size):
        s = choose(moving[0] > 0.0, rubbing.latest[k], rubbing.coefficient[k])
        rubbing.coefficient[k] = s
        rubbing.tau[k] = rubbing.other[k] - factor * s * u[k]
        rubbing.damping.diagonal[k] = half * factor * s + rubbing.armature[k]
    add_drives(rubbing.driving, half, u, udot, rubbing.tau, rubbing.damping.diagonal)
    return False


@pass_of
def solve_rubbed(forest, rows, span, factor, u, wrench, ws, rubbing, nothing, udot):
    """Solve for accelerations by drag, noise and joint friction over a time ``span`` (1,); the inertias are those of
    ``forest``, which include drag, and ``nothing`` is an array (0, 21)."""
    for turn in range(MOST_TURNS):
        if begin_turn(turn, rows, 0.5 * span[0], factor[DAMPING], u, udot, rubbing):
            return
        solve_damped(forest, rubbing.tau, wrench, NOWHERE, ws, rubbing.damping, udot, nothing)


@pass_of
def solve_rubbed_tangent(forest, loops, rows, span, factor, u, wrench, ws, rubbing, arrays, udot):
    """Solve for the same accelerations under J u' = 0, as ``friction_implicit_loops.solving_tangent`` does without
    joint friction; the links of ``ws`` are at rest, so that the rows have no velocity products."""
    place_rows(forest, loops, ws, arrays)
    for turn in range(MOST_TURNS):
        if begin_turn(turn, rows, 0.5 * span[0], factor[DAMPING], u, udot, rubbing):
            return
        solve_with_rows(forest, loops, loops.kind.size, wrench, ws, rubbing, arrays, udot)


@jit
def place_rows(forest, loops, ws, arrays):
    """Set the rows of loops at links whose poses are known, for a part of a step in which J is constant: J u' =
    0."""
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays)
    for r in range(loops.kind.size):
        arrays.gamma[r] = 0.0
        if loops.kind[r] == DRIVE:
            arrays.motion[loops.motion[r], 2] = 0.0


@jit
def solve_with_rows(forest, rows, rigid, wrench, ws, rubbing, arrays, udot):
    """Compute one solution with J u' + γ + C λ = 0 for rows that have been set; C is that of ``factor_damped``."""
    damping = rubbing.damping
    for r in range(rows.kind.size):
        arrays.multiplier[r] = 0.0
    solve_damped(forest, rubbing.tau, wrench, NOWHERE, ws, damping, udot, arrays.articulated)
    factor_damped(forest, rows, rigid, ws, damping, arrays)
    copy_into(arrays.tau, rubbing.tau)
    copy_into(arrays.total.reshape(-1), wrench.reshape(-1))
    # The second iteration removes the rounding errors of the first, as in ``solve_rows``.
    for _ in range(2):
        row_accelerations(rows, udot, NOWHERE, ws.acceleration, arrays)
        for r in range(rigid, rows.kind.size):
            arrays.residual[r] += arrays.multiplier[r]
        correct_multipliers(rows, arrays)
        solve_damped(forest, arrays.tau, arrays.total, NOWHERE, ws, damping, udot, arrays.articulated[:0])


@pass_of
def book_driving(rubbing, udot, u, work):
    """Add the work of drives over a step, at the mean speeds u (nu,), to the works; ``udot`` is the solution of the
    step."""
    driving = rubbing.driving
    note_resistance(driving, rubbing.other, rubbing.tau, rubbing.damping.diagonal, rubbing.armature, udot)
    power = 0.0
    for k in range(u.size):
        rubbed = driving.factor[DAMPING] * rubbing.coefficient[k] * u[k]
        power += driving.driven[k] * (driving.resisted[k] + rubbed) * u[k]
    work[EXTERNAL] += driving.clock[1] * power


@pass_of
def book_rubbing(rubbing, u, powers):
    """Add the power of joint friction, unscaled, at the mean speeds to that of drag, ``powers[1]``."""
    for k in range(u.size):
        powers[1] -= rubbing.coefficient[k] * u[k] * u[k]
