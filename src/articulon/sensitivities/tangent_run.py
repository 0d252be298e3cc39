"""One sweep through a run with its changes by every parameter."""

import numpy as np

from articulon.sensitivities.end_of_run import Derivatives, Steps
from articulon.sensitivities.stepping import take_steps
from articulon.sensitivities.table_gradients import differentiated, in_one


def by_tangent(steps: Steps, columns: np.ndarray, *, of_q: bool, of_u: bool) -> Derivatives:
    """Derivatives of the objective by parameters that change the tables so, (parameters, numbers), and by the initial
    coordinates and speeds where these are wanted, else zeros."""
    stepping, (times, lengths), nu = steps.stepping, steps.times, steps.run.model.nu
    changed, numbers = in_one(differentiated(*stepping.evaluator.system[:2]))
    rows = nu * (of_q + of_u)
    changes = stepping.changes(rows + len(columns), of_q, of_u)
    every = np.zeros((len(changes), numbers.size))
    if len(columns):
        every[rows:] = columns
    stepper, _programs = stepping.changing(changed, numbers, every, changes)
    stepper.y[:] = stepping.start
    take_steps(stepper, times, lengths, 0, times.size)
    end = stepper.y.copy()
    value, by_q, by_u = steps.weigh(end)
    found = changes @ stepping.weights(end, by_q, by_u)
    nothing = np.zeros(nu)
    by_start = found[:nu] if of_q else nothing, found[rows - nu : rows] if of_u else nothing
    return Derivatives(value, *stepping.split(end), *by_start, found[rows:])
