"""Steps of explicit Runge–Kutta rules of given lengths, and their adjoints.

With stages y_i = y + h Σ a_ij k_j, k_i = f(t + c_i h, y_i), ŷ = y + h Σ b_i k_i, and Euler parameters of unit length
e⁺ = ê/|ê| at its end, as ``explicit_runge_kutta.py`` takes it, weights λ of what a step ends with go back to what it
began with (the discrete adjoint; Hager, Numer. Math. 87, 247, 2000):

    λ̂ = (λ − e⁺ (e⁺·λ))/|ê| of Euler parameters, else λ,
    μ_i = h b_i λ̂ + h Σ_{j>i} a_ji g_j,   g_i = (∂f/∂y_i)ᵀ μ_i,   from the last stage to the first,
    λ = λ̂ + Σ g_i,

and a parameter's derivative gains Σ (∂f/∂p)ᵀ μ_i. It is the derivative of what is computed, but for rounding.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import normalised, quaternion_at
from articulon.algebra.vectors import copy_into
from articulon.forces.derivatives import put_state
from articulon.integrate.explicit_runge_kutta import combine
from articulon.integrate.tableaux import Tableau
from articulon.kernels import jit, kernel
from articulon.passes import run

ADVANCE, REVERSE = 0, 1
"""What is done next: steps are taken from a kept state to another, or the step that begins with one is reversed."""


class Scratch(NamedTuple):
    """Arrays of a step; deleting them changes nothing."""

    y: np.ndarray
    """Coordinates and speeds, shape (ny,)."""
    points: np.ndarray
    """Those of the stages, shape (stages, ny)."""
    stages: np.ndarray
    """Their derivatives, shape (stages, ny)."""
    gains: np.ndarray
    """g of the stages, shape (stages, ny)."""


def scratch(ny: int, tableau: Tableau) -> Scratch:
    """Arrays for a rule."""
    shape = tableau.b.size, ny
    return Scratch(np.zeros(ny), np.zeros(shape), np.zeros(shape), np.zeros(shape))


@jit
def evaluate_rates(rhs, time, y, dy):
    """dy/dt of coordinates and speeds."""
    nq, nu = rhs.q.size, rhs.u.size
    put_state(rhs, time, y)
    run(rhs.code)
    copy_into(dy[:nq], rhs.q_rate)
    copy_into(dy[nq : nq + nu], rhs.u_rate)


@jit
def find_stages(rhs, tableau, time, h, scratch):
    """The stages of a step from ``scratch.y``."""
    for i in range(tableau.b.size):
        combine(scratch.y, scratch.stages, tableau.a[i], i, h, scratch.points[i])
        evaluate_rates(rhs, time + tableau.c[i] * h, scratch.points[i], scratch.stages[i])


@jit
def take_step(rhs, tableau, quaternion, time, h, scratch, end):
    """The state at the end of a step from ``scratch.y``, into ``end``."""
    find_stages(rhs, tableau, time, h, scratch)
    combine(scratch.y, scratch.stages, tableau.b, tableau.b.size, h, end)
    for k in quaternion:
        e = normalised(quaternion_at(end, k))
        end[k], end[k + 1], end[k + 2], end[k + 3] = e[0], e[1], e[2], e[3]


@jit
def take_steps(rhs, tableau, quaternion, times, lengths, first, last, scratch):
    """Steps from the number ``first`` to ``last``, ``scratch.y`` in place."""
    for n in range(first, last):
        take_step(rhs, tableau, quaternion, times[n], lengths[n], scratch, scratch.gains[0])
        copy_into(scratch.y, scratch.gains[0])


@jit
def weigh_stage(adjoint, time, y, weight, gain):
    """g = (∂f/∂y)ᵀ weight; what parameters gain is added to their derivatives."""
    nq, nu = adjoint.q.size, adjoint.u.size
    put_state(adjoint, time, y)
    copy_into(adjoint.q_weight, weight[:nq])
    copy_into(adjoint.u_weight, weight[nq : nq + nu])
    run(adjoint.code)
    copy_into(gain[:nq], adjoint.by_q)
    copy_into(gain[nq : nq + nu], adjoint.by_u)


@jit
def reverse_step(rhs, adjoint, tableau, quaternion, time, h, scratch, weight):
    """Weights of the state at the end of a step, in place, to those of the state ``scratch.y`` that it begins with."""
    find_stages(rhs, tableau, time, h, scratch)
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
    # From here on the derivatives of the stages are not needed any more, and their place is that of the weights.
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


@kernel
def advance_steps(rhs, tableau, quaternion, times, lengths, first, last, scratch):
    """Takes steps for Python."""
    take_steps(rhs, tableau, quaternion, times, lengths, first, last, scratch)


@kernel
def follow_schedule(rhs, adjoint, tableau, quaternion, times, lengths, actions, states, scratch, weight):
    """Does what ``actions`` (n, 5) say, in their order: what, the row of ``states`` (states, ny) where it begins, its
    step, and of steps taken the last one and the row where that state is kept.

    ``weight`` (ny,) are the weights of the state at the end of the step that is reversed first, and become those of
    the state at the beginning of the last one.
    """
    for n in range(actions.shape[0]):
        what, source, first = actions[n, 0], actions[n, 1], actions[n, 2]
        copy_into(scratch.y, states[source])
        if what == ADVANCE:
            take_steps(rhs, tableau, quaternion, times, lengths, first, actions[n, 3], scratch)
            copy_into(states[actions[n, 4]], scratch.y)
        else:
            reverse_step(rhs, adjoint, tableau, quaternion, times[first], lengths[first], scratch, weight)
