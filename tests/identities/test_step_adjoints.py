"""Steps of rules as maps: their tangents and adjoints.

⟨w, J v⟩ and ⟨Jᵀ w, v⟩ are sums of some hundred products, equal but for rounding. Differences of fourth order with the
step h err by h⁴ and by rounding over h: with h = 1e-3 both are below 1e-10 of the largest number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from articulon.forces.point_springs import PointSprings
from tests.support.forced_models import dragged_model, forced_model
from tests.support.single_steps import changed, numbers_of, stepped, stepping, weighed

RUN: dict[str, Any] = {"duration": 0.06, "step": 0.02, "frames": 1}


def state(steps: Any, seed: int) -> np.ndarray:
    """A state that a step leads to, and some more of what it carries beside coordinates and speeds."""
    y = stepped(steps, 0, steps.start)
    y[steps.model.nq + steps.model.nu :] += np.random.default_rng(seed).normal(
        size=y.size - steps.model.nq - steps.model.nu
    )
    return y


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_the_adjoint_of_a_friction_implicit_step_is_the_transposed_tangent(seed: int, number: int) -> None:
    steps = stepping(dragged_model(seed), rule="friction-implicit", scaling=ar.scaling.Constant(a2=0.7), **RUN)
    rng, nu = np.random.default_rng(seed), steps.model.nu
    y = steps.start if number == 0 else state(steps, seed)
    v, w = rng.normal(size=3 * nu), rng.normal(size=3 * nu)
    tables, p = numbers_of(steps)
    p[:] = rng.normal(size=p.size)
    for table in tables.terms:
        if isinstance(table, PointSprings):  # whose damping is no parameter of this rule
            table.constants[:, 2] = 0.0
    forward = w @ changed(steps, number, y, v[None], p[None])[0]
    if number == 0:  # accelerations that the first step begins with are none of a latest kick
        v[2 * nu :] = 0.0
    by_state, by_tables = weighed(steps, number, y, w)
    size = np.abs(by_state * v).sum() + np.abs(by_tables * p).sum()
    assert abs(by_state @ v + by_tables @ p - forward) <= 1e-12 * size


@pytest.mark.parametrize("seed", range(6))
def test_the_tangent_of_a_friction_implicit_step_is_its_difference(seed: int) -> None:
    """By all that a state holds, the acceleration of the latest kick among it."""
    steps = stepping(dragged_model(seed), rule="friction-implicit", **RUN)
    model, y, h = steps.model, state(steps, seed), 1e-3
    nq, nu = model.nq, model.nu
    found = changed(steps, 1, y, np.eye(3 * nu), np.zeros((3 * nu, numbers_of(steps)[1].size)))
    end = stepped(steps, 1, y)
    for k in range(3 * nu):

        def at(s: float, k: int = k) -> np.ndarray:
            start = y.copy()
            start[:nq] = moved(model, y[:nq], s * np.eye(3 * nu)[k, :nu])
            start[nq:] += s * np.eye(3 * nu)[k, nu:]
            return stepped(steps, 1, start)

        expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        shift = _in_coordinates(model, end[:nq], found[k, :nu])
        size = 1.0 + np.abs(expected).max()
        assert np.abs(np.concatenate([shift, found[k, nu:]]) - expected).max() <= 1e-10 * size, k


def _in_coordinates(model: ar.Model, q: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """A change in the tangent space of q, Euler parameters one by one: the limit of differences."""
    h = 1e-3
    far = moved(model, q, 2.0 * h * shift) - moved(model, q, -2.0 * h * shift)
    return np.asarray((8.0 * (moved(model, q, h * shift) - moved(model, q, -h * shift)) - far) / (12.0 * h))


@pytest.mark.parametrize("rule", ["rk4", "euler"])
def test_the_adjoint_of_an_explicit_step_is_the_transposed_tangent(rule: str) -> None:
    steps = stepping(forced_model(3), rule=rule, scaling=ar.scaling.Constant(a2=0.7), **RUN)
    rng, size = np.random.default_rng(3), steps.start.size
    v, p, w = rng.normal(size=size), rng.normal(size=numbers_of(steps)[1].size), rng.normal(size=size)
    forward = w @ changed(steps, 1, steps.start, v[None], p[None])[0]
    by_state, by_tables = weighed(steps, 1, steps.start, w)
    scale = np.abs(by_state * v).sum() + np.abs(by_tables * p).sum()
    assert abs(by_state @ v + by_tables @ p - forward) <= 1e-12 * scale
