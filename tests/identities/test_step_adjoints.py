"""Steps of rules as maps: their tangents and adjoints.

⟨w, J v⟩ and ⟨Jᵀ w, v⟩ are sums of some hundred products, equal but for rounding. Differences of fourth order with the
step h err by h⁴ f⁽⁵⁾/30, f⁽⁵⁾ some 1e5 for forces between sites, and by rounding over h, of accelerations of some
hundreds: with h = 3e-4 both are below 1e-9 of the largest number.
"""

from __future__ import annotations

from dataclasses import replace
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
    model = dragged_model(seed, resists=seed > 2)
    steps = stepping(model, rule="friction-implicit", scaling=ar.scaling.Constant(a2=0.7), **RUN)
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
    steps = stepping(dragged_model(seed, resists=seed > 2), rule="friction-implicit", **RUN)
    model, y, h = steps.model, state(steps, seed), 3e-4
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
        assert np.abs(np.concatenate([shift, found[k, nu:]]) - expected).max() <= 1e-9 * size, k


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


def sunk_model(seed: int) -> ar.Model:
    """A random forest with drag, and no noise."""
    model = dragged_model(seed)
    return replace(model, forces=tuple(force for force in model.forces if force.kind != "brownian"))


def swarm() -> ar.Model:
    """Free bodies and a particle with drag and noise, tied to the ground."""
    builder = ar.ModelBuilder(units="kg-m-s")
    for name, joint in (("first", ar.Free()), ("second", ar.Free()), ("bead", ar.Xyz())):
        builder.add_body(name, mass=1.0, inertia=(0.2, 0.3, 0.4), com=(0.1, 0.2, -0.1), joint=joint)
        ends = {"points": ((0.2, 0.1, 0.3), (0.4, 0.5, 0.0)), "rest_length": 0.4}
        builder.add_force(ar.forces.PointSpring(name=name, bodies=(name, "ground"), stiffness=2.0, **ends))
    builder.add_force(ar.forces.Gravity(acceleration=(0.3, 0.1, -0.5)))
    builder.add_force(ar.forces.StokesDrag(translational=0.7, rotational=0.3, flow=(0.1, 0.2, 0.3)))
    builder.add_force(ar.forces.Brownian(temperature=1e21))
    return builder.build()


@pytest.mark.parametrize("model", [*map(sunk_model, range(4)), swarm(), *map(dragged_model, range(3))])
def test_the_adjoint_of_an_overdamped_step_is_the_transposed_tangent(model: ar.Model) -> None:
    """By state and tables alike."""
    steps = stepping(model, rule="overdamped", **RUN)
    rng, nu, y = (
        np.random.default_rng(3),
        model.nu,
        stepped(stepping(model, rule="overdamped", **RUN), 0, model_start(model)),
    )
    v, w = rng.normal(size=nu), rng.normal(size=nu)
    p = rng.normal(size=numbers_of(steps)[1].size)
    forward = w @ changed(steps, 1, y, v[None], p[None])[0]
    by_state, by_tables = weighed(steps, 1, y, w)
    size = np.abs(by_state * v).sum() + np.abs(by_tables * p).sum()
    assert abs(by_state @ v + by_tables @ p - forward) <= 1e-12 * size


@pytest.mark.parametrize("model", [sunk_model(0), sunk_model(1), swarm(), dragged_model(2), dragged_model(3)])
def test_the_tangent_of_an_overdamped_step_is_its_difference(model: ar.Model) -> None:
    steps, h = stepping(model, rule="overdamped", **RUN), 3e-4
    y, nq, nu = model_start(model), model.nq, model.nu
    found = changed(steps, 0, y, np.eye(nu), np.zeros((nu, numbers_of(steps)[1].size)))
    end = stepped(steps, 0, y)[:nq]
    for k in range(nu):

        def at(s: float, k: int = k) -> np.ndarray:
            start = y.copy()
            start[:nq] = moved(model, y[:nq], s * np.eye(nu)[k])
            return stepped(steps, 0, start)[:nq]

        expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        shift = _in_coordinates(model, end, found[k])
        assert np.abs(shift - expected).max() <= 1e-9 * (1.0 + np.abs(expected).max()), k


def model_start(model: ar.Model) -> np.ndarray:
    """The state that an overdamped run begins with."""
    return np.concatenate([model.q0, np.zeros(model.nu)])
