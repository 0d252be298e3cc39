"""Steps of explicit Runge–Kutta rules with given lengths, and their adjoints.

A step of length h has stages y_i = y + h Σ a_ij k_j with rates k_i = f(t + c_i h, y_i). It ends at ŷ = y + h Σ b_i k_i,
where Euler parameters are normalised, e⁺ = ê/|ê| (``explicit_runge_kutta.py``). The discrete adjoint (Hager, Numer.
Math. 87, 247, 2000) converts weights λ of the state at the end of the step, which are the adjoint variables, to weights
of the state at its start:

        λ̂ = (λ − e⁺ (e⁺·λ))/|ê| for Euler parameters, otherwise λ,
    μ_i = h b_i λ̂ + h Σ_{j>i} a_ji g_j,   g_i = (∂f/∂y_i)ᵀ μ_i,   from the last stage to the first,
    λ = λ̂ + Σ g_i,

The derivative with respect to a parameter p increases by Σ (∂f/∂p)ᵀ μ_i. The result is the derivative of the computed
steps, up to rounding.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import normalised, quaternion_at
from articulon.algebra.vectors import copy_into
from articulon.forces.derivatives import put_state
from articulon.integrate.explicit_runge_kutta import combine
from articulon.integrate.tableaux import Tableau
from articulon.kernels import jit
from articulon.passes import pass_of, run


class Scratch(NamedTuple):
    """Scratch arrays of a step; they contain no data that must be kept between steps."""

    y: np.ndarray
    """Coordinates and speeds, shape (ny,)."""
    points: np.ndarray
    """States at the stages, shape (stages, ny)."""
    stages: np.ndarray
    """Time derivatives at the stages, shape (stages, ny)."""
    gains: np.ndarray
    """Vectors g_i = (∂f/∂y_i)ᵀ μ_i of the stages, shape (stages, ny)."""


def scratch(ny: int, tableau: Tableau) -> Scratch:
    """Allocate the arrays for a Runge–Kutta rule."""
    shape = tableau.b.size, ny
    return Scratch(np.zeros(ny), np.zeros(shape), np.zeros(shape), np.zeros(shape))


@jit
def evaluate_rates(rhs, time, y, dy):
    """Evaluate dy/dt of coordinates and speeds."""
    nq, nu = rhs.q.size, rhs.u.size
    put_state(rhs, time, y)
    run(rhs.code)
    copy_into(dy[:nq], rhs.q_rate)
    copy_into(dy[nq : nq + nu], rhs.u_rate)


@jit
def find_stages(rhs, tableau, time, h, scratch):
    """Compute the stages of a step from ``scratch.y``."""
    for i in range(tableau.b.size):
        combine(scratch.y, scratch.stages, tableau.a[i], i, h, scratch.points[i])
        evaluate_rates(rhs, time + tableau.c[i] * h, scratch.points[i], scratch.stages[i])


@jit
def take_step(rhs, tableau, quaternion, time, h, scratch, end):
    """Write the state at the end of a step from ``scratch.y`` into ``end``."""
    find_stages(rhs, tableau, time, h, scratch)
    end_step(tableau, quaternion, h, scratch, end)


@jit
def end_step(tableau, quaternion, h, scratch, end):
    """Write the state at the end of a step whose stages are known into ``end``."""
    combine(scratch.y, scratch.stages, tableau.b, tableau.b.size, h, end)
    normalise(quaternion, end)


@jit
def normalise(quaternion, y):
    """Normalise Euler parameters to unit length."""
    for k in quaternion:
        e = normalised(quaternion_at(y, k))
        y[k], y[k + 1], y[k + 2], y[k + 3] = e[0], e[1], e[2], e[3]


@pass_of
def step(rhs, tableau, quaternion, clock, scratch):
    """Take a step of ``scratch.y`` in place."""
    take_step(rhs, tableau, quaternion, clock[0], clock[1], scratch, scratch.gains[0])
    copy_into(scratch.y, scratch.gains[0])


@jit
def weigh_stage(adjoint, time, y, weight, gain):
    """Compute g = (∂f/∂y)ᵀ weight, and add the contributions to the derivatives with respect to parameters."""
    nq, nu = adjoint.q.size, adjoint.u.size
    put_state(adjoint, time, y)
    copy_into(adjoint.q_weight, weight[:nq])
    copy_into(adjoint.u_weight, weight[nq : nq + nu])
    run(adjoint.code)
    copy_into(gain[:nq], adjoint.by_q)
    copy_into(gain[nq : nq + nu], adjoint.by_u)


@pass_of
def find_step(rhs, tableau, clock, scratch):
    """Compute the stages of a step from ``scratch.y``."""
    find_stages(rhs, tableau, clock[0], clock[1], scratch)


@pass_of
def find_end(tableau, quaternion, clock, scratch, end):
    """Compute the state at the end of a step whose stages are known, before the projection onto the constraints."""
    end_step(tableau, quaternion, clock[1], scratch, end)


@pass_of
def reverse(adjoint, tableau, quaternion, clock, scratch, weight):
    """Convert weights of the state at the end of a step, whose stages are known, into weights of its initial state
    ``scratch.y``, in place."""
    time, h = clock[0], clock[1]
    count, gains = tableau.b.size, scratch.gains
    end, mu = gains[0], scratch.stages[0]
    combine(scratch.y, scratch.stages, tableau.b, count, h, end)
    for k in quaternion:
        e = quaternion_at(end, k)
        s = 1.0 / math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        along = 0.0
        for m in range(4):
            along += s * e[m] * weight[k + m]
        for m in range(4):
            weight[k + m] = s * (weight[k + m] - s * e[m] * along)
    # The rates of the stages are not needed any more; their array is reused for the weights.
    for i in range(count - 1, -1, -1):
        for v in range(mu.size):
            mu[v] = h * tableau.b[i] * weight[v]
        for j in range(i + 1, count):
            a = h * tableau.a[j, i]
            if a != 0.0:
                for v in range(mu.size):
                    mu[v] += a * gains[j, v]
        weigh_stage(adjoint, time + tableau.c[i] * h, scratch.points[i], mu, gains[i])
    for i in range(count):
        for v in range(weight.size):
            weight[v] += gains[i, v]
