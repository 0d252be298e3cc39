"""Derivatives of whole runs: the adjoint against runs again with differences.

Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30 and by rounding of f, some 1e-16 κ |f|/h with the growth κ
of a short run: with h = 1e-3 both are below 1e-9 of the largest derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.support.forced_models import forced_model, resisted_model

STEP, BOUND = 1e-3, 1e-9
RUN: dict[str, Any] = {"rule": "rk4", "step": 0.02}
DURATION = 0.2


def difference(function: Callable[[float], float]) -> float:
    """The derivative of a function at zero, to fourth order."""
    near, far = function(STEP) - function(-STEP), function(2.0 * STEP) - function(-2.0 * STEP)
    return (8.0 * near - far) / (12.0 * STEP)


def weighed(model: ar.Model, seed: int) -> tuple[np.ndarray, Callable[..., Any]]:
    """Weights of the state at the end, and that objective."""
    weights = np.random.default_rng([seed, 3]).normal(size=model.nq + model.nu)
    of_q, of_u = weights[: model.nq], weights[model.nq :]
    return weights, lambda q, u: (of_q @ q + of_u @ u, of_q, of_u)


def close(found: Any, expected: Any) -> bool:
    return bool(np.abs(np.subtract(found, expected)).max() <= BOUND * (1.0 + np.abs(expected).max()))


def changed(model: ar.Model, k: int, **update: Any) -> ar.Model:
    """The model with another force."""
    force = model.forces[k].model_copy(update=update)
    return replace(model, forces=(*model.forces[:k], force, *model.forces[k + 1 :]))


@pytest.mark.parametrize("seed", range(4))
def test_the_adjoint_of_a_run_is_its_difference(seed: int) -> None:
    model = forced_model(seed)
    weights, objective = weighed(model, seed)

    def value(model: ar.Model = model, **start: Any) -> float:
        run = ar.simulate(model, DURATION, **RUN, **start)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    gravity, springs = model.forces[:2]
    stiffness = {f"forces[1].stiffness.{name}": name for name in springs.stiffness}
    rest = {f"forces[1].rest.{name}": name for name, rest in springs.rest.items() if isinstance(rest, float)}
    names = ["q", "u", "forces.gravity.acceleration", *stiffness, *rest]
    found = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    assert found.value == pytest.approx(value(), rel=1e-14)
    axes, g = np.eye(model.nu), np.array(gravity.acceleration)
    by_q = [difference(lambda h, e=e: value(q=moved(model, model.q0, h * e))) for e in axes]
    by_u = [difference(lambda h, e=e: value(u=model.u0 + h * e)) for e in axes]
    by_g = [difference(lambda h, e=e: value(changed(model, 0, acceleration=tuple(g + h * e)))) for e in np.eye(3)]
    assert close(found.gradient["q"], by_q)
    assert close(found.gradient["u"], by_u)
    assert close(found.gradient["forces.gravity.acceleration"], by_g)
    for field, keys in (("stiffness", stiffness), ("rest", rest)):
        numbers = getattr(springs, field)
        for key, name in keys.items():

            def run(h: float, field: str = field, name: str = name, numbers: dict[str, Any] = numbers) -> float:
                return value(changed(model, 1, **{field: {**numbers, name: numbers[name] + h}}))

            assert close(found.gradient[key], difference(run)), key


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 7, 10])
def test_a_gradient_is_bitwise_the_same_for_any_number_of_checkpoints(checkpoints: int) -> None:
    model = forced_model(1)
    _, objective = weighed(model, 1)
    every = ar.sensitivity(model, objective, ["q", "u", "forces[0].acceleration"], duration=DURATION, **RUN)
    few = ar.sensitivity(model, objective, list(every.gradient), duration=DURATION, checkpoints=checkpoints, **RUN)
    assert few.checkpoints == checkpoints <= every.checkpoints
    assert few.value == every.value
    for name, gradient in every.gradient.items():
        assert np.array_equal(few.gradient[name], gradient)


@pytest.mark.parametrize("rule", ["rk4", "euler", "dormand-prince", "kutta-merson", "runge-kutta-fehlberg"])
def test_the_adjoint_is_the_forward_method(rule: str) -> None:
    """Both are derivatives of the same numbers, so that they differ by rounding alone."""
    model = resisted_model(2)
    _, objective = weighed(model, 2)
    names = ["q", "u", "forces.gravity.acceleration", "forces.pair.stiffness", "forces[4].values"]
    names += ["forces.stokes-drag.flow", "forces.joint-friction.rotational_speed", "forces.tie.points"]
    run: dict[str, Any] = {"duration": DURATION, "rule": rule, "step": 0.02}
    adjoint = ar.sensitivity(model, objective, names, **run)
    forward = ar.sensitivity(model, objective, names, "forward", **run)
    assert forward.value == pytest.approx(adjoint.value, rel=1e-13)
    for name in names:
        size = 1.0 + np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(adjoint.gradient[name], forward.gradient[name])).max() <= 1e-12 * size, name


def test_steps_chosen_by_their_error_have_derivatives_forward() -> None:
    """Of the motion itself, to the tolerance: against the adjoint of short steps."""
    model = resisted_model(2)
    _, objective = weighed(model, 2)
    names = ["q", "u", "forces.gravity.acceleration", "forces.stokes-drag.rotational"]
    chosen = ar.sensitivity(
        model, objective, names, "forward", duration=DURATION, rule="dormand-prince", rtol=1e-11, atol=1e-12
    )
    given = ar.sensitivity(model, objective, names, duration=DURATION, rule="dormand-prince", step=0.0025)
    for name in names:
        size = 1.0 + np.abs(given.gradient[name]).max()
        assert np.abs(np.subtract(chosen.gradient[name], given.gradient[name])).max() <= 1e-9 * size, name
