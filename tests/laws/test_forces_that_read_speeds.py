"""Friction-implicit steps under forces that read speeds: bits of resumed runs, order, and the books."""

from __future__ import annotations

import itertools
from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.integrate import Explicit, FrictionImplicit
from articulon.model.state import CONFORMATIONAL
from articulon.scaling import SmoothAdaptive
from tests.support.remembering import assert_same_state
from tests.support.resisting_models import pendulum
from tests.support.running import Running

STEP = 0.01


@numba.njit
def lorentz(time, positions, rotations, velocities, parameters, wrenches):
    """F = v × B, which does no work."""
    for k in range(wrenches.shape[0]):
        vx, vy, vz = velocities[k, 0], velocities[k, 1], velocities[k, 2]
        bx, by, bz = parameters[0], parameters[1], parameters[2]
        wrenches[k, 0] += vy * bz - vz * by
        wrenches[k, 1] += vz * bx - vx * bz
        wrenches[k, 2] += vx * by - vy * bx


@numba.njit
def servo(time, q, u, parameters, tau):
    """A torque of the last joint that follows the speed of the first."""
    tau[tau.size - 1] += parameters[0] * (u[0] - u[u.size - 1])


MAGNET = ar.forces.UserForce(function=lorentz, parameters=(1.5, -2.0, 2.5))
SERVO = ar.forces.JointActuation(function=servo, parameters=(0.8,))
DRIFTS = ("steady", "geodesic")
WAYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "steady": (lambda: pendulum(MAGNET, SERVO), {}),
    "geodesic": (lambda: pendulum(MAGNET, SERVO), {"drift": "geodesic"}),
    "a law that reads forces": (
        lambda: pendulum(MAGNET),
        {"scaling": SmoothAdaptive(a2=0.5, threshold=3.0, width=1.0)},
    ),
    "a thermostat": (
        lambda: pendulum(MAGNET, SERVO),
        {"thermostat": ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=0.1)},
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_resumed_run_has_the_bits_of_an_unbroken_one(name: str) -> None:
    build, more = WAYS[name]
    model, options = build(), {"rule": "friction-implicit", "step": STEP, "frames": 1, "seed": 3, **more}
    whole = ar.simulate(model, 40 * STEP, **options)
    first = ar.simulate(model, 17 * STEP, **options)
    assert_same_state(ar.resume(first, 23 * STEP, frames=1).state, whole.state)


def test_between_impacts_too() -> None:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, 0.6, 1, 0, 0, 0), u=(0, 0, 1, 0, 0, 0))
    builder.add_site("ball", kind="steel", radius=0.5)
    floor = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="floor")
    for force in (ar.forces.Gravity((0, 0, -9.81)), ar.forces.Impacts(restitution=0.8, walls=[floor])):
        builder.add_force(force)
    builder.add_force(ar.forces.UserForce(function=lorentz, parameters=(0.5, 1.0, 0.7)))
    model, options = builder.build(), {"rule": "friction-implicit", "step": STEP, "frames": 1}
    whole = ar.simulate(model, 0.6, **options)
    assert whole.summary["impacts"]["impacts"] >= 2
    assert_same_state(ar.resume(ar.simulate(model, 0.17, **options), 0.43, frames=1).state, whole.state)


@pytest.mark.parametrize("drift", DRIFTS)
def test_steps_are_of_second_order(drift: str) -> None:
    model, h = pendulum(MAGNET, SERVO), 0.02
    exact = Running(model, Explicit(rule="dormand-prince", rtol=1e-12, atol=1e-13)).to(0.4)
    errors = []
    for step in (h, h / 2, h / 4):
        run = Running(model, FrictionImplicit(step=step, drift=drift)).to(0.4)
        errors.append(np.array([np.abs(a - b).max() for a, b in ((run.q, exact.q), (run.u, exact.u))]))
    for coarse, fine in itertools.pairwise(errors):
        assert np.all(np.abs(coarse / fine - 4.0) < 0.8), coarse / fine


@pytest.mark.parametrize("drift", DRIFTS)
def test_the_work_of_a_force_across_the_speeds_vanishes_with_the_step(drift: str) -> None:
    """It is booked at the mean speeds, which those at which it has been found differ from by their prediction."""
    across = MAGNET.model_copy(update={"channel": "conformational"})
    works = []
    for step in (0.02, 0.01, 0.005):
        run = Running(pendulum(across, drag=0.0), FrictionImplicit(step=step, drift=drift)).to(0.4)
        works.append(abs(run.state.work[CONFORMATIONAL]))
    assert works[0] < 1e-3 and works[1] < 0.3 * works[0] and works[2] < 0.3 * works[1], works


def test_a_force_that_reads_no_speeds_is_found_once_in_a_step() -> None:
    calls = {True: 0, False: 0}

    def of(reads: bool) -> Any:
        def count(time: float, x: Any, e: Any, v: Any, p: Any, wrenches: Any) -> None:
            calls[reads] += 1

        return ar.forces.UserForce(function=count, reads_velocities=reads)

    for reads in calls:
        ar.simulate(pendulum(of(reads)), 20 * STEP, rule="friction-implicit", step=STEP, frames=1)
    assert calls[False] < 1.5 * 20 and calls[True] > 2 * calls[False]
