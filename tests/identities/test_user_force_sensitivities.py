"""Derivatives of runs through a force that a user writes, which are differences of what it writes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.support.forced_models import description_of
from tests.support.random_models import builder_of, random_situation
from tests.support.run_derivatives import fourth_order

RUN: dict[str, Any] = {"rule": "rk4", "step": 0.02, "frames": 1}
DURATION, STEP, BOUND = 0.1, 1e-3, 1e-9


def swirl(time: float, x: np.ndarray, e: np.ndarray, v: np.ndarray, p: np.ndarray, wrenches: np.ndarray) -> None:
    """Springs to the origin and to each other, drag, and torques by where bodies point."""
    n = x.shape[0]
    for i in range(n):
        for k in range(3):
            wrenches[i, k] += (
                -p[0] * x[i, k] * (1.0 + 0.1 * x[i, (k + 1) % 3] ** 2) - p[1] * v[i, k] + 0.2 * np.sin(time)
            )
            wrenches[i, 3 + k] += 0.4 * e[i, 1 + k] * e[i, 0] + 0.05 * x[(i + 1) % n, k] - 0.3 * v[i, 3 + k]


def model_of(function: Any, p: float = 0.7) -> ar.Model:
    description, rng = description_of(28, 4)  # with a body that is welded to a moving one
    state = random_situation(description, rng)
    builder = builder_of(description, state.q, 0.5 * state.u)
    builder.add_force(ar.forces.UserForce(function=function, parameters=(p, 0.3)))
    return builder.build()


difference = partial(fourth_order, step=STEP)


@pytest.mark.parametrize("function", [numba.njit(swirl), swirl], ids=["jitted", "plain"])
def test_a_run_under_a_users_force_has_derivatives(function: Any) -> None:
    model = model_of(function)
    rng = np.random.default_rng(8)
    w, along = rng.normal(size=model.nu), rng.normal(size=model.nu)

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return w @ u, np.zeros(model.nu), w

    def value(changed: ar.Model = model, **start: Any) -> float:
        return float(w @ ar.simulate(changed, DURATION, **RUN, **start).u[-1])

    names = ["q", "u", "forces.user.parameters", f"bodies.{model.names[1]}.mass"]
    adjoint = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    forward = ar.sensitivity(model, objective, names, "forward", duration=DURATION, **RUN)
    few = ar.sensitivity(model, objective, names, checkpoints=1, duration=DURATION, **RUN)
    for name in names:
        size = 1.0 + np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(adjoint.gradient[name], forward.gradient[name])).max() <= 1e-10 * size, name
        assert np.array_equal(few.gradient[name], adjoint.gradient[name]), name
    by_parameter = difference(lambda h: value(replace(model, forces=model_of(function, 0.7 + h).forces)))
    assert abs(adjoint.gradient["forces.user.parameters"][0] - by_parameter) <= BOUND
    by_u = difference(lambda h: value(u=model.u0 + h * along))
    assert abs(adjoint.gradient["u"] @ along - by_u) <= BOUND
    by_q = difference(lambda h: value(q=moved(model, model.q0, h * along)))
    assert abs(adjoint.gradient["q"] @ along - by_q) <= BOUND


def test_an_error_in_a_users_force_is_its_own() -> None:
    def broken(*arguments: Any) -> None:
        raise ZeroDivisionError("no such place")

    with pytest.raises(ZeroDivisionError, match="no such place"):
        ar.sensitivity(model_of(broken), "kinetic_energy", "u", duration=DURATION, **RUN)
