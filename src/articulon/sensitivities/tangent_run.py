"""One forward run, together with its changes due to every parameter."""

from collections.abc import Sequence

import numpy as np

from articulon.sensitivities.end_of_run import Derivatives, Steps
from articulon.sensitivities.stepping import take_steps
from articulon.sensitivities.table_gradients import differentiated, in_one


def tangents_along(
    steps: Steps, columns: np.ndarray, starts: np.ndarray, after: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the states (ends, ny) after given, increasing numbers of steps, and the changes of these states (ends,
    parameters, weights). ``columns`` (parameters, numbers) are the changes of the tables with each parameter, and
    ``starts`` (parameters, 2 nu) the changes of the initial state."""
    stepping, (times, lengths) = steps.stepping, steps.times
    changed, numbers = in_one(differentiated(*stepping.evaluator.system[:3]))
    changes = stepping.changes(starts)
    stepper, _programs = stepping.changing(changed, numbers, columns, changes)
    stepper.y[:] = stepping.start
    states, found, done = np.zeros((len(after), stepper.y.size)), np.zeros((len(after), *changes.shape)), 0
    for k, last in enumerate(after):
        if last > done:
            take_steps(stepper, times, lengths, done, last)
            if np.isfinite(stepper.y).all():
                steps.check_derivatives(changes)
        states[k], found[k], done = stepper.y, changes, last
    return states, found


def by_tangent(steps: Steps, columns: np.ndarray, starts: np.ndarray, *, of_q: bool, of_u: bool) -> Derivatives:
    """Return derivatives of the objective with respect to parameters that change the tables by ``columns`` (parameters,
    numbers) and the initial state by ``starts`` (parameters, 2 nu). Return also the derivatives with respect to the
    initial coordinates and speeds; they are zero unless ``of_q`` and ``of_u`` are true."""
    stepping, nu = steps.stepping, steps.run.model.nu
    unit = np.eye(2 * nu)
    own = np.vstack([unit[: nu * of_q], unit[nu : nu + nu * of_u]])
    rows = len(own)
    every = np.vstack([np.zeros((rows, columns.shape[1])), columns])
    (end,), (changes,) = tangents_along(steps, every, np.vstack([own, starts]), [steps.times[0].size])
    value, by_q, by_u = steps.weigh(end)
    found, nothing = changes @ stepping.weights(end, by_q, by_u), np.zeros(nu)
    by_start = found[:nu] if of_q else nothing, found[rows - nu : rows] if of_u else nothing
    return Derivatives(value, *stepping.split(end), *by_start, found[rows:])
