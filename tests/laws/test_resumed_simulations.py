"""``ar.resume`` goes on with a simulation in memory to the bits of an unbroken one, whatever there is in its state."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError
from tests.support.remembering import CASES, DRAG, NOISE, arm, assert_joined, assert_same_state


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_resumed_simulation_has_the_bits_of_an_unbroken_one(name: str) -> None:
    build, duration, options = CASES[name]
    model = build()
    whole = ar.simulate(model, 4 * duration, frames=8, **options)
    first = ar.simulate(model, duration, frames=2, **options)
    before = copy.deepcopy(first.state)
    second = ar.resume(first, 2 * duration)
    third = ar.resume(second, duration, frames=2)
    assert_joined(whole, first, second, third)
    # What was resumed is as it was, and is resumed to the same bits again.
    assert_same_state(first.state, before)
    assert_same_state(ar.resume(first, 2 * duration).state, second.state)


def test_the_states_of_these_tests_have_something_to_remember() -> None:
    """Or the test above would show little."""
    ends = {}
    for name in (
        "grains",
        "joints that lock",
        "Nosé and Hoover",
        "several steps",
        "lists of neighbours",
        "noise, fixed",
    ):
        build, duration, options = CASES[name]
        ends[name] = ar.simulate(build(), duration, frames=2, **options).state
    assert len(ends["grains"].contacts.pairs) > 3
    assert ends["joints that lock"].resolution.locked.any() and ends["joints that lock"].resolution.criteria[1:4].any()
    assert ends["Nosé and Hoover"].bath.any() and ends["several steps"].rule.history.any()
    assert np.isfinite(ends["lists of neighbours"].rebuild).all()


def test_going_on_by_hand_repeats_the_noise_and_resuming_does_not() -> None:
    """Which the docstring of ``simulate`` says."""
    builder = ar.ModelBuilder(units="fg-um-us")
    builder.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Xyz())
    for force in (ar.forces.StokesDrag(translational=20.0), NOISE):
        builder.add_force(force)
    model, options = builder.build(), {"rule": "overdamped", "step": 0.01, "frames": 5}
    first = ar.simulate(model, 0.1, **options)
    by_hand = ar.simulate(model, 0.1, q=first.q[-1], u=first.u[-1], **options)
    resumed = ar.resume(first, 0.1)
    displacements = [np.diff(run.q, axis=0) for run in (first, by_hand, resumed)]
    np.testing.assert_allclose(displacements[0], displacements[1], rtol=1e-10)
    assert np.abs(displacements[0] - displacements[2]).min() > 1e-9
    assert resumed.times.tolist() == pytest.approx(np.linspace(0.1, 0.2, 6).tolist(), rel=1e-14)


def test_other_frames_keep_the_steps_and_the_noise() -> None:
    model = arm(DRAG, NOISE)
    options = {"rule": "friction-implicit", "step": 0.005, "seed": 5}
    whole = ar.simulate(model, 0.3, frames=3, **options)
    first = ar.simulate(model, 0.1, frames=4, **options)
    second = ar.resume(first, 0.2, frames=2)
    assert second.step == first.step == 0.005
    assert np.array_equal(second.q, whole.q[1:])
    longer = ar.resume(second, "0.035 us")
    assert longer.times.size == 8 and longer.step == 0.005 and longer.state.counters[0] == 67
    assert longer.times[-1] == pytest.approx(0.335, rel=1e-14)


def test_a_trajectory_is_resumed_after_pickling() -> None:
    first = ar.simulate(arm(DRAG, NOISE), 0.1, frames=2, rule="friction-implicit", step=0.005)
    again = pickle.loads(pickle.dumps(first))
    assert_joined(ar.resume(first, 0.1), ar.resume(again, 0.1))


@pytest.mark.parametrize(
    ("duration", "options", "said"),
    [
        (0.012, {}, r"resume: duration: 0\.012 us is not a whole number of the steps .*, of 0\.005 us; take 0\.01 us"),
        (0.001, {}, r"resume: duration: .*; take 0\.005 us"),
        (0.1, {"frames": 7}, r"resume: frames: 0\.0142857143 us between frames .*; take 20 frames"),
        (0.1, {"frames": 0}, r"resume: frames must be a whole number of at least 1, got 0"),
        (-1.0, {}, r"resume: duration must be positive, got -1"),
        ("3 nm", {}, r"resume: duration: expected a time"),
        (None, {}, r"resume: duration: the simulation has reached its end; give the additional duration"),
    ],
)
def test_what_does_not_fit_is_refused(duration: Any, options: dict[str, Any], said: str) -> None:
    first = ar.simulate(arm(), 0.1, frames=4, rule="friction-implicit", step=0.005)
    with pytest.raises(CaseError, match=said):
        ar.resume(first, duration, **options)


def test_windows_of_noise_must_fit_too() -> None:
    first = ar.simulate(
        arm(DRAG, ar.forces.Brownian(temperature=300.0, window=0.005)), 0.1, frames=4, rule="rk4", step=0.005
    )
    with pytest.raises(CaseError, match=r"resume: duration: 0\.012 us is not a whole number of the windows of noise"):
        ar.resume(first, 0.012)


def test_a_table_that_ends_is_refused_before_anything_is_computed() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("wheel", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_drive("wheel", times=[0, 1, 2, 3], values=[0, 1, 1, 0])
    first = ar.simulate(builder.build(), 2.0, frames=2)
    assert ar.resume(first, 1.0).times[-1] == 3.0
    with pytest.raises(ar.ModelError, match="the table goes from 0 to 3, and the run from 0 to 4"):
        ar.resume(first, 2.0)


def test_only_trajectories_can_be_resumed() -> None:
    with pytest.raises(CaseError, match=r"resume: expected a run of articulon\.simulate, got None"):
        ar.resume(None, 1.0)


def test_a_state_that_is_handed_on_is_refused_with_what_to_call() -> None:
    first = ar.simulate(arm(), 0.1, frames=2)
    with pytest.raises(CaseError, match=r"simulate: there is no option 'state': articulon\.resume\(run, duration\)"):
        ar.simulate(first.model, 0.1, state=first.state)
