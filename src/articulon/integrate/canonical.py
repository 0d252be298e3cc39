"""Partitioned Runge–Kutta schemes in canonical momenta, at fixed steps: the symplectic schemes.

The steps are those of (q, p) of ``dynamics/hamiltonian.py``, with stages

    Q_i = q + h Σ_j a_ij k_j,   P_i = p + h Σ_j â_ij l_j,   k_j = ∂H/∂p,   l_j = −∂H/∂q + forces, at (Q_j, P_j),

and q⁺ = q + h Σ b_j k_j, p⁺ = p + h Σ b_j l_j. Since the mass matrix depends on q, all stages are implicit. They are
iterated until only rounding changes them (``stage_iteration``), and the rounding errors of q⁺ and p⁺ are carried over
to the next step. Rounding errors then grow like a random walk (Hairer, Lubich and Wanner, Geometric Numerical
Integration, VIII.5 and VIII.6; Hairer, McLachlan and Razakarivony, BIT 48, 231, 2008).

The norm of Euler parameters has no meaning in (q, p). It is kept near one by multiplication with powers of two, without
rounding.
"""

from typing import NamedTuple

import numba
import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.hamiltonian import (
    canonical_momenta,
    momenta_of_speeds,
    momentum_rates,
    speed_momenta,
    speeds_of_momenta,
    unit_coordinates,
)
from articulon.dynamics.kinematics import coordinate_rates, move, place
from articulon.dynamics.motion_passes import scaled
from articulon.forces.base import At
from articulon.forces.channel_forces import ChannelForces
from articulon.forces.evaluation import Evaluator
from articulon.forces.filling import booking, fill_all, scaling
from articulon.integrate.law_inputs import ask
from articulon.integrate.stage_iteration import solve_stages
from articulon.integrate.status import REACHED, STOPPED, stop_reached
from articulon.integrate.variables import ROTATION, Blocks
from articulon.kernels import jit, kernel, routine
from articulon.model import Forest, Workspace
from articulon.model.state import DAMPING, EVALUATIONS, EXTERNAL, STEPS, STOCHASTIC
from articulon.passes import Program, compile_passes, pass_of, run

exact = numba.njit(
    fastmath=False,  # explicit, because otherwise the caller's setting applies
    error_model="numpy",
    _nrt=False,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    forceinline=True,
)
"""Compiler of leaf functions that rely on the order of their operations."""


class Scratch(NamedTuple):
    """Arrays of a step; they may be discarded between steps."""

    q: np.ndarray
    """Coordinates at the step's start, Euler parameters of any norm, shape (nq,)."""
    p: np.ndarray
    """Momenta, shape (nq,)."""
    unit: np.ndarray
    """Coordinates with Euler parameters of norm 1, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    mu: np.ndarray
    """Momenta of the speeds, shape (nu,)."""
    stage_q: np.ndarray
    """Coordinates of a stage, shape (nq,)."""
    stage_p: np.ndarray
    """Momenta of a stage, shape (nq,)."""
    fresh: np.ndarray
    """Rates of a stage's coordinates, just computed, shape (nq,)."""
    rate_q: np.ndarray
    """Rates of the coordinates, shape (stages, nq)."""
    rate_p: np.ndarray
    """Rates of the momenta, shape (stages, nq)."""
    power: np.ndarray
    """Power of each channel, unscaled, shape (stages, 8)."""
    momentum: np.ndarray
    """Momentum of a link with all links that it carries, shape (links, 6)."""
    carried: np.ndarray
    """Wrench on a link with all links that it carries, shape (links, 6)."""
    zero: np.ndarray
    """Zeros, shape (links, 6)."""
    turning: np.ndarray
    """1 if a coordinate belongs to a rotation, else 0, shape (nq,)."""
    length: np.ndarray
    """The largest length on a body: the distance of a joint from its parent's origin, the distance of a centre of mass
    from the body's origin, or a radius of gyration, shape (1,)."""
    quaternion: np.ndarray
    """First of each set of four Euler parameters, shape (quaternions,)."""
    fresh_p: np.ndarray
    """Rates of a stage's momenta, just computed, shape (nq,)."""
    held: np.ndarray
    """Factors of the channels, shape (8,)."""
    time: np.ndarray
    """Time of the stage [time], shape (1,)."""
    window: np.ndarray
    """Noise window; unused, because there is no noise, shape (1,)."""
    channel_power: np.ndarray
    """Power of the channels at the latest evaluation, unscaled, shape (8,)."""
    position: np.ndarray
    """Origins of the links, shape (links, 3)."""
    rotation: np.ndarray
    """Orientations of the links, row-major matrices, shape (links, 9)."""
    work: np.ndarray
    """Works of the unfinished step, shape (8,)."""


