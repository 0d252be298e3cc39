"""Replica exchange in folders: the bits of one in memory however it was broken off, and what it refuses."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.cases.case import Case
from articulon.errors import ArticulonError, CaseError, CheckpointError, DivergenceError
from articulon.runs import exchange_folder, exchange_page
from articulon.runs.exchange_folder import WALKERS
from articulon.runs.exchange_plan import BASE, PLAN
from articulon.simulation import loop
from articulon.simulation.interruption import ask_runs_to_stop
from tests.support.run_cases import case_of

ARM = """
[case]
title = "An arm on springs"
units = "lj"

[[model.bodies]]
name = "upper"
mass = 0.2
inertia = 0.5
joint = "revolute"
axis = [0.0, 0.0, 1.0]

[[model.bodies]]
name = "lower"
parent = "upper"
mass = 2.0
inertia = 0.5
com = [1.0, 0.0, 0.0]
position = [1.0, 0.0, 0.0]
joint = "revolute"
axis = [0.0, 0.0, 1.0]

[[forces]]
kind = "torsional-springs"
stiffness = {upper = 5.0, lower = 1.0}

[[forces]]
kind = "fixman"
temperature = 1.0

[thermostat]
kind = "langevin"
temperature = 1.0
friction = 1.0

[integrator]
rule = "friction-implicit"
drift = "geodesic"
step = 0.1

[run]
duration = 8.0
frames = 16
"""
LADDER: dict[str, Any] = {"every": 1.0, "temperatures": (1.0, 1.5, 2.25), "locked": ((), ("lower",), ())}
RUNS = ["01-1", "02-1.5-lower", "03-2.25"]


def exchanged(case: Case, folder: Path, **changes: Any) -> Any:
    return ar.replica_exchange(case, out=folder, progress=False, **{**LADDER, **changes})


def bits_of(folder: Path) -> list[bytes]:
    """What is promised to be the same however an exchange was broken off."""
    trajectories = [(folder / name / "trajectory.h5").read_bytes() for name in RUNS]
    return [(folder / "checkpoint.npz").read_bytes(), *trajectories, (folder / WALKERS).read_bytes()]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return case_of(tmp_path_factory.mktemp("case"), ARM)


@pytest.fixture(scope="module")
def whole(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An unbroken exchange."""
    return exchanged(case, tmp_path_factory.mktemp("whole") / "arm")


# What is found


def test_runs_in_folders_have_the_bits_of_runs_in_memory(case: Case, whole: Any) -> None:
    how = {"rule": "friction-implicit", "drift": "geodesic", "step": 0.1, "frames": 2, "thermostat": case.thermostat}
    memory = ar.replica_exchange(case.build_model(), 8.0, **LADDER, **how)
    np.testing.assert_array_equal(memory.walkers, whole.walkers)
    np.testing.assert_array_equal(memory.accepted, whole.accepted)
    assert 0 < whole.accepted.sum() < whole.tried.sum() == 8
    for one, other in zip(memory.runs, whole.runs, strict=True):
        np.testing.assert_array_equal(one.q, other.q)
        np.testing.assert_array_equal(one.u, other.u)
        np.testing.assert_array_equal(one.observables["energy_balance"], other.observables["energy_balance"])


def test_every_run_is_one_of_its_own_temperature_with_its_joints_locked(case: Case, whole: Any) -> None:
    assert [run.folder.name for run in whole.runs] == RUNS
    for run, temperature in zip(whole.runs, LADDER["temperatures"], strict=True):
        opened = ar.open_run(run.folder)
        assert opened.case.thermostat.temperature == temperature == opened.case.forces[1].temperature
        assert opened.summary["status"] == "complete" and len(opened.times) == 17
    assert len({run.case.run.seed for run in whole.runs}) == 3
    held = ar.open_run(whole.runs[1].folder)
    assert held.case.adaptive.groups[0].bodies == ("lower",) and not held.u[1:, 1].any()
    # Between exchanges the elbow stands still; it takes the places of others when it exchanges.
    moved = np.abs(np.diff(held.q[:, 1])) > 1e-12
    holder = np.r_[1, whole.walkers[:, 1]]
    np.testing.assert_array_equal(moved[::2], np.r_[False, holder[1:-1] != holder[:-2]])
    assert not moved[1::2].any()


