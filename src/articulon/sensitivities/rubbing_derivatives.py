"""Derivatives of damping and friction of joints in the middle of a friction-implicit step.

With damping c, friction μ and the speed u_s of its transition, S = c + μ tanh(|ū|/u_s)/|ū| at ū = u + ½ h x. The
friction part of a step solves (``integrate/friction_implicit_joints.py``)

    A x = f Jᵀ (…) − f S(ū) ū.

Here f is the factor of the forces. The term ½ h f ∂(S ū)/∂ū, the derivative of f S ū with respect to x, is added to A.
It is diagonal if friction acts on single speeds, and is eliminated column by column. The derivatives with respect to u,
c, μ and u_s are the derivatives of the force −f S ū at ū.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from articulon.dynamics.damped_articulated import joint_dampings, solve_damped
from articulon.dynamics.derivatives.derivative_definitions import factorise_with
from articulon.forces.evaluation import Evaluator
from articulon.forces.joint_friction import (
    friction_rates,
    joint_friction_adjoint,
    joint_friction_tangent,
    resistance_of,
)
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.model.state import DAMPING
from articulon.passes import Bound, pass_of
from articulon.sensitivities.table_gradients import Tables


class Resistance:
    """Damping and friction of the joints of a model, and the speeds in the middle of a step."""

    def __init__(self, e: Evaluator, arrays: Scratch, u: np.ndarray) -> None:
        self.evaluator, self.arrays, self.u = e, arrays, u
        self.rows = resistance_of(e.system.forces.terms)
        self.middle, self.damping = np.zeros(e.model.nu), joint_dampings(e.model.nu)

    def factoring(self, links: Any, columns: np.ndarray, factors: np.ndarray) -> Iterator[Bound]:
        """Yield passes that compute the speeds in the middle of the step, and the factors of A⁻¹ for ``links`` at
        rest."""
        e, arrays = self.evaluator, self.arrays
        over = self.u, arrays.clock[1:], arrays.factor, arrays.udot
        yield find_rubbing.bind(self.rows, *over, self.middle, self.damping.diagonal)
        forest, still = links
        kept = np.zeros((forest.mass.size, 21))
        spare = arrays.no_torque, np.zeros((forest.mass.size, 6))
        yield damp_links.bind(forest, *spare, still, self.damping, np.zeros(e.model.nu), kept)
        yield factorise_with.bind(forest, columns, kept, self.damping.diagonal, factors)

    def adjoint(self, gradients: Tables, weight: np.ndarray, by_speed: np.ndarray) -> Iterator[Bound]:
        """Yield passes that add the derivatives of weight·(−S ū) with respect to speeds and tables."""
        for (kind, table), gradient in zip(self.evaluator.system.forces.terms, gradients.terms, strict=True):
            if kind.resistance == "joints":
                yield joint_friction_adjoint.bind(table, gradient, self.middle, weight, by_speed)

    def factor_adjoint(self, weight: np.ndarray, gradient: np.ndarray) -> Bound:
        """Return the pass that adds weight·(−S ū) to ``gradient``."""
        return rubbing_power.bind(self.rows, self.middle, weight, gradient)

    def tangent(self, changes: Tables, u_change: np.ndarray, joint: np.ndarray) -> Iterator[Bound]:
        """Yield passes that add the changes of −S ū, due to changes of speeds and tables, to the joint forces."""
        for (kind, table), change in zip(self.evaluator.system.forces.terms, changes.terms, strict=True):
            if kind.resistance == "joints":
                yield joint_friction_tangent.bind(table, change, self.middle, u_change, joint)

    def factor_tangent(self, change: np.ndarray, joint: np.ndarray) -> Bound:
        """Return the pass that adds −S ū, times the change (1,) of the factor of all forces, to the joint forces."""
        return rubbing_change.bind(self.rows, self.middle, change, joint)


@pass_of
def find_rubbing(rows, u, span, factor, x, middle, diagonal):
    """Compute ū (nu,), and the diagonal (nu,) that is added to A: the derivative of f S ū with respect to x, for a step
    ``span`` (1,)."""
    half = 0.5 * span[0]
    for k in range(u.size):
        middle[k], diagonal[k] = u[k] + half * x[k], 0.0
    for r in range(rows.start.size):
        s, _, bend, _ = friction_rates(rows, r, middle)
        for k in range(rows.start[r], rows.end[r]):
            diagonal[k] += half * factor[DAMPING] * (s + bend * middle[k] * middle[k])


@pass_of
def damp_links(forest, tau, wrench, ws, damping, udot, kept):
    """Compute the articulated inertias ``kept`` (links, 21) of links with damped joints."""
    solve_damped(forest, tau, wrench, (0.0, 0.0, 0.0), ws, damping, udot, kept)


@pass_of
def rubbing_power(rows, middle, weight, gradient):
    """Add weight·(−S ū) to ``gradient`` (1,)."""
    for r in range(rows.start.size):
        s = friction_rates(rows, r, middle)[0]
        for k in range(rows.start[r], rows.end[r]):
            gradient[0] -= s * weight[k] * middle[k]


@pass_of
def rubbing_change(rows, middle, change, joint):
    """Add −S ū, times a change (1,), to the joint forces."""
    for r in range(rows.start.size):
        s = change[0] * friction_rates(rows, r, middle)[0]
        for k in range(rows.start[r], rows.end[r]):
            joint[k] -= s * middle[k]