def scratch(
    forest: Forest,
    blocks: Blocks,
    nq: int,
    nu: int,
    stages: int,
    ws: Workspace | None = None,
    channels: ChannelForces | None = None,
) -> Scratch:
    """Arrays for a model. Flights do not need the model's forces."""
    power = np.zeros(8) if channels is None else channels.power
    links = forest.mass.size
    turning = np.zeros(nq, dtype=np.int64)
    for start, end, kind in zip(blocks.start, blocks.end, blocks.kind, strict=True):
        if kind == ROTATION and end <= nq:
            turning[start:end] = 1
    mass = np.where(forest.mass > 0.0, forest.mass, 1.0)[:, None]
    gyration = np.sqrt(forest.inertia[:, [0, 3, 5]] / mass)
    lengths = np.hstack([forest.position, forest.moment / mass, gyration])
    return Scratch(
        np.zeros(nq),
        np.zeros(nq),
        np.zeros(nq),
        np.zeros(nu),
        np.zeros(nu),
        np.zeros(nq),
        np.zeros(nq),
        np.zeros(nq),
        np.zeros((stages, nq)),
        np.zeros((stages, nq)),
        np.zeros((stages, 8)),
        np.zeros((links, 6)),
        np.zeros((links, 6)),
        np.zeros((links, 6)),
        turning,
        np.array([np.abs(lengths).max(initial=0.0)]),
        blocks.quaternion,
        np.zeros(nq),
        np.ones(8),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        power,
        np.zeros((0, 3)) if ws is None else ws.position,
        np.zeros((0, 9)) if ws is None else ws.rotation,
        np.zeros(8),
    )


def history_size(nq: int) -> int:
    """Size of ``State.rule.history``: a flag for a run that has begun, then q, p, and the rounding error of each."""
    return 1 + 4 * nq


@exact
def added(x, lost, d):
    """x + lost + d in twice the precision: the sum and its rounding error (Knuth's two-sum)."""
    d = d + lost
    total = x + d
    part = total - x
    return total, (x - (total - part)) + (d - part)


@routine
def speeds(forest, q, p, ws, arrays):
    """Compute poses and velocities of the links at (q, p); leave unit Euler parameters and speeds in ``arrays``."""
    links = forest.mass.size
    unit_coordinates(forest, q, arrays.unit)
    speed_momenta(forest, q, p, arrays.mu)
    place(forest, arrays.unit, ws, 0, links)
    speeds_of_momenta(forest, arrays.mu, arrays.zero, ws, arrays.u)
    move(forest, arrays.u, ws, 0, links)


@pass_of
def find_speeds(forest, q, p, ws, arrays):
    """Compute poses and velocities of the links at (q, p)."""
    speeds(forest, q, p, ws, arrays)


@pass_of
def rate(forest, q, p, channels, gravity, factor, ws, arrays, qdot, pdot):
    """(q', p') under the summed forces, for links whose poses and velocities are known."""
    wrench, tau, fall = channels.total_wrench, channels.total_joint, scaled(gravity, factor)
    momentum_rates(forest, q, p, arrays.u, tau, wrench, fall, ws, arrays.momentum, arrays.carried, pdot)
    coordinate_rates(forest, q, arrays.u, qdot)


class Passes(NamedTuple):
    """Programs of a step."""

    begin: np.ndarray
    """Computes the momenta of the speeds ``arrays.u`` at ``arrays.q``."""
    field: np.ndarray
    """Computes the rates of ``arrays.stage_q`` and ``arrays.stage_p``, and the power of the channels."""
    end: np.ndarray
    """Computes unit Euler parameters and speeds of ``arrays.stage_q`` and ``arrays.stage_p``."""


def passes(e: Evaluator, arrays: Scratch) -> tuple[Passes, list[Program]]:
    """The programs of a model's steps: in the form for kernels, and the objects that must be kept alive."""
    forest, channels, ws, at_stage = e.system.forest, e.channels, e.ws, (arrays.stage_q, arrays.stage_p)
    friction = channels.wrench[DAMPING], channels.wrench[STOCHASTIC]
    at = At(forest, ws, arrays.unit, arrays.u, arrays.time, arrays.window, channels, *friction)
    located = find_speeds.bind(forest, *at_stage, ws, arrays)
    rates = arrays.fresh, arrays.fresh_p
    gravity = e.system.forces.gravity, arrays.held[EXTERNAL:]
    field = [located, *fill_all(e, at), *scaling(e, channels, arrays.held), *booking(e, at)]
    field.append(rate.bind(forest, *at_stage, channels, *gravity, ws, arrays, *rates))
    programs = [Program(one) for one in ([begin.bind(forest, arrays.q, arrays.u, ws, arrays)], field, [located])]
    compile_passes(one for program in programs for one in program.passes)
    return Passes(*(program.code for program in programs)), programs


