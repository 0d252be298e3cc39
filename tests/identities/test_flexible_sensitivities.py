"""Derivatives of runs of models with flexible bodies: against runs again with differences, and of both methods against
each other.

Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30, f⁽⁵⁾ up to 1e9 for forces between sites, and by rounding
of f over h: with h = 1e-4 both are below 1e-9 of the largest derivative.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.centres_of_mass import centre_of_mass
from articulon.dynamics.multibody_functions import moved
from articulon.forces.evaluation import Evaluator
from articulon.integrate import Explicit
from articulon.integrate.status import STOPPED
from articulon.integrate.stop_conditions import advance_of, stop_of
from articulon.model.array_rotations import matrices
from articulon.model.joints import WELD
from articulon.sensitivities.modal_adjoint import modal_adjoint_program
from articulon.sensitivities.modal_tangent import modal_tangent_program
from articulon.sensitivities.parameters import parameter_of
from articulon.sensitivities.table_gradients import differentiated, in_one
from tests.support.flexible_models import FlexibleCase, looped_model
from tests.support.flexible_runs import flexible_run
from tests.support.run_derivatives import agree_to, check_methods_and_checkpoints, fourth_order, weighed
from tests.support.running import WHOLE, Running

pytestmark = pytest.mark.filterwarnings("ignore:simulate. body .* rotates at up to")

STEP, BOUND = 1e-4, 1e-9
DURATION = 0.1
RUN: dict[str, Any] = {"rule": "rk4", "step": 0.02}
SEEDS = range(6)

model_of = cache(flexible_run)
agree = partial(agree_to, bound=BOUND)
difference = partial(fourth_order, step=STEP)


def names_of(model: ar.Model) -> list[str]:
    """Parameters of the state, of forces of every kind, and of one rigid body each."""
    rigid = [k for k in range(model.bodies) if k not in model.modes]
    jointed = [k for k in range(model.bodies) if model.kinds[k] != WELD]
    names = ["q", "u", "forces.gravity.acceleration", "forces.joint-damping.rotational", "forces.tie.stiffness"]
    names += ["forces.stokes-drag.flow", "forces.harmonic-bonds.stiffness", "sites[0].position"]
    names += [f"sites[{model.sites.body.size - 1}].position"]
    names += [f"bodies.{model.names[k]}.{key}" for k in rigid[-1:] for key in ("mass", "com", "inertia")]
    names += [f"bodies.{model.names[k]}.{key}" for k in jointed[-2:] for key in ("position", "rotation")]
    return names


def again(weights: np.ndarray, model: ar.Model, dq: Any = 0.0, du: Any = 0.0, **run: Any) -> float:
    """The weighed end of a run that begins next to a model's initial state."""
    start = {"q": moved(model, model.q0, dq + np.zeros(model.nu)), "u": model.u0 + du}
    last = ar.simulate(model, DURATION, **start, **(RUN | run))
    return float(weights @ np.concatenate([last.q[-1], last.u[-1]]))


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_derivatives_with_flexible_bodies_are_differences_of_runs(seed: int) -> None:
    model = model_of(seed)
    weights, objective = weighed(model, seed)
    names = names_of(model)
    found = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    assert found.value == pytest.approx(again(weights, model), rel=1e-13)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        e = rng.normal(size=model.nu)
        assert agree(found.gradient["q"] @ e, difference(lambda h, e=e: again(weights, model, dq=h * e)))
        assert agree(found.gradient["u"] @ e, difference(lambda h, e=e: again(weights, model, du=h * e)))
    for name in names[2:]:
        parameter = parameter_of(model, name, "test")
        way = rng.normal(size=parameter.numbers.shape)

        def value(h: float, parameter: Any = parameter, way: np.ndarray = way) -> float:
            return again(weights, parameter.changed(parameter.numbers + h * way))

        assert agree(np.sum(found.gradient[name] * way), difference(value)), name


