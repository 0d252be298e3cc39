"""Steppers of explicit Runge–Kutta schemes: steps controlled by an error estimate, or fixed."""

from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import normalised, quaternion_at
from articulon.algebra.vectors import copy_into
from articulon.dynamics.loops.constrained_articulated import OPEN
from articulon.forces.derivatives import close, evaluate
from articulon.integrate.law_inputs import ask, book_unscaled_works, keep_thermal_momentum
from articulon.integrate.status import DIVERGED, NOT_CLOSED, PAUSED, REACHED, STOPPED, stop_reached
from articulon.integrate.tableaux import Tableau
from articulon.kernels import jit, kernel
from articulon.model.state import DAMPING, EVALUATIONS, REJECTED, STEPS, STOCHASTIC, WINDOW


class Control(NamedTuple):
    """Control of the step lengths."""

    relative: np.ndarray
    """Relative tolerance of each kind of variable, shape (5,)."""
    absolute: np.ndarray
    """Absolute tolerance of each kind of variable, shape (5,)."""
    step: np.ndarray
    """Fixed step or 0, first step, longest step, shortest step, and the time at which to pause [time], shape (5,)."""


class Scratch(NamedTuple):
    """Arrays of a step; they may be discarded between steps."""

    y: np.ndarray
    """The variables, shape (ny,)."""
    trial: np.ndarray
    """Variables of a stage, or of a step that is not yet accepted, shape (ny,)."""
    stages: np.ndarray
    """Derivatives of the stages, shape (stages, ny)."""


def scratch(ny: int, tableau: Tableau) -> Scratch:
    """Arrays for a scheme."""
    return Scratch(np.zeros(ny), np.zeros(ny), np.zeros((tableau.b.size, ny)))


MOST_STEPS = 1e15
"""Largest number of steps of the present length up to the end time; if more are needed, the step is too short to
continue."""


@jit
def combine(y, stages, weights, count, h, out):
    """out = y + h Σ weights_i k_i over the first ``count`` stages."""
    for v in range(y.size):
        out[v] = y[v]
    for i in range(count):
        w = h * weights[i]
        if w != 0.0:
            for v in range(y.size):
                out[v] += w * stages[i, v]


@jit
def error_ratio(blocks, control, tableau, y, trial, stages, h):
    """The largest ratio of estimated error to tolerance; NaN if any number is not finite."""
    worst = 0.0
    count = tableau.b.size
    for block in range(blocks.start.size):
        kind, error, scale = blocks.kind[block], 0.0, 0.0
        for v in range(blocks.start[block], blocks.end[block]):
            e = 0.0
            for i in range(count):
                e += tableau.error[i] * stages[i, v]
            error = max(error, abs(h * e))
            scale = max(scale, max(abs(y[v]), abs(trial[v])))
            if not abs(trial[v]) < np.inf or not abs(e) < np.inf:
                return np.nan
        tolerance = control.absolute[kind] + control.relative[kind] * scale
        if error > 0.0:
            worst = max(worst, error / tolerance)
    return worst