def test_files_say_what_was_exchanged(whole: Any) -> None:
    record = json.loads((whole.folder / PLAN).read_text())
    assert record["temperatures"] == list(whole.temperatures) and record["every"] == 1.0
    assert record["status"] == "complete" and record["exchanges_made"] == record["exchanges"] == 8
    assert record["accepted"] == whole.accepted.tolist() and record["runs"] == RUNS
    with (whole.folder / WALKERS).open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["time", *RUNS]
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 0], np.arange(1.0, 9.0))
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 1:], whole.walkers)


def test_the_page_shows_runs_and_exchanges(whole: Any) -> None:
    text = (whole.folder / "exchange.html").read_text(encoding="utf-8")
    assert "://" not in text and "<script" not in text
    assert all(name in text for name in RUNS) and 'id="walkers"' in text and 'id="energies"' in text
    assert f"{whole.round_trips} round trip" in text
    for k in range(2):
        assert f"{100.0 * whole.accepted[k] / whole.tried[k]:.0f} %" in text


@pytest.mark.parametrize(
    ("accepted", "walkers", "kind", "words"),
    [
        ([50, 1], [[0, 1, 2]], "suspect", "Runs 2 and 3 accept fewer than 5 %"),
        ([50, 60], [[0, 1, 2]], "inconclusive", "Run for longer"),
        ([50, 60], [[0, 1, 2], [1, 2, 0], [0, 1, 2]], "trusted", "1 time."),
        ([50, 60], [[1, 2, 0], [0, 1, 2]], "trusted", "1 time."),
    ],
)
def test_the_page_says_first_whether_runs_mix(accepted: Any, walkers: Any, kind: str, words: str, whole: Any) -> None:
    found = replace(whole, accepted=np.array(accepted), tried=np.array([100, 100]), walkers=np.array(walkers))
    text = exchange_page.callout(found)
    assert f'class="callout {kind}"' in text and words in text


# Broken off


