"""How a simulation in memory begins: with thermal speeds, downhill, or with joints locked from the first step."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.simulation.minimisation import _Descent
from tests.support.run_cases import CHAIN, case_of

T = 300.0
BATH = ar.thermostats.Langevin(temperature=T, friction=1.0)


def gas(bodies: int) -> Any:
    """Bodies that turn and drift, far from each other."""
    builder = ar.ModelBuilder(units="fg-um-us")
    for k in range(bodies):
        builder.add_body(f"ball{k}", mass=1.0 + 0.01 * k, inertia=0.1, joint=ar.Free(), position=(10.0 * k, 0, 0))
    return builder.build()


def arm() -> Any:
    """A swinging arm with a hand that turns against it."""
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    builder.add_body("upper", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, q=1.0)
    builder.add_body(
        "lower", parent="upper", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, position=(0, 0, -1), q=0.4, u=3.0
    )
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return builder.build()


def test_thermal_speeds_have_the_temperature_of_the_bath_and_the_seed() -> None:
    """2T of the mean of n degrees of freedom has the relative standard deviation √(2/n): n = 1200, four of these."""
    model = gas(200)
    options: dict[str, Any] = {"rule": "friction-implicit", "step": 0.001, "frames": 1, "thermostat": BATH}
    runs = [ar.simulate(model, 0.001, speeds="thermal", seed=seed, **options) for seed in (1, 1, 2)]
    for run in runs:
        found = 2.0 * run.kinetic_energy[0] / (model.units.boltzmann * model.nu)
        assert found == pytest.approx(T, rel=4.0 * np.sqrt(2.0 / model.nu))
    assert np.array_equal(runs[0].u[0], runs[1].u[0]) and not np.any(runs[0].u[0] == runs[2].u[0])
    assert not ar.simulate(model, 0.001, **options).u[0].any()


def test_going_downhill_ends_where_a_thermal_run_would_notice_no_further_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    """The energy of spheres that only repel falls to zero: by its own size it always falls."""
    builder = ar.ModelBuilder(units="lj", box=ar.Box((5.0, 5.0, 5.0)))
    places = 5.0 * np.random.default_rng(3).random((80, 3))
    builder.add_particles(80, mass=1.0, positions=places, kind="A")
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    model, measure = builder.build(), _Descent._energy
    seen: list[float] = []

    def noted(descent: _Descent, q: np.ndarray) -> float:
        seen.append(measure(descent, q))
        return seen[-1]

    monkeypatch.setattr(_Descent, "_energy", noted)
    unnoticed = 1e-3 * 0.5 * model.nu
    ar.minimise(model, temperature=1.0)
    falls = -np.diff(seen)
    assert len(falls) >= 2 and falls[-1] <= unnoticed and falls[:-1].min() > unnoticed
    looks = len(seen)
    seen.clear()
    ar.minimise(model, steps=50 * looks)
    assert len(seen) == looks + 1 and seen[-1] < unnoticed
    with pytest.raises(ar.ModelError, match="minimise: temperature must not be negative, got -1"):
        ar.minimise(model, temperature=-1.0)


def test_thermal_speeds_are_those_of_the_case(tmp_path: Any) -> None:
    changes = {"run.duration": "0.01 us", "run.frames": 2, "run.speeds": "thermal"}
    case = case_of(tmp_path, CHAIN, {**changes, "integrator": {"rule": "friction-implicit", "step": "0.005 us"}})
    options: dict[str, Any] = {"rule": "friction-implicit", "step": 0.005, "frames": 2, "seed": case.run.seed}
    here = ar.simulate(case.build_model(), 0.01, speeds="thermal", **options)
    assert np.array_equal(here.u, ar.run(case, tmp_path / "run", report=False).u)


def test_thermal_speeds_at_a_temperature_that_nothing_keeps(tmp_path: Any) -> None:
    """As above; nothing acts on the gas, so that its energy stays."""
    model = gas(200)
    run = ar.simulate(model, 0.001, rule="friction-implicit", step=0.001, frames=1, temperature=2.0 * T, seed=4)
    found = 2.0 * run.kinetic_energy / (model.units.boltzmann * model.nu)
    assert found == pytest.approx(2.0 * T, rel=4.0 * np.sqrt(2.0 / model.nu)) and found[1] == pytest.approx(found[0])
    case = case_of(tmp_path, CHAIN, {"run.duration": "0.01 us", "run.frames": 2, "integrator.rule": "rk4",
                                     "integrator.step": "0.005 us", "run.speeds": "thermal"})  # fmt: skip
    hot, cold = (
        ar.run(case, tmp_path / str(kelvin), overrides={"run.temperature": f"{kelvin} K"}, report=False).u[0]
        for kelvin in (1200, 300)
    )
    np.testing.assert_allclose(hot, 2.0 * cold, rtol=1e-13)
    here = ar.simulate(case.build_model(), 0.01, rule="rk4", step=0.005, frames=2, temperature="300 K")
    np.testing.assert_array_equal(here.u[0], cold)
    with pytest.raises(ar.CaseError, match="temperature applies to thermal speeds"):
        case.with_overrides({"run.speeds": "given", "run.temperature": "300 K"})


def test_a_locked_joint_is_locked_from_the_first_step() -> None:
    """The two rods then swing as one pendulum, with what the impulse of the lock has left."""
    model = arm()
    run = ar.simulate(model, 1.0, frames=20, locked="lower", rtol=1e-10, atol=1e-12)
    assert not run.u[1:, 1].any() and np.array_equal(run.q[:, 1], np.full(21, 0.4))
    lock = ar.lock(model, model.q0, model.u0, "lower")
    one = ar.simulate(model, 1.0, frames=1, locked=("low*",), rtol=1e-10, atol=1e-12)
    energy = run.kinetic_energy + run.potential_energy
    assert energy[1:] == pytest.approx(energy[0] - lock.energy_before + lock.energy_after, rel=1e-8)
    assert one.q[-1, 0] == pytest.approx(run.q[-1, 0], rel=1e-7)
    assert abs(ar.simulate(model, 1.0, frames=1).q[-1, 1] - 0.4) > 0.1


def test_locked_joints_stay_locked_when_the_run_goes_on() -> None:
    run = ar.simulate(arm(), 1.0, frames=4, rule="rk4", step=0.01, locked=["lower"])
    whole = ar.simulate(arm(), 2.0, frames=8, rule="rk4", step=0.01, locked=["lower"])
    assert np.array_equal(run.extend(1.0).q, whole.q) and not run.u[1:, 1].any()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"locked": "elbow"}, "elbow"),
        ({"locked": 3}, "simulate: locked: expected a text or a list of texts, got 3"),
        ({"speeds": "hot"}, "simulate: unknown speeds"),
        ({"minimise": "yes"}, "simulate, minimise"),
        ({"temperature": "-3 K"}, "simulate: temperature must be positive, got"),
        ({"temperature": "3 nm"}, "simulate: temperature: expected a temperature"),
        ({"temperature": "300 K", "u": [0.0, 0.0]}, "simulate: give either u, the initial speeds, or the temperature"),
    ],
)
def test_a_wrong_start_is_refused_by_name(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ar.CaseError, match=said):
        ar.simulate(arm(), 1.0, **options)


def test_thermal_speeds_need_a_temperature() -> None:
    with pytest.raises(ar.ModelError, match="'thermal' speeds need a temperature; give one"):
        ar.simulate(arm(), 1.0, speeds="thermal")


def test_a_site_that_is_alone_begins_near_no_other():
    """It has no distance to another, which was taken for infinite, and the run for one in which sites overlap."""
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(1, mass=1.0, positions=[[0.1, 0, 0]], kind="A")

    builder.add_force(ar.forces.LennardJones(cutoff=1.0, parameters={"A": {"epsilon": 1.0, "sigma": 0.3}}))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        run = ar.simulate(builder.build(), 1e-2, step=1e-3, u=[1e-3, 0, 0])
    assert run.q[-1, 0] == pytest.approx(0.1 + 1e-5, rel=1e-12)
