"""Friction-implicit steps and thermostats of models whose joints have armatures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support.remembering import assert_same_state
from tests.support.resisting_models import DAMPED, RUBBED, assert_second_order, four_bar, pendulum, ring

STEP = 0.01


def with_rotors(model: Any) -> Any:
    """The model with an armature of every speed but those of free joints."""
    armature = 0.2 + 0.1 * np.cos(np.arange(model.nu)) ** 2
    for joint, start in zip(model.forest.kind, model.forest.u_start, strict=True):
        if joint == ar.Free.kind:
            armature[start : start + 6] = 0.0
    return replace(model, armature=armature)


def nested(*forces: Any) -> Any:
    """A ball joint on a parent that turns, whose link's spin a drift keeps."""
    b = ar.ModelBuilder("lj")
    body = {"inertia": (0.1, 0.15, 0.2), "com": (0.2, -0.1, -0.4), "mass": 1.0}
    b.add_body("arm", joint=ar.Revolute(axis=(0, 1, 1)), u=1.5, **body)
    b.add_body("ball", parent="arm", joint=ar.Spherical(), u=(1.0, -0.7, 0.5), position=(0.1, 0, -1), **body)
    b.add_body("hand", parent="ball", joint=ar.Universal(), u=(0.4, -0.6), position=(0.1, 0, -1), **body)
    b.add_force(ar.forces.Gravity(acceleration=(1.0, 0.0, -3.0)))
    for force in forces:
        b.add_force(force)
    return b.build()


@pytest.mark.parametrize(
    "build",
    [nested, lambda: pendulum(*DAMPED), lambda: pendulum(*RUBBED), pendulum, four_bar, lambda: ring(*DAMPED)],
    ids=["a ball joint that is carried", "damping", "friction", "drag", "a loop", "a ring with a drive"],
)
def test_steps_are_of_second_order(build: Any) -> None:
    assert_second_order(with_rotors(build()))


def test_states_side_by_side_move_as_alone() -> None:
    model = with_rotors(nested(*DAMPED, ar.forces.StokesDrag(translational=0.5, rotational=0.1)))
    ensemble = ar.Ensemble(model, np.tile(model.q0, (3, 1)), np.tile(model.u0, (3, 1)))
    Q, U = ensemble.advance(20, STEP, rule="friction-implicit")
    run = ar.simulate(model, 20 * STEP, rule="friction-implicit", step=STEP)
    for q, u in zip(Q, U, strict=True):
        assert q == pytest.approx(run.q[-1], rel=1e-11, abs=1e-11)
        assert u == pytest.approx(run.u[-1], rel=1e-11, abs=1e-11)
    with pytest.raises(ar.ModelError, match="Langevin noise on armatures is not supported for several states"):
        ar.Ensemble(model, model.q0[None], model.u0[None], thermostat=WARM["langevin"])


WARM: dict[str, Any] = {
    "langevin": ar.thermostats.Langevin(temperature=2.0, friction=8.0),
    "velocity rescaling": ar.thermostats.StochasticVelocityRescaling(temperature=2.0, time=0.05),
    "Nosé and Hoover": ar.thermostats.NoseHoover(temperature=2.0, mass=0.5),
}


@pytest.mark.parametrize("name", WARM)
def test_thermostats_book_what_they_do_to_rotors(name: str) -> None:
    """T − T₀ = ΣW, and the same bits of a resumed run. To second order in the step where nothing is random: with
    other steps a random bath takes another path, so that its error need only fall."""
    model, errors = with_rotors(nested()), []
    for step in (0.01, 0.005):
        run = ar.simulate(model, 1.0, rule="friction-implicit", step=step, frames=4, thermostat=WARM[name], seed=3)
        errors.append(np.abs(run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1)).max())
    assert errors[1] < 0.05 * run.kinetic_energy.mean() and errors[1] < 0.7 * errors[0], errors
    if name == "Nosé and Hoover":
        assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)
    options = {"rule": "friction-implicit", "step": 0.01, "thermostat": WARM[name], "seed": 3}
    whole, first = (ar.simulate(model, t, frames=n, **options) for t, n in ((0.4, 2), (0.2, 1)))
    assert_same_state(ar.resume(first, 0.2, frames=1).state, whole.state)


def test_a_thermostat_as_an_equation_of_motion_knows_the_rotors() -> None:
    """The extended energy, K + Φ + ½ Q ζ² and the reservoir's, is constant to the order of the rule."""
    bath, model, errors = ar.thermostats.NoseHoover(temperature=2.0, mass=0.5), with_rotors(nested()), []
    for step in (0.04, 0.02):
        run = ar.simulate(model, 2.0, rule="rk4", step=step, frames=10, thermostat=bath)
        stored = 0.5 * 0.5 * run.memory.bath()[:, 0] ** 2 + run.memory.bath()[:, -1]
        energy = run.kinetic_energy + run.potential_energy + stored
        errors.append(np.abs(energy - energy[0]).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.8)


def test_langevins_noise_warms_rotors_as_links() -> None:
    """z = Lᵀ u/√kT is standard normal, with M + diag(a) = L Lᵀ. A mean of n products of these has the error
    √(2/n (1 + ρ)/(1 − ρ)) at most, where ρ = e^(−2γh) is the correlation of squares of speeds from frame to frame."""
    b = ar.ModelBuilder("lj")
    body = {"inertia": (0.1, 0.15, 0.2), "com": (0.1, 0.0, -0.3), "mass": 1.0}
    b.add_body("arm", joint=ar.Revolute(axis=(0, 1, 1)), armature=2.0, **body)
    b.add_body("ball", parent="arm", joint=ar.Spherical(), armature=0.05, position=(0.1, 0, -0.5), **body)
    model, kT, count = b.build(), 2.0, 4000
    hot = ar.thermostats.Langevin(temperature=kT, friction=500.0)
    run = ar.simulate(model, 0.002 * count, rule="friction-implicit", step=0.002, frames=count, thermostat=hot, seed=5)
    frames = zip(run.q[1:], run.u[1:], strict=True)
    z = np.array([np.linalg.cholesky(ar.mass_matrix(model, q)).T @ u for q, u in frames])
    again = math.exp(-2.0 * 500.0 * 0.002)
    error = math.sqrt(2.0 / count * (1.0 + again) / (1.0 - again))
    assert np.abs(z.T @ z / (count * kT) - np.eye(model.nu)).max() < 5.0 * error


def test_a_stop_gives_the_energy_back_between_implicit_steps() -> None:
    b = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    b.add_body("upper", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, armature=0.5, q=0.3)
    seat = {"parent": "upper", "position": (0, 0, -1)}
    b.add_body("lower", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, armature=0.2, u=2.0, **seat)
    b.add_force(ar.forces.JointLimits(lower={"lower": -0.5}, upper={"lower": 0.5}))
    drifts = []
    for step in (2e-3, 1e-3):
        run = ar.simulate(b.build(), 1.0, rule="friction-implicit", step=step, frames=20)
        assert run.q[:, 1].max() > 0.4 and run.q[:, 1].max() <= 0.5 + 1e-9
        assert run.summary["impacts"]["impacts"] > 0
        drifts.append(np.ptp(run.kinetic_energy))
    assert drifts[1] < 0.35 * drifts[0] and drifts[1] < 1e-4 * run.kinetic_energy[0]
