"""Integration rules of every family in a case: from its file to its end, and broken off on the way."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import articulon as ar
from articulon.simulation import loop
from tests.support.run_cases import CHAIN, Shown, bits, case_of

QUIET: dict[str, Any] = {"forces.brownian": False, "run.duration": 0.1, "run.frames": 10}
FAMILIES: dict[str, dict[str, Any]] = {
    "dormand-prince": {"rtol": 1e-6},
    "rk4": {"step": 3e-4},
    "adams-bashforth-moulton": {"step": 3e-4},
    "implicit-midpoint": {"step": 3e-4},
    "scipy-radau": {"rtol": 1e-6, "atol": 1e-9},
}


def case(folder: Path, rule: str, **others: Any) -> Any:
    return case_of(folder, CHAIN, {**QUIET, "integrator": {"rule": rule, **FAMILIES.get(rule, {}), **others}})


@pytest.mark.slow
@pytest.mark.parametrize("rule", FAMILIES)
def test_a_run_by_any_rule_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch: Any, rule: str) -> None:
    made = case(tmp_path, rule)
    whole = ar.run(made, tmp_path / "unbroken", report=False)
    assert whole.summary["status"] == "complete"
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    broken = tmp_path / "broken"
    for part, at in enumerate([2, 5, 1]):
        interrupt = Shown(at, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt, match="resume"):
            ar.run(made, broken, resume=part > 0, progress=interrupt, report=False)
    ar.run(made, broken, resume=True, report=False)
    assert bits(broken) == bits(tmp_path / "unbroken")


@pytest.mark.slow
def test_an_overdamped_run_with_noise_goes_on_to_the_same_bits_on_any_number_of_threads(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """With Fixman's potential; kinetic energy there is none, so that works add up to nothing."""
    changes: dict[str, Any] = {
        "integrator": {"rule": "overdamped", "step": 1e-3},
        "forces.brownian": {"temperature": 300.0},
        "forces.fixman": {"temperature": 300.0},
        "run.threads": 2,
    }
    whole = ar.run(case_of(tmp_path, CHAIN, {**QUIET, **changes}), tmp_path / "unbroken", report=False)
    assert whole.summary["steps"] == 100
    assert whole.summary["evaluations"] == 200
    assert whole.summary["energy_balance_error_relative"] < 1e-12
    assert not whole.observables["kinetic_energy"].any()
    assert (whole.positions[-1] != whole.positions[0]).all()
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    broken, made = tmp_path / "broken", case_of(tmp_path, CHAIN, {**QUIET, **changes, "run.threads": 1})
    interrupt = Shown(5, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt, match="resume"):
        ar.run(made, broken, progress=interrupt, report=False)
    resumed = ar.run(made, broken, resume=True, report=False)
    assert (resumed.positions[-1] == whole.positions[-1]).all()
    assert (resumed.observables["work_stochastic"] == whole.observables["work_stochastic"]).all()


def test_a_resolved_case_with_fixed_steps_reads_back(tmp_path: Path) -> None:
    """What a rule without an error estimate does not use is not written, so that it is not refused when read."""
    for rule in FAMILIES:
        made = case(tmp_path, rule)
        file = tmp_path / "resolved.toml"
        file.write_text(made.to_toml(), encoding="utf-8")
        assert ar.load_case(file).integrator == made.integrator


@pytest.mark.slow
def test_equal_steps_fill_the_time_between_frames(tmp_path: Path) -> None:
    run = ar.run(case(tmp_path, "verlet", step=0.0007), tmp_path / "run", report=False)
    assert run.summary["steps"] == 10 * 15
    assert any("integrator.step: 0.0007" in note and "shortened" in note for note in run.summary["notes"])


REFUSED = {
    "noise": ({"integrator": {"rule": "verlet", "step": 1e-3}, "forces.brownian": {"temperature": 300.0}}, "Brownian"),
    "tolerance": (
        {"integrator": {"rule": "verlet", "step": 1e-3, "rtol": 1e-3}},
        "integrator.rtol: controls the steps",
    ),
    "rounding": ({"integrator": {"rule": "scipy-bdf", "rtol": 1e-15}}, "rtol 1e-15 is below the rounding error"),
    "bare": (
        {"integrator": {"rule": "overdamped", "step": 1e-3}, "forces.stokes-drag.bodies": ["core", "arm"]},
        "body 'hand' has no translational drag",
    ),
    "window": (
        {"integrator": {"rule": "overdamped", "step": 1e-3}, "forces.brownian": {"temperature": 300.0, "window": 1e-4}},
        "the overdamped integrator holds the noise for one step",
    ),
    "step": ({"integrator": {"rule": "scipy-bdf", "step": 1e-3}}, "integrator.step: this rule chooses its own steps"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_rule_cannot_do_is_refused_by_file_and_key(tmp_path: Path, what: str) -> None:
    overrides, message = REFUSED[what]
    with pytest.raises(ar.ArticulonError) as caught:
        ar.run(case_of(tmp_path, CHAIN, {**QUIET, **overrides}), tmp_path / "run", report=False)
    assert message in str(caught.value)
