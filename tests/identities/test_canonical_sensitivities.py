"""Derivatives of velocity Verlet in canonical momenta, whose stages are implicit where bodies rotate.

⟨w, J v⟩ and ⟨Jᵀ w, v⟩ are sums of some hundred products, equal but for rounding and for that of fixed points.
Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30, f⁽⁵⁾ some 1e5 along unit vectors for forces between
sites, and by rounding of f over h: with h = 3e-4 both are below 1e-9 of the largest derivative.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from articulon.kernels import kernel
from articulon.sensitivities.canonical_stepping import CanonicalStepping
from articulon.sensitivities.linear_iteration import (
    DEPTH,
    ITERATIONS,
    begin_iteration,
    iteration_arrays,
    next_iterate,
)
from articulon.sensitivities.tangent_spaces import displacement
from tests.support.forced_models import forced_model, resisted_model
from tests.support.run_derivatives import fourth_order, weighed
from tests.support.single_steps import changed, numbers_of, stepped, stepping
from tests.support.single_steps import weighed as weighed_step

RUN: dict[str, Any] = {"rule": "velocity-verlet", "step": 0.02, "frames": 1}
DURATION, STEP, BOUND = 0.1, 3e-4, 1e-9
MODELS = {
    "free": partial(forced_model, 3),
    "conservative": partial(forced_model, 5),
    "resisted": partial(resisted_model, 1),
    "flowing": partial(resisted_model, 3),
}
difference = partial(fourth_order, step=STEP)


def steps_of(model: ar.Model) -> Any:
    steps = stepping(model, duration=0.06, scaling=ar.scaling.Constant(a2=0.7), **RUN)
    assert isinstance(steps, CanonicalStepping)
    return steps


def of_state(model: ar.Model, numbers: np.ndarray) -> np.ndarray:
    """Numbers with those of the momenta set to zero: steps find these from the rest."""
    found = numbers.copy()
    found[model.nu : 2 * model.nu] = 0.0
    return found


def unit(n: int) -> np.ndarray:
    """A random unit vector."""
    v = np.random.default_rng(1).normal(size=n)
    return v / np.linalg.norm(v)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_the_adjoint_of_a_step_is_the_transposed_tangent(name: str, number: int) -> None:
    """By state and tables alike: masses, inertias, joint frames and numbers of forces."""
    steps, rng = steps_of(MODELS[name]()), np.random.default_rng(3)
    y = steps.start if number == 0 else stepped(steps, 0, steps.start)
    v, w = (of_state(steps.model, rng.normal(size=3 * steps.model.nu)) for _ in range(2))
    p = rng.normal(size=numbers_of(steps)[1].size)
    forward = w @ changed(steps, number, y, v[None], p[None])[0]
    by_state, by_tables = weighed_step(steps, number, y, w)
    scale = np.abs(by_state * v).sum() + np.abs(by_tables * p).sum()
    assert abs(by_state @ v + by_tables @ p - forward) <= 1e-13 * scale


@pytest.mark.parametrize("name", MODELS)
def test_the_tangent_of_a_step_is_its_difference(name: str) -> None:
    steps = steps_of(MODELS[name]())
    model, y = steps.model, stepped(steps, 0, steps.start)
    nq, nu = model.nq, model.nu
    directions = np.random.default_rng(4).normal(size=(3, 3 * nu))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found = changed(steps, 1, y, directions, np.zeros((3, numbers_of(steps)[1].size)))
    end = stepped(steps, 1, y)
    for v, got in zip(directions, found, strict=True):

        def at(s: float, v: np.ndarray = v) -> np.ndarray:
            start = np.zeros(y.size)  # whose momenta are found from the speeds
            start[:nq] = moved(model, y[:nq], s * v[:nu])
            start[nq : nq + nu] = y[nq : nq + nu] + s * v[2 * nu :]
            return stepped(steps, 1, start)[: nq + nu]

        expected = (8.0 * (at(STEP) - at(-STEP)) - (at(2.0 * STEP) - at(-2.0 * STEP))) / (12.0 * STEP)
        by_end = np.concatenate([displacement(model, end[:nq], expected[:nq]), expected[nq:]])
        assert np.abs(np.delete(got, np.s_[nu : 2 * nu]) - by_end).max() <= BOUND * (1.0 + np.abs(by_end).max())


@pytest.mark.parametrize(("spin", "drag", "step"), [(30.0, 0.0, 0.02), (3.0, 0.0, 0.1), (1.0, 50.0, 0.02)])
def test_fixed_points_are_found_where_plain_iteration_is_slow_or_fails(spin: float, drag: float, step: float) -> None:
    """Bodies that turn by more than half a radian in a step, and drag that relaxes speeds in a part of it."""
    model = forced_model(3)
    model = replace(model, u0=spin * model.u0)
    if drag > 0.0:
        model = replace(model, forces=(*model.forces, ar.forces.StokesDrag(translational=drag, rotational=drag)))
    steps, rng = stepping(model, duration=step, **{**RUN, "step": step}), np.random.default_rng(3)
    v, w = (of_state(model, rng.normal(size=3 * model.nu)) for _ in range(2))
    nothing = np.zeros((1, numbers_of(steps)[1].size))
    forward = w @ changed(steps, 0, steps.start, v[None], nothing)[0]
    by_state, _ = weighed_step(steps, 0, steps.start, w)
    assert abs(by_state @ v - forward) <= 1e-12 * np.abs(by_state * v).sum()


@pytest.mark.parametrize("name", MODELS)
def test_steps_are_those_of_simulations(name: str) -> None:
    """The very same: rounding errors that the rule carries along are part of the state."""
    model = MODELS[name]()
    found = ar.sensitivity(model, "kinetic_energy", "u", duration=DURATION, checkpoints=2, **RUN)
    run = ar.simulate(model, DURATION, **RUN)
    assert np.array_equal(found.q, run.q[-1]) and np.array_equal(found.u, run.u[-1])


@pytest.mark.parametrize("name", ["free", "resisted"])
def test_runs_have_the_derivatives_of_re_runs(name: str) -> None:
    """By the initial state, a force, and the factor of all, and bits of any number of checkpoints; by all numbers of
    bodies, adjoint and forward."""
    model = MODELS[name]()
    weights, objective = weighed(model, 1)

    def value(model: ar.Model = model, a2: float = 0.8, **start: Any) -> float:
        run = ar.simulate(model, DURATION, scaling=ar.scaling.Constant(a2=a2), **RUN, **start)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    names = ["q", "u", "scaling.a2", "forces.gravity.acceleration"]
    names += [f"bodies.{body}.{key}" for body in model.names for key in ("mass", "com", "inertia")]
    jointed = [body for body, kind in zip(model.names, model.kinds, strict=True) if kind]
    names += [f"bodies.{body}.{key}" for body in jointed for key in ("position", "rotation")]
    if name == "resisted":
        names += ["sites[1].position", "forces.stokes-drag.rotational", "forces.joint-damping.rotational"]
    given: dict[str, Any] = {"duration": DURATION, "scaling": ar.scaling.Constant(a2=0.8), **RUN}
    adjoint = ar.sensitivity(model, objective, names, **given)
    forward = ar.sensitivity(model, objective, names, "forward", **given)
    few = ar.sensitivity(model, objective, names, checkpoints=2, **given)
    assert adjoint.value == forward.value == few.value
    for one in names:
        size = 1.0 + np.abs(forward.gradient[one]).max()
        assert np.abs(np.subtract(adjoint.gradient[one], forward.gradient[one])).max() <= 1e-12 * size, one
        assert np.array_equal(few.gradient[one], adjoint.gradient[one]), one
    v = unit(model.nu)
    by_q = difference(lambda h: value(q=moved(model, model.q0, h * v)))
    by_u = difference(lambda h: value(u=model.u0 + h * v))
    by_factor = difference(lambda h: value(a2=0.8 + h))
    size = 1.0 + max(abs(by_q), abs(by_u))
    assert abs(adjoint.gradient["q"] @ v - by_q) <= BOUND * size
    assert abs(adjoint.gradient["u"] @ v - by_u) <= BOUND * size
    assert abs(adjoint.gradient["scaling.a2"] - by_factor) <= BOUND * size


NUMBERS: dict[str, Any] = {
    "bodies.arm.mass": 1.3,
    "bodies.arm.com": (0.1, 0.2, -0.1),
    "bodies.hub.inertia": (0.4, 0.05, -0.02, 0.5, 0.03, 0.6),
    "bodies.hand.position": (0.6, -0.1, 0.2),
}


def machine(**given: Any) -> ar.Model:
    """A free body that carries an arm on a cardan joint and a hand on a ball, pulled to the ground."""
    of = {**NUMBERS, **given}
    builder = ar.ModelBuilder(units="kg-m-s")
    xx, xy, xz, yy, yz, zz = of["bodies.hub.inertia"]
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    hub = builder.add_body("hub", mass=2.0, inertia=inertia, joint=ar.Free(), u=(0.3, -0.2, 0.1, 0.9, -0.7, 0.5))
    arm = {"mass": of["bodies.arm.mass"], "com": of["bodies.arm.com"], "position": (0.2, 0.3, 0.1)}
    builder.add_body("arm", parent=hub, inertia=0.1, joint=ar.Universal(), q=(0.3, -0.4), u=(1.2, -0.8), **arm)
    hand = {"com": (0.0, 0.1, 0.2), "position": of["bodies.hand.position"], "u": (-0.6, 1.1, 0.4)}
    builder.add_body("hand", parent="arm", mass=0.8, inertia=(0.05, 0.06, 0.07), joint=ar.Spherical(), **hand)
    builder.add_force(ar.forces.Gravity(acceleration=(0.4, 0.2, -1.0)))
    ends = {"points": ((0.1, 0.0, 0.2), (0.5, 0.5, 0.0)), "rest_length": 0.3}
    builder.add_force(ar.forces.PointSpring(name="tie", bodies=("hand", "ground"), stiffness=2.0, **ends))
    return builder.build()


def test_numbers_of_bodies_against_models_that_are_built_anew() -> None:
    """Masses change the speeds that a state of given momenta has, and so does the start of a run."""
    weights, objective = weighed(machine(), 2)
    found = ar.sensitivity(machine(), objective, list(NUMBERS), duration=DURATION, **RUN)

    def value(**given: Any) -> float:
        run = ar.simulate(machine(**given), DURATION, **RUN)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    for name, number in NUMBERS.items():
        rows = np.eye(np.size(number)).reshape(-1, *np.shape(number))

        def at(h: float, name: str, row: np.ndarray, number: Any) -> float:
            new = np.asarray(number) + h * row
            return value(**{name: float(new) if new.ndim == 0 else tuple(new.tolist())})

        expected = [difference(partial(at, name=name, row=row, number=number)) for row in rows]
        got = np.atleast_1d(found.gradient[name])
        assert np.abs(got - expected).max() <= BOUND * (1.0 + np.abs(expected).max()), name
        assert np.abs(got).max() > 1e-4, name


@pytest.mark.parametrize("objective", ["stop_time", "kinetic_energy"])
def test_a_run_that_stops_has_the_derivatives_of_its_stopping(objective: str) -> None:
    model = machine()
    run = ar.simulate(model, DURATION, **RUN)
    way = run.positions[-1, 2] - run.positions[0, 2]
    stop = {"body": "hand", "direction": tuple(way.tolist()), "advance": 0.7 * float(np.linalg.norm(way))}
    given: dict[str, Any] = {"duration": 2.0 * DURATION, "stop": stop, **RUN}
    found = ar.sensitivity(model, objective, "u", **given)
    forward = ar.sensitivity(model, objective, "u", "forward", **given)
    v = unit(model.nu)
    expected = difference(lambda h: ar.sensitivity(model, objective, "q", u=model.u0 + h * v, **given).value)
    assert 1 < found.steps < 20
    assert np.abs(found.gradient["u"] - forward.gradient["u"]).max() <= 1e-12 * (1.0 + abs(expected))
    # Times are those at which φ is zero to some 1e-12, and differences of these err by so much over their step.
    assert found.gradient["u"] @ v == pytest.approx(expected, abs=1e-8)
    assert abs(expected) > 0.01


@kernel
def iterate(arrays, matrix, base, rate):
    """The number of images until the fixed point of base + matrix · x is found."""
    begin_iteration(arrays, base)
    before, count = np.inf, 0
    while before >= 0.0 and count < ITERATIONS:
        for k in range(base.size):
            rate[k] = 0.0
            for j in range(base.size):
                rate[k] += matrix[k, j] * arrays.found[j]
        before = next_iterate(arrays, base, 1.0, rate, before)
        count += 1
    return count


def test_a_linear_iteration_finds_fixed_points_of_maps_that_grow() -> None:
    """With more eigenvalues than directions that are kept, most of them outside of the unit circle."""
    rng, n = np.random.default_rng(7), DEPTH + 10
    basis = rng.normal(size=(n, n))
    matrix = basis @ np.diag(-np.linspace(0.1, 3.0, n)) @ np.linalg.inv(basis)
    base, arrays = rng.normal(size=n), iteration_arrays(n)
    arrays.metric[:] = 1.0
    assert iterate(arrays, matrix, base, np.zeros(n)) < ITERATIONS
    expected = np.linalg.solve(np.eye(n) - matrix, base)
    assert np.abs(arrays.found - expected).max() <= 1e-9 * np.abs(expected).max()


def test_what_has_no_derivatives_is_named() -> None:
    noisy = [ar.forces.StokesDrag(translational=1.0), ar.forces.Brownian(temperature=1e20)]
    model = replace(machine(), forces=(*machine().forces, *noisy))
    with pytest.raises(ar.CaseError, match=r"forces\[3\]: 'velocity-verlet' cannot hold noise"):
        ar.sensitivity(model, "kinetic_energy", "u", duration=DURATION, **RUN)
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1.0, inertia=0.1, joint=ar.Revolute(), armature=0.3)
    with pytest.raises(ar.CaseError, match="links alone, without armatures; choose an explicit"):
        ar.sensitivity(builder.build(), "kinetic_energy", "u", duration=DURATION, **RUN)
    with pytest.raises(ar.CaseError, match=r"'implicit-midpoint' has no derivatives; choose one of .*velocity-verlet"):
        ar.sensitivity(machine(), "kinetic_energy", "u", duration=DURATION, **{**RUN, "rule": "implicit-midpoint"})
    stiff = replace(machine(), forces=(ar.forces.StokesDrag(translational=500.0, rotational=500.0),))
    with pytest.raises(ar.DivergenceError, match=r"implicit stages do not converge in steps of 0\.02"):
        ar.sensitivity(stiff, "kinetic_energy", "u", duration=DURATION, **RUN)
