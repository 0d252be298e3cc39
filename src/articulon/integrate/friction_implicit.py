"""Half kick, half drift, implicit friction and noise, half drift, half kick, on articulated bodies.

In the O(n) recursion a drag matrix B of a body is an inertia: (M + h/2 D) Δu = h (−D u + D·flow + noise) is solved by
the articulated-body algorithm with every body's inertia I replaced by I + h/2 B, and u⁺ = u + Δu is the midpoint step
(M + h/2 D) u⁺ = (M − h/2 D) u + h (D·flow + noise). It keeps the Gaussian velocity distribution exactly, and between
two drifts it gives free diffusion and constant drift exactly at any step: the rule of Grønbech-Jensen and Farago (Mol.
Phys. 111, 983, 2013) carried over to trees. Forces bound the step as in velocity Verlet, and so does the angle that a
body turns in half a step.

Velocity products are part of the kicks, which is not symplectic. With ``flight`` the drift follows the free motion of
the bodies (``geodesic.py``): without drag and thermostat, symplectic velocity Verlet for H = T(q, p) + V(q).

A thermostat that multiplies all speeds does so before the first and after the last kick. Langevin's friction and noise
are part of the middle, u⁺ = c u + √(1 − c²) w with c = e^{−γh} and w from N(0, kT M⁻¹): BAOAB on trees.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import (
    conjugate,
    load_quaternion,
    matrix,
    normalised,
    product,
    store_quaternion,
    turn_in_world,
)
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    copy_into,
    load,
    load_at,
    load_from,
    load_matrix,
    scale,
    store,
    store_at,
    store_from,
    store_matrix,
    sub,
)
from articulon.baths.base import FRICTION, KICKS, SCALES, SEED, STREAM, WAY
from articulon.baths.chains import chain_rates
from articulon.baths.langevin import decay_and_noise
from articulon.baths.schedule import target
from articulon.dynamics import joints
from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.constrained import at_rest
from articulon.dynamics.energy import kinetic_energy
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.momentum_sampling import Draw, draw_arrays, draw_speeds
from articulon.forces.filling import book_powers, fill_friction, fill_positions, scaled_gravity, weigh
from articulon.forces.stokes_drag import drag_wrenches
from articulon.integrate import canonical, geodesic
from articulon.integrate.lag_tracking import keeps_thermal_momentum, look, rescale
from articulon.integrate.law_inputs import book_bare_works, law_inputs
from articulon.integrate.status import DIVERGED, REACHED, STOPPED, stop_reached
from articulon.kernels import jit, kernel, routine
from articulon.model import Forest
from articulon.model.joints import FREE, SPHERICAL
from articulon.model.state import DAMPING, EVALUATIONS, STEPS, STOCHASTIC, THERMOSTAT, WINDOW
from articulon.scaling.base import INPUTS


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
    """Zero twists, shape (links, 6)."""
    turning: np.ndarray
    """Angular accelerations of the links while they drift, shape (links, 3)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    sums: np.ndarray
    """What a scaling law reads, shape (16,)."""
    q: np.ndarray
    """Coordinates of a step not yet finished, shape (nq,)."""
    u: np.ndarray
    """Speeds, likewise, shape (nu,)."""
    work: np.ndarray
    """Works, likewise, shape (8,)."""
    acceleration: np.ndarray
    """Accelerations of the latest kick, likewise, shape (nu,)."""
    bath: np.ndarray
    """A thermostat's variables, likewise."""
    draw: Draw
    """Of Langevin's noise."""
    flight: canonical.Scratch
    """Of free flights."""


def scratch(forest: Forest, nq: int, nu: int, variables: int = 0) -> Scratch:
    """Arrays for a model and a number of thermostat variables."""
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
        np.zeros((n, 6)),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros(INPUTS),
        np.zeros(nq),
        np.zeros(nu),
        np.zeros(8),
        np.zeros(nu),
        np.zeros(variables),
        draw_arrays(nu),
        geodesic.scratch(forest, nq, nu),
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
def drift(forest, q, u, ws, time):
    """Moves links that have been placed and moved, for ``time`` at constant speeds, and places them anew.

    Where a joint leaves all rotations free it is the link's angular velocity in the world that is kept, not the joint's
    own speed: a light body that spins fast on a turning parent then feels no velocity-product acceleration for it.
    """
    parent, kinds, q_start, u_start, axes = forest.parent, forest.kind, forest.q_start, forest.u_start, forest.axis
    offset, rotation = forest.position, forest.rotation
    quaternion, R, reach, position, twist = ws.quaternion, ws.rotation, ws.reach, ws.position, ws.twist
    for i in range(parent.size):
        p, kind, k, j = parent[i], kinds[i], q_start[i], u_start[i]
        x, r, origin, pw = load(axes, i), load(offset, i), ZERO, ZERO
        frame = load_quaternion(rotation, i)
        if p >= 0:
            frame = product(load_quaternion(quaternion, p), frame)
            r, origin, pw = apply(load_matrix(R, p), r), load(position, p), load_from(twist, p, 3)
        if kind == SPHERICAL or kind == FREE:
            if kind == FREE:
                store_at(q, k, add(load_at(q, k), scale(time, load_at(u, j))))
                k, j = k + 3, j + 3
            w = load_from(twist, i, 3)
            e = turn_in_world(load_quaternion(quaternion, i), w, time)
            body = matrix(e)
            local = normalised(product(conjugate(frame), e))
            q[k], q[k + 1], q[k + 2], q[k + 3] = local[0], local[1], local[2], local[3]
            store_at(u, j, apply_t(body, sub(w, pw)))
        else:
            joints.drift(kind, q, k, u, j, time)
            e, _ = joints.place(kind, x, q, k, frame)
            body = matrix(e)
            w = add(pw, joints.velocity(kind, x, u, j, matrix(frame) if joints.framed(kind) else body, body)[0])
        if joints.translates(kind):
            d = joints.place(kind, x, q, q_start[i], frame)[1]
            r = add(r, apply(matrix(frame) if joints.framed(kind) else body, d))
        store_from(twist, i, 3, w)
        store_quaternion(quaternion, i, e)
        store_matrix(R, i, body)
        store(reach, i, r)
        store(position, i, add(origin, r))


