"""Observables along a run, and their derivatives with respect to a few parameters, from one forward run of tangents."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from articulon.integrate.integrators import Explicit
from articulon.model import Model
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.end_of_run import Steps
from articulon.sensitivities.objectives import Objective
from articulon.sensitivities.parameters import Parameter, changes_by
from articulon.sensitivities.tangent_run import tangents_along


class ObservedPath(NamedTuple):
    """Observables along a run and their derivatives."""

    values: np.ndarray
    """Observables at the requested times, shape (times, observables)."""
    derivatives: np.ndarray
    """Derivatives with respect to the numbers of the parameters, shape (times, observables, numbers)."""


def observed_path(
    run: DifferentiableRun, times: np.ndarray, observables: Sequence[Objective], parameters: list[Parameter]
) -> ObservedPath:
    """Return observables of a run and their derivatives at increasing times; the first time is zero or later.

    Raises
    ------
    DivergenceError
        If the state is no longer finite.
    """
    model = run.model
    if isinstance(run.integrator, Explicit):
        run = replace(run, times=(0.0, *times[times > 0.0].tolist()))  # steps end on these times
    steps = Steps(replace(run, stop=None), observables[0])
    values = np.zeros((times.size, len(observables)))
    states, changes = tangents_along(steps, *changes_by(parameters, model), steps.after(times))
    derivatives = np.zeros((*values.shape, changes.shape[1]))
    for t, (state, change) in enumerate(zip(states, changes, strict=True)):
        steps.check_finite(state)
        q, u = steps.stepping.split(state)
        for k, observable in enumerate(observables):
            values[t, k], by_q, by_u = observable.of(q, u)
            derivatives[t, k] = change @ steps.stepping.weights(state, by_q, by_u)
    first = 0
    for one in parameters:
        numbers = slice(first, first + one.numbers.size)
        derivatives[:, :, numbers] += _of_model(observables, [steps.stepping.split(y) for y in states], one)
        first = numbers.stop
    return ObservedPath(values, derivatives)


def _of_model(
    observables: Sequence[Objective], states: Sequence[tuple[np.ndarray, np.ndarray]], parameter: Parameter
) -> np.ndarray:
    """Return the direct derivatives of observables with respect to the model at fixed states, (times, observables,
    numbers)."""
    functions = [None if parameter.of_forces and one.of_bodies else one.of_model for one in observables]
    if all(function is None for function in functions):
        return np.zeros((len(states), len(functions), 1))

    def of(model: Model) -> np.ndarray:
        return np.array(
            [[0.0 if function is None else function(model, q, u) for function in functions] for q, u in states]
        )

    return np.moveaxis(parameter.of(of), 0, -1)
