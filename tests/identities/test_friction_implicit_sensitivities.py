"""Derivatives of whole friction-implicit runs: the adjoint against runs again with differences, on held noise.

Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30, f⁽⁵⁾ some 1e5 for forces between sites, and by rounding
of f over h: with h = 3e-4 both are below 1e-9 of the largest derivative.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.support.forced_models import dragged_model
from tests.support.run_derivatives import fourth_order, weighed

STEP, BOUND = 3e-4, 1e-9
RUN: dict[str, Any] = {"rule": "friction-implicit", "step": 0.02, "seed": 7}
DURATION = 0.2
NAMES = ["q", "u", "forces.gravity.acceleration", "forces.stokes-drag.rotational", "forces.stokes-drag.flow"]
NAMES += ["forces.brownian.temperature", "forces.tie.stiffness", "forces.position-restraint.to"]


difference = partial(fourth_order, step=STEP)


def changed(model: ar.Model, kind: str, **update: Any) -> ar.Model:
    """The model with another force."""
    forces = (one.model_copy(update=update) if one.kind == kind else one for one in model.forces)
    return replace(model, forces=tuple(forces))


def close(found: Any, expected: Any) -> bool:
    return bool(np.abs(np.subtract(found, expected)).max() <= BOUND * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_adjoint_of_a_run_with_noise_is_the_difference_of_that_path(seed: int) -> None:
    model = dragged_model(seed)
    weights, objective = weighed(model, seed)

    def value(model: ar.Model = model, a2: float = 0.8, **start: Any) -> float:
        run = ar.simulate(model, DURATION, scaling=ar.scaling.Constant(a2=a2), **RUN, **start)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    scaled: dict[str, Any] = {"duration": DURATION, "scaling": ar.scaling.Constant(a2=0.8), **RUN}
    names = [*NAMES, "scaling.a2", *(f"forces.stokes-drag.translational.{name}" for name in model.names)]
    found = ar.sensitivity(model, objective, names, **scaled)
    assert found.value == pytest.approx(value(), rel=1e-13)
    assert abs(ar.sensitivity(model, objective, "u", **{**scaled, "seed": 8}).value - found.value) > 1e-3
    by_q = [difference(lambda h, e=e: value(q=moved(model, model.q0, h * e))) for e in np.eye(model.nu)]
    by_u = [difference(lambda h, e=e: value(u=model.u0 + h * e)) for e in np.eye(model.nu)]
    assert close(found.gradient["q"], by_q)
    assert close(found.gradient["u"], by_u)
    assert close(found.gradient["scaling.a2"], difference(lambda h: value(a2=0.8 + h)))
    drag = next(force for force in model.forces if force.kind == "stokes-drag")
    for name, beta in drag.translational.items():

        def dragged(h: float, name: str = name, beta: float = beta) -> float:
            return value(changed(model, "stokes-drag", translational={**drag.translational, name: beta + h}))

        assert close(found.gradient[f"forces.stokes-drag.translational.{name}"], difference(dragged)), name
    by_rotational = difference(lambda h: value(changed(model, "stokes-drag", rotational=0.3 + h)))
    assert close(found.gradient["forces.stokes-drag.rotational"], by_rotational)
    flow = [
        difference(lambda h, e=e: value(changed(model, "stokes-drag", flow=tuple(drag.flow + h * e))))
        for e in np.eye(3)
    ]
    assert close(found.gradient["forces.stokes-drag.flow"], flow)
    by_heat = difference(lambda h: value(changed(model, "brownian", temperature=1e22 * (1.0 + h))))
    assert close(1e22 * found.gradient["forces.brownian.temperature"], by_heat)


@pytest.mark.parametrize("seed", range(2, 5))
def test_the_adjoint_of_a_friction_implicit_run_is_the_forward_method(seed: int) -> None:
    """Both are derivatives of the same numbers, so that they differ by rounding alone."""
    model = dragged_model(seed, resists=seed == 3)
    _, objective = weighed(model, seed)
    names = [*NAMES, *(f"bodies.{name}.{field}" for name in model.names for field in ("mass", "com", "inertia"))]
    jointed = [name for name, kind in zip(model.names, model.kinds, strict=True) if kind]
    names += [f"bodies.{name}.{field}" for name in jointed for field in ("position", "rotation")]
    if seed == 3:
        names += ["forces.joint-damping.rotational", "forces.joint-friction.rotational_speed"]
    adjoint = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    forward = ar.sensitivity(model, objective, names, "forward", duration=DURATION, **RUN)
    assert forward.value == adjoint.value
    for name in names:
        size = 1.0 + np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(adjoint.gradient[name], forward.gradient[name])).max() <= 1e-12 * size, name


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 10])
def test_a_gradient_is_bitwise_the_same_for_any_number_of_checkpoints(checkpoints: int) -> None:
    model = dragged_model(1)
    _, objective = weighed(model, 1)
    every = ar.sensitivity(model, objective, NAMES, duration=DURATION, **RUN)
    few = ar.sensitivity(model, objective, NAMES, duration=DURATION, checkpoints=checkpoints, **RUN)
    assert few.checkpoints == checkpoints <= every.checkpoints
    assert few.value == every.value
    for name, gradient in every.gradient.items():
        assert np.array_equal(few.gradient[name], gradient), name


def test_the_gradient_of_a_joint_that_carries_no_drag_and_has_no_noise() -> None:
    """Without drag the middle of a step is nothing, and its derivatives are those of kicks and drifts alone."""
    model = dragged_model(2)
    model = replace(model, forces=tuple(f for f in model.forces if f.kind not in ("stokes-drag", "brownian")))
    weights, objective = weighed(model, 2)
    found = ar.sensitivity(model, objective, "q", duration=DURATION, **RUN)

    def value(q: np.ndarray) -> float:
        run = ar.simulate(model, DURATION, q=q, **RUN)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    by_q = [difference(lambda h, e=e: value(moved(model, model.q0, h * e))) for e in np.eye(model.nu)]
    assert close(found.gradient["q"], by_q)


@pytest.mark.parametrize("objective", ["stop_time", "kinetic_energy"])
def test_a_friction_implicit_run_that_stops_has_the_derivatives_of_its_stopping(objective: str) -> None:
    """At the end of a last step that is cut short."""
    model = dragged_model(1)
    body = model.names[0]
    run = ar.simulate(model, DURATION, **RUN)
    way = run.positions[-1, 0] - run.positions[0, 0]
    stop = {"body": body, "direction": tuple(way.tolist()), "advance": 0.6 * float(np.linalg.norm(way))}
    given: dict[str, Any] = {"duration": 2.0 * DURATION, "stop": stop, **RUN}

    def value(model: ar.Model = model, **start: Any) -> float:
        return ar.sensitivity(model, objective, "u", **start, **given).value

    found = ar.sensitivity(model, objective, NAMES, **given)
    assert 1 < found.steps < 20
    by_q = [difference(lambda h, e=e: value(q=moved(model, model.q0, h * e))) for e in np.eye(model.nu)]
    by_u = [difference(lambda h, e=e: value(u=model.u0 + h * e)) for e in np.eye(model.nu)]
    assert found.gradient["q"] == pytest.approx(np.array(by_q), abs=1e-7)
    assert found.gradient["u"] == pytest.approx(np.array(by_u), abs=1e-7)
    by_rotational = difference(lambda h: value(changed(model, "stokes-drag", rotational=0.3 + h)))
    assert found.gradient["forces.stokes-drag.rotational"] == pytest.approx(by_rotational, abs=1e-7)
    forward = ar.sensitivity(model, objective, NAMES, "forward", **given)
    for name, gradient in found.gradient.items():
        assert np.allclose(forward.gradient[name], gradient, rtol=1e-10, atol=1e-10), name


def test_damping_and_friction_of_joints_have_the_derivatives_of_runs_again() -> None:
    """Without drag too: the middle of a step is that of joints alone."""
    model = dragged_model(4, resists=True)
    model = replace(model, forces=tuple(f for f in model.forces if f.kind not in ("stokes-drag", "brownian")))
    weights, objective = weighed(model, 4)

    def value(model: ar.Model = model, **start: Any) -> float:
        run = ar.simulate(model, DURATION, **RUN, **start)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    friction = next(force for force in model.forces if force.kind == "joint-friction")
    ((hinge, size),) = friction.rotational.items()
    names = ["u", "forces.joint-damping.rotational", f"forces.joint-friction.rotational.{hinge}"]
    names.append("forces.joint-friction.rotational_speed")
    found = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    assert found.value == pytest.approx(value(), rel=1e-13)
    by_u = [difference(lambda h, e=e: value(u=model.u0 + h * e)) for e in np.eye(model.nu)]
    assert close(found.gradient["u"], by_u)
    by_size = difference(lambda h: value(changed(model, "joint-friction", rotational={hinge: size + h})))
    by_width = difference(lambda h: value(changed(model, "joint-friction", rotational_speed=0.5 + h)))
    by_damping = difference(lambda h: value(changed(model, "joint-damping", rotational=0.3 + h)))
    for name, expected in zip(names[1:], (by_damping, by_size, by_width), strict=True):
        assert close(found.gradient[name], expected), name
