"""Runs whose steps mean nothing any more end with the body and the step: bodies that leap through half of the periodic
box in one, and steps so short that no machine takes as many as are left."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import articulon as ar

WIDTH, STEP = 10.0, 0.002


def gas(speed: float, **box: Any) -> ar.Model:
    """Three particles, the second of which has a speed along y."""
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(WIDTH,) * 3, **box))
    velocities = [[0, 0, 0], [0, speed, 0], [0, 0, 0]]
    builder.add_particles(
        3, mass=1.0, positions=[[1, 1, 1], [2.5, 1, 1], [1, 4, 1]], velocities=velocities, kind="A", names=list("abc")
    )
    builder.add_force(ar.forces.LennardJones(cutoff=2.5, parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    return builder.build()


LEAP = (
    r"step 1: a step is too long: a body moves by .* in it, but half of the periodic box is only 5 at body 'b' "
    r"\(xyz joint\)"
)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["velocity-verlet", "r-respa"])
@pytest.mark.parametrize("speed", [6.0 * WIDTH / STEP, 1e12])
def test_a_particle_that_leaps_through_half_of_the_box_ends_the_run(rule, speed):
    with pytest.raises(ar.DivergenceError, match=LEAP):
        ar.simulate(gas(speed), 1.0, rule=rule, step=STEP, frames=2)


@pytest.mark.parametrize("part", [0.1, 0.45])
def test_one_that_goes_less_far_in_a_step_does_not(part):
    found = ar.simulate(gas(part * WIDTH / STEP), 10 * STEP, rule="velocity-verlet", step=STEP, frames=2)
    assert found.q[-1][4] == pytest.approx(1.0 + 10 * part * WIDTH, abs=1.0)


def test_the_step_at_which_a_particle_is_thrown_is_named():
    """Two that begin at rest on top of each other are thrown apart in the first steps."""
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(WIDTH,) * 3))
    builder.add_particles(2, mass=1.0, positions=[[1, 1, 1], [1.5, 1, 1]], kind="A")
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    model = builder.build()
    with pytest.raises(ar.DivergenceError, match="half of the periodic box is only 5") as caught:
        ar.simulate(
            model, 10.0, rule="velocity-verlet", step=0.05, frames=2, q=_approaching(model), u=_colliding(model)
        )
    assert caught.value.step > 1 and caught.value.body.startswith("A-")


def _approaching(model: ar.Model) -> np.ndarray:
    q = model.q0.copy()
    q[3] = 4.0
    return q


def _colliding(model: ar.Model) -> np.ndarray:
    u = model.u0.copy()
    u[3] = -11.0
    return u


def test_where_space_does_not_repeat_nothing_is_too_far():
    found = ar.simulate(gas(1e6, boundaries=("open",) * 3), 10 * STEP, rule="velocity-verlet", step=STEP, frames=2)
    assert found.q[-1][4] == pytest.approx(1.0 + 1e6 * 10 * STEP, rel=1e-9)


def test_overdamped_steps_may_not_leap_either():
    thermostat = ar.thermostats.Overdamped(temperature=1e6, friction=1e-3)
    with pytest.raises(ar.DivergenceError, match="half of the periodic box is only 5"):
        ar.simulate(gas(0.0), 10.0, rule="ermak-mccammon", step=1.0, frames=2, thermostat=thermostat)


def tumbler(speed: float) -> ar.Model:
    """A body that is no particle, with a site in a periodic box."""
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(WIDTH,) * 3))
    builder.add_body("rod", mass=1.0, inertia=0.1, joint=ar.Free(), u=(0, speed, 0, 0.1, 0, 0))
    builder.add_body("other", mass=1.0, inertia=0.1, joint=ar.Free(), q=(3, 0, 0, 1, 0, 0, 0))
    for body in ("rod", "other"):
        builder.add_site(body, (0.1, 0, 0), kind="A")
    builder.add_force(ar.forces.LennardJones(cutoff=2.5, parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    return builder.build()


def test_a_rigid_body_that_leaps_ends_a_run_of_equal_steps():
    with pytest.raises(ar.DivergenceError, match=r"half of the periodic box is only 5 at body 'rod' \(free joint\)"):
        ar.simulate(tumbler(1e9), 1.0, rule="friction-implicit", step=STEP, frames=2)


def pendulum(gravity: float) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=(0.1, 0.1, 0.05), com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=1)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -gravity)))
    return builder.build()


@pytest.mark.parametrize("rule", ["dormand-prince", "scipy-radau"])
@pytest.mark.parametrize("gravity", [1e40, 1e140])
def test_steps_of_which_no_machine_takes_enough_end_the_run(rule, gravity):
    model = pendulum(gravity)
    began = time.perf_counter()
    with pytest.raises(ar.DivergenceError, match=r"too short to continue.* at body 'rod'"):
        ar.simulate(model, 1.0, rule=rule, frames=2)
    assert time.perf_counter() - began < 60.0  # compilation included


def test_a_stiff_start_is_no_reason_to_end_a_run():
    """Steps of 1e-9 of the run at its start, and longer ones as the oscillation allows."""
    found = ar.simulate(pendulum(1e4), 0.1, rule="dormand-prince", first_step=1e-12, frames=2)
    assert np.isfinite(found.q).all()
