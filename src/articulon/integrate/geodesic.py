"""Free flight of articulated bodies: the flow of the kinetic energy alone, symplectic and time-reversible.

Between two kicks no force acts, and the bodies follow the geodesics of the mass matrix,

    q' = ∂T/∂p,   p' = −∂T/∂q,   T = ½ μᵀ M(q)⁻¹ μ,

with p and μ of ``dynamics/hamiltonian.py``. A step of the implicit midpoint rule is a symplectic map close to that flow
and includes the velocity products. With kicks p += h/2 Q(q) before and after it, the step is velocity Verlet for any
mass matrix, and the energy does not drift (compare Leimkuhler and Matthews, Proc. R. Soc. A 472, 20160138, 2016, who
use the same splitting with bonds as constraints). No force is evaluated in the iteration.
"""

import numpy as np

from articulon.dynamics.hamiltonian import canonical_momenta, momenta_of_speeds, momentum_rates
from articulon.dynamics.kinematics import coordinate_rates
from articulon.integrate import canonical
from articulon.integrate.canonical import speeds
from articulon.integrate.variables import blocks
from articulon.kernels import jit, routine
from articulon.lanes import any_of, choose
from articulon.model import Forest

ITERATIONS = 50
"""Most iterations of a flight; a flight that needs more is too long."""
SETTLED = 1e-11
"""Change of the coordinates, in radians or relative to the largest length, that ends the iteration. The next change
would be about a tenth of it."""


def scratch(forest: Forest, nq: int, nu: int) -> canonical.Scratch:
    """Arrays for a model."""
    return canonical.scratch(forest, blocks(forest, nq, nu), nq, nu, 1)


@routine
def rates(forest, q, p, ws, arrays, no_torque, qdot, pdot):
    """Compute (q', p') of links whose poses and velocities are known, without forces."""
    nothing = (0.0, 0.0, 0.0)
    u, zero = arrays.u, arrays.zero
    momentum_rates(forest, q, p, u, no_torque, zero, nothing, ws, arrays.momentum, arrays.carried, pdot)
    coordinate_rates(forest, q, u, qdot)


@jit
def take_rates(moving, h, arrays):
    """Accept the latest rates in states that have not converged; return by how much they change the coordinates in a
    time h, measured as in ``stage_iteration.keep_rates``."""
    q, turning, fresh, rate_q, rate_p = arrays.q, arrays.turning, arrays.fresh, arrays.rate_q[0], arrays.rate_p[0]
    length = arrays.length[0]
    turn, shift, lost = 0.0 * length, 0.0 * length, 0.0 * length
    for v in range(q.size):
        change = h * abs(fresh[v] - rate_q[v])
        lost += 0.0 * change  # a comparison alone would ignore NaN
        if turning[v]:
            turn = larger(turn, change)
        else:
            shift, length = larger(shift, change), larger(length, larger(abs(q[v]), h * abs(fresh[v])))
        rate_q[v] = choose(moving > 0.0, fresh[v], rate_q[v])
        rate_p[v] = choose(moving > 0.0, arrays.fresh_p[v], rate_p[v])
    return larger(turn, choose(shift > 0.0, shift / length, 0.0)) + lost


@jit
def larger(a, b):
    """The larger of two numbers; the first if the comparison involves NaN."""
    return choose(b > a, b, a)


@routine
def fly(forest, q, u, time, ws, arrays, no_torque):
    """Advance q and u over a time. Poses and velocities of the links must be known before the call, and they are
    known after it.

    Returns 1 if the iteration has not converged, which is a failure, or else 0; and whether numbers were finite when it
    began. In lanes, each state iterates separately and stays as it is once it has converged.
    """
    nq, p, qdot, pdot = q.size, arrays.p, arrays.rate_q[0], arrays.rate_p[0]
    momenta_of_speeds(forest, ws, arrays.momentum, arrays.mu)
    canonical_momenta(forest, q, arrays.mu, p)
    for k in range(nq):
        arrays.q[k] = q[k]
    for k in range(u.size):
        arrays.u[k] = u[k]
    rates(forest, q, p, ws, arrays, no_torque, qdot, pdot)
    zero = 0.0 * arrays.length[0]
    moving, began = zero + 1.0, False
    for turn in range(ITERATIONS):
        total = zero
        for k in range(nq):
            x, y = q[k] + 0.5 * time * qdot[k], p[k] + 0.5 * time * pdot[k]
            arrays.stage_q[k], arrays.stage_p[k] = x, y
            total += abs(x) + abs(y)
        finite = any_of(choose(total < np.inf, moving, 0.0) > 0.0)
        began = finite if turn == 0 else began
        if not finite:
            break
        speeds(forest, arrays.stage_q, arrays.stage_p, ws, arrays)
        rates(forest, arrays.stage_q, arrays.stage_p, ws, arrays, no_torque, arrays.fresh, arrays.fresh_p)
        moving = choose(take_rates(moving, time, arrays) < SETTLED, 0.0, moving)
        if not any_of(moving > 0.0):
            break
    for k in range(nq):
        arrays.stage_q[k] = q[k] + time * qdot[k]
        arrays.stage_p[k] = p[k] + time * pdot[k]
    speeds(forest, arrays.stage_q, arrays.stage_p, ws, arrays)
    for k in range(nq):
        q[k] = arrays.unit[k]
    for k in range(u.size):
        u[k] = arrays.u[k]
    return moving, began