@jit
def keep_spins(forest, ws, turning):
    """Velocity-product accelerations of a kick, which leaves to ``drift`` what that does.

    ``turning`` is the angular acceleration g of each link while it drifts: none where the spin is kept, and
    g_p + ω_p × ω_J elsewhere. A joint whose link keeps its spin on a parent that turns has the bias −g_p.
    """
    parent, kinds, bias = forest.parent, forest.kind, ws.bias
    for i in range(kinds.size):
        p, g = parent[i], ZERO
        if p >= 0:
            g = load(turning, p)
        if kinds[i] == SPHERICAL or kinds[i] == FREE:
            store_from(bias, i, 0, scale(-1.0, g))
            store(turning, i, ZERO)
        else:
            store(turning, i, add(g, load_from(bias, i, 0)))


@routine
def kick(system, factor, half, u, work, udot, predict, ws, channels, arrays):
    """u += half · M⁻¹ (Γ − C(ū)), with the works of Γ at the mean speed ū: ΔT = ū·MΔu exactly.

    The velocity products C at the mean speed make the kick its own reverse in time. With those at the first speed
    instead, thermal spins pump energy into light bodies. The mean speed is predicted with the accelerations ``udot`` of
    the latest kick, or with those at the first speed where ``predict`` is set because the links have moved since.
    """
    forest, middle = system.forest, arrays.middle
    tau, wrench, gravity = channels.total_joint, channels.total_wrench, scaled_gravity(system.forces, factor)
    weigh(system, factor, u, channels)
    if predict:
        move(forest, u, ws, 0, forest.mass.size)
        keep_spins(forest, ws, arrays.turning)
        solve(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, gravity, ws, udot)
    for k in range(u.size):
        middle[k] = u[k] + 0.5 * half * udot[k]
    move(forest, middle, ws, 0, forest.mass.size)
    keep_spins(forest, ws, arrays.turning)
    solve(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, gravity, ws, udot)
    for k in range(u.size):
        middle[k] = u[k] + 0.5 * half * udot[k]
        u[k] += half * udot[k]
    move(forest, middle, ws, 0, forest.mass.size)
    book_powers(system, middle, ws, channels)
    for c in range(8):
        work[c] += half * factor[c] * channels.power[c]


@routine
def push(system, factor, half, u, work, udot, ws, channels, arrays):
    """u += half · M⁻¹ Γ at links that have been placed, the velocity products left to the flight; works likewise."""
    forest, middle = system.forest, arrays.middle
    tau, wrench, gravity = channels.total_joint, channels.total_wrench, scaled_gravity(system.forces, factor)
    weigh(system, factor, u, channels)
    solve(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, gravity, at_rest(ws, arrays), udot)
    for k in range(u.size):
        middle[k] = u[k] + 0.5 * half * udot[k]
        u[k] += half * udot[k]
    move(forest, middle, ws, 0, forest.mass.size)
    book_powers(system, middle, ws, channels)
    for c in range(8):
        work[c] += half * factor[c] * channels.power[c]


@jit
def power_of(wrench, ws):
    """Σ f·v + n·ω."""
    one, twist = wrench.reshape(-1), ws.twist.reshape(-1)
    total = 0.0
    for k in range(one.size):
        total += one[k] * twist[k]
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
    still = at_rest(ws, arrays)
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


@routine
def read_thermostat(system, time, u, ws, channels, arrays):
    """ζ and its rate, for a policy's law, at links that have been placed."""
    move(system.forest, u, ws, 0, system.forest.mass.size)
    twice_kinetic, variables = 2.0 * kinetic_energy(system.forest, ws), channels.bath[0]
    copy_into(variables, arrays.bath)
    chain_rates(system.bath, twice_kinetic, target(system.bath, time), variables, channels.bath[1])