@jit
def find_rates(passes, factor, time, q, p, arrays, qdot, pdot, power):
    """Compute (q', p') at (q, p) and the unscaled powers of the channels; leave the speeds in ``arrays.u``."""
    copy_into(arrays.stage_q, q)
    copy_into(arrays.stage_p, p)
    copy_into(arrays.held, factor)
    arrays.time[0] = time
    run(passes.field)
    copy_into(qdot, arrays.fresh)
    copy_into(pdot, arrays.fresh_p)
    copy_into(power, arrays.channel_power)


@pass_of
def begin(forest, q, u, ws, arrays):
    """Compute the momenta p of speeds u at q."""
    links = forest.mass.size
    place(forest, q, ws, 0, links)
    move(forest, u, ws, 0, links)
    momenta_of_speeds(forest, ws, arrays.momentum, arrays.mu)
    canonical_momenta(forest, q, arrays.mu, arrays.p)


@jit
def begin_history(passes, q, u, history, arrays):
    """Set the history from q and u."""
    for k in range(history.size):
        history[k] = 0.0
    copy_into(arrays.q, q)
    copy_into(arrays.u, u)
    run(passes.begin)
    for k in range(q.size):
        history[1 + k] = q[k]
        history[1 + q.size + k] = arrays.p[k]
    history[0] = 1.0


@jit
def take_step(pair, h, history, arrays):
    """Add the rates of the stages to q and p, and bring the norms of Euler parameters near one."""
    nq, stages = arrays.q.size, pair.b.size
    for v in range(nq):
        x, y = 0.0, 0.0
        for j in range(stages):
            x += pair.b[j] * arrays.rate_q[j, v]
            y += pair.b[j] * arrays.rate_p[j, v]
        x, x_lost = added(arrays.q[v], history[1 + 2 * nq + v], h * x)
        y, y_lost = added(arrays.p[v], history[1 + 3 * nq + v], h * y)
        history[1 + v], history[1 + nq + v] = x, y
        history[1 + 2 * nq + v], history[1 + 3 * nq + v] = x_lost, y_lost
    for k in arrays.quaternion:
        e = 1 + k
        s = history[e] ** 2 + history[e + 1] ** 2 + history[e + 2] ** 2 + history[e + 3] ** 2
        up = 1.0
        if s > 2.0:
            up = 0.5
        elif s < 0.5:
            up = 2.0
        if up != 1.0:
            for v in range(e, e + 4):
                history[v] *= up
                history[v + 2 * nq] *= up
                history[v + nq] /= up
                history[v + 3 * nq] /= up


@kernel
def advance(law, inputs, parameters, varies, passes, pair, h, stop, state, arrays, sweeps, steps):
    """Advance the state by a number of steps of length h. Returns REACHED, STOPPED, DIVERGED if a number is no longer
    finite, or NOT_CONVERGED if the iteration of the stages does not converge; the state is then that of the last whole
    step.

    The policy's factors are computed once per step, from the forces at its start.
    """
    nq = state.q.size
    history, counters, factor = state.rule.history, state.counters, state.factor
    rate_q, rate_p, power = arrays.rate_q, arrays.rate_p, arrays.power
    if history[0] == 0.0:
        begin_history(passes, state.q, state.u, history, arrays)
    status, taken = REACHED, 0
    while taken < steps:
        time = h * counters[STEPS]
        copy_into(arrays.q, history[1 : 1 + nq])
        copy_into(arrays.p, history[1 + nq : 1 + 2 * nq])
        find_rates(passes, factor, time, arrays.q, arrays.p, arrays, rate_q[0], rate_p[0], power[0])
        counters[EVALUATIONS] += 1
        if (varies or counters[STEPS] == 0) and ask(law, parameters, inputs, time, h, factor):
            copy_into(factor, inputs.factor)
            find_rates(passes, factor, time, arrays.q, arrays.p, arrays, rate_q[0], rate_p[0], power[0])
            counters[EVALUATIONS] += 1
        if stop_reached(stop, arrays):
            status = STOPPED
            break
        lost = history[1 + 2 * nq : 1 + 4 * nq]
        status = solve_stages(passes, factor, time, h, pair, lost, arrays, sweeps, counters)
        if status != REACHED:
            break
        take_step(pair, h, history, arrays)
        for c in range(8):
            done = 0.0
            for i in range(pair.b.size):
                done += pair.b[i] * power[i, c]
            state.work[c] += h * factor[c] * done
        counters[STEPS] += 1
        state.time[0] = h * counters[STEPS]
        taken += 1
    copy_into(arrays.stage_q, history[1 : 1 + nq])
    copy_into(arrays.stage_p, history[1 + nq : 1 + 2 * nq])
    run(passes.end)
    copy_into(state.q, arrays.unit)
    copy_into(state.u, arrays.u)
    return status
