"""Derivatives that a user's force brings with it: its adjoint, its tangent or both, with every rule that has some.

Steps as maps: ⟨w, J v⟩ and ⟨Jᵀ w, v⟩ are equal but for rounding, whichever of the two is given.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.support.run_derivatives import fourth_order
from tests.support.single_steps import changed, numbers_of, stepped, stepping, weighed

RULES = ("rk4", "friction-implicit", "overdamped")
RUN: dict[str, Any] = {"step": 0.02, "frames": 1}
DURATION, STEP, BOUND = 0.1, 1e-3, 1e-9


@numba.njit
def pulls(time, x, e, v, p, wrenches):
    """Springs whose stiffness grows with the next coordinate, torques by where bodies point, and drag."""
    n = x.shape[0]
    for i in range(n):
        for k in range(3):
            wrenches[i, k] += -p[0] * x[i, k] * (1.0 + 0.1 * x[i, (k + 1) % 3] ** 2) - p[1] * v[i, k]
            wrenches[i, 3 + k] += 0.4 * e[i, 1 + k] * e[i, 0] + 0.05 * x[(i + 1) % n, k] - 0.3 * v[i, 3 + k]


@numba.njit
def turn_of(e, turn):
    """What a small turn in the world's axes adds to Euler parameters: ½ (0, θ) e."""
    return (
        -0.5 * (turn[0] * e[1] + turn[1] * e[2] + turn[2] * e[3]),
        0.5 * (e[0] * turn[0] + turn[1] * e[3] - turn[2] * e[2]),
        0.5 * (e[0] * turn[1] + turn[2] * e[1] - turn[0] * e[3]),
        0.5 * (e[0] * turn[2] + turn[0] * e[2] - turn[1] * e[1]),
    )


@numba.njit
def pulls_change(time, x, e, v, p, moved, accelerated, dp, changes):
    n = x.shape[0]
    for i in range(n):
        de = turn_of(e[i], moved[i, 3:])
        for k in range(3):
            y, dy = x[i, (k + 1) % 3], moved[i, (k + 1) % 3]
            stiff = 1.0 + 0.1 * y * y
            changes[i, k] -= (dp[0] * x[i, k] + p[0] * moved[i, k]) * stiff + p[0] * x[i, k] * 0.2 * y * dy
            changes[i, k] -= dp[1] * v[i, k] + p[1] * accelerated[i, k]
            changes[i, 3 + k] += 0.4 * (de[1 + k] * e[i, 0] + e[i, 1 + k] * de[0])
            changes[i, 3 + k] += 0.05 * moved[(i + 1) % n, k] - 0.3 * accelerated[i, 3 + k]


@numba.njit
def pulls_back(time, x, e, v, p, weights, by_place, by_velocity, by_parameters):
    n, turn = x.shape[0], np.zeros(3)
    for i in range(n):
        for k in range(3):
            w, y = weights[i, k], x[i, (k + 1) % 3]
            stiff = 1.0 + 0.1 * y * y
            by_place[i, k] -= w * p[0] * stiff
            by_place[i, (k + 1) % 3] -= w * p[0] * x[i, k] * 0.2 * y
            by_velocity[i, k] -= w * p[1]
            by_parameters[0] -= w * x[i, k] * stiff
            by_parameters[1] -= w * v[i, k]
            by_place[(i + 1) % n, k] += 0.05 * weights[i, 3 + k]
            by_velocity[i, 3 + k] -= 0.3 * weights[i, 3 + k]
        for m in range(3):
            turn[:] = 0.0
            turn[m] = 1.0
            de = turn_of(e[i], turn)
            for k in range(3):
                by_place[i, 3 + m] += weights[i, 3 + k] * 0.4 * (de[1 + k] * e[i, 0] + e[i, 1 + k] * de[0])


GIVEN: dict[str, dict[str, Any]] = {
    "adjoint": {"adjoint_function": pulls_back},
    "tangent": {"tangent_function": pulls_change},
    "both": {"adjoint_function": pulls_back, "tangent_function": pulls_change},
    "both in plain Python": {
        "function": pulls.py_func,
        "adjoint_function": pulls_back.py_func,
        "tangent_function": pulls_change.py_func,
    },
}


def force(rule: str = "rk4", p: float = 0.7, **given: Any) -> ar.forces.UserForce:
    reads = {"reads_velocities": False} if rule == "friction-implicit" else {}
    return ar.forces.UserForce(**{"function": pulls, "parameters": (p, 0.3), **reads, **given})


def model_of(*forces: Any) -> ar.Model:
    """A free body with a rod on a hinge and a bob on a ball joint, one welded to it, and one on the ground, in a
    viscous medium."""
    builder = ar.ModelBuilder(units="kg-m-s")
    rest = {"mass": 1.0, "inertia": (0.2, 0.3, 0.4), "com": (0.1, 0.2, -0.1)}
    builder.add_body("root", joint=ar.Free(), q=(0.3, -0.2, 0.5, 0.8, 0.0, 0.6, 0.0), u=0.3 * np.arange(6), **rest)
    builder.add_body("rod", parent="root", position=(0.5, 0.1, 0.0), joint=ar.Revolute((0.0, 0.6, 0.8)), u=0.7, **rest)
    builder.add_body("cap", parent="rod", position=(0.2, 0.0, 0.3), joint=ar.Weld(), mass=0.5, inertia=0.1)
    builder.add_body("bob", parent="rod", position=(0.0, 0.4, 0.0), joint=ar.Spherical(), u=(0.1, -0.4, 0.2), **rest)
    builder.add_body("post", joint=ar.Weld(), position=(1.0, 0.0, 0.0), mass=1.0, inertia=0.1)
    for one in forces:
        builder.add_force(one)
    builder.add_force(ar.forces.StokesDrag(translational=0.7, rotational=0.3, bodies=("root", "rod", "bob")))
    return builder.build()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("given", GIVEN)
