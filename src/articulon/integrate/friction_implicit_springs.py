"""The passes of a friction-implicit step for the damping of springs between points.

At fixed coordinates, a dashpot is a row j, which gives the rate r' = j·u of its length. Its force is −f c jᵀ (j·u),
with its damping c and the factor f of the channel. In the midpoint step of drag and friction, A u' = b + Jᵀλ with A = M
+ h/2 (D + S), its force is the one at the middle speeds u + h/2 u': λ = −f c j·(u + h/2 u'). With the row scaled to g
j, g² = h f c/2, that is

    g j·u' + (2/h) g j·u + λ = 0,

a row like that of a loop constraint, but with a compliance: (J A⁻¹ Jᵀ + C) λ = −(J A⁻¹ b + γ) with C = 1 on the
diagonal for dashpots and zero for loops; both are solved together. A dashpot's row is independent of the others for any
c and h; with f = 0 it has no effect. The step takes h f c (j·ū)² from the kinetic energy, and this work is recorded.

The damping of springs has no noise.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from articulon.algebra.vectors import cross, dot, scale, store_from
from articulon.dynamics.loops.conditions import LoopScratch, loop_scratch
from articulon.forces.base import Term
from articulon.forces.point_springs import PointSprings, approach, damped_springs, ends_of
from articulon.integrate.friction_implicit_joints import MOST_TURNS, begin_turn, place_rows, solve_with_rows
from articulon.model import Forest, Loops, Motions
from articulon.model.loop_declarations import with_dashpots
from articulon.model.state import DAMPING
from articulon.passes import pass_of


class Dashpots(NamedTuple):
    """The damping of springs in the steps of a model."""

    springs: PointSprings
    """Springs with damping."""
    rows: Loops
    """The rows of the model's loops, followed by one row for each of the springs."""
    arrays: LoopScratch
    """Scratch arrays of the solution for these rows."""


def dashpots_of(terms: Iterable[Term], forest: Forest, loops: Loops, motions: Motions, nu: int) -> Dashpots | None:
    """The damping of springs among the forces of a model with a number of speeds; None if there is none."""
    springs = damped_springs(terms)
    if springs is None:
        return None
    rows = with_dashpots(loops, forest, springs.link)
    return Dashpots(springs, rows, loop_scratch(forest, rows, motions, nu))


@pass_of
def place_dashpots(forest, loops, springs, span, factor, ws, arrays):
    """Set the rows of loops, followed by those of dashpots in a step over a time ``span`` (1,), at links whose
    poses and velocities are known."""
    place_rows(forest, loops, ws, arrays)
    wrench, h = arrays.wrench, span[0]
    for s in range(springs.constants.shape[0]):
        i, j, a, b, d = ends_of(springs, s, ws)
        g = math.sqrt(0.5 * h * factor[DAMPING] * springs.constants[s, 2] / dot(d, d))
        r, n = loops.kind.size + s, scale(g, d)
        store_from(wrench, r, 0, n)
        store_from(wrench, r, 3, cross(b, n))
        store_from(wrench, r, 6, scale(-1.0, n))
        store_from(wrench, r, 9, cross(n, a))
        arrays.gamma[r] = 2.0 / h * g * approach(i, j, a, b, d, ws)
        arrays.live[r] = 1


@pass_of
def solve_dashpots(forest, rows, rigid, frictions, span, factor, u, wrench, ws, rubbing, arrays, udot):
    """Solve for accelerations by drag, noise, joint friction and dashpots over a time ``span`` (1,), for rows that have
    been set, the first ``rigid`` of which are those of loops. The inertias are those of ``forest``, which include drag,
    and the links of ``ws`` are at rest."""
    for turn in range(MOST_TURNS):
        if begin_turn(turn, frictions, 0.5 * span[0], factor[DAMPING], u, udot, rubbing):
            return
        solve_with_rows(forest, rows, rigid, wrench, ws, rubbing, arrays, udot)


@pass_of
def book_dashpots(springs, ws, powers):
    """Add the power of dashpots, unscaled, at links whose velocities are known, to that of drag, ``powers[1]``."""
    for s in range(springs.constants.shape[0]):
        i, j, a, b, d = ends_of(springs, s, ws)
        powers[1] -= springs.constants[s, 2] * approach(i, j, a, b, d, ws) ** 2 / dot(d, d)
