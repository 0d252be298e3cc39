"""Verdicts on scaled simulations in memory: known problems, right and wrong, and what each premise measures."""

from __future__ import annotations

import functools
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulon as ar
from articulon import scaling
from articulon.errors import CaseError
from articulon.fidelity import unscaled
from articulon.fidelity.lag import Lost, lag_along, lost_by_inertia
from articulon.fidelity.record import Settings
from articulon.fidelity.run_temperatures import PARTS, behind_its_mass, kinetic, thermal_temperatures
from articulon.fidelity.settling import SETTLED
from articulon.fidelity.verdict import HEAT, TOLERANCE, Bounds
from articulon.simulation.memory_verdict import record_in_memory
from validation.force_laws import row
from validation.verdict_known import KNOWN
from validation.verdict_problems import _Draft
from validation.verdicts import DURATION, RULE, SEED

# Known problems. Their true errors stand in test_verdict_table.py, beside unscaled runs.


@functools.cache
def scaled(name: str, policy: str) -> Any:
    """The scaled run of a known problem."""
    problem = next(one for one in KNOWN if one.name == name and one.policy.policy == policy)
    return ar.simulate(problem.build(None), DURATION, frames=problem.frames, scaling=problem.policy, seed=SEED, **RULE)


@functools.cache
def verdict(name: str, policy: str) -> Any:
    return scaled(name, policy).fidelity()


@pytest.mark.parametrize(
    ("name", "policy", "expected", "motion"),
    [
        # A steady force hides a torque that grows: what turns is judged, and error-controlled follows it.
        ("turning ball", "constant", "suspect", "ball: rotation"),
        ("turning ball", "error-controlled", "trusted", "ball: rotation"),
        ("hinged arm on a drifting core", "constant", "violated", "arm: rotation about its hinge"),
        ("hinged arm on a drifting core", "error-controlled", "trusted", "arm: rotation about its hinge"),
        # Every tree, and not the slowest alone.
        ("light tree captured", "constant", "suspect", "translation"),
        ("light tree captured", "error-controlled", "trusted", "translation"),
        ("dipole that turns", "constant", "suspect", "ball: rotation"),
        ("torque without a force", "constant", "suspect", "ball: rotation"),
        # What is at rest is not wrong by what integration leaves of its forces.
        ("at rest in a well", "constant", "trusted", "ball: translation"),
        ("at rest in a well", "error-controlled", "trusted", "ball: translation"),
        # What is lost while a force grows is won back while it falls.
        ("swinging force", "constant", "trusted", "ball: translation"),
        ("rotating force", "constant", "trusted", "ball: translation"),
        ("spun up", "constant", "trusted", "ball: rotation"),
        # No control sees what comes.
        ("sudden force", "error-controlled", "suspect", "ball: translation"),
        ("approach", "two-factor", "violated", "ball: translation"),
    ],
)
def test_every_motion_is_judged_and_the_worst_is_named(name: str, policy: str, expected: str, motion: str) -> None:
    found = verdict(name, policy)
    assert found["verdict"] == expected, found["worst"]
    assert motion in found["worst"]["what"] and motion in found["worst"]["words"]
    assert (found["worst"]["since"] is None) == (expected == "trusted")
    if expected != "trusted":
        assert 0.0 <= found["since"] <= DURATION and "since" in found["worst"]["words"]
    assert "every body and joint" in found["covers"]


def test_of_two_trees_the_light_one_is_seen_too() -> None:
    """The heavy ball drifts steadily; the light one falls into what draws it, and is late."""
    motions = {one["what"]: one for one in verdict("light tree captured", "constant")["premises"]["paired"]["motions"]}
    assert set(motions) == {"heavy: translation", "light: translation"}
    assert motions["light: translation"]["time_error"] > 0.01


