"""Derivatives of whole runs: the adjoint against runs again with differences.

Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30 and by rounding of f, some 1e-16 κ |f|/h with the growth κ
of a short run: with h = 1e-3 both are below 1e-9 of the largest derivative.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.support.forced_models import dragged_model, forced_model, resisted_model
from tests.support.run_derivatives import fourth_order, weighed

STEP, BOUND = 1e-3, 1e-9
RUN: dict[str, Any] = {"rule": "rk4", "step": 0.02}
DURATION = 0.2


difference = partial(fourth_order, step=STEP)


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
    model = resisted_model(3)
    _, objective = weighed(model, 3)
    names = ["q", "u", "forces.gravity.acceleration", "forces.pair.stiffness", "forces[4].values"]
    names += ["forces.stokes-drag.velocity_gradient", "sites[0].position", "forces.site-pairs.table[1].B"]
    names += ["forces.stokes-drag.flow", "forces.joint-friction.rotational_speed", "forces.tie.points"]
    names += ["forces.position-restraint.stiffness", "forces.position-restraint.to"]
    run: dict[str, Any] = {"duration": DURATION, "rule": rule, "step": 0.02}
    adjoint = ar.sensitivity(model, objective, names, **run)
    forward = ar.sensitivity(model, objective, names, "forward", **run)
    assert forward.value == pytest.approx(adjoint.value, rel=1e-13)
    for name in names:
        size = 1.0 + np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(adjoint.gradient[name], forward.gradient[name])).max() <= 1e-12 * size, name


def test_derivatives_by_the_gradient_of_a_flow_and_by_sites_are_differences_of_runs() -> None:
    model = resisted_model(3)
    weights, objective = weighed(model, 3)
    drag = next(k for k, force in enumerate(model.forces) if force.kind == "stokes-drag")
    G, places = np.array(model.forces[drag].velocity_gradient), model.sites.position
    moving, ground = 1, model.sites.body.size - 2

    def value(changed: ar.Model) -> float:
        run = ar.simulate(changed, DURATION, **RUN)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    def flowing(h: float) -> float:
        entries = G + h * (np.arange(9).reshape(3, 3) == 1)
        return value(changed(model, drag, velocity_gradient=tuple(map(tuple, entries.tolist()))))

    def elsewhere(site: int, h: float) -> float:
        moved = places.copy()
        moved[site, 1] += h
        return value(replace(model, sites=model.sites._replace(position=moved)))

    names = ["forces.stokes-drag.velocity_gradient[0][1]", f"sites[{moving}].position", f"sites.{ground}.position"]
    found = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    assert close(found.gradient[names[0]], difference(flowing))
    assert close(found.gradient[names[1]][1], difference(lambda h: elsewhere(moving, h)))
    assert close(found.gradient[names[2]][1], difference(lambda h: elsewhere(ground, h)))


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


def chain(
    mass: float = 1.3, com: float = 0.4, inertia: float = 0.3, place: float = 0.8, k: float = 2.0, turn: float = 0.0
) -> ar.Model:
    """A bob on a free joint with a welded weight, and a rod on a hinge there, beside the ground."""
    builder = ar.ModelBuilder(units="kg-m-s")
    start = {"q": (0.1, 0.2, 0.3, 0.8, 0.0, 0.6, 0.0), "u": (0.4, -0.3, 0.2, 0.5, -0.4, 0.3)}
    builder.add_body("first", mass=1.1, inertia=(0.2, 0.3, 0.4), com=(0.1, 0.0, 0.2), joint=ar.Free(), **start)
    builder.add_body(
        "weight",
        parent="first",
        mass=mass,
        com=(0.0, com, 0.1),
        inertia=(inertia, 0.4, 0.35),
        position=(0.2, 0.1, 0.0),
        rotation=(0.8, 0.0, 0.0, 0.6),
        joint=ar.Weld(),
    )
    hinge = ar.Revolute(axis=(0.0, 0.6, 0.8))
    builder.add_body(
        "last",
        parent="weight",
        mass=0.7,
        com=(0.0, 0.0, -0.5),
        inertia=0.2,
        joint=hinge,
        position=(0.0, place, 0.1),
        rotation=(np.cos(0.5 * turn), np.sin(0.5 * turn), 0.0, 0.0),
        q=0.4,
        u=1.1,
    )
    builder.add_force(ar.forces.Gravity(acceleration=(0.3, 0.0, -9.81)))
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"last": k}))
    ties = ("last", "ground")
    builder.add_force(ar.forces.PointSpring(bodies=ties, stiffness=5.0, rest_length=0.5, damping=0.2))
    return builder.build()


PARAMETERS = {
    "bodies.weight.mass": ("mass", 1.3, ()),
    "bodies.weight.com": ("com", 0.4, (1,)),
    "bodies.weight.inertia": ("inertia", 0.3, (0,)),
    "bodies.last.position": ("place", 0.8, (1,)),
    "bodies.last.rotation": ("turn", 0.0, (0,)),
    "forces.torsional-springs.stiffness.last": ("k", 2.0, ()),
}


@pytest.mark.parametrize("objective", ["kinetic_energy", "potential_energy", "position.last.y", "distance.first.last"])
def test_named_objectives_and_bodies_are_differences_of_models_that_are_built_anew(objective: str) -> None:
    def value(**changed: float) -> float:
        return ar.sensitivity(chain(**changed), objective, "u", duration=DURATION, **RUN).value

    found = ar.sensitivity(chain(), objective, [*PARAMETERS, "q"], duration=DURATION, **RUN)
    for name, (argument, number, index) in PARAMETERS.items():
        expected = difference(lambda h, argument=argument, number=number: value(**{argument: number + h}))
        assert close(np.asarray(found.gradient[name])[index], expected), name
    run = ar.simulate(chain(), DURATION, **RUN)
    if objective in ("kinetic_energy", "potential_energy"):
        assert found.value == pytest.approx(float(getattr(run, objective)[-1]), rel=1e-12)
    forward = ar.sensitivity(chain(), objective, [*PARAMETERS, "q"], "forward", duration=DURATION, **RUN)
    for name, gradient in found.gradient.items():
        assert np.allclose(forward.gradient[name], gradient, rtol=1e-11, atol=1e-11), name


def test_the_energy_of_a_free_flight_does_not_depend_on_where_it_began() -> None:
    """A law that needs no differences: the energy at the end is that at the beginning, but for the rule's error."""
    builder = ar.ModelBuilder(units="kg-m-s")
    spin = {"q": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), "u": (0.1, 0.2, 0.3, 1.0, 2.0, -0.5)}
    builder.add_body("body", mass=2.0, inertia=(0.2, 0.3, 0.4), joint=ar.Free(), **spin)
    model = builder.build()
    found = ar.sensitivity(model, "kinetic_energy", ["q", "u"], duration=1.0, step=0.005)
    assert np.abs(found.gradient["q"]).max() < 1e-9
    assert np.abs(found.gradient["u"] - ar.mass_matrix(model, model.q0) @ model.u0).max() < 1e-8


