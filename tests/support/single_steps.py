"""One step of a run whose derivatives are known, and what its tangent and its adjoint make of changes and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar
from articulon.sensitivities.differentiable_models import run_of
from articulon.sensitivities.differentiated_rules import stepping_of
from articulon.sensitivities.stepping import REVERSE, Stepping, finish_weights, follow_schedule, take_steps
from articulon.sensitivities.table_gradients import differentiated, in_one


def stepping(model: ar.Model, **run: Any) -> Stepping:
    """The steps of a run of a model."""
    given: dict[str, Any] = dict.fromkeys(("frames", "q", "u", "stop", "seed", "scaling", "thermostat"))
    rule, duration = run.pop("rule"), run.pop("duration")
    given |= {name: run.pop(name) for name in list(run) if name in given}
    return stepping_of(run_of(model, "steps", duration=duration, rule=rule, allow_code=False, options=run, **given))


def stepped(steps: Stepping, number: int, y: np.ndarray) -> np.ndarray:
    """The state at the end of a step from y."""
    stepper, _programs = steps.taking()
    stepper.y[:] = y
    take_steps(stepper, *steps.times, number, number + 1)
    return stepper.y.copy()


def numbers_of(steps: Stepping) -> tuple[Any, np.ndarray]:
    """Tables of zeros like those of the model, and their numbers in one array, which they are views of."""
    return in_one(differentiated(*steps.evaluator.system[:3]))


def changed(steps: Stepping, number: int, y: np.ndarray, changes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Changes (parameters, weights) of a state y and of tables (parameters, numbers) at the end of a step."""
    tables, numbers = numbers_of(steps)
    found = changes.copy()
    stepper, _programs = steps.changing(tables, numbers, columns, found)
    stepper.y[:] = y
    take_steps(stepper, *steps.times, number, number + 1)
    return found


def weighed(steps: Stepping, number: int, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the end of a step as those of the state y that it begins with, and of the tables."""
    tables, numbers = numbers_of(steps)
    stepper, _programs = steps.reversing(tables, True)
    stepper.weight[:] = weight
    follow_schedule(stepper, *steps.times, np.array([[REVERSE, 0, number, 0, 0]]), y[None].copy())
    finish_weights(stepper)
    return stepper.weight.copy(), numbers.copy()
