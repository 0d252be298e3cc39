"""Brownian dynamics of articulated bodies: ζ(q) u = Γ(q) + noise, by the articulated recursion in O(n).

Inertia is left out. ζ = Jᵀ B J, B the bodies' drag, is solved as M would be, each body's inertia replaced by its drag
matrix. The noise is made in body space, f of covariance 2 kT B/h, and F = Jᵀ f then has the covariance 2 kT ζ/h that
fluctuation and dissipation ask for. A step is that of Fixman (J. Chem. Phys. 69, 1527, 1978): with μ = ζ⁻¹ and one F
for both of its halves

    u = μ(q) (Γ(q) + F),   q' = q + h/2 u,   u' = μ(q') (Γ(q') + F),   q⁺ = q + h u',

where + moves joints at constant speeds. The mean of u' then holds kT ∇·μ, the drift of a mobility that depends on q,
without its derivative; without noise this is the midpoint rule, of order 2.

What such steps sample is e^{−Φ/kT} dq. Bodies with inertia, whatever their friction, have the density √det M e^{−Φ/kT}
instead, M the mass matrix. Γ therefore holds +½ kT ∂ ln det M, the mean force of the thermal speeds that are left out
(``dynamics/mass_determinant.py``); its work is booked in the channel ``stochastic``. The works of a step add up to
zero, since there is no kinetic energy.

Steps that are too long are told by what they find in their middle. Along a harmonic mode of rate λ, u' − u = −½hλ u,
and such steps grow where hλ > 2 (the midpoint rule's bound). So ⟨(u' − u)²⟩ ≤ (½hλ)² ⟨u²⟩ for each speed under noise,
whatever the coupling, as the noise has the covariance of the mobility: where the mean of the left is above that of
u² over WATCHED steps, forces or mobility change too fast for the step.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into, dot, load
from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.constrained import at_rest
from articulon.dynamics.kinematics import drift, move, place
from articulon.dynamics.mass_determinant import Determinant, determinant_arrays, log_determinant_gradient
from articulon.dynamics.recursive import project
from articulon.forces.filling import book_powers, fill_friction, fill_positions, scaled_gravity, weigh
from articulon.forces.gravity import gravity_wrenches
from articulon.forces.stokes_drag import drag_wrenches
from articulon.integrate.law_inputs import book_bare_works, law_inputs
from articulon.integrate.status import DIVERGED, REACHED, STOPPED, TOO_LONG, stop_reached
from articulon.integrate.variables import ANGULAR_VELOCITY, blocks
from articulon.kernels import kernel, routine
from articulon.model import Forest
from articulon.model.state import DAMPING, EVALUATIONS, STEPS, STOCHASTIC, WINDOW
from articulon.scaling.base import INPUTS

WATCHED = 32
"""Steps over which changes of speeds are compared with the speeds: a single kick is bad where it is above √32 of
them."""
RESOLVED = 1e-6
"""Changes of a step that are looked at, in radians and in parts of the largest distance from the world's origin: below
are rest and rounding."""


class Watch(NamedTuple):
    """How speeds change within steps."""

    speeds: np.ndarray
    """u at the start of the step, shape (nu,)."""
    squares: np.ndarray
    """Sum of u² over the steps since the watch began, shape (nu,)."""
    changes: np.ndarray
    """Sum of (u' − u)², shape (nu,)."""
    turns: np.ndarray
    """Whether a speed is angular, shape (nu,)."""
    steps: np.ndarray
    """Steps since the watch began, shape (1,)."""
    worst: np.ndarray
    """The speed that has changed too much, shape (1,)."""
    ratio: np.ndarray
    """½hλ of it, shape (1,)."""


class Scratch(NamedTuple):
    """Arrays of a step; deleting them changes nothing but when too long a step is told."""

    q: np.ndarray
    """Coordinates of a step not yet finished, shape (nq,)."""
    middle: np.ndarray
    """Coordinates in the middle of the step, shape (nq,)."""
    u: np.ndarray
    """Speeds of half a step, shape (nu,)."""
    no_speeds: np.ndarray
    """Zeros, shape (nu,)."""
    noise: np.ndarray
    """F, weighed, shape (nu,)."""
    metric: np.ndarray
    """½ kT ∂ ln det M, weighed, shape (nu,)."""
    work: np.ndarray
    """Works of a step not yet finished, shape (8,)."""
    mass: np.ndarray
    """Drag of the links as if it were a mass, weighed, shape (links,)."""
    moment: np.ndarray
    """Its first moment, shape (links, 3)."""
    inertia: np.ndarray
    """Its inertia, shape (links, 6)."""
    friction: np.ndarray
    """Drag and noise on the links, shape (2, links, 6)."""
    still: np.ndarray
    """Zero twists, shape (links, 6)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    sums: np.ndarray
    """What a scaling law reads, shape (16,)."""
    kT: np.ndarray
    """kT of the metric's force, 0 where there is none [energy], shape (1,)."""
    determinant: Determinant
    """Of the metric's force."""
    watch: Watch
    """Whether the steps are too long."""


def scratch(forest: Forest, nq: int, nu: int, kT: float) -> Scratch:
    """Arrays for a model whose metric's force has the given kT [energy]."""
    turns = np.zeros(nu, dtype=np.bool_)
    split = blocks(forest, nq, nu)
    for start, end, kind in zip(split.start, split.end, split.kind, strict=True):
        if kind == ANGULAR_VELOCITY:
            turns[start - nq : end - nq] = True
    sums, counts = np.zeros((3, nu)), np.zeros((2, 1), dtype=np.int64)
    watch = Watch(sums[0], sums[1], sums[2], turns, counts[0], counts[1], np.zeros(1))
    n = forest.mass.size
    coordinates, speeds, still = np.zeros((2, nq)), np.zeros((4, nu)), np.zeros((2, n, 6))
    return Scratch(
        coordinates[0],
        coordinates[1],
        speeds[0],
        speeds[1],
        speeds[2],
        speeds[3],
        np.zeros(8),
        np.zeros(n),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros((2, n, 6)),
        still[0],
        still[1],
        np.zeros(INPUTS),
        np.array([kT]),
        determinant_arrays(n, nu),
        watch,
    )


@routine
def push(system, functions, time, q, ws, channels, arrays):
    """Forces at q on bodies at rest: those of a flow are in the channel of drag."""
    place(system.forest, q, ws, 0, system.forest.mass.size)
    still = at_rest(ws, arrays)
    fill_positions(system, functions, time, q, arrays.no_speeds, still, channels)
    drag_wrenches(system.forces.drag, still, channels.wrench[DAMPING])


@routine
def shake(system, factor, window, ws, channels, arrays):
    """F at links that have been placed."""
    friction, noise = arrays.friction, arrays.noise
    friction[:] = 0.0
    fill_friction(system, window, arrays.no_speeds, at_rest(ws, arrays), channels, friction[0], friction[1])
    project(system.forest, ws, friction[1], noise)
    for k in range(noise.size):
        noise[k] *= factor[STOCHASTIC]


@routine
def yield_to(system, factor, ws, channels, arrays):
    """u of ζ u = Γ + F at links that have been placed and whose channels have been filled."""
    forest, drag, s = system.forest, system.forces.drag, factor[DAMPING]
    metric, tau, wrench, u = arrays.metric, channels.total_joint, channels.total_wrench, arrays.u
    links = forest.mass.size
    weigh(system, factor, u, channels)
    gravity_wrenches(forest, scaled_gravity(system.forces, factor), ws, wrench)
    if arrays.kT[0] > 0.0:
        log_determinant_gradient(forest, ws, arrays.determinant)
        # Noise and drag that are weighed differently are those of another temperature.
        half_kT = 0.5 * arrays.kT[0] * factor[STOCHASTIC] ** 2 / s
        for k in range(u.size):
            metric[k] = half_kT * arrays.determinant.gradient[k]
    for k in range(u.size):
        tau[k] += metric[k] + arrays.noise[k]
    for i in range(links):
        arrays.mass[i] = s * drag.mass[i]
        for k in range(3):
            arrays.moment[i, k] = s * drag.moment[i, k]
        for k in range(6):
            arrays.inertia[i, k] = s * drag.inertia[i, k]
    still = at_rest(ws, arrays)
    eliminate(forest, arrays.mass, arrays.moment, arrays.inertia, tau, wrench, still, 0, links)
    accelerate(forest, (0.0, 0.0, 0.0), still, u, 0, links)


@routine
def watch_speeds(forest, h, step, ws, arrays):
    """Whether the changes of some speed in the last WATCHED steps, of which this is one, were larger than itself."""
    watch, u, first = arrays.watch, arrays.u, arrays.watch.speeds
    if step % WATCHED == 0:
        watch.steps[0] = 0
        for k in range(u.size):
            watch.squares[k] = watch.changes[k] = 0.0
    for k in range(u.size):
        watch.squares[k] += first[k] ** 2
        watch.changes[k] += (u[k] - first[k]) ** 2
    watch.steps[0] += 1
    if (step + 1) % WATCHED != 0 or watch.steps[0] != WATCHED:
        return False
    far = 0.0
    for i in range(forest.mass.size):
        far = max(far, dot(load(ws.position, i), load(ws.position, i)))
    worst = 1.0
    for k in range(u.size):
        least = WATCHED * (RESOLVED / h) ** 2 * (1.0 if watch.turns[k] else far)
        if watch.changes[k] > worst * watch.squares[k] and watch.changes[k] > least:
            worst = watch.changes[k] / watch.squares[k] if watch.squares[k] > 0.0 else np.inf
            watch.worst[0] = k
    watch.ratio[0] = math.sqrt(worst)
    return worst > 1.0


@routine
def book(system, factor, h, ws, channels, arrays):
    """Works of a step at its speeds, in its middle."""
    forest, u, work = system.forest, arrays.u, arrays.work
    move(forest, u, ws, 0, forest.mass.size)
    drag = channels.wrench[DAMPING]
    drag[:] = 0.0
    drag_wrenches(system.forces.drag, ws, drag)
    book_powers(system, u, ws, channels)
    for c in range(8):
        work[c] += h * factor[c] * channels.power[c]
    for k in range(u.size):
        work[STOCHASTIC] += h * (arrays.noise[k] + arrays.metric[k]) * u[k]


@kernel
def advance(law, system, functions, parameters, h, stop, state, ws, channels, arrays, steps):
    """Advances the state by a number of steps of length h: REACHED, STOPPED, DIVERGED where a number is no longer
    finite, or TOO_LONG where speeds change too much in them; the state is then that of the last whole step."""
    forest, counters = system.forest, state.counters
    q, middle, u, factor = arrays.q, arrays.middle, arrays.u, state.factor
    copy_into(q, state.q)
    copy_into(arrays.work, state.work)
    for k in range(u.size):
        state.u[k] = arrays.noise[k] = arrays.metric[k] = 0.0
    for _ in range(steps):
        step = counters[STEPS]
        push(system, functions, h * step, q, ws, channels, arrays)
        if stop_reached(stop, ws):
            return STOPPED
        law_inputs(system, channels, ws, h, arrays.sums)
        law(parameters, arrays.sums, factor)
        if system.forces.noise.choice[0] != 0:
            shake(system, factor, counters[WINDOW], ws, channels, arrays)
        yield_to(system, factor, ws, channels, arrays)
        copy_into(arrays.watch.speeds, u)
        copy_into(middle, q)
        drift(forest, middle, u, 0.5 * h)
        push(system, functions, h * (step + 0.5), middle, ws, channels, arrays)
        yield_to(system, factor, ws, channels, arrays)
        drift(forest, q, u, h)
        book(system, factor, h, ws, channels, arrays)
        total = 0.0
        for k in range(q.size):
            total += q[k] * q[k]
        for c in range(8):
            total += arrays.work[c] * arrays.work[c]
        if not total < np.inf:
            return DIVERGED
        if watch_speeds(forest, h, step, ws, arrays):
            return TOO_LONG
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 2
        state.time[0] = h * (step + 1)
        book_bare_works(state, state.work, arrays.work)
        copy_into(state.q, q)
        copy_into(state.work, arrays.work)
    place(forest, q, ws, 0, forest.mass.size)
    return STOPPED if stop_reached(stop, ws) else REACHED
