"""A run is written into a folder, and goes on, in memory and in its folder, to the bits of an unbroken one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon.cases import Case
from articulon.cli import app
from articulon.simulation import case_run as running
from articulon.simulation import memory_progress
from articulon.simulation.loop import FolderRecorder
from tests.support.run_cases import BALL, CHAIN, Shown, bits, case_of

IMPLICIT: dict[str, Any] = {"rule": "friction-implicit", "step": 0.005, "frames": 4}
SHORT = {"run.duration": "0.1 us", "run.frames": 4, "integrator": {"rule": "friction-implicit", "step": "0.005 us"}}


def model_of(tmp_path: Path) -> Any:
    return case_of(tmp_path, CHAIN).build_model()


# Into a folder


@pytest.mark.slow
def test_a_saved_run_is_the_run_that_its_case_gives(tmp_path: Path) -> None:
    run = ar.simulate(model_of(tmp_path), 0.1, seed=3, **IMPLICIT)
    saved = run.save(tmp_path / "saved")
    made = {path.name for path in saved.iterdir()}
    assert made == {"case.toml", "trajectory.h5", "topology.pdb", "checkpoint.npz", "summary.json", "report.html"}
    assert "<svg" in (saved / "report.html").read_text()
    again = ar.run(saved / "case.toml", tmp_path / "again", report=False)
    assert bits(saved) == bits(tmp_path / "again")
    opened = ar.open_run(saved)
    assert np.array_equal(opened.q, run.q) and opened.summary["steps"] == run.summary["steps"]
    assert opened.summary["digest"] == Case.read(saved / "case.toml").digest() == again.summary["digest"]


@pytest.mark.slow
def test_a_run_that_was_interrupted_goes_on_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(tmp_path)
    whole = ar.simulate(model, 0.1, **IMPLICIT)
    with monkeypatch.context() as patch:
        patch.setattr(
            memory_progress.Interruption, "requested", property(lambda self: True, lambda *_: None), raising=False
        )
        with pytest.raises(KeyboardInterrupt) as caught:
            ar.simulate(model, 0.1, **IMPLICIT)
    part = caught.value.run  # type: ignore[attr-defined]
    assert part.times.tolist() == [0.0] and not part.complete
    folder = part.save(tmp_path / "saved")
    run = ar.open_run(folder)
    assert run.summary["status"] == "interrupted" and not run.complete
    with pytest.raises(
        ar.ArticulonError, match=r"extend: the run was interrupted before its end; call run\.extend\(\) first"
    ):
        run.extend(0.1)
    run.extend()
    assert run.complete and np.array_equal(run.q, whole.q)


@pytest.mark.slow
def test_what_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)), u=1.0)
    plain = ar.simulate(builder.build(), 1.0, frames=2)
    builder.add_force(ar.forces.JointActuation(function=lambda time, q, u, parameters, tau: None))
    run = ar.simulate(builder.build(), 1.0, frames=2)
    with pytest.raises(ar.CaseError, match=r"cannot be written into a case file: forces\[0\]\.function is a Python"):
        run.save(tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert "cannot be written into a case file" in run.report(tmp_path / "report.html").read_text()
    plain.save(tmp_path / "run")
    with pytest.raises(ar.ArticulonError, match="holds another run"):
        plain.save(tmp_path / "run")
    with pytest.raises(ar.ArticulonError, match="is already in a folder"):
        ar.open_run(tmp_path / "run").save(tmp_path / "other")
    uneven = ar.simulate(builder.build(), 1.0, frames=2).extend(1.0, frames=5)
    with pytest.raises(ar.CaseError):
        uneven.save(tmp_path / "uneven")
    with pytest.raises(ar.ArticulonError, match="are not equally spaced"):
        plain.extend(1.0, frames=5).save(tmp_path / "uneven")


# Going on


@pytest.mark.slow
def test_a_run_in_memory_holds_all_frames_when_it_has_gone_on(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    whole = ar.simulate(model, 0.3, seed=3, **{**IMPLICIT, "frames": 12})
    run = ar.simulate(model, 0.1, seed=3, **IMPLICIT)
    first = run.q.copy()
    assert run.extend("100 ns") is run and run.extend(0.1) is run
    assert np.array_equal(run.q, whole.q) and np.array_equal(run.q[:5], first)
    assert run.times.tolist() == whole.times.tolist()
    for name, values in whole.observables.items():
        assert np.array_equal(values, run.observables[name], equal_nan=True), name
    assert run.summary["steps"] == whole.summary["steps"] and run.summary["duration"] == 0.3
    run.save(tmp_path / "parts")
    whole.save(tmp_path / "whole")
    assert bits(tmp_path / "parts") == bits(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("scaled", [False, True])
def test_a_run_in_a_folder_is_extended_to_the_bits_of_a_longer_one(tmp_path: Path, scaled: bool) -> None:
    changes = {**SHORT, **({"scaling": {"policy": "threshold-adaptive", "a2": 0.1}} if scaled else {})}
    case = case_of(tmp_path, CHAIN, changes)
    run = ar.run(case, tmp_path / "run", report=False)
    before = run.q.copy()
    assert run.extend("0.2 us") is run
    longer = case.with_overrides({"run.duration": "0.3 us", "run.frames": 12})
    whole = ar.run(longer, tmp_path / "whole", report=False)
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")
    assert np.array_equal(run.q[:5], before) and run.times.size == 13 and run.complete
    assert run.summary["duration"] == 0.3 and Case.read(tmp_path / "run" / "case.toml").run.frames == 12
    assert (tmp_path / "run" / "report.html").is_file()
    assert whole.summary["steps"] == run.summary["steps"]


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["trajectory", "checkpoint", "case"])
def test_an_extension_that_was_killed_is_made_again(
    tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of(tmp_path, CHAIN, SHORT)
    ar.run(case, tmp_path / "run", report=False)

    def killed(*arguments: Any, **options: Any) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        if stage == "trajectory":
            patch.setattr(FolderRecorder, "__init__", killed)
        elif stage == "checkpoint":
            patch.setattr(FolderRecorder, "checkpoint", killed)
        else:
            patch.setattr(running, "write_text", killed)
        with pytest.raises(SystemExit):
            ar.open_run(tmp_path / "run").extend("0.1 us")
    run = ar.open_run(tmp_path / "run")
    assert run.case.run.frames == 4
    run.extend("0.1 us")
    ar.run(case.with_overrides({"run.duration": "0.2 us", "run.frames": 8}), tmp_path / "whole", report=False)
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")


def test_an_extension_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    run = ar.run(case_of(tmp_path, CHAIN, SHORT), tmp_path / "run", report=False)
    held = bits(tmp_path / "run")
    for arguments, said in (
        ((0.03,), r"extend: duration: 0\.03 us is not a whole number of the 0\.025 us between frames; take 0\.025 us"),
        ((), "extend: duration: the run is complete; give the additional time"),
        (("3 nm",), "extend: duration: expected a time"),
        ((-1.0,), "extend: duration must be positive"),
    ):
        with pytest.raises(ar.CaseError, match=said):
            run.extend(*arguments)
    with pytest.raises(ar.CaseError, match="extend: frames: a run in a folder"):
        run.extend(0.1, frames=3)
    assert bits(tmp_path / "run") == held and run.times.size == 5
    # A case whose file says another length is no continuation by itself.
    longer = case_of(tmp_path, CHAIN, {**SHORT, "run.duration": "0.2 us", "run.frames": 8})
    with pytest.raises(ar.CaseError, match=r"holds another run: run\.duration, run\.frames differ"):
        ar.run(replace(longer, changes={}), tmp_path / "run", resume=True)


# What is said on the way, and the report


def test_a_progress_is_told_of_a_run_in_memory(tmp_path: Path) -> None:
    told = Shown()
    ar.simulate(model_of(tmp_path), 0.1, progress=told, **IMPLICIT).extend(0.1, progress=told)
    assert told.started == [(0.1, "us", 0.0), (0.2, "us", 0.1)] and told.updates >= 8
    with pytest.raises(ar.CaseError, match="progress: expected True, False, or an object with start"):
        ar.simulate(model_of(tmp_path), 0.1, progress="loud", **IMPLICIT)  # type: ignore[arg-type]


@pytest.mark.slow
def test_run_writes_the_report_and_builds_the_model_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, built = case_of(tmp_path, BALL), []
    build = Case.build_model
    monkeypatch.setattr(Case, "build_model", lambda self, **options: built.append(1) or build(self, **options))
    run = ar.run(case, tmp_path / "run")
    assert "A ball" in (tmp_path / "run" / "report.html").read_text() or (tmp_path / "run" / "report.html").is_file()
    assert run.model.bodies == 1 and len(built) == 1
    assert not (ar.run(case, tmp_path / "bare", report=False).folder / "report.html").exists()


# At the command line


def test_a_longer_duration_extends_a_run_that_has_ended(tmp_path: Path) -> None:
    """As ``--resume --set run.duration=...`` does, once and once more."""
    case_of(tmp_path, CHAIN, SHORT)
    file = tmp_path / "a-case.toml"
    set_by = {"integrator": {"rule": "friction-implicit", "step": "0.005 us"}, "run.frames": 4}
    run = ar.run(file, tmp_path / "run", overrides={**set_by, "run.duration": "0.1 us"}, report=False)
    del set_by["run.frames"]
    options = [
        option
        for key, value in (("integrator.rule", "friction-implicit"), ("integrator.step", "0.005 us"))
        for option in ("--set", f"{key}={value}")
    ]
    for duration in ("0.2 us", "0.3 us"):
        result = CliRunner().invoke(
            app,
            [
                "run",
                str(file),
                "--out",
                str(tmp_path / "run"),
                "--resume",
                *options,
                "--set",
                f"run.duration={duration}",
            ],
        )
        assert result.exit_code == 0, result.output
    run = ar.open_run(tmp_path / "run")
    ar.run(file, tmp_path / "whole", overrides={**set_by, "run.duration": "0.3 us", "run.frames": 12}, report=False)
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")
    assert run.times.size == 13 and run.complete and run.summary["duration"] == 0.3
    again = ar.run(file, tmp_path / "run", True, overrides={**set_by, "run.duration": "0.3 us"}, report=False)
    assert again.times.size == 13  # it has come to its end, and is returned
    for changes, message in (
        ({"run.duration": "0.2 us"}, r"holds a run of 0\.3 us, and run\.duration is 0\.2 us; give a longer duration"),
        ({"run.duration": "0.33 us"}, r"run\.duration: 0\.33 us is not a whole number of the 0\.025 us between frames"),
        (
            {"run.duration": "0.4 us", "run.frames": 4},
            r"run\.frames: the interval between frames must be that of .*or give 16",
        ),
        ({"run.duration": "0.4 us", "run.seed": 7}, r"holds another run: .*run\.seed.* differ"),
    ):
        with pytest.raises(ar.CaseError, match=message):
            ar.run(file, tmp_path / "run", True, overrides={**set_by, **changes}, report=False)


def test_a_run_that_was_killed_goes_on_for_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of(tmp_path, CHAIN, SHORT)
    with monkeypatch.context() as patch:
        patch.setattr(
            running, "advance", lambda recorder, *_: (recorder.frame(), recorder.checkpoint(), "interrupted")[2]
        )
        patch.setattr(FolderRecorder, "frames", property(lambda self: self.writer.frames))
        with pytest.raises(KeyboardInterrupt):
            ar.run(case, tmp_path / "run", report=False)
    longer = ar.run(case, tmp_path / "run", True, overrides={"run.duration": "0.2 us"}, report=False)
    whole = ar.run(case, tmp_path / "whole", overrides={"run.duration": "0.2 us", "run.frames": 8}, report=False)
    np.testing.assert_array_equal(longer.q, whole.q)