def test_an_exchange_that_is_asked_to_stop_goes_on_to_the_same_bits(
    case: Case, whole: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is: within the time between two exchanges, in any of the runs."""
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    again: dict[str, Any] = {"resume": True}
    stops, taken = 0, loop.advance_a_chunk
    for chunks in (1, 2, 3, 5, 8, 13, 400):
        left = [chunks]

        def counted(*arguments: Any, left: list[int] = left) -> int:
            left[0] -= 1
            if left[0] == 0:
                ask_runs_to_stop()
            return taken(*arguments)

        monkeypatch.setattr(exchange_folder, "advance_a_chunk", counted)
        try:
            exchanged(case, tmp_path / "arm", **again)
        except KeyboardInterrupt:
            stops += 1
            assert json.loads((tmp_path / "arm" / PLAN).read_text())["status"] == "interrupted"
        finally:
            ask_runs_to_stop(False)
    assert stops >= 5
    monkeypatch.setattr(exchange_folder, "advance_a_chunk", taken)
    done = exchanged(case, tmp_path / "arm", **again)
    np.testing.assert_array_equal(done.walkers, whole.walkers)
    assert bits_of(tmp_path / "arm") == bits_of(whole.folder)


@pytest.mark.parametrize("stage", ["plan", "trajectories", "checkpoint", "figures"])
@pytest.mark.parametrize("last", [False, True], ids=["on its way", "at the end"])
def test_an_exchange_that_is_killed_goes_on_to_the_same_bits(
    case: Case, whole: Any, tmp_path: Path, stage: str, last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint after each exchange; it is killed at one of them, on its way through the files."""
    save, attempt, made = (
        exchange_folder._Going.save,
        exchange_folder.Exchanges.attempt,
        exchange_folder._Going.__init__,
    )
    going: list[Any] = []

    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit(9)

    def begun(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        going.append(self)

    def attempted(self: Any, *arguments: Any) -> Any:
        found = attempt(self, *arguments)
        going[0].walkers.append(found)
        going[0].save("running")
        going[0].walkers.pop()
        return found

    def saved(self: Any, status: str) -> None:
        if status == "complete" if last else len(self.walkers) == (0 if stage == "plan" else 3):
            if stage == "plan":
                raise SystemExit(9)
            if stage == "trajectories":
                patch.setattr(exchange_folder, "write_checkpoint", killed)
            elif stage == "checkpoint":
                patch.setattr(exchange_folder.FolderRun, "report", killed)
            else:
                patch.setattr(exchange_folder, "write_text", killed)
        save(self, status)

    with monkeypatch.context() as patch:
        patch.setattr(exchange_folder._Going, "save", saved)
        patch.setattr(exchange_folder._Going, "__init__", begun)
        patch.setattr(exchange_folder.Exchanges, "attempt", attempted)
        with pytest.raises(SystemExit):
            exchanged(case, tmp_path / "arm")
    done = exchanged(case, tmp_path / "arm", resume=True)
    np.testing.assert_array_equal(done.accepted, whole.accepted)
    assert bits_of(tmp_path / "arm") == bits_of(whole.folder)
    record, other = (json.loads((one / PLAN).read_text()) for one in (tmp_path / "arm", whole.folder))
    assert {**record, "wall_seconds": 0.0} == {**other, "wall_seconds": 0.0}
    assert {ar.open_run(tmp_path / "arm" / name).summary["status"] for name in RUNS} == {"complete"}


def test_a_start_that_is_refused_leaves_nothing(case: Case, tmp_path: Path) -> None:
    check = {"kind": "observable", "what": "nothing", "observable": "nothing", "reference": 1.0, "tolerance": 1.0}
    with pytest.raises(CaseError, match="nothing"):
        exchanged(case.with_overrides({"checks": [check]}), tmp_path / "arm")
    assert not (tmp_path / "arm").exists()
    (tmp_path / "other" / RUNS[1]).mkdir(parents=True)
    ar.run(case.with_overrides({"run.duration": 0.5, "run.frames": 1}), tmp_path / "other" / RUNS[1], report=False)
    with pytest.raises(ArticulonError, match="holds another run"):
        exchanged(case, tmp_path / "other")
    assert sorted(one.name for one in (tmp_path / "other").iterdir()) == [RUNS[1]]


def test_an_exchange_goes_on_for_longer(case: Case, whole: Any, tmp_path: Path) -> None:
    short = case.with_overrides({"run.duration": 3.0, "run.frames": 6})
    exchanged(short, tmp_path / "arm")
    longer = short.with_overrides({"run.duration": 8.0})
    done = exchanged(longer, tmp_path / "arm", resume=True)
    np.testing.assert_array_equal(done.walkers, whole.walkers)
    assert bits_of(tmp_path / "arm") == bits_of(whole.folder)
    again = exchanged(case, tmp_path / "arm", resume=True)
    np.testing.assert_array_equal(again.walkers, whole.walkers)
    with pytest.raises(CaseError, match="give a longer duration"):
        exchanged(case.with_overrides({"run.duration": 3.0}), tmp_path / "arm", resume=True)


@pytest.mark.parametrize("stage", ["write_checkpoint", "write_text"])
def test_an_exchange_that_is_killed_as_it_becomes_longer_is_made_longer_again(
    case: Case, whole: Any, tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanged(case.with_overrides({"run.duration": 3.0, "run.frames": 6}), tmp_path / "arm")

    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr(exchange_folder, stage, killed)
        with pytest.raises(SystemExit):
            exchanged(case.with_overrides({"run.duration": 8.0}), tmp_path / "arm", resume=True)
    exchanged(case.with_overrides({"run.duration": 8.0}), tmp_path / "arm", resume=True)
    assert bits_of(tmp_path / "arm") == bits_of(whole.folder)


def test_a_run_that_diverges_is_named_and_says_so(case: Case, tmp_path: Path) -> None:
    text = ARM.replace("stiffness = {upper = 5.0, lower = 1.0}", "stiffness = {upper = 5.0, lower = 1e6}")
    wild = case_of(tmp_path, text.replace('drift = "geodesic"', 'drift = "steady"'))
    with pytest.raises(DivergenceError, match=r"arm/0\d-"):
        exchanged(wild, tmp_path / "arm")
    assert "failed" in {json.loads((tmp_path / "arm" / name / "summary.json").read_text())["status"] for name in RUNS}


# What is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"thermostat": None}, "thermostat: replica exchange needs a thermostat"),
        ({"scaling": {"policy": "constant", "a2": 0.5}}, "scaling: replica exchange: scaled forces"),
        (
            {"run.stop": {"body": "lower", "direction": [1, 0, 0], "advance": 1.0}},
            r"run\.stop: replica exchange: a run that ends early",
        ),
        ({"run.frames": 12}, "is not a whole number of the 0.666666667 τ between frames"),
        ({"run.device": "cuda"}, r"run\.device: replica exchange runs on the CPU"),
    ],
)
def test_what_exchanges_do_not_take_is_refused(
    case: Case, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(CaseError, match=message):
        exchanged(case.with_overrides(changes), tmp_path / "arm")
    assert not (tmp_path / "arm").exists()


def test_what_does_not_go_together_is_refused(case: Case, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"duration: a case has its own; give run\.duration"):
        exchanged(case, tmp_path / "arm", duration=2.0)
    with pytest.raises(CaseError, match="step: a case has its own"):
        exchanged(case, tmp_path / "arm", step=0.1)
    with pytest.raises(CaseError, match="out, resume: the runs of a model are kept in memory"):
        exchanged(case.build_model(), tmp_path / "arm", duration=2.0, thermostat=case.thermostat)
    with pytest.raises(CaseError, match="duration: give the duration"):
        ar.replica_exchange(case.build_model(), thermostat=case.thermostat, **LADDER)
    with pytest.raises(CaseError, match=r"locked\[1\]: there is no body 'elbow'"):
        exchanged(case, tmp_path / "arm", locked=((), ("elbow",), ()))
    assert not (tmp_path / "arm").exists()


def test_folders_of_others_are_left_alone(case: Case, whole: Any, tmp_path: Path) -> None:
    held = shutil.copytree(whole.folder, tmp_path / "arm")
    with pytest.raises(ArticulonError, match=r"holds another replica exchange \(exchange.json\); continue it"):
        exchanged(case, held)
    for changes, what in (
        ({"temperatures": (1.0, 1.5, 2.0)}, "temperatures"),
        ({"locked": None}, "locked"),
        ({"every": 2.0}, "every"),
        ({"seed": 7}, "seed"),
    ):
        with pytest.raises(ArticulonError, match=f"holds another replica exchange: {what}"):
            exchanged(case, held, resume=True, **changes)
    with pytest.raises(ArticulonError, match=r"another replica exchange: integrator\.step differ"):
        exchanged(case.with_overrides({"integrator.step": 0.05}), held, resume=True)
    with pytest.raises(ArticulonError, match="holds a run"):
        exchanged(case, held / RUNS[0])
    with pytest.raises(ArticulonError, match="holds another run"):
        ar.run(case, held / RUNS[0], report=False)
    assert bits_of(held) == bits_of(whole.folder)


def test_a_lost_or_damaged_file_is_named(case: Case, whole: Any, tmp_path: Path) -> None:
    held = shutil.copytree(whole.folder, tmp_path / "arm")
    for name in ("checkpoint.npz", "checkpoint_prev.npz"):
        (held / name).unlink()
    with pytest.raises(CheckpointError, match="holds 17 frames, and there is no checkpoint to continue from"):
        exchanged(case, held, resume=True)
    held = shutil.copytree(whole.folder, tmp_path / "other")
    (held / PLAN).write_text("{")
    with pytest.raises(ArticulonError, match=r"exchange\.json: is damaged"):
        exchanged(case, held, resume=True)
    (held / PLAN).unlink()
    with pytest.raises(CheckpointError, match="belongs to another exchange than the cases of its runs"):
        exchanged(case, held, resume=True, seed=3)
    for name in (PLAN, BASE):
        (held / name).unlink()
    exchanged(case, held, resume=True)
    assert bits_of(held) == bits_of(whole.folder)
    free: dict[str, Any] = {"locked": None, "temperatures": (1.0, 1.5)}
    exchanged(case, tmp_path / "free", **free)
    (tmp_path / "free" / PLAN).unlink()
    with pytest.raises(CheckpointError, match="its record of exchanges"):
        exchanged(case, tmp_path / "free", resume=True, every=2.0, **free)


# The command


def test_the_command_exchanges_and_goes_on(case: Case, whole: Any, tmp_path: Path) -> None:
    (tmp_path / "arm.toml").write_text(ARM)
    options = ["--every", "1", "--temperatures", "1.0,1.5, 2.25", "--locked", "nothing", "--locked", "lower"]
    options += ["--locked", "nothing", "--out", str(tmp_path / "arm")]
    result = CliRunner().invoke(cli.app, ["exchange", str(tmp_path / "arm.toml"), *options])
    assert result.exit_code == 0, result.output
    for k in range(2):
        assert f"{100.0 * whole.acceptance[k]:.0f} % of {whole.tried[k]}" in result.output
    assert "page" in result.output and (tmp_path / "arm" / "exchange.html").is_file()
    assert bits_of(tmp_path / "arm") == bits_of(whole.folder)
    result = CliRunner().invoke(cli.app, ["exchange", str(tmp_path / "arm.toml"), *options])
    assert result.exit_code == 2 and "continue it (--resume)" in result.output
    result = CliRunner().invoke(cli.app, ["exchange", str(tmp_path / "arm.toml"), *options, "--resume"])
    assert result.exit_code == 0 and "there is nothing to do" in result.output
