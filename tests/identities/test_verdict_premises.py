"""What follows from the premises of a verdict, and premises that need no run: clocks, temperatures, what adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from articulon.fidelity.factors import clock
from articulon.fidelity.residual import accumulate
from articulon.fidelity.run_temperatures import configuration, kinetic
from articulon.fidelity.verdict import Bounds, verdict_of

# What follows from premises


def premise(verdict: str | None, since: float | None = None, half_width: float | None = None) -> dict[str, Any]:
    return {"verdict": verdict, "since": since, "half_width": half_width}


def test_what_knows_the_motions_best_decides_and_what_says_the_same_is_named_with_it() -> None:
    lag, drift = premise("violated", 4.0, 0.5), premise("violated", 1.5)
    found = verdict_of({"lag": lag, "drift": drift, "paired": premise("trusted", None, 0.01)})
    assert (found["verdict"], found["broken"], found["since"]) == ("trusted", [], None)
    found = verdict_of({"lag": lag, "drift": drift, "paired": premise("violated", 2.0, 0.01)})
    assert (found["verdict"], found["broken"], found["since"]) == ("violated", ["paired", "lag", "drift"], 2.0)
    assert found["basis"] == "the premise of paired alone"
    found = verdict_of({"lag": premise("trusted", None, 0.001), "paired": premise("violated", 2.0, 0.01)})
    assert found["verdict"] == "trusted"


def test_a_wrong_drift_counts_where_nobody_has_measured_what_it_does() -> None:
    for name in ("drift", "clock"):
        cause = {name: premise("violated", 0.5)}
        assert verdict_of({**cause, "lag": premise("trusted", None, 0.1)})["broken"] == [name]
        assert verdict_of({**cause, "lag": premise("inconclusive")})["verdict"] == "violated"
        assert verdict_of({**cause, "lag": premise("inconclusive"), "paired": premise(None)})["broken"] == [name]
        assert verdict_of({**cause, "paired": premise("trusted", None, 0.01)})["verdict"] == "trusted"
        assert verdict_of({**cause, "averages": premise("suspect", 1.0, 0.01)})["verdict"] == "suspect"


def test_temperatures_count_beside_the_motions() -> None:
    motions = {"lag": premise("trusted", None, 0.01), "paired": premise("trusted", None, 0.001)}
    hot = verdict_of({**motions, "configuration": premise("violated", 0.0)})
    assert (hot["verdict"], hot["broken"], hot["since"]) == ("violated", ["configuration"], 0.0)
    assert verdict_of({**motions, "configuration": premise("inconclusive")})["verdict"] == "inconclusive"
    assert verdict_of({**motions, "kinetic": premise(None), "clock": premise(None)})["verdict"] == "trusted"


def test_a_premise_that_says_nothing_counts_where_no_other_answers_its_question() -> None:
    knows = premise("trusted", None, 0.01)
    assert verdict_of({"lag": premise("inconclusive"), "paired": knows})["verdict"] == "trusted"
    assert verdict_of({"lag": premise("inconclusive"), "paired": premise(None)})["verdict"] == "inconclusive"
    assert verdict_of({"clock": premise(None)})["verdict"] == "inconclusive"
    unsure = premise("inconclusive", None, 0.01)
    averages = {"lag": premise("violated", 1.0, 0.5), "paired": unsure, "averages": premise("trusted", None, 0.04)}
    assert verdict_of(averages)["verdict"] == "trusted"


def test_a_rough_estimate_does_not_speak_where_a_better_one_cannot_tell() -> None:
    unsure = premise("inconclusive", None, 0.01)
    assert verdict_of({"lag": premise("violated", 1.0, 0.5), "paired": unsure})["verdict"] == "inconclusive"
    assert verdict_of({"lag": premise("trusted", None, 0.005), "paired": unsure})["verdict"] == "trusted"


@pytest.mark.parametrize(
    ("error", "half_width", "verdict"),
    [
        (0.01, 0.005, "trusted"),
        (-0.01, 0.005, "trusted"),
        (0.01, 0.02, "inconclusive"),
        (0.05, 0.01, "suspect"),
        (0.05, 0.1, "inconclusive"),
        (0.09, 0.05, "suspect"),
        (-3.0, 1.0, "violated"),
    ],
)
def test_an_interval_decides_only_where_all_of_it_says_the_same(error: float, half_width: float, verdict: str) -> None:
    assert Bounds(0.02, 0.1).verdict_of_interval(error, half_width) == verdict


def test_an_error_that_adds_up_has_a_moment_at_which_it_was_too_much() -> None:
    times, error = np.linspace(0.0, 1.0, 11), np.linspace(0.0, 0.2, 11)
    bounds = Bounds.of_tolerance(0.02)
    assert bounds.broken_at("suspect", times, error, 1.0) == pytest.approx(0.1)
    assert bounds.broken_at("violated", times, error, 1.0) == pytest.approx(0.5)
    assert bounds.broken_at("violated", times, -error, 1.0) == pytest.approx(0.5)
    assert bounds.broken_at("trusted", times, error, 1.0) is None


# Premises


def test_what_is_lost_from_rest_adds_up_to_the_relaxation_time() -> None:
    """Of a constant force the part e^{−t/τ'} of the speed is missing, τ' in all, however far apart the frames are."""
    for interval in (0.01, 0.1, 3.0):
        times = np.arange(0.0, 40.0, interval)
        lost = accumulate(times, np.exp(-times), 1.0)[-1]
        # The trapezoidal rule errs by h²/12 of the slope; frames far apart see the first moment and e^{−h} of the rest.
        far = interval * np.exp(-interval) / (1.0 - np.exp(-interval))
        assert lost == pytest.approx(1.0, abs=interval**2 / 12.0 if interval < 1.0 else 1.001 * far)


def test_the_clock_and_the_temperature_of_the_positions_are_those_of_the_factors() -> None:
    time, ones = np.linspace(0.0, 1.0, 11), np.ones(11)
    look = {
        "time": time,
        "factor_damping": 0.1 * ones,
        "factor_potential": 0.05 * ones,
        "factor_stochastic": 0.05 * ones,
    }
    found = clock(look, 300.0, None)
    assert found["physical_time_per_simulated_time"] == pytest.approx(0.5)
    assert found["over_bath"] == pytest.approx(0.5) and found["temperature_of_positions"] == pytest.approx(150.0)
    assert found["verdict"] == "violated"
    # The published adaptive rule below its threshold: the positions are colder by a2, and the drift faster by 1/a2.
    look |= {"factor_potential": ones, "factor_stochastic": 0.1 * ones}
    found = clock(look, 300.0, None)
    assert found["physical_time_per_simulated_time"] == pytest.approx(10.0)
    assert found["over_bath"] == pytest.approx(0.1)
    uniform = {"time": time, "factor_potential": 0.25 * ones, "factor_external": 0.25 * ones}
    assert clock(uniform, None, None)["physical_time_per_simulated_time"] == pytest.approx(0.5)


@pytest.mark.parametrize(("mean", "verdict"), [(1.0, "trusted"), (0.9, "suspect"), (0.4, "suspect")])
def test_the_kinetic_temperature_is_known_as_well_as_its_parts_agree(mean: float, verdict: str) -> None:
    values = 300.0 * mean * (1.0 + 0.05 * np.random.default_rng(3).normal(size=400))
    look = {"time": np.linspace(0.0, 1.0, 400), "temperature_kinetic": values}
    found = kinetic(look, 300.0)
    # Ten means of thirty values each, and Student's factor for nine degrees of freedom.
    assert found["half_width"] == pytest.approx(2.262 * 0.05 * mean / np.sqrt(300.0), rel=0.6)
    assert abs(found["over_target"] - mean) < 2.0 * found["half_width"]
    assert found["verdict"] == verdict
    assert kinetic(look, None)["verdict"] is None
    assert kinetic({name: series[:20] for name, series in look.items()}, 300.0)["verdict"] is None


def test_the_equations_say_where_positions_are_going_before_they_are_there() -> None:
    look = {"time": np.linspace(0.0, 1.0, 5)}
    cold = {"configurational": 300.0, "target": 300.0, "not_defined": None}
    found = configuration(cold, 1000.0, look)
    assert found["verdict"] == "violated" and "1000 times" in found["reason"] and found["since"] == 0.0
    assert configuration(cold, 1.0, look)["verdict"] == "inconclusive"
    longer = {"time": np.linspace(0.0, 1.0, 100)}
    assert configuration(cold, 1.0, longer)["verdict"] == "trusted"
    assert configuration({**cold, "configurational": 400.0}, 1.0, longer)["verdict"] == "violated"
