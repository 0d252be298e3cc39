"""Tangents of explicit Runge–Kutta steps. A step advances a state and its changes, one change for each parameter.

With f(y, p) the time derivative of the state y, and p the parameters, a step h changes δy as it changes y:

    δk_i = ∂f/∂y_i δy_i + ∂f/∂p δp,   δy_i = δy + h Σ a_ij δk_j,   δŷ = δy + h Σ b_i δk_i,

where a_ij and b_i are the coefficients of the scheme, and ŷ is the state at the end of the step. Euler parameters ê are
then normalised: e⁺ = ê/|ê|, δe⁺ = (δê − e⁺ (e⁺·δê))/|ê|. Step lengths are held fixed, even if an error estimate has
chosen them, so the derivatives agree with those of the exact motion to within the step tolerance.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import quaternion_at
from articulon.algebra.vectors import copy_into
from articulon.integrate.explicit_runge_kutta import combine
from articulon.integrate.tableaux import Tableau
from articulon.kernels import jit
from articulon.passes import pass_of, run
from articulon.sensitivities.adjoint_steps import evaluate_rates


class TangentScratch(NamedTuple):
    """Scratch arrays of a step."""

    end: np.ndarray
    """State at a stage, and at the end of a step, shape (ny,)."""
    stages: np.ndarray
    """Time derivatives at the stages, shape (stages, ny)."""
    changes: np.ndarray
    """Changes of these time derivatives due to every parameter, shape (parameters, stages, ny)."""
    stage: np.ndarray
    """Change of the state at a stage, shape (ny,)."""


def tangent_scratch(ny: int, parameters: int, tableau: Tableau) -> TangentScratch:
    """Allocate the arrays for an integrator."""
    stages = tableau.b.size
    return TangentScratch(np.zeros(ny), np.zeros((stages, ny)), np.zeros((parameters, stages, ny)), np.zeros(ny))


@jit
def change_rates_at(tangent, change, result):
    """Compute the change of dy/dt at the prepared state."""
    nq, nu = tangent.q.size, tangent.u.size
    copy_into(tangent.q_change, change[:nq])
    copy_into(tangent.u_change, change[nq : nq + nu])
    run(tangent.code)
    copy_into(result[:nq], tangent.q_rate)
    copy_into(result[nq : nq + nu], tangent.u_rate)


@pass_of
def change_step(rhs, tangent, tableau, quaternion, clock, numbers, columns, y, changes, scratch):
    """Take a step of the state y (ny,) and its changes (parameters, ny), in place. The rows of ``columns`` (parameters,
    numbers) are changes of the tables; each row is copied to ``numbers``, where the tangent reads it."""
    count, nq, nu = tableau.b.size, tangent.q.size, tangent.u.size
    end, h = scratch.end, clock[1]
    for i in range(count):
        time = clock[0] + tableau.c[i] * h
        combine(y, scratch.stages, tableau.a[i], i, h, end)
        evaluate_rates(rhs, time, end, scratch.stages[i])
        tangent.time[0] = time
        copy_into(tangent.q, end[:nq])
        copy_into(tangent.u, end[nq : nq + nu])
        run(tangent.point)
        for p in range(changes.shape[0]):
            copy_into(numbers, columns[p])
            combine(changes[p], scratch.changes[p], tableau.a[i], i, h, scratch.stage)
            change_rates_at(tangent, scratch.stage, scratch.changes[p, i])
    combine(y, scratch.stages, tableau.b, count, h, end)
    for p in range(changes.shape[0]):
        combine(changes[p], scratch.changes[p], tableau.b, count, h, scratch.stage)
        copy_into(changes[p], scratch.stage)
    copy_into(y, end)
    for k in quaternion:
        e = quaternion_at(y, k)
        s = 1.0 / math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        for m in range(4):
            y[k + m] = s * e[m]
        for p in range(changes.shape[0]):
            along = 0.0
            for m in range(4):
                along += y[k + m] * changes[p, k + m]
            for m in range(4):
                changes[p, k + m] = s * (changes[p, k + m] - y[k + m] * along)
