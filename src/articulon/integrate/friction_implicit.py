"""Half kick, half drift, implicit friction and noise, half drift, half kick, on articulated bodies.

In the O(n) recursion a drag matrix B of a body is an inertia: (M + h/2 D) Δu = h (−D u + D·flow + noise) is solved by the
articulated-body algorithm with every body's inertia I replaced by I + h/2 B, and u⁺ = u + Δu is the midpoint step
(M + h/2 D) u⁺ = (M − h/2 D) u + h (D·flow + noise). It keeps the Gaussian velocity distribution exactly, and between two
drifts it gives free diffusion and constant drift exactly at any step: the rule of Grønbech-Jensen and Farago (Mol. Phys.
111, 983, 2013) carried over to trees. Forces bound the step as in velocity Verlet, and so does the angle that a body
turns in half a step.
"""

from typing import NamedTuple

import numpy as np

from articulon.dynamics import kinematics
from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.kinematics import move, place
from articulon.forces.evaluation import fill_friction, fill_positions, force_sums, scaled_gravity, weigh
from articulon.forces.stokes_drag import drag_wrenches
from articulon.kernels import jit, kernel, routine
from articulon.model import Forest, Workspace
from articulon.model.state import DAMPING, EVALUATIONS, STEPS, STOCHASTIC, WINDOW


class Scratch(NamedTuple):
    """Arrays of a step; deleting them changes nothing."""

    mass: np.ndarray
    """Masses of the links with h/2 of their drag added, shape (links,)."""
    moment: np.ndarray
    """First moments, likewise, shape (links, 3)."""
    inertia: np.ndarray
    """Inertias, likewise, shape (links, 6)."""
    udot: np.ndarray
    """Accelerations, shape (nu,)."""
    middle: np.ndarray
    """Speeds at the middle of a kick, shape (nu,)."""
    friction: np.ndarray
    """Drag and noise on the links, shape (2, links, 6)."""
    total: np.ndarray
    """Their weighed sum, shape (links, 6)."""
    no_torque: np.ndarray
    """Zeros, shape (nu,)."""
    still: np.ndarray
    """Zero angular velocities, shape (links, 3)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    sums: np.ndarray
    """Force magnitudes by channel, shape (8,)."""


def scratch(forest: Forest, nu: int) -> Scratch:
    """Arrays for a model."""
    n = forest.mass.size
    return Scratch(
        np.zeros(n),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros(nu),
        np.zeros(nu),
        np.zeros((2, n, 6)),
        np.zeros((n, 6)),
        np.zeros(nu),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros(8),
    )


@routine
def solve(forest, mass, moment, inertia, tau, wrench, gravity, ws, udot):
    """Accelerations of links that have been placed and moved."""
    eliminate(forest, mass, moment, inertia, tau, wrench, ws, 0, mass.size)
    accelerate(forest, gravity, ws, udot, 0, mass.size)


@routine
def locate(forest, q, u, ws):
    """Places and moves all links."""
    place(forest, q, ws, 0, forest.mass.size)
    move(forest, u, ws, 0, forest.mass.size)


@routine
def kick(system, factor, half, u, work, ws, channels, arrays):
    """u += half · M⁻¹ (Γ − C), with the works of Γ at the mean speed: ΔT = ū·MΔu exactly."""
    forest = system.forest
    move(forest, u, ws, 0, forest.mass.size)
    weigh(system, factor, u, ws, channels)
    gravity = scaled_gravity(system.forces, factor)
    udot, middle = arrays.udot, arrays.middle
    solve(
        forest, forest.mass, forest.moment, forest.inertia, channels.total_joint, channels.total_wrench, gravity, ws, udot
    )
    for k in range(u.size):
        middle[k] = u[k] + 0.5 * half * udot[k]
        u[k] += half * udot[k]
    move(forest, middle, ws, 0, forest.mass.size)
    weigh(system, factor, middle, ws, channels)
    for c in range(8):
        work[c] += half * factor[c] * channels.power[c]


@jit
def power_of(wrench, ws):
    """Σ f·v + n·ω."""
    velocity, angular_velocity = ws.velocity, ws.angular_velocity
    total = 0.0
    for i in range(wrench.shape[0]):
        for k in range(3):
            total += wrench[i, k] * velocity[i, k] + wrench[i, k + 3] * angular_velocity[i, k]
    return total


@routine
def rub(system, factor, window, h, u, work, ws, channels, arrays):
    """The midpoint step of drag and noise, with its works at the mean speed."""
    forest, drag = system.forest, system.forces.drag
    s, friction, total = 0.5 * h * factor[DAMPING], arrays.friction, arrays.total
    links = forest.mass.size
    friction[:] = 0.0
    fill_friction(system, window, u, ws, channels, friction[0], friction[1])
    for i in range(links):
        arrays.mass[i] = forest.mass[i] + s * drag.mass[i]
        for k in range(3):
            arrays.moment[i, k] = forest.moment[i, k] + s * drag.moment[i, k]
        for k in range(6):
            arrays.inertia[i, k] = forest.inertia[i, k] + s * drag.inertia[i, k]
            total[i, k] = factor[DAMPING] * friction[0, i, k] + factor[STOCHASTIC] * friction[1, i, k]
    still = Workspace(
        ws.quaternion,
        ws.rotation,
        ws.position,
        ws.reach,
        arrays.still,
        ws.velocity,
        arrays.no_bias,
        ws.gathered,
        ws.record,
        ws.acceleration,
    )
    no_gravity = (0.0, 0.0, 0.0)
    solve(forest, arrays.mass, arrays.moment, arrays.inertia, arrays.no_torque, total, no_gravity, still, arrays.udot)
    for k in range(u.size):
        arrays.middle[k] = u[k] + 0.5 * h * arrays.udot[k]
        u[k] += h * arrays.udot[k]
    move(forest, arrays.middle, ws, 0, links)
    work[STOCHASTIC] += h * factor[STOCHASTIC] * power_of(friction[1], ws)
    friction[0] = 0.0
    drag_wrenches(drag, ws, friction[0])
    work[DAMPING] += h * factor[DAMPING] * power_of(friction[0], ws)


@kernel
def advance(law, system, functions, parameters, h, state, ws, channels, arrays, steps):
    """Advances the state by a number of steps of length h. Returns False where a speed is no longer finite; the state is
    then that of the last whole step."""
    forest = system.forest
    q, u, work, counters = state.q.copy(), state.u.copy(), state.work.copy(), state.counters
    locate(forest, q, u, ws)
    fill_positions(system, functions, state.time[0], q, u, ws, channels)
    for _ in range(steps):
        force_sums(system, channels, ws, arrays.sums)
        law(parameters, arrays.sums, state.factor)
        kick(system, state.factor, 0.5 * h, u, work, ws, channels, arrays)
        kinematics.drift(forest, q, u, 0.5 * h)
        locate(forest, q, u, ws)
        rub(system, state.factor, counters[WINDOW], h, u, work, ws, channels, arrays)
        kinematics.drift(forest, q, u, 0.5 * h)
        time = h * (counters[STEPS] + 1)
        locate(forest, q, u, ws)
        fill_positions(system, functions, time, q, u, ws, channels)
        kick(system, state.factor, 0.5 * h, u, work, ws, channels, arrays)
        total = 0.0
        for k in range(u.size):
            total += u[k] * u[k]
        for k in range(q.size):
            total += q[k] * q[k]
        if not total < np.inf:
            return False
        counters[STEPS] += 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        state.time[0] = time
        state.q[:], state.u[:], state.work[:] = q, u, work
    return True