def in_the_world(run: Any) -> dict[str, np.ndarray]:
    """Paths of all bodies by their poses: where they are, and the components of their axes, whose change is √2 of a
    small angle."""
    poses = [ar.body_poses(run.model, q) for q in run.q]
    x, (w, a, b, c) = np.array([place for place, _ in poses]), np.moveaxis(np.array([e for _, e in poses]), -1, 0)
    columns = [w * w + a * a - b * b - c * c, 2.0 * (a * b + w * c), 2.0 * (a * c - w * b)]
    columns += [2.0 * (a * b - w * c), w * w - a * a + b * b - c * c, 2.0 * (b * c + w * a)]
    columns += [2.0 * (a * c + w * b), 2.0 * (b * c - w * a), w * w - a * a - b * b + c * c]
    axes = np.stack(columns, axis=-1) / math.sqrt(2.0)
    names = run.model.names
    return {f"{name}: translation": x[:, k] for k, name in enumerate(names)} | {
        f"{name}: rotation": axes[:, k] for k, name in enumerate(names)
    }


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("turning ball", "constant"),
        ("turning ball", "error-controlled"),
        ("hinged arm on a drifting core", "constant"),
        ("hinged arm on a drifting core", "error-controlled"),
        ("light tree captured", "constant"),
        ("dipole that turns", "constant"),
        ("torque without a force", "constant"),
        ("spun up", "constant"),
    ],
)
def test_the_poses_of_all_bodies_say_what_the_verdict_says(name: str, policy: str) -> None:
    """By no word of what judges: of a moment's pose, the nearest that the true path has, in time and place together,
    averaged over a twentieth of the run. Rotations of less than 0.05 rad count as those of so many."""
    run = scaled(name, policy)
    true = ar.simulate(run.model, DURATION, frames=1000, **RULE)
    ours, theirs, width = in_the_world(run), in_the_world(true), len(run.times) // 20
    errors = {}
    for motion, path in theirs.items():
        reach = np.linalg.norm(path - path[0], axis=1).max()
        least = 0.05 if "rotation" in motion else 1e-4
        if reach < 1e-4:
            continue
        away = np.linalg.norm(ours[motion][:, None] - path, axis=2) / max(reach, least)
        nearest = (np.abs(run.times[:, None] - true.times) / DURATION + away).min(axis=1)
        errors[motion] = np.convolve(nearest, np.ones(width) / width, "valid").max()
    found = verdict(name, policy)
    assert (max(errors.values()) < TOLERANCE) == (found["verdict"] == "trusted"), errors


# Time and place


@pytest.mark.slow
def test_a_run_that_is_late_by_little_is_far_off_where_it_is_fast_and_is_judged_by_what_was_asked() -> None:
    run = scaled("approach", "constant")
    by_time, by_place = run.fidelity(), run.fidelity(error="position")
    assert (by_time["error"], by_place["error"]) == ("time", "position")
    assert by_time["verdict"] == "trusted" and by_place["verdict"] == "violated"
    for found in (by_time, by_place):
        assert 0.01 < found["worst"]["time_error"] < 0.02 < 0.1 < found["worst"]["position_error"]
    assert re.search(r"off by \d.*% of its range", by_place["worst"]["words"]) and "late" in by_time["worst"]["words"]
    assert "the times at which positions are reached" in by_time["covers"] and "the positions" in by_place["covers"]


# In memory


def test_the_words_in_memory_are_those_of_a_run() -> None:
    found = verdict("turning ball", "constant")
    assert {"verdict", "broken", "since", "worst", "covers", "premises", "cost", "tolerance", "error"} <= set(found)
    assert found["broken"] and set(found["broken"]) <= set(found["premises"])
    assert {"lag", "drift", "paired", "clock", "kinetic", "configuration"} <= set(found["premises"])
    assert found["cost"]["paired_evaluations"] <= found["cost"]["paired_budget"]
    run = scaled("turning ball", "constant")
    assert run.fidelity(tolerance="20 %")["verdict"] == "trusted"
    assert run.fidelity(tolerance=0.001)["verdict"] == "violated"
    unpaid = run.fidelity(budget=0.0)
    assert unpaid["premises"]["paired"]["verdict"] is None and unpaid["premises"]["paired"]["evaluations"] == 0
    assert "budget is 0" in unpaid["premises"]["paired"]["reason"]


def test_the_tolerance_is_that_of_the_policy_unless_another_is_given() -> None:
    assert verdict("turning ball", "error-controlled")["tolerance"] == 0.02
    assert scaled("turning ball", "error-controlled").fidelity(tolerance=0.005)["verdict"] != "trusted"


