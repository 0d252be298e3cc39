"""A folder holds one run: two that begin at once never mix, and default folders say what varies."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import articulon as ar
from articulon.cases import Case
from articulon.cases.folder_names import LONGEST, folder_name
from articulon.errors import ArticulonError
from articulon.simulation import case_run as running
from articulon.simulation import loop
from articulon.storage.folder_claim import LOCK, claimed
from tests.support.run_cases import BALL, CHAIN, Shown, bits, case_of

DONE, REFUSED, BROKEN = 0, 1, 2


def silent(text: str) -> None:
    pass


def at_once(*actions: Callable[[], object]) -> list[int]:
    """How actions end that begin at one moment, each in a process of its own."""
    gate, opener = os.pipe()
    children = []
    for action in actions:
        child = os.fork()
        if child == 0:
            status = BROKEN
            try:
                os.close(opener)
                os.read(gate, 1)
                action()
                status = DONE
            except ArticulonError as error:
                words = ("a run is active here", "holds another run")
                status = REFUSED if any(word in str(error) for word in words) else BROKEN
            finally:
                os._exit(status)
        children.append(child)
    os.close(gate)
    os.close(opener)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.slow
def test_of_two_runs_that_begin_at_once_in_a_fresh_folder_one_runs(tmp_path: Path) -> None:
    """With seeds of their own: what is in the folder is of one of them alone."""
    case = case_of(tmp_path, BALL)
    ar.run(case, tmp_path / "warm", report=False)
    seeds = {seed: case.with_overrides({"run.seed": seed}) for seed in (1, 2)}
    for attempt in range(8):
        out = tmp_path / f"out{attempt}" / "run"
        ends = at_once(*(lambda one=one, out=out: ar.run(one, out, report=False) for one in seeds.values()))
        assert sorted(ends) == [DONE, REFUSED], ends
        winner = seeds[1 + ends.index(DONE)]
        opened = ar.open_run(out)
        assert isinstance(opened.case, Case)
        assert opened.case.digest() == opened.summary["digest"] == winner.digest()
        # Which looks at the checkpoint and the trajectory, too.
        assert ar.run(winner, out, resume=True, report=False).summary["status"] == "complete"
        assert not (out / LOCK).exists()


def test_a_folder_is_claimed_before_anything_is_prepared(tmp_path: Path, monkeypatch: Any) -> None:
    case, out = case_of(tmp_path, BALL), tmp_path / "run"
    monkeypatch.setattr(running, "prepare", lambda *_: pytest.fail("prepared"))
    said = rf"run: a run is active here \(process {os.getpid()} on "
    with claimed(out, silent), pytest.raises(ArticulonError, match=said):
        ar.run(case, out, report=False)


def test_a_run_that_does_not_begin_leaves_no_folder(tmp_path: Path) -> None:
    wrong = case_of(tmp_path, BALL, {"run.stop": {"body": "bell", "direction": [1, 0, 0], "advance": 1.0}})
    with pytest.raises(ArticulonError, match="no body 'bell'"):
        ar.run(wrong, tmp_path / "deep" / "run", report=False)
    assert not (tmp_path / "deep").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(ArticulonError, match="no body 'bell'"):
        ar.run(wrong, tmp_path / "mine", report=False)
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.slow
def test_what_a_killed_run_leaves_claims_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    case, out = case_of(tmp_path, CHAIN, {"run.frames": 4}), tmp_path / "run"
    ar.run(case, tmp_path / "whole", report=False)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    child = os.fork()
    if child == 0:
        ar.run(case, out, progress=Shown(2, lambda: os.kill(os.getpid(), signal.SIGKILL)), report=False)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert (out / LOCK).exists()
    ar.run(case, out, resume=True, report=False)
    assert bits(out) == bits(tmp_path / "whole")
    assert not (out / LOCK).exists()


def test_a_process_that_a_run_has_forked_does_not_hold_its_folder(tmp_path: Path) -> None:
    """One that compiles kernels outlives a run that is killed meanwhile."""
    (waits, goes), (there, here) = os.pipe(), os.pipe()
    run = os.fork()
    if run == 0:
        with claimed(tmp_path, silent):
            if os.fork() == 0:
                os.close(goes)
                os.write(here, b".")
                os.read(waits, 1)  # until the test ends
                os._exit(0)
            os._exit(0)  # without letting go
    os.waitpid(run, 0)
    assert os.read(there, 1) == b"."
    with claimed(tmp_path, silent):
        pass
    os.close(goes)


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run" / LOCK).symlink_to(tmp_path / "mine")
    with pytest.raises(ArticulonError, match=rf"{LOCK} is a link"), claimed(tmp_path / "run", silent):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


def test_where_there_are_no_locks_a_run_says_so_and_replaces_no_case(tmp_path: Path, monkeypatch: Any) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    case, out, shown = case_of(tmp_path, BALL), tmp_path / "run", Shown()
    ar.run(case, out, progress=shown, report=False)
    assert "no locks" in shown.messages[0]
    made = running.prepare

    def meanwhile(*arguments: Any) -> Any:
        (tmp_path / "other").mkdir(exist_ok=True)
        (tmp_path / "other" / "case.toml").write_text("of another run")
        return made(*arguments)

    monkeypatch.setattr(running, "prepare", meanwhile)
    with pytest.raises(ArticulonError, match=r"could not write .*case\.toml: File exists"):
        ar.run(case, tmp_path / "other", report=False)
    assert (tmp_path / "other" / "case.toml").read_text() == "of another run"


# Names of folders


@pytest.mark.parametrize(
    "changes, name",
    [
        ({}, "docking"),
        ({"run.seed": 7}, "docking-seed-7"),
        ({"run.seed": 7, "run.threads": 2, "run.checkpoint_interval": 5.0, "case.title": "Mine"}, "docking-seed-7"),
        ({"fidelity.budget": 0.1}, "docking"),
        ({"scaling.a2": 0.1, "run.seed": 3}, "docking-a2-0.1-seed-3-"),
        ({"run.seed": 3, "scaling.a2": 0.1}, "docking-a2-0.1-seed-3-"),
        ({"run.duration": "8 us"}, "docking-duration-8_us-"),
        ({"forces.brownian": None}, "docking-brownian-null-"),
        ({"scaling": {"policy": "constant", "a2": 0.1}}, "docking-scaling-policy_constant_a2_0.1-"),
        ({"run.seed": "../../etc"}, "docking-seed-.._.._etc-"),
    ],
)
def test_the_name_of_a_folder_says_what_varies(changes: dict[str, Any], name: str) -> None:
    found = folder_name("docking", changes)
    assert found == name if not name.endswith("-") else found.startswith(name) and len(found) == len(name) + 8
    assert "/" not in found


def test_names_of_different_changes_differ() -> None:
    changes: list[dict[str, Any]] = [
        {"forces[0].viscosity": 1.0},
        {"forces[1].viscosity": 1.0},
        {"run.duration": "8 us"},
        {"run.duration": "8_us"},
        {"run.duration": "8 us", "run.seed": 1},
        {"model.sequence": "A" * 100},
        {"model.sequence": "A" * 101},
        {"run.seed": 1},
        {"run.seed": True},
        {},
    ]
    assert len({folder_name("docking", change) for change in changes}) == len(changes)


def test_long_names_are_cut_and_stay_apart() -> None:
    names = {folder_name("é" * 300 + end, {"run.seed": 1}) for end in ("a", "b")}
    names |= {folder_name("a", {f"run.x{k}": "y" * 50 for k in range(40)})}
    assert len(names) == 3
    assert all(len(name.encode()) <= LONGEST for name in names)


def test_variants_and_overrides_in_python_are_named_too(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    case = case_of(tmp_path, CHAIN)
    assert case.folder_name == "a-case"
    assert case.variant("constant").folder_name == "a-case-constant"
    seeded = case.with_overrides({"run.seed": 4})
    assert seeded.folder_name == "a-case-seed-4"
    assert seeded.variant("constant").folder_name == "a-case-constant-seed-4"
    assert ar.load_case(tmp_path / "a-case.toml", {"run.seed": 4}).folder_name == "a-case-seed-4"
    small = {"run.seed": 5, "run.threads": 1}
    assert ar.run(case_of(tmp_path, BALL), overrides=small, report=False).folder == Path("runs/a-case-seed-5")