@routine
def thermostat(bath_step, system, time, h, count, factor, u, work, ws, arrays):
    """Carries a thermostat that multiplies all speeds over a time h, at links that have been placed."""
    move(system.forest, u, ws, 0, system.forest.mass.size)
    s = bath_step(system.bath, kinetic_energy(system.forest, ws), time, h, count, factor, arrays.bath, work)
    for k in range(u.size):
        u[k] *= s


@routine
def stir(system, time, h, step, u, work, ws, arrays):
    """Langevin's friction and noise over a time h, at links that have been placed and moved."""
    forest, bath, draw = system.forest, system.bath, arrays.draw
    before = kinetic_energy(forest, ws)
    c, s = decay_and_noise(bath.constants[FRICTION], h, target(bath, time + 0.5 * h))
    draw_speeds(forest, bath.choice[SEED], bath.choice[STREAM], step, 1.0, at_rest(ws, arrays), draw)
    for k in range(u.size):
        u[k] = c * u[k] + s * draw.speeds[k]
    move(forest, u, ws, 0, forest.mass.size)
    work[THERMOSTAT] += kinetic_energy(forest, ws) - before


@kernel
def advance(
    law,
    bath_step,
    follow,
    system,
    functions,
    parameters,
    followed,
    h,
    flight,
    stop,
    state,
    ws,
    channels,
    arrays,
    steps,
):
    """Advances the state by a number of steps of length h: REACHED, STOPPED, NOT_CONVERGED where a flight is too long,
    or DIVERGED where a number is no longer finite; the state is then that of the last whole step."""
    forest = system.forest
    q, u, work, udot, counters = arrays.q, arrays.u, arrays.work, arrays.acceleration, state.counters
    way = system.bath.choice[WAY]
    rubs = system.forces.drag.link.size > 0 or system.forces.noise.choice[0] != 0
    copy_into(q, state.q)
    copy_into(u, state.u)
    copy_into(work, state.work)
    copy_into(arrays.bath, state.bath)
    copy_into(udot, state.acceleration)
    locate(forest, q, u, ws)
    fill_positions(system, functions, state.time[0], q, u, ws, channels)
    for _ in range(steps):
        if stop_reached(stop, ws):
            return STOPPED
        step = counters[STEPS]
        time = h * step
        if arrays.bath.size > 0:
            read_thermostat(system, time, u, ws, channels, arrays)
        if look(follow, system, channels, ws, time, state, followed, arrays.sums):
            law_inputs(system, channels, ws, h, arrays.sums)
            before = state.factor[DAMPING]
            law(parameters, arrays.sums, state.factor)
            if keeps_thermal_momentum(followed) and state.factor[DAMPING] != before:
                work[STOCHASTIC] += rescale(forest, before, state.factor[DAMPING], state.memory, u, ws)
        if way == SCALES:
            thermostat(bath_step, system, time, 0.5 * h, 2 * step, state.factor, u, work, ws, arrays)
        found = REACHED
        if flight:
            push(system, state.factor, 0.5 * h, u, work, udot, ws, channels, arrays)
            move(forest, u, ws, 0, forest.mass.size)
            found = geodesic.fly(forest, q, u, 0.5 * h, ws, arrays.flight, arrays.no_torque)
        else:
            kick(system, state.factor, 0.5 * h, u, work, udot, step == 0, ws, channels, arrays)
            move(forest, u, ws, 0, forest.mass.size)
            drift(forest, q, u, ws, 0.5 * h)
            move(forest, u, ws, 0, forest.mass.size)
        if rubs:
            rub(system, state.factor, counters[WINDOW], h, u, work, ws, channels, arrays)
            move(forest, u, ws, 0, forest.mass.size)
        if way == KICKS:
            stir(system, time, h, step, u, work, ws, arrays)
        if flight:
            found = max(found, geodesic.fly(forest, q, u, 0.5 * h, ws, arrays.flight, arrays.no_torque))
        else:
            drift(forest, q, u, ws, 0.5 * h)
        if found != REACHED:
            return found
        time = h * (step + 1)
        # From q alone, so that a step's end is a function of the state and a run resumes to the same bits.
        locate(forest, q, u, ws)
        fill_positions(system, functions, time, q, u, ws, channels)
        if flight:
            push(system, state.factor, 0.5 * h, u, work, udot, ws, channels, arrays)
        else:
            kick(system, state.factor, 0.5 * h, u, work, udot, True, ws, channels, arrays)
        if way == SCALES:
            thermostat(bath_step, system, h * (step + 0.5), 0.5 * h, 2 * step + 1, state.factor, u, work, ws, arrays)
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
        book_bare_works(state, state.work, work)
        copy_into(state.q, q)
        copy_into(state.u, u)
        copy_into(state.work, work)
        copy_into(state.bath, arrays.bath)
        copy_into(state.acceleration, udot)
    return STOPPED if stop_reached(stop, ws) else REACHED
