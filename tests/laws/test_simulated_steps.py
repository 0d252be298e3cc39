"""A step that is given to ``ar.simulate`` is the step that is taken, or it is said loudly that it is not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.model.state import STEPS
from articulon.simulation.frame_times import fitting_frames


def pendulum(units: str = "Da-nm-ps", *forces: Any) -> Any:
    builder = ar.ModelBuilder(units=units)
    hinge = ar.Revolute(axis=(0, 1, 0))
    builder.add_body("rod", mass=1.0, inertia=0.1, com=(0, 0, -0.5), joint=hinge, q=1.0, u=1.0)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def quiet(*arguments: Any, **options: Any) -> Any:
    """A simulation that warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        run = ar.simulate(*arguments, **options)
    assert run.notes == []
    return run


RULES = ["rk4", "friction-implicit", "velocity-verlet", "adams-bashforth-moulton"]


@pytest.mark.parametrize("rule", RULES)
def test_frames_do_not_shorten_a_step_unless_they_are_asked_for(rule: str) -> None:
    """0.2 ps in steps of 50 fs are four steps, which were a hundred of 2 fs."""
    run = quiet(pendulum(), "0.2 ps", rule=rule, step="50 fs")
    assert run.step == 0.05 and run.state.counters[STEPS] == 4
    np.testing.assert_allclose(run.times, [0.0, 0.05, 0.1, 0.15, 0.2], rtol=1e-14)


@pytest.mark.parametrize(
    ("steps", "frames"),
    [(1, 1), (4, 4), (100, 100), (200, 100), (1000, 100), (150, 75), (640, 80), (101, 1), (202, 2), (10**9, 100)],
)
def test_there_are_as_many_frames_as_the_steps_allow(steps: int, frames: int) -> None:
    assert fitting_frames(float(steps)) == frames
    assert fitting_frames(steps * (1.0 + 1e-12)) == frames


def test_a_duration_that_is_no_whole_number_of_steps_shortens_them_a_little_and_says_so() -> None:
    with pytest.warns(UserWarning, match=r"simulate: integrator\.step: 0\.03 ps shortened to 0\.0285714286 ps"):
        run = ar.simulate(pendulum(), 0.2, rule="velocity-verlet", step=0.03)
    assert run.step == pytest.approx(0.2 / 7) and run.times.size == 8 and run.state.counters[STEPS] == 7
    assert len(run.notes) == 1 and "0.03 ps shortened to" in run.notes[0]


@pytest.mark.parametrize("rule", RULES)
def test_frames_that_are_asked_for_count_and_it_is_said_what_they_do(rule: str) -> None:
    with pytest.warns(UserWarning, match=r"simulate: integrator\.step: "):
        run = ar.simulate(pendulum(), "0.2 ps", rule=rule, step="50 fs", frames=100)
    assert run.times.size == 101 and run.state.counters[STEPS] == 100
    (note,) = run.notes
    assert "0.05 ps" in note and "0.002 ps" in note
    if rule != "rk4":
        assert run.step == pytest.approx(0.002)
    quiet(pendulum(), "0.2 ps", rule=rule, step="50 fs", frames=2)


def test_steps_of_an_explicit_rule_that_frames_cut_short_are_named() -> None:
    with pytest.warns(UserWarning, match=r"steps of 0\.03 ps end on frames, which are 0\.1 ps apart"):
        run = ar.simulate(pendulum(), 0.2, rule="rk4", step=0.03, frames=2)
    assert run.state.counters[STEPS] == 8 and run.step == 0.03


def test_steps_that_windows_of_noise_cut_short_are_named() -> None:
    forces = (
        ar.forces.StokesDrag(translational=1.0, rotational=1.0),
        ar.forces.Brownian(temperature=300.0, window=0.02),
    )
    with pytest.warns(UserWarning, match=r"steps of 0\.05 ps end on windows of noise, which are 0\.02 ps apart"):
        run = ar.simulate(pendulum("Da-nm-ps", *forces), 0.2, rule="rk4", step=0.05, frames=2)
    assert run.state.counters[STEPS] == 10
    quiet(pendulum("Da-nm-ps", *forces), 0.2, rule="rk4", step=0.01, frames=2)


def test_a_window_of_noise_that_frames_shorten_is_named() -> None:
    forces = (
        ar.forces.StokesDrag(translational=1.0, rotational=1.0),
        ar.forces.Brownian(temperature=300.0, window=0.03),
    )
    with pytest.warns(UserWarning, match=r"forces\.brownian\.window: noise is held for 0\.025 ps instead of 0\.03 ps"):
        ar.simulate(pendulum("Da-nm-ps", *forces), 0.3, frames=3)
    run = quiet(pendulum("Da-nm-ps", *forces), 0.3)
    assert run.times.size == 11


def test_where_the_error_chooses_the_steps_there_are_a_hundred_frames() -> None:
    run = quiet(pendulum(), 0.2)
    assert run.times.size == 101 and run.step is None


def test_reduced_units_have_no_symbol() -> None:
    with pytest.warns(UserWarning, match=r"integrator\.step: steps of 0\.03 end on frames, which are 0\.1 apart"):
        ar.simulate(pendulum("lj"), 0.2, rule="rk4", step=0.03, frames=2)


def test_resuming_says_too_what_cuts_steps_short() -> None:
    first = quiet(pendulum(), 0.2, rule="rk4", step=0.05)
    with pytest.warns(UserWarning, match=r"resume: integrator\.step: steps of 0\.05 ps end on frames, which are 0\.03"):
        second = ar.resume(first, 0.06, frames=2)
    assert len(second.notes) == 1 and second.state.counters[STEPS] == 6


def test_a_step_that_goes_into_a_duration_more_often_than_can_be_counted_is_refused() -> None:
    with pytest.raises(
        ar.CaseError, match=r"simulate: integrator\.step: 1e-300 fits into 1e\+10 too many times to count"
    ):
        ar.simulate(pendulum(), 1e10, rule="rk4", step=1e-300)