@kernel
def advance(
    rhs,
    closing,
    law,
    inputs,
    parameters,
    varies,
    noise_window,
    tableau,
    blocks,
    control,
    stop,
    state,
    scratch,
    until,
    max_steps,
):
    """Advance the state to the time ``until``, by ``max_steps`` steps, or to the end of the first step that reaches the
    time to pause, whichever comes first. Returns REACHED, PAUSED, STOPPED, or DIVERGED with the state at the last
    accepted step.

    A step ends on ``until`` and on every boundary of a noise window, exactly. The policy's factors are computed once
    per accepted step, from the forces at its start; the factors of a policy that tracks lag are computed after each of
    its samples. After a step the state is projected onto loop constraints and given motions.
    """
    nq, nu = state.q.size, state.u.size
    y, trial, stages, counters = scratch.y, scratch.trial, scratch.stages, state.counters
    copy_into(y[:nq], state.q)
    copy_into(y[nq : nq + nu], state.u)
    copy_into(y[nq + nu : nq + nu + 8], state.work)
    copy_into(y[nq + nu + 8 :], state.bath)
    copy_into(inputs.memory, state.memory)
    fixed, longest, shortest = control.step[0], control.step[2], control.step[3]
    noisy, length = noise_window > 0.0, noise_window
    exponent = -1.0 / tableau.power[0]
    time = state.time[0]
    if state.step[0] == 0.0:
        state.step[0] = fixed if fixed > 0.0 else control.step[1]
    status, taken, fresh, first = PAUSED, 0, True, stages[0]
    while taken < max_steps:
        limit = until
        if noisy:
            boundary = (counters[WINDOW] + 1) * length
            if boundary < until - 1e-9 * length:
                limit = boundary
        left, h = limit - time, min(state.step[0], longest)
        lands = h * (1.0 + 1e-9) >= left
        if lands:
            h = left
        if fresh:
            evaluate(rhs, time, counters[WINDOW], state.factor, y, first)
            counters[EVALUATIONS] += 1
            if (varies or counters[STEPS] == 0) and ask(law, parameters, inputs, time, h, state.factor):
                before = state.factor[DAMPING]
                copy_into(state.factor, inputs.factor)
                gained = keep_thermal_momentum(inputs, before, state.factor[DAMPING], y[nq : nq + nu])
                y[nq + nu + STOCHASTIC] += gained
                evaluate(rhs, time, counters[WINDOW], state.factor, y, first)
                counters[EVALUATIONS] += 1
            fresh = False
            if stop_reached(stop, rhs):
                status = STOPPED
                break
        for i in range(1, tableau.b.size):
            combine(y, stages, tableau.a[i], i, h, trial)
            evaluate(rhs, time + tableau.c[i] * h, counters[WINDOW], state.factor, trial, stages[i])
            counters[EVALUATIONS] += 1
        combine(y, stages, tableau.b, tableau.b.size, h, trial)
        ratio = error_ratio(blocks, control, tableau, y, trial, stages, h)
        finite = ratio == ratio
        if fixed > 0.0:
            if not finite:
                status = DIVERGED
                break
        elif not finite or ratio > 1.0:
            counters[REJECTED] += 1
            shrink = max(0.1, 0.9 * ratio**exponent) if finite else 0.1
            state.step[0] = h * shrink
            if state.step[0] < max(shortest, 4e-16 * time):
                status = DIVERGED
                break
            continue
        else:
            grown = h * (5.0 if ratio < 2e-4 else 0.9 * ratio**exponent)
            # The error of a step cut short by a boundary tells little about the next step.
            state.step[0] = max(state.step[0], grown) if lands else grown
        for k in blocks.quaternion:
            e = normalised(quaternion_at(trial, k))
            trial[k], trial[k + 1], trial[k + 2], trial[k + 3] = e[0], e[1], e[2], e[3]
        end = limit if lands else time + h
        if closing.code.shape[0] > 0:
            close(closing, rhs, end, trial)
            if not closing.left[0] <= OPEN:  # a shorter step may succeed
                counters[REJECTED] += 1
                state.step[0] = 0.25 * h
                if fixed > 0.0 or state.step[0] < max(shortest, 4e-16 * time):
                    status = NOT_CLOSED
                    break
                continue
            for k in range(2):
                state.rule.drift[k] = max(state.rule.drift[k], closing.drift[k])
        book_unscaled_works(state, y[nq + nu : nq + nu + 8], trial[nq + nu : nq + nu + 8])
        for v in range(y.size):
            y[v] = trial[v]
        counters[STEPS] += 1
        taken += 1
        fresh = True
        time = end
        if noisy and time >= (counters[WINDOW] + 1) * length - 1e-9 * length:
            counters[WINDOW] += 1
        if lands and limit == until:
            status = REACHED
            break
        if time >= control.step[4]:
            break
        if counters[STEPS] % 1024 == 0 and until - time > MOST_STEPS * state.step[0]:
            status = DIVERGED  # a run cannot take so many steps, although none of them would fail
            break
    state.time[0] = time
    copy_into(state.q, y[:nq])
    copy_into(state.u, y[nq : nq + nu])
    copy_into(state.work, y[nq + nu : nq + nu + 8])
    copy_into(state.bath, y[nq + nu + 8 :])
    copy_into(state.memory, inputs.memory)
    return status
