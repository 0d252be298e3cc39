"""A run that was broken off goes on to the same bits, and nothing that it wrote is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError, CaseError, CheckpointError
from articulon.simulation import loop
from articulon.storage import trajectory
from articulon.storage.checkpoint import NEWEST, PREVIOUS, read_checkpoint
from tests.support.run_cases import CHAIN, Shown, bits, case_of, goes_on_after_kills, universe

OFTEN = {"run.checkpoint_interval": 1e-3, "run.duration": 0.25}


def interrupt(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture
def step_by_step(monkeypatch):
    """Python has control after every step."""
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)


def timeless(figures: dict) -> dict:
    """A summary without what the clock says."""
    return {
        key: timeless(value) if isinstance(value, dict) else value
        for key, value in figures.items()
        if key != "cost" and not key.endswith("wall_seconds")
    }


@pytest.mark.slow
@pytest.mark.parametrize("variant", [None, "constant", "threshold", "implicit"])
def test_chunks_interruptions_and_resumptions_leave_the_bits(tmp_path, monkeypatch, variant):
    case = case_of(tmp_path, CHAIN, variant=variant)
    ar.run(case, tmp_path / "unbroken", report=False)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    broken = tmp_path / "broken"
    handler = signal.getsignal(signal.SIGINT)
    for part, (at, number) in enumerate([(3, signal.SIGINT), (40, signal.SIGTERM), (1, signal.SIGINT)]):
        with pytest.raises(KeyboardInterrupt, match="resume"):
            ar.run(
                case, broken, resume=part > 0, progress=Shown(at, lambda number=number: interrupt(number)), report=False
            )
        figures = ar.open_run(broken).summary
        assert figures["status"] == "interrupted"
        assert figures["simulated_time"] == read_checkpoint(broken)[0]["state_time"][0] > 0.0
    assert signal.getsignal(signal.SIGINT) is handler
    done = ar.run(case, broken, resume=True, report=False)
    assert done.summary["status"] == "complete"
    assert bits(broken) == bits(tmp_path / "unbroken")
    whole = ar.open_run(tmp_path / "unbroken").summary
    assert timeless(done.summary) == timeless(whole)


@pytest.mark.slow
def test_an_ended_run_is_returned_at_once(tmp_path):
    case = case_of(tmp_path, CHAIN)
    first = ar.run(case, tmp_path / "run", report=False)
    before, shown = bits(tmp_path / "run"), Shown()
    again = ar.run(case, tmp_path / "run", resume=True, progress=shown, report=False)
    assert "already ended" in shown.messages[-1]
    assert shown.updates == 0
    assert again.summary["steps"] == first.summary["steps"]
    assert bits(tmp_path / "run") == before


@pytest.mark.slow
def test_twenty_killed_runs_open_and_go_on_to_the_same_bits(tmp_path):
    text = CHAIN.replace("duration = 1.0", "duration = 10.0\ncheckpoint_interval = 0.005")

    def opens(folder: Path) -> None:
        if (folder / "trajectory.h5").exists():
            opened = universe(folder)
            assert opened.trajectory.n_frames >= 1
            opened.trajectory.close()

    goes_on_after_kills(tmp_path, text, np.random.default_rng(20).uniform(0.0, 0.3, 20), opens)


@pytest.mark.slow
def test_a_run_killed_before_its_first_checkpoint_begins_again(tmp_path):
    case = case_of(tmp_path, CHAIN)
    ar.run(case, tmp_path / "unbroken", report=False)
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "case.toml").write_text(case.to_toml(), encoding="utf-8")
    shown = Shown()
    ar.run(case, folder, resume=True, progress=shown, report=False)
    assert "has no checkpoint yet: it restarts" in shown.messages[-1]
    assert bits(folder) == bits(tmp_path / "unbroken")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before_and_ends_with_the_same_bits(tmp_path, step_by_step, damage):
    case = case_of(tmp_path, CHAIN, OFTEN)
    ar.run(case, tmp_path / "unbroken", report=False)
    folder = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        ar.run(case, folder, progress=Shown(20, interrupt), report=False)
    content = (folder / NEWEST).read_bytes()
    if damage == "missing":
        (folder / NEWEST).unlink()
    else:
        # Behind the header of the coordinates, for not every byte of an archive means something.
        place = content.index(b"\x93NUMPY", content.index(b"state_q.npy")) + 128
        rest = b"" if damage == "truncated" else bytes([content[place] ^ 1]) + content[place + 1 :]
        (folder / NEWEST).write_bytes(content[:place] + rest)
    shown = Shown()
    done = ar.run(case, folder, resume=True, progress=shown, report=False)
    assert PREVIOUS in shown.messages[0]
    assert any(PREVIOUS in note for note in done.summary["notes"])
    assert bits(folder) == bits(tmp_path / "unbroken")


@pytest.mark.slow
def test_without_any_whole_checkpoint_the_run_says_so_and_writes_nothing(tmp_path):
    case = case_of(tmp_path, CHAIN)
    ar.run(case, tmp_path / "run", report=False)
    for name in (NEWEST, PREVIOUS):
        (tmp_path / "run" / name).write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match=f"{NEWEST}.*{PREVIOUS}"):
        ar.run(case, tmp_path / "run", resume=True, report=False)


@pytest.mark.slow
def test_a_folder_that_holds_another_run_is_refused(tmp_path):
    case = case_of(tmp_path, CHAIN)
    ar.run(case, tmp_path / "run", report=False)
    before = bits(tmp_path / "run")
    with pytest.raises(ArticulonError, match=r"run holds another run \(case\.toml\)"):
        ar.run(case, tmp_path / "run", report=False)
    with pytest.raises(CaseError, match=r"run\.seed differ"):
        ar.run(case, tmp_path / "run", resume=True, overrides={"run.seed": 2}, report=False)
    assert bits(tmp_path / "run") == before


@pytest.mark.slow
def test_a_run_begins_where_there_is_nothing_to_resume_and_says_so(tmp_path):
    """So that one command serves a job that is started again and again."""
    case, shown = case_of(tmp_path, CHAIN), Shown()
    ar.run(case, tmp_path / "whole", report=False)
    begun = ar.run(case, tmp_path / "job" / "run", resume=True, progress=shown, report=False)
    assert begun.summary["status"] == "complete"
    assert "nothing to resume" in shown.messages[0] and "starts from t = 0" in shown.messages[0]
    assert bits(tmp_path / "job" / "run") == bits(tmp_path / "whole")


@pytest.mark.slow
def test_a_checkpoint_of_another_case_is_refused(tmp_path):
    case = case_of(tmp_path, CHAIN)
    ar.run(case, tmp_path / "one", report=False)
    ar.run(case, tmp_path / "two", overrides={"run.seed": 2}, report=False)
    (tmp_path / "one" / NEWEST).write_bytes((tmp_path / "two" / NEWEST).read_bytes())
    with pytest.raises(CheckpointError, match="belongs to another case"):
        ar.run(case, tmp_path / "one", resume=True, report=False)


@pytest.mark.slow
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(tmp_path, monkeypatch):
    case = case_of(tmp_path, CHAIN, {"run.frames": 400})
    ar.run(case, tmp_path / "unbroken", report=False)
    folder, usage = tmp_path / "broken", trajectory.disk_usage(tmp_path)
    size = (tmp_path / "unbroken" / "trajectory.h5").stat().st_size

    def fill() -> None:
        monkeypatch.setattr(trajectory, "disk_usage", lambda _: usage._replace(free=size // 2))

    with pytest.raises(ArticulonError, match=r"could not write .*trajectory\.h5: No space left on device.*resume=True"):
        ar.run(case, folder, progress=Shown(1, fill), report=False)
    assert ar.open_run(folder).summary["status"] == "failed"
    assert universe(folder).trajectory.n_frames >= 1
    monkeypatch.undo()
    ar.run(case, folder, resume=True, report=False)
    assert bits(folder) == bits(tmp_path / "unbroken")


@pytest.mark.slow
def test_a_disk_without_room_is_noticed_before_the_trajectory_is_written(tmp_path, monkeypatch):
    usage = trajectory.disk_usage(tmp_path)
    monkeypatch.setattr(trajectory, "disk_usage", lambda _: usage._replace(free=100))
    with pytest.raises(ArticulonError, match="No space left on device"):
        ar.run(case_of(tmp_path, CHAIN), tmp_path / "run", report=False)
    monkeypatch.undo()
    assert ar.run(case_of(tmp_path, CHAIN), tmp_path / "run", resume=True, report=False).summary["status"] == "complete"
