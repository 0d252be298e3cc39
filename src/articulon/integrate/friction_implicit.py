"""The friction-implicit scheme on articulated bodies: half kick, half drift, friction and noise, half drift, half kick.

In the O(n) recursion the drag matrix B of a body acts like an inertia: (M + h/2 D) Δu = h (−D u + D·flow + noise) is
solved by the articulated-body algorithm with every body's inertia I replaced by I + h/2 B. Then u⁺ = u + Δu is the
midpoint step (M + h/2 D) u⁺ = (M − h/2 D) u + h (D·flow + noise). It keeps the Gaussian velocity distribution exactly,
and between two drifts it gives free diffusion and constant drift exactly at any step: the rule of Grønbech-Jensen and
Farago (Mol. Phys. 111, 983, 2013) carried over to trees. Forces limit the step as in velocity Verlet. The angle by
which a body turns in half a step limits it too.

The midpoint step includes three further resistances. Damping and friction of joints (``friction_implicit_joints.py``)
are a diagonal in joint space. The damping of springs between points (``friction_implicit_springs.py``) gives rows that
are solved like those of loops. The damping of the modes of flexible bodies (``friction_implicit_modes.py``) is added to
the masses of the modes.

Velocity products are part of the kicks, so that the scheme is not symplectic. With ``flight`` the drift follows the
free motion of the bodies (``geodesic.py``): without drag and thermostat this is symplectic velocity Verlet for
H = T(q, p) + V(q).

A thermostat that scales all speeds acts before the first and after the last kick. Langevin friction and noise act in
the middle of the step, u⁺ = c u + √(1 − c²) w with c = e^{−γh} and w from N(0, kT M⁻¹): BAOAB on trees.

Every part of a step satisfies loop constraints and the motions of driven joints (``friction_implicit_loops.py``).
"""

import numpy as np

from articulon.algebra.vectors import (
    copy_into,
)
from articulon.integrate.law_inputs import ask, book_unscaled_works, keep_thermal_momentum
from articulon.integrate.status import DIVERGED, REACHED, STOPPED, stop_reached
from articulon.kernels import jit, kernel
from articulon.model.state import DAMPING, EVALUATIONS, STEPS, STOCHASTIC, WINDOW
from articulon.passes import run


@jit
def book_powers(half, factor, powers, work):
    """Add the works of a kick to those of the channels."""
    for c in range(8):
        work[c] += half * factor[c] * powers[c]


@jit
def predict_middle(passes, half, predict, arrays):
    """Predict the speeds at which a kick evaluates the velocity products, into ``arrays.middle``."""
    run(passes.scale)
    if predict:
        run(passes.predict)
    for k in range(arrays.u.size):
        arrays.middle[k] = arrays.u[k] + 0.5 * half * arrays.acceleration[k]


@jit
def push(passes, half, arrays):
    """Apply u += half · u' with the accelerations at the middle speeds, and keep these as those of the latest kick."""
    u, middle, udot = arrays.u, arrays.middle, arrays.acceleration
    run(passes.solve)
    for k in range(u.size):
        middle[k] = u[k] + 0.5 * half * udot[k]
        u[k] += half * udot[k]


@jit
def kick(passes, half, predict, arrays):
    """Apply u += half · M⁻¹ (Γ − C(ū)), and record the works of Γ at the mean speed ū: ΔT = ū·MΔu exactly.

    With the velocity products C at the mean speed the kick is time-reversible. With velocity products at the initial
    speed, thermal rotations would add energy to light bodies. The mean speed is predicted with the accelerations of the
    latest kick, or with the accelerations at the initial speed if ``predict`` is set because the links have moved
    since. If flights treat the velocity products, the kick is u += half · M⁻¹ Γ.
    """
    predict_middle(passes, half, predict, arrays)
    push(passes, half, arrays)
    run(passes.book)
    book_powers(half, arrays.factor, arrays.power, arrays.work)


