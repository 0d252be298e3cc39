"""Derivatives of runs of models with loops and driven joints, by explicit rules: against runs again with differences,
and of both methods against each other.

The run with other numbers begins at the state that ``close_loops`` makes of the initial one, as its derivatives do.
Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30, f⁽⁵⁾ some 1e4 where a mechanism is moved onto its loops,
and by the rounding of f over h: with h = 2e-4 both are below 1e-9 of the largest derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from articulon.sensitivities.parameters import parameter_of
from tests.support.loop_models import FourBar, add_loops, bricard
from tests.support.looped_models import looped_model as uncached_model
from tests.support.random_models import builder_of
from tests.support.run_derivatives import agree_to, check_methods_and_checkpoints, fourth_order, weighed

STEP, BOUND = 2e-4, 2e-9
DURATION = 0.1
RUN: dict[str, Any] = {"rule": "rk4", "step": 0.02}

looped_model = cache(uncached_model)


agree = partial(agree_to, bound=BOUND)
difference = partial(fourth_order, step=STEP)


def again(weights: np.ndarray, model: ar.Model, dq: Any = 0.0, du: Any = 0.0, **run: Any) -> float:
    """The weighed end of a run that begins on the loops of a model, next to its initial state."""
    q, u = ar.close_loops(model, moved(model, model.q0, dq + np.zeros(model.nu)), model.u0 + du)
    last = ar.simulate(model, DURATION, q=q, u=u, **(RUN | run))
    return float(weights @ np.concatenate([last.q[-1], last.u[-1]]))


def along(model: ar.Model, name: str, seed: int, flat: bool = False) -> tuple[np.ndarray, Callable[[float], ar.Model]]:
    """A direction in the numbers of a parameter, within the plane z = 0 if ``flat``, and the model along it."""
    parameter = parameter_of(model, name, "test")
    assert parameter.changed is not None
    changed = parameter.changed
    way = np.random.default_rng([seed, 4]).normal(size=parameter.numbers.shape)
    if flat:
        way[2] = 0.0
    return way, lambda h: changed(parameter.numbers + h * way)


@pytest.mark.parametrize(("seed", "rotors"), [(0, False), (2, False), (0, True)])
def test_the_adjoint_of_a_run_with_loops_is_its_difference(seed: int, rotors: bool) -> None:
    model = looped_model(seed, seed > 0)
    if rotors:
        model = replace(model, armature=np.random.default_rng(seed).uniform(0.1, 1.0, model.nu))
    weights, objective = weighed(model, seed)
    names = ["q", "u", "forces.gravity.acceleration", "bodies.body-4.position", "bodies.body-3.mass"]
    names += ["bodies.body-5.rotation", "bodies.body-3.com"]
    found = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    assert found.value == pytest.approx(again(weights, model), rel=1e-12)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        e = rng.normal(size=model.nu)
        assert agree(found.gradient["q"] @ e, difference(lambda h, e=e: again(weights, model, dq=h * e)))
        assert agree(found.gradient["u"] @ e, difference(lambda h, e=e: again(weights, model, du=h * e)))
    some = 0
    for name in names[2:]:
        way, changed = along(model, name, seed)
        expected = difference(lambda h, changed=changed: again(weights, changed(h)))
        assert agree(np.sum(found.gradient[name] * way), expected), name
        some += abs(expected) > 1e-3  # a driven body's mass may change nothing
    assert some >= 4


@pytest.mark.parametrize("rule", ["rk4", "euler", "dormand-prince"])
def test_the_adjoint_with_loops_is_the_forward_method_for_any_number_of_checkpoints(rule: str) -> None:
    model = looped_model(0)
    _, objective = weighed(model, 0)
    names = ["q", "u", "forces.gravity.acceleration", "forces.pair.stiffness", "forces.stokes-drag.flow"]
    names += ["bodies.body-4.position", "bodies.body-2.rotation", "bodies.body-5.mass", "bodies.body-3.com"]
    names += ["scaling.a2"]
    run: dict[str, Any] = {"duration": DURATION, "rule": rule, "step": 0.01, "scaling": ar.scaling.Constant(a2=0.7)}
    check_methods_and_checkpoints(model, objective, names, **run)


def test_steps_chosen_by_their_error_have_derivatives_forward_with_loops() -> None:
    model = looped_model(3)
    _, objective = weighed(model, 3)
    names = ["q", "u", "forces.gravity.acceleration", "bodies.body-4.position"]
    run: dict[str, Any] = {"duration": DURATION, "rule": "dormand-prince"}
    chosen = ar.sensitivity(model, objective, names, "forward", rtol=1e-11, atol=1e-12, **run)
    given = ar.sensitivity(model, objective, names, step=0.0025, **run)
    for name in names:
        assert agree(chosen.gradient[name], given.gradient[name], bound=1e-8), name


def overconstrained(which: str) -> ar.Model:
    """A mechanism some of whose conditions follow from others, in motion under gravity."""
    mechanism, q = (FourBar().mechanism(), FourBar().coordinates(0.7)) if which == "four-bar" else (bricard(), None)
    builder = builder_of(mechanism.forest, q)
    add_loops(builder, mechanism)
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, -9.81, 0.5)))
    builder.add_force(ar.forces.JointDamping(rotational=0.2))
    model = builder.build()
    return replace(model, u0=ar.close_loops(model, model.q0, np.linspace(0.5, 1.0, model.nu))[1])


@pytest.mark.parametrize("which", ["four-bar", "bricard"])
def test_loops_that_hold_more_than_they_need_have_derivatives_along_their_motion(which: str) -> None:
    """By the motion that they allow, and by what moves no joint frame out of where loops can be closed."""
    model = overconstrained(which)
    assert model.closing.rank < model.loops.kind.size
    weights, objective = weighed(model, 1)
    body = "coupler" if which == "four-bar" else "rod-3"
    names = ["q", "u", f"bodies.{body}.mass", f"bodies.{body}.com", "forces.joint-damping.rotational"]
    # Rows that disagree a little within a step, and the choice among them, are rounding of runs again with long steps.
    run = RUN | {"step": 0.005}
    found = ar.sensitivity(model, objective, names, duration=DURATION, **run)
    forward = ar.sensitivity(model, objective, names, "forward", duration=DURATION, **run)
    for name in names:
        assert agree(found.gradient[name], forward.gradient[name], bound=1e-11), name
    _, sizes, rows = np.linalg.svd(ar.loop_jacobian(model, model.q0))
    for e in rows[(sizes > 1e-9).sum() :]:
        assert agree(found.gradient["q"] @ e, difference(lambda h, e=e: again(weights, model, dq=h * e, **run)))
        assert agree(found.gradient["u"] @ e, difference(lambda h, e=e: again(weights, model, du=h * e, **run)))
    for name in names[2:]:
        way, changed = along(model, name, 1)
        expected = difference(lambda h, changed=changed: again(weights, changed(h), **run))
        assert agree(np.sum(found.gradient[name] * way), expected), name
        assert abs(expected) > 1e-3, name


def test_the_time_at_which_a_mechanism_has_come_so_far_has_derivatives() -> None:
    """How far the coupler has come is counted from the closed state that the run begins with."""
    bar = FourBar()
    builder = builder_of(bar.mechanism("spherical").forest, bar.coordinates(0.7))
    add_loops(builder, bar.mechanism("spherical"))
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, -9.81, 0.0)))
    model = builder.build()
    stop = {"body": "coupler", "direction": (0.0, -1.0, 0.0), "advance": 0.05}
    names = ["q", "u", "bodies.rocker.mass", "bodies.coupler.position", "forces.gravity.acceleration"]
    run: dict[str, Any] = {"duration": 1.0, "step": 0.02, "rule": "rk4", "stop": stop}
    way_of_q = np.array([0.3, -0.5, 0.8])
    for objective in ("stop_time", "kinetic_energy", "position.coupler.x"):
        adjoint = ar.sensitivity(model, objective, names, **run)
        forward = ar.sensitivity(model, objective, names, "forward", **run)
        for name in names:
            assert agree(adjoint.gradient[name], forward.gradient[name], bound=1e-10), name

        def of(model: ar.Model, dq: Any = 0.0, objective: str = objective) -> float:
            q, u = ar.close_loops(model, moved(model, model.q0, dq + np.zeros(model.nu)), model.u0)
            return ar.sensitivity(replace(model, q0=q, u0=u), objective, "u", **run).value

        assert agree(adjoint.gradient["q"] @ way_of_q, difference(lambda h, of=of: of(model, h * way_of_q)), bound=1e-8)
        for name in ("bodies.rocker.mass", "bodies.coupler.position"):
            way, changed = along(model, name, 2, flat=name.endswith("position"))
            expected = difference(lambda h, of=of, changed=changed: of(changed(h)))
            assert agree(np.sum(adjoint.gradient[name] * way), expected, bound=1e-8), (objective, name)


def test_an_angle_that_a_function_gives_has_the_closed_form() -> None:
    """A slide on a crank that turns as it is told, s'' = s Ω² but for its spring: at 2 Ω² = k/m it moves evenly along,
    and what its place changes by with the spring is that of the motion."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("crank", mass=1.0, inertia=0.3, joint=ar.Revolute(axis=(0, 0, 1)), u=2.0)
    builder.add_body("bead", parent="crank", mass=0.5, inertia=0.1, joint=ar.Prismatic(axis=(1, 0, 0)), q=0.4)
    builder.add_drive("crank", function=turning)
    builder.add_force(ar.forces.PointSpring(bodies=("bead", "ground"), stiffness=6.0, rest_length=0.0))
    model = builder.build()
    found = ar.sensitivity(
        model,
        "bead.distance",
        ["forces.point-spring.stiffness", "bodies.bead.mass", "q", "u"],
        duration=0.5,
        step=0.01,
    )
    k, m, t = 6.0, 0.5, 0.5
    w = np.sqrt(k / m - 4.0)
    assert found.value == pytest.approx(0.4 * np.cos(w * t), rel=1e-6)
    by_k = -0.4 * t * np.sin(w * t) / (2.0 * w * m)
    assert found.gradient["forces.point-spring.stiffness"] == pytest.approx(by_k, rel=1e-6)
    assert found.gradient["bodies.bead.mass"] == pytest.approx(-by_k * k / m, rel=1e-6)
    assert found.gradient["q"] == pytest.approx([0.0, np.cos(w * t)], abs=1e-7)
    assert found.gradient["u"] == pytest.approx([0.0, np.sin(w * t) / w], abs=1e-7)