@pytest.mark.parametrize("objective", ["stop_time", "kinetic_energy", "first.x"])
def test_a_run_that_stops_has_the_derivatives_of_its_stopping(objective: str) -> None:
    """At the end of a last step that is cut short: what is differentiated is what is computed."""
    stop = {"body": "weight", "direction": (0.0, -0.5, -2.0), "advance": 0.15}
    run: dict[str, Any] = {"duration": 1.0, "rule": "rk4", "step": 0.03, "stop": stop}

    def value(**changed: float) -> float:
        return ar.sensitivity(chain(**changed), objective, "u", **run).value

    def begun(**start: Any) -> float:
        return ar.sensitivity(chain(), objective, "u", **start, **run).value

    model, found = chain(), ar.sensitivity(chain(), objective, [*PARAMETERS, "q", "u"], **run)
    assert 1 < found.steps < 30
    for name, (argument, number, index) in PARAMETERS.items():
        expected = difference(lambda h, argument=argument, number=number: value(**{argument: number + h}))
        assert np.asarray(found.gradient[name])[index] == pytest.approx(expected, abs=1e-8), name
    by_q = [difference(lambda h, e=e: begun(q=moved(model, model.q0, h * e))) for e in np.eye(model.nu)]
    assert found.gradient["q"] == pytest.approx(np.array(by_q), abs=1e-8)
    forward = ar.sensitivity(model, objective, list(found.gradient), "forward", **run)
    for name, gradient in found.gradient.items():
        assert np.allclose(forward.gradient[name], gradient, rtol=1e-10, atol=1e-10), name


def test_a_held_path_of_noise_has_derivatives_with_explicit_rules() -> None:
    """By temperature, drag and where the centres of drag are, through steps that end on windows and frames."""
    model = dragged_model(1)
    noise, drag = (
        next(k for k, one in enumerate(model.forces) if one.kind == kind) for kind in ("brownian", "stokes-drag")
    )
    model = changed(model, noise, window=0.05)
    weights, objective = weighed(model, 1)
    run = {**RUN, "frames": 2, "seed": 5}
    T, beta = float(model.forces[noise].temperature), model.forces[drag].translational
    first = next(iter(beta))

    def value(changed: ar.Model) -> float:
        last = ar.simulate(changed, DURATION, **run)
        return float(weights @ np.concatenate([last.q[-1], last.u[-1]]))

    def warmer(h: float) -> float:
        return value(changed(model, noise, temperature=T * (1.0 + h)))

    def rougher(h: float) -> float:
        return value(changed(model, drag, translational={**beta, first: beta[first] + h}))

    names = ["forces.brownian.temperature", f"forces.stokes-drag.translational.{first}", "q", "u"]
    names += [f"bodies.{first}.com", "forces.stokes-drag.rotational"]
    found = ar.sensitivity(model, objective, names, duration=DURATION, **run)
    assert found.value == pytest.approx(value(model), rel=1e-12)
    assert close(found.gradient[names[0]] * T, difference(warmer))
    assert abs(found.gradient[names[0]] * T) > 1e-2
    assert close(found.gradient[names[1]], difference(rougher))
    forward = ar.sensitivity(model, objective, names, "forward", duration=DURATION, **run)
    few = ar.sensitivity(model, objective, names, checkpoints=2, duration=DURATION, **run)
    for name in names:
        size = 1.0 + np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(found.gradient[name], forward.gradient[name])).max() <= 1e-12 * size, name
        assert np.array_equal(few.gradient[name], found.gradient[name]), name