@pytest.mark.parametrize("rotors", [False, True])
@pytest.mark.parametrize("rule", ["rk4", "dormand-prince"])
def test_the_adjoint_with_modes_is_the_forward_method_for_any_number_of_checkpoints(rule: str, rotors: bool) -> None:
    model = model_of(1)
    if rotors:
        model = replace(model, armature=np.random.default_rng(1).uniform(0.1, 1.0, model.nu))
    _, objective = weighed(model, 1)
    names = [*names_of(model), "scaling.a2"]
    run: dict[str, Any] = {"duration": DURATION, "rule": rule, "step": 0.01, "scaling": ar.scaling.Constant(a2=0.7)}
    check_methods_and_checkpoints(model, objective, names, **run)


@pytest.mark.parametrize("seed", SEEDS)
def test_products_with_weights_are_those_with_changes(seed: int) -> None:
    """⟨w, J v⟩ = ⟨Jᵀ w, v⟩ of the right-hand side, for changes of the state and of all numbers of tables at once."""
    model, rng = model_of(seed), np.random.default_rng([seed, 8])
    evaluator = Evaluator(model)
    tables = differentiated(*evaluator.system[:3])
    (gradients, by_numbers), (changes, numbers) = in_one(tables), in_one(tables)
    own, adjoint = modal_adjoint_program(evaluator, gradients)
    (point, program), tangent = modal_tangent_program(evaluator, changes)
    for one in (adjoint, tangent):
        one.q[:], one.u[:] = model.q0, model.u0
    tangent.q_change[:], tangent.u_change[:] = rng.normal(size=model.nq), rng.normal(size=model.nu)
    adjoint.q_weight[:], adjoint.u_weight[:] = rng.normal(size=model.nq), rng.normal(size=model.nu)
    numbers[:] = rng.normal(size=numbers.size)
    for one in (changes.mass, changes.moment, changes.inertia):
        one[model.forest.flexible.body >= 0] = 0.0
    for one in (changes.position, changes.turn):
        one[model.forest.kind == WELD] = 0.0
    own()
    point()
    program()
    parts = adjoint.q_weight * tangent.q_rate, adjoint.u_weight * tangent.u_rate
    others = adjoint.by_q * tangent.q_change, adjoint.by_u * tangent.u_change, by_numbers * numbers
    size = sum(np.abs(one).sum() for one in (*parts, *others))
    assert abs(sum(one.sum() for one in parts) - sum(one.sum() for one in others)) <= 1e-12 * size
    assert np.abs(others[0]).sum() > 1e-3 * size


@pytest.mark.parametrize(
    "objective", ["kinetic_energy", "potential_energy", "position.flexible.y", "distance.flexible.rigid"]
)
def test_named_objectives_of_flexible_bodies_are_differences_of_runs(objective: str) -> None:
    """Centres of mass are those of the deformed bodies: masses times positions of their nodes."""
    model = model_of(3)
    flexible, rigid = (
        next(k for k in range(model.bodies) if (k in model.modes) == bends and model.parents[k] >= 0)
        for bends in (True, False)
    )
    name = objective.replace("flexible", model.names[flexible]).replace("rigid", model.names[rigid])
    mass = f"bodies.{model.names[rigid]}.mass"
    found = ar.sensitivity(model, name, ["q", "u", mass], duration=DURATION, **RUN)
    e = np.random.default_rng(2).normal(size=model.nu)

    def value(h: float = 0.0, m: float = 0.0) -> float:
        parameter = parameter_of(model, mass, "test")
        changed = replace(
            parameter.changed(parameter.numbers + m), q0=moved(model, model.q0, h * e), u0=model.u0 + h * e
        )
        last = ar.simulate(changed, DURATION, **RUN)
        q, u = last.q[-1], last.u[-1]
        if objective == "kinetic_energy":
            return float(ar.kinetic_energy(changed, q, u))
        if objective == "potential_energy":
            return float(ar.potential_energy(changed, q))
        positions, rotations = ar.body_poses(changed, q)
        R, shapes = matrices(rotations[flexible]), model.modes[flexible]
        start = int(model.forest.q_start[model.link[flexible]]) + model.joints[flexible].nq
        nodes = shapes.positions + shapes.shapes @ q[start : start + shapes.stiffness.shape[0]]
        centre = positions[flexible] + R @ (shapes.masses @ nodes) / shapes.masses.sum()
        if objective == "position.flexible.y":
            return float(centre[1])
        other = positions[rigid] + matrices(rotations[rigid]) @ changed.centres[rigid]
        return float(np.linalg.norm(other - centre))

    assert found.value == pytest.approx(value(), rel=1e-12)
    assert agree((found.gradient["q"] + found.gradient["u"]) @ e, difference(value))
    assert agree(found.gradient[mass], difference(lambda m: value(m=m)))