def test_what_was_not_scaled_has_no_verdict() -> None:
    problem = KNOWN[0]
    assert ar.simulate(problem.build(None), 0.01, frames=2, **RULE).fidelity() is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"tolerance": -0.1}, "tolerance"),
        ({"tolerance": math.nan}, "tolerance"),
        ({"tolerance": "2 nm"}, "tolerance"),
        ({"tolerance": 0.0}, "tolerance must be positive, got 0.0"),
        ({"tolerance": True}, "tolerance"),
        ({"budget": None}, "budget"),
        ({"budget": -1.0}, "budget"),
        ({"budget": math.inf}, "budget"),
        ({"error": "place"}, "error must be 'time' or 'position'"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(CaseError, match=said):
        scaled("turning ball", "constant").fidelity(**arguments)


# The lag


def driven(force: float, swing: float, rate: float, a2: float, frames: int) -> Any:
    """The record of a ball under a force a + b cos(ωt), which depends on time alone."""
    draft = _Draft()
    draft.body("ball", 2e-4, joint=ar.Xyz())
    draft.rows.append(row(0, "swing", force, swing, rate, 0.0))
    run = ar.simulate(draft.model(), DURATION, frames=frames, scaling=scaling.Constant(a2=a2), **RULE)
    return record_in_memory(run, run.memory, Settings(0.02, "time", 0.0))


def test_the_lag_of_a_force_that_swings_is_signed() -> None:
    """(1/a2 − 1) τ ∫ du/u between two moments is the logarithm of the quotient of their speeds, and after each period
    nothing is left of it, however many there were."""
    periods, a2, tau = 10, 0.05, 2e-4
    record = driven(1.0, 0.5, 2.0 * math.pi * periods, a2, 400)
    lost = lost_by_inertia(record)
    assert isinstance(lost, Lost)
    along = lag_along(record, lost)
    assert along is not None
    # The speed swings by less than the force, and later; where it is below its mean pace, ways count over that.
    behind = 2.0 * math.pi * periods * tau / a2
    swing = 0.5 / math.hypot(1.0, behind)
    amplitude = (1.0 / a2 - 1.0) * tau * (math.log(1.0 + swing) + 0.5 * (1.0 - (1.0 - swing) ** 2))
    # Sums over 40 frames in a period err by the square of the phase between two of them.
    phase = 2.0 * math.pi / 40.0
    settled = along.delay[81:].reshape(-1, 40)
    np.testing.assert_allclose(np.ptp(settled, axis=1), amplitude, rtol=phase**2)
    assert np.ptp(settled[:, 0]) < phase**2 * amplitude, "nothing is left of it after a period"
    assert along.error < 0.02


def test_what_inertia_costs_is_momentum_over_drag() -> None:
    """ζ⁻¹ M Δu of a ball is τ Δu, and 1/a2 of that in the run."""
    record = driven(1.0, 0.5, 20.0, 0.05, 100)
    lost = lost_by_inertia(record)
    assert isinstance(lost, Lost)
    np.testing.assert_allclose(lost.unscaled[1:], 2e-4 * np.diff(record.u, axis=0), rtol=1e-12)
    np.testing.assert_allclose(lost.scaled, lost.unscaled / 0.05, rtol=1e-12)


def test_factors_that_differ_leave_nothing_to_tell_a_lag_by() -> None:
    draft = _Draft()
    draft.body("ball", 2e-4, joint=ar.Xyz())
    draft.rows.append(row(0, "steady", 1.0))
    run = ar.simulate(draft.model(), 0.2, frames=50, scaling=scaling.TwoFactor(a2=0.1, b2=0.5), **RULE)
    found = run.fidelity()
    assert found["premises"]["lag"]["verdict"] == "inconclusive"
    assert "different factors" in found["premises"]["lag"]["reason"]
    assert found["verdict"] == "violated" and "drift" in found["broken"]


# Heat


def thermal(drift: float, frames: int = 12000) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Observables of a ball of mass 1 with thermal speeds at kT = 1 and a drift, and its temperatures without it."""
    draft = _Draft()
    draft.body("ball", 1.0, joint=ar.Xyz())
    model = draft.model()
    u = np.random.default_rng(11).normal(size=(frames, 3))
    u[:, 0] += drift
    energy = 0.5 * (u**2).sum(axis=1)
    look = {"time": np.linspace(0.0, 1.0, frames), "temperature_kinetic": energy / 1.5}
    return look, thermal_temperatures(
        model, look["time"], np.zeros((frames, 3)), u, energy, look["temperature_kinetic"]
    )


def test_the_mean_drift_is_no_heat() -> None:
    """½ m u² of the drift was once counted: at u² = 2.43 kT/m the speeds have 1.81 times the energy of their heat."""
    look, without = thermal(math.sqrt(3.0 * 0.81))
    assert without is not None and without.size == look["time"].size - int(SETTLED * look["time"].size)
    found = kinetic(look, 1.0, without)
    # √(2/3n) of n values of a mean of three squares, at three standard deviations.
    known = 3.0 * math.sqrt(2.0 / (3.0 * without.size))
    assert found["over_target"] == pytest.approx(1.0, abs=known)
    assert found["with_drift"] == pytest.approx(1.81, abs=3.0 * known)
    assert found["verdict"] == "trusted"
    assert kinetic(look, 1.0)["verdict"] == "suspect"


def test_a_mean_over_a_part_gives_back_the_heat_that_it_takes() -> None:
    """A mean of n speeds has 1/n of their heat, 10 % of it here."""
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        draft = _Draft()
        draft.body("ball", 1.0, joint=ar.Xyz())
        frames = 134
        u = rng.normal(size=(frames, 3))
        energy = 0.5 * (u**2).sum(axis=1)
        found = thermal_temperatures(draft.model(), np.arange(frames), np.zeros((frames, 3)), u, energy, energy / 1.5)
        assert found is not None
        ratios.append(found.mean())
    # 40 runs of about 100 settled frames with three squares each.
    assert np.mean(ratios) == pytest.approx(1.0, abs=3.0 * math.sqrt(2.0 / (3.0 * 40 * 100)))
    assert (134 - int(SETTLED * 134)) // PARTS == 10


def test_a_noisy_drift_under_a_steady_force_is_not_called_hot() -> None:
    found = verdict("noise that drifts", "constant")
    heat = found["premises"]["kinetic"]
    # The drift has ½ m u² = ½ 2e-4 3², 1/a2 of that counts, over 3/2 kT = 0.03.
    assert heat["with_drift"] - heat["over_target"] == pytest.approx(0.5 * 2e-4 * 9.0 / 0.05 / 0.03, rel=0.5)
    assert found["verdict"] == "trusted" and heat["verdict"] != "suspect"


@pytest.mark.parametrize("rate", [0.0, 2.0, -2.0, 20.0])
def test_speeds_are_thermalised_late_where_masses_change(rate: float) -> None:
    """c' = (2 a2/τ) (1 − c) + c (ln a2)', by a solver, for a2 that grows or falls exponentially."""
    tau, times = 0.02, np.linspace(0.0, 1.0, 2001)
    factor = 0.1 * np.exp(rate * (times - 0.5)) if rate < 10.0 else 0.1 * (1.0 + 0.5 * np.sin(rate * times))
    slope = np.gradient(np.log(factor), times)

    def change(t: float, c: np.ndarray) -> np.ndarray:
        a2, grows = np.interp(t, times, factor), np.interp(t, times, slope)
        return 2.0 * a2 / tau * (1.0 - c) + c * grows

    true = solve_ivp(change, (0.0, 1.0), [1.0], t_eval=times, rtol=1e-9, atol=1e-12, max_step=1e-3).y[0]
    expected = float(true[int(SETTLED * times.size) :].mean())
    # Between frames a2 has its mean, which errs by the square of its change.
    assert behind_its_mass(times, factor, tau) == pytest.approx(expected, abs=1e-5)
    assert (rate == 0.0) == (abs(expected - 1.0) < 1e-3)


# Averages


def test_what_would_decide_and_what_it_costs_is_said_where_noise_cannot_be_paid_for() -> None:
    found = scaled("noise in a well", "constant").fidelity(budget=1e-9)
    assert found["verdict"] == "trusted", "small models are always allowed some"
    assert Bounds().verdict(found["premises"]["paired"]["relative_error"]) == "trusted"
    assert "on the noise of this seed" in found["covers"]


@pytest.mark.slow
def test_averages_decide_where_paths_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a tolerance that is the error itself, and a budget for no better path than tells so much."""
    problem = next(one for one in KNOWN if one.name == "noise in a well")
    run = ar.simulate(problem.build(None), 2.0, frames=400, scaling=problem.policy, seed=SEED, **RULE)
    told = run.fidelity()["premises"]["paired"]
    assert told["verdict"] == "trusted"
    monkeypatch.setattr(unscaled, "LEAST_EVALUATIONS", told["evaluations"] // unscaled.COMPILED + 1)
    found = run.fidelity(tolerance=told["relative_error"], budget=1e-9)
    assert found["premises"]["paired"]["verdict"] == "inconclusive"
    means = found["premises"]["averages"]
    assert means["verdict"] == found["verdict"] == "trusted"
    assert means["relative_error"] + means["half_width"] < HEAT.trusted
    assert found["basis"] == "the premise of averages alone"
