"""One sweep through a run with its changes by every parameter."""

from collections.abc import Sequence

import numpy as np

from articulon.sensitivities.end_of_run import Derivatives, Steps
from articulon.sensitivities.table_gradients import differentiated, in_one
from articulon.sensitivities.tangent_program import tangent_program
from articulon.sensitivities.tangent_spaces import displacements, in_coordinates
from articulon.sensitivities.tangent_steps import advance_changes, tangent_scratch


def tangents_along(
    steps: Steps, columns: np.ndarray, starts: np.ndarray, after: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """States (ends, nq + nu) and their changes (ends, parameters, nq + nu) after so many steps, increasing, with
    parameters that change the tables so, (parameters, numbers), and the state at the beginning so, (parameters,
    nq + nu)."""
    evaluator, (times, lengths) = steps.evaluator, steps.times
    changed, numbers = in_one(differentiated(*evaluator.system[:2]))
    _programs, tangent = tangent_program(evaluator, changed)
    y, changes = steps.start.copy(), starts.copy()
    arrays = tangent_scratch(y.size, len(changes), steps.tableau)
    common = evaluator.rhs, tangent, steps.tableau, steps.quaternion, times, lengths
    states, found, done = np.zeros((len(after), y.size)), np.zeros((len(after), *changes.shape)), 0
    every = columns if len(columns) else np.zeros((0, numbers.size))
    for k, last in enumerate(after):
        advance_changes(*common, done, last, numbers, every, y, changes, arrays)
        states[k], found[k], done = y, changes, last
    return states, found


def by_tangent(steps: Steps, columns: np.ndarray, starts: np.ndarray, *, of_q: bool, of_u: bool) -> Derivatives:
    """Derivatives of the objective by parameters that change the tables so, (parameters, numbers), and the state at the
    beginning so, (parameters, nq + nu), and by the initial coordinates and speeds where these are wanted, else
    zeros."""
    model, (nq, nu) = steps.run.model, (steps.run.model.nq, steps.run.model.nu)
    own = [np.hstack([displacements(model, model.q0), np.zeros((nu, nu))])] if of_q else []
    own += [np.hstack([np.zeros((nu, nq)), np.eye(nu)])] if of_u else []
    rows = nu * (of_q + of_u)
    still = np.zeros((rows, columns.shape[1] if len(columns) else steps.numbers))
    every = np.vstack([still, columns]) if len(columns) else still
    states, changes = tangents_along(steps, every, np.vstack([*own, starts]), [steps.times[0].size])
    (y,) = states
    value, by_q, by_u = steps.weigh(y)
    found = changes[0] @ np.concatenate([in_coordinates(model, y[:nq], by_q), by_u])
    nothing = np.zeros(nu)
    return Derivatives(
        value, y, found[:nu] if of_q else nothing, found[rows - nu : rows] if of_u else nothing, found[rows:]
    )