def turning(time: float, result: np.ndarray) -> None:
    """A steady turn."""
    result[0], result[1], result[2] = 2.0 * time, 2.0, 0.0


@pytest.mark.parametrize("rule", ["friction-implicit", "velocity-verlet"])
def test_other_rules_are_refused_by_name(rule: str) -> None:
    model = overconstrained("four-bar")
    with pytest.raises(ar.ModelError, match=f"runs of models with loops.*'{rule}'.*'rk4'"):
        ar.sensitivity(model, "kinetic_energy", "u", duration=DURATION, rule=rule, step=0.01)


@pytest.mark.parametrize("rule", ["friction-implicit", "velocity-verlet", "overdamped"])
def test_driven_joints_under_other_rules_are_refused_by_name(rule: str) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("crank", mass=1.0, inertia=0.3, joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_drive("crank", function=turning)
    model = builder.build()
    with pytest.raises(ar.ModelError, match=rf"runs of models with driven joints.*'{rule}'.*'rk4'"):
        ar.sensitivity(model, "kinetic_energy", "u", duration=DURATION, rule=rule, step=0.01)


@pytest.mark.parametrize("objective", ["kinetic_energy", "potential_energy", "crank-1.angle"])
def test_keys_of_a_case_that_builds_loops_are_differences_of_cases_that_are_built_anew(objective: str) -> None:
    """By a length that all bars and the places of the loops on them share, with the state that the builder closes."""
    keys = {"run.duration": 0.1, "run.frames": 1}
    names = [f"model.{name}" for name in ("length", "mass", "speed")]
    found = ar.sensitivity(ar.load_case("n-four-bar", keys), objective, names)
    for name in names:

        def value(h: float, name: str = name) -> float:
            return ar.sensitivity(ar.load_case("n-four-bar", keys | {name: 1.0 + h}), objective, "u").value

        assert agree(found.gradient[name], difference(value)), name
