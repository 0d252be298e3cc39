"""One sweep through a run with its changes by every parameter."""

import numpy as np

from articulon.sensitivities.end_of_run import Derivatives, Steps
from articulon.sensitivities.table_gradients import differentiated, in_one
from articulon.sensitivities.tangent_program import tangent_program
from articulon.sensitivities.tangent_spaces import displacements, in_coordinates
from articulon.sensitivities.tangent_steps import advance_changes, tangent_scratch


def by_tangent(steps: Steps, columns: np.ndarray, *, of_q: bool, of_u: bool) -> Derivatives:
    """Derivatives of the objective by parameters that change the tables so, (parameters, numbers), and by the initial
    coordinates and speeds where these are wanted, else zeros."""
    model, evaluator = steps.run.model, steps.evaluator
    nq, nu, (times, lengths) = model.nq, model.nu, steps.times
    changed, numbers = in_one(differentiated(*evaluator.system[:2]))
    _programs, tangent = tangent_program(evaluator, changed)
    rows = nu * (of_q + of_u)
    changes = np.zeros((rows + len(columns), nq + nu))
    if of_q:
        changes[:nu, :nq] = displacements(model, model.q0)
    if of_u:
        changes[rows - nu : rows, nq:] = np.eye(nu)
    y, every = steps.start.copy(), np.zeros((len(changes), numbers.size))
    if len(columns):
        every[rows:] = columns
    arrays = tangent_scratch(y.size, len(changes), steps.tableau)
    common = evaluator.rhs, tangent, steps.tableau, steps.quaternion, times, lengths
    advance_changes(*common, 0, times.size, numbers, every, y, changes, arrays)
    value, by_q, by_u = steps.weigh(y)
    found = changes @ np.concatenate([in_coordinates(model, y[:nq], by_q), by_u])
    nothing = np.zeros(nu)
    return Derivatives(
        value, y, found[:nu] if of_q else nothing, found[rows - nu : rows] if of_u else nothing, found[rows:]
    )
