"""Free flight of articulated bodies: the flow of the kinetic energy alone, symplectic and its own reverse in time.

Between two kicks nothing acts, and the bodies follow the geodesics of the mass matrix,

    q' = ∂T/∂p,   p' = −∂T/∂q,   T = ½ μᵀ M(q)⁻¹ μ,

with p and μ of ``dynamics/hamiltonian.py``. A step of the implicit midpoint rule is a symplectic map close to that
flow, and with kicks p += h/2 Q(q) on both sides, which leave the velocity products to it, it makes velocity Verlet for
any mass matrix: the energy then does not drift (compare Leimkuhler and Matthews, Proc. R. Soc. A 472, 20160138, 2016,
who split alike where bonds are constraints). No force is evaluated in the iteration.
"""

import numpy as np

from articulon.dynamics.hamiltonian import canonical_momenta, momenta_of_speeds, momentum_rates
from articulon.dynamics.kinematics import coordinate_rates
from articulon.integrate import canonical
from articulon.integrate.canonical import keep_rates, speeds
from articulon.integrate.status import DIVERGED, NOT_CONVERGED, REACHED
from articulon.integrate.variables import blocks
from articulon.kernels import routine
from articulon.model import Forest

ITERATIONS = 50
"""Most iterations of a flight; one that needs more is too long."""
SETTLED = 1e-11
"""Change of the coordinates, in radians or of the largest length, that ends the iteration. The next one would bring
about a tenth of it."""


def scratch(forest: Forest, nq: int, nu: int) -> canonical.Scratch:
    """Arrays for a model."""
    return canonical.scratch(forest, blocks(forest, nq, nu), nq, nu, 1)


@routine
def rates(forest, q, p, ws, arrays, no_torque, qdot, pdot):
    """(q', p') of links that have been placed and moved, on which nothing acts."""
    nothing = (0.0, 0.0, 0.0)
    u, zero = arrays.u, arrays.zero
    momentum_rates(forest, q, p, u, no_torque, zero, nothing, ws, arrays.momentum, arrays.carried, pdot)
    coordinate_rates(forest, q, u, qdot)


@routine
def fly(forest, q, u, time, ws, arrays, no_torque):
    """Carries q and u over a time, from links that have been placed and moved, and leaves them placed and moved there:
    REACHED, NOT_CONVERGED, or DIVERGED where a number is not finite from the start."""
    nq, p, qdot, pdot = q.size, arrays.p, arrays.rate_q[0], arrays.rate_p[0]
    momenta_of_speeds(forest, ws, arrays.momentum, arrays.mu)
    canonical_momenta(forest, q, arrays.mu, p)
    for k in range(nq):
        arrays.q[k] = q[k]
    for k in range(u.size):
        arrays.u[k] = u[k]
    rates(forest, q, p, ws, arrays, no_torque, qdot, pdot)
    status = NOT_CONVERGED
    for turn in range(ITERATIONS):
        total = 0.0
        for k in range(nq):
            x, y = q[k] + 0.5 * time * qdot[k], p[k] + 0.5 * time * pdot[k]
            arrays.stage_q[k], arrays.stage_p[k] = x, y
            total += abs(x) + abs(y)
        if not total < np.inf:
            return DIVERGED if turn == 0 else NOT_CONVERGED
        speeds(forest, arrays.stage_q, arrays.stage_p, ws, arrays)
        rates(forest, arrays.stage_q, arrays.stage_p, ws, arrays, no_torque, arrays.fresh, pdot)
        if keep_rates(0, time, arrays) < SETTLED:
            status = REACHED
            break
    for k in range(nq):
        arrays.stage_q[k] = q[k] + time * qdot[k]
        arrays.stage_p[k] = p[k] + time * pdot[k]
    speeds(forest, arrays.stage_q, arrays.stage_p, ws, arrays)
    for k in range(nq):
        q[k] = arrays.unit[k]
    for k in range(u.size):
        u[k] = arrays.u[k]
    return status