def test_the_adjoint_of_a_step_is_the_transposed_tangent(rule: str, given: str) -> None:
    """Beside a second force of the kind, by differences; without these the two are equal to rounding."""
    model = model_of(force(rule, **GIVEN[given]))
    steps, rng = stepping(model, rule=rule, duration=0.06, **RUN), np.random.default_rng(2)
    y = stepped(steps, 0, steps.start)
    weights = weighed(steps, 1, y, np.zeros(stepper_weights(steps)))[0].size
    v, w = rng.normal(size=weights), rng.normal(size=weights)
    p = rng.normal(size=numbers_of(steps)[1].size)
    forward = w @ changed(steps, 1, y, v[None], p[None])[0]
    by_state, by_tables = weighed(steps, 1, y, w)
    size = np.abs(by_state * v).sum() + np.abs(by_tables * p).sum()
    assert abs(by_state @ v + by_tables @ p - forward) <= 1e-12 * size


def stepper_weights(steps: Any) -> int:
    """How many weights a state of a rule has."""
    stepper, _programs = steps.taking()
    return int(stepper.weight.size)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("given", ["adjoint", "tangent", "both", "neither"])
def test_runs_have_the_derivatives_of_re_runs(rule: str, given: str) -> None:
    """Two forces of the kind with parameters of their own, the second without derivatives of its own."""
    rng = np.random.default_rng(8)
    second = force(rule, 0.4)
    first = force(rule, **GIVEN.get(given, {}))
    model = model_of(first, second)
    w, along = rng.normal(size=model.nu), rng.normal(size=model.nu)

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return position(q), along_z(q), np.zeros(model.nu)

    def position(q: np.ndarray) -> float:
        return float(ar.body_poses(model, q)[0][3] @ w[:3])

    def along_z(q: np.ndarray) -> np.ndarray:
        ends = [[position(moved(model, q, s * 1e-3 * e)) for s in (-2, -1, 1, 2)] for e in np.eye(model.nu)]
        return np.array([(a - 8.0 * b + 8.0 * c - d) / 12e-3 for a, b, c, d in ends])

    def value(changed: ar.Model = model, **start: Any) -> float:
        run = ar.simulate(changed, DURATION, rule=rule, **RUN, **start)
        return position(run.q[-1])

    names = ["q", "forces[0].parameters", "forces[1].parameters"]
    found = ar.sensitivity(model, objective, names, duration=DURATION, rule=rule, **RUN)
    forward = ar.sensitivity(model, objective, names, "forward", duration=DURATION, rule=rule, **RUN)
    for name in names:
        size = 1.0 + np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(found.gradient[name], forward.gradient[name])).max() <= 1e-10 * size, name

    difference = partial(fourth_order, step=STEP)

    for k, (one, other) in enumerate([(first, second), (second, first)]):
        p = float(one.parameters[0])

        def with_parameter(h: float, one: Any = one, other: Any = other, p: float = p, k: int = k) -> float:
            changed = one.model_copy(update={"parameters": (p + h, 0.3)})
            both = (changed, other) if k == 0 else (other, changed)
            return value(replace(model, forces=(*both, *model.forces[2:])))

        assert abs(found.gradient[f"forces[{k}].parameters"][0] - difference(with_parameter)) <= BOUND
    by_q = difference(lambda h: value(q=moved(model, model.q0, h * along)))
    assert abs(found.gradient["q"] @ along - by_q) <= BOUND


def test_a_function_that_reads_no_velocities_is_given_zeros() -> None:
    seen: list[np.ndarray] = []

    def watch(time: float, x: Any, e: Any, v: np.ndarray, p: Any, wrenches: Any) -> None:
        seen.append(v)

    ar.simulate(model_of(ar.forces.UserForce(function=watch, reads_velocities=False)), 0.04, rule="rk4", **RUN)
    assert seen and not any(one.any() for one in seen)
    seen.clear()
    ar.simulate(model_of(ar.forces.UserForce(function=watch)), 0.04, rule="rk4", **RUN)
    assert any(one.any() for one in seen)


def test_an_error_in_an_adjoint_is_its_own() -> None:
    def broken(*arguments: Any) -> None:
        raise ZeroDivisionError("no such way")

    model = model_of(force(adjoint_function=broken))
    with pytest.raises(ZeroDivisionError, match="no such way"):
        ar.sensitivity(model, "kinetic_energy", "u", duration=DURATION, rule="rk4", **RUN)


def test_functions_that_cannot_be_are_named() -> None:
    with pytest.raises(ar.ModelError, match=r"forces\[0\].adjoint_function: write 'module:name' or 'file.py:name'"):
        model_of(force(adjoint_function="pulls_back"))
    with pytest.raises(ar.ModelError, match=r"forces\[0\].tangent_function: cannot be compiled for \(time, .* changes"):
        ar.sensitivity(
            model_of(force(tangent_function=pulls)), "kinetic_energy", "u", duration=DURATION, rule="rk4", **RUN
        )