def test_what_has_no_derivatives_with_flexible_bodies_is_refused_by_name() -> None:
    model = model_of(0)
    bends = model.names[min(model.modes)]
    with pytest.raises(ar.CaseError, match=rf"'{bends}' is flexible, and its mass is that of its nodes.*a rigid body"):
        ar.sensitivity(model, "kinetic_energy", f"bodies.{bends}.mass", duration=DURATION, **RUN)
    with pytest.raises(
        ar.ModelError, match=r"flexible bodies have .* not with 'friction-implicit'.* choose a rule such as 'rk4'"
    ):
        ar.sensitivity(model, "kinetic_energy", "u", duration=DURATION, rule="friction-implicit", step=0.01)
    rng = np.random.default_rng(1)
    looped = next(one for one in (looped_model(rng, FlexibleCase(seed, n=4)) for seed in range(40)) if one is not None)
    with pytest.raises(ar.ModelError, match=r"flexible bodies and loops are not implemented.*differences of runs"):
        ar.sensitivity(looped, "kinetic_energy", "u", duration=DURATION, **RUN)


def test_a_run_stops_where_the_deformed_body_has_advanced() -> None:
    """The run ends with the step in which the deformed centre of mass passes, and stop_time is when."""
    model = model_of(3)
    body = next(k for k in model.modes if model.parents[k] >= 0)
    whole = ar.simulate(model, DURATION, frames=20, rule="rk4", step=0.005)
    bent, rigid = (
        np.array([centre_of_mass(one, q, body)[0] for q in whole.q]) for one in (model, replace(model, modes={}))
    )
    assert np.abs((bent - bent[0]) - (rigid - rigid[0])).max() > 1e-4  # the body bends on its way
    direction = bent[-1] - bent[0]
    gone = (bent - bent[0]) @ direction / np.linalg.norm(direction)
    advance = float(gone[9:11].mean())
    stop: dict[str, Any] = {"body": model.names[body], "direction": tuple(direction), "advance": advance}
    run: dict[str, Any] = {"rule": "rk4", "step": 0.005, "stop": stop}
    found = ar.sensitivity(model, "stop_time", ["u"], duration=DURATION, **run)
    assert whole.times[9] < found.value < whole.times[10]
    till = ar.simulate(model, found.value, frames=1, rule="rk4", step=found.value / 10.0)
    way = (centre_of_mass(model, till.q[-1], body)[0] - bent[0]) @ direction / np.linalg.norm(direction)
    assert way == pytest.approx(advance, rel=1e-7)  # in other steps
    run_on = Running(model, Explicit(rule="rk4", step=0.005))
    run_on.driver.stop = stop_of(model, advance_of(model, body, direction, advance), run_on.evaluator.ws)
    assert run_on.driver.advance(run_on.state, 1.0, WHOLE) == STOPPED
    assert float(run_on.state.time[0]) == pytest.approx(float(whole.times[10]), rel=1e-12)
    e = np.random.default_rng(5).normal(size=model.nu)

    def time(h: float) -> float:
        other = replace(model, u0=model.u0 + h * e)
        return ar.sensitivity(other, "stop_time", ["u"], duration=DURATION, **run).value

    assert found.gradient["u"] @ e == pytest.approx(difference(time), rel=1e-6)
