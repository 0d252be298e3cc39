"""Linear multistep methods at fixed steps: predict, evaluate, correct, evaluate; a Runge–Kutta scheme takes the first
steps.

The derivatives of the earlier steps are part of the state, so that a resumed run gives the same bits.
"""

import numpy as np

from articulon.algebra.rotations import normalised, quaternion_at
from articulon.algebra.vectors import copy_into
from articulon.dynamics.loops.constrained_articulated import OPEN
from articulon.forces.derivatives import close, evaluate
from articulon.integrate.explicit_runge_kutta import Scratch, combine
from articulon.integrate.law_inputs import ask
from articulon.integrate.status import DIVERGED, NOT_CLOSED, REACHED, STOPPED, stop_reached
from articulon.integrate.tableaux import Multistep
from articulon.kernels import kernel
from articulon.model.state import EVALUATIONS, STEPS

EARLIER = 3
"""Number of steps before the present one whose derivatives are kept."""


def scratch(ny: int, formula: Multistep) -> Scratch:
    """Arrays for a method."""
    stages = max(formula.start.b.size, EARLIER + 1)
    return Scratch(np.zeros(ny), np.zeros(ny), np.zeros((stages, ny)))


def history_size(ny: int) -> int:
    """Size of ``State.rule.history``: the number of stored derivatives, and these, newest first."""
    return 1 + EARLIER * ny


@kernel
def advance(
    rhs,
    closing,
    law,
    inputs,
    parameters,
    varies,
    formula,
    quaternions,
    h,
    stop,
    state,
    scratch,
    steps,
):
    """Advance the state by a number of steps of length h. Returns REACHED, STOPPED, or DIVERGED if a number is no
    longer finite; the state is then that of the last whole step.

    The second evaluation of a step is also the first one of the next step, at variables whose Euler parameters are of
    norm 1. The policy's factors are computed once per step, from the forces at its start. After a step the state is
    projected onto loop constraints and given motions.
    """
    nq, nu = state.q.size, state.u.size
    y, trial, stages, counters, history = scratch.y, scratch.trial, scratch.stages, state.counters, state.rule.history
    ny, start, factor = y.size, formula.start, state.factor
    copy_into(y[:nq], state.q)
    copy_into(y[nq : nq + nu], state.u)
    copy_into(y[nq + nu : nq + nu + 8], state.work)
    copy_into(y[nq + nu + 8 :], state.bath)
    status, taken = REACHED, 0
    while taken < steps:
        time = h * counters[STEPS]
        evaluate(rhs, time, 0, factor, y, stages[0])
        counters[EVALUATIONS] += 1
        if (varies or counters[STEPS] == 0) and ask(law, parameters, inputs, time, h, factor):
            copy_into(factor, inputs.factor)
            evaluate(rhs, time, 0, factor, y, stages[0])
            counters[EVALUATIONS] += 1
        if stop_reached(stop, rhs):
            status = STOPPED
            break
        known = int(history[0])
        if known < EARLIER:
            for i in range(1, start.b.size):
                combine(y, stages, start.a[i], i, h, trial)
                evaluate(rhs, time + start.c[i] * h, 0, factor, trial, stages[i])
                counters[EVALUATIONS] += 1
            combine(y, stages, start.b, start.b.size, h, trial)
        else:
            for i in range(EARLIER):
                copy_into(stages[1 + i], history[1 + i * ny : 1 + (i + 1) * ny])
            combine(y, stages, formula.predictor, EARLIER + 1, h, trial)
            evaluate(rhs, time + h, 0, factor, trial, stages[EARLIER])
            counters[EVALUATIONS] += 1
            w0, w1, w2, w3 = formula.corrector[0], formula.corrector[1], formula.corrector[2], formula.corrector[3]
            for v in range(ny):
                change = w0 * stages[3, v] + w1 * stages[0, v] + w2 * stages[1, v] + w3 * stages[2, v]
                trial[v] = y[v] + h * change
        for k in quaternions:
            e = normalised(quaternion_at(trial, k))
            trial[k], trial[k + 1], trial[k + 2], trial[k + 3] = e[0], e[1], e[2], e[3]
        total = 0.0
        for v in range(ny):
            total += abs(trial[v])
        if not total < np.inf:
            status = DIVERGED
            break
        if closing.code.shape[0] > 0:
            close(closing, rhs, h * (counters[STEPS] + 1), trial)
            if not closing.left[0] <= OPEN:
                status = NOT_CLOSED
                break
            for k in range(2):
                state.rule.drift[k] = max(state.rule.drift[k], closing.drift[k])
        for i in range(EARLIER - 1, 0, -1):
            copy_into(history[1 + i * ny : 1 + (i + 1) * ny], history[1 + (i - 1) * ny : 1 + i * ny])
        copy_into(history[1 : 1 + ny], stages[0])
        history[0] = min(known + 1, EARLIER)
        copy_into(y, trial)
        counters[STEPS] += 1
        taken += 1
    state.time[0] = h * counters[STEPS]
    copy_into(state.q, y[:nq])
    copy_into(state.u, y[nq : nq + nu])
    copy_into(state.work, y[nq + nu : nq + nu + 8])
    copy_into(state.bath, y[nq + nu + 8 :])
    return status