@jit
def rub(passes, h, arrays):
    """Apply the midpoint step of drag and noise, and record its works at the mean speed."""
    u, work, factor = arrays.u, arrays.work, arrays.factor
    run(passes.friction)
    for k in range(u.size):
        arrays.middle[k] = u[k] + 0.5 * h * arrays.udot[k]
        u[k] += h * arrays.udot[k]
    run(passes.book_friction)
    work[STOCHASTIC] += h * factor[STOCHASTIC] * arrays.powers[0]
    work[DAMPING] += h * factor[DAMPING] * arrays.powers[1]


@jit
def thermostat(bath_step, passes, bath, time, h, count, arrays):
    """Apply a thermostat that scales all speeds over a time h, at links whose poses are known."""
    run(passes.kinetic)
    s = bath_step(bath, arrays.kinetic[0], time, h, count, arrays.factor, arrays.bath, arrays.work)
    for k in range(arrays.u.size):
        arrays.u[k] *= s


@kernel
def advance(law, bath_step, inputs, parameters, passes, bath, h, stop, state, arrays, steps):
    """Advance the state by a number of steps of length h. Returns REACHED, STOPPED, NOT_CONVERGED if a flight is too
    long, NOT_CLOSED if a drift step does not reach its constraints, or DIVERGED if a number is no longer finite; the
    state is then that of the last whole step."""
    q, u, work, counters, half = arrays.q, arrays.u, arrays.work, state.counters, 0.5 * h
    scales = passes.kinetic.shape[0] > 0
    copy_into(q, state.q)
    copy_into(u, state.u)
    copy_into(work, state.work)
    copy_into(arrays.bath, state.bath)
    copy_into(arrays.acceleration, state.rule.acceleration)
    copy_into(arrays.factor, state.factor)
    copy_into(inputs.memory, state.memory)
    arrays.span[0], arrays.clock[1], arrays.time[0], arrays.status[0] = half, h, state.time[0], REACHED
    run(passes.locate)
    run(passes.fill)
    for _ in range(steps):
        if stop_reached(stop, arrays):
            return STOPPED
        step = counters[STEPS]
        time = h * step
        arrays.time[0], arrays.clock[0], arrays.window[0], arrays.number[0] = time, time, counters[WINDOW], step
        run(passes.rate)
        if ask(law, parameters, inputs, time, h, state.factor):
            before = state.factor[DAMPING]
            copy_into(state.factor, inputs.factor)
            copy_into(arrays.factor, state.factor)
            work[STOCHASTIC] += keep_thermal_momentum(inputs, before, state.factor[DAMPING], u)
        copy_into(state.memory, inputs.memory)
        if scales:
            thermostat(bath_step, passes, bath, time, half, 2 * step, arrays)
        kick(passes, half, step == 0, arrays)
        run(passes.move)
        run(passes.drift)
        if passes.friction.shape[0] > 0:
            run(passes.move)
            rub(passes, h, arrays)
        run(passes.move)
        run(passes.apply_langevin)
        run(passes.arrive)
        if arrays.status[0] != REACHED:
            return arrays.status[0]
        time = h * (step + 1)
        arrays.time[0] = time
        # Computed from q alone, so that the end of a step depends on the state only and a resumed run gives the same
        # bits.
        run(passes.locate)
        run(passes.fill)
        kick(passes, half, True, arrays)
        if scales:
            thermostat(bath_step, passes, bath, h * (step + 0.5), half, 2 * step + 1, arrays)
        total = 0.0
        for k in range(u.size):
            total += u[k] * u[k]
        for k in range(q.size):
            total += q[k] * q[k]
        if not total < np.inf:
            return DIVERGED
        counters[STEPS] += 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        state.time[0] = time
        book_unscaled_works(state, state.work, work)
        copy_into(state.q, q)
        copy_into(state.u, u)
        copy_into(state.work, work)
        copy_into(state.bath, arrays.bath)
        copy_into(state.rule.acceleration, arrays.acceleration)
    return STOPPED if stop_reached(stop, arrays) else REACHED
