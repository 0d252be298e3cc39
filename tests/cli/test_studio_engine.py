"""The engine of the studio as a process of its own: what it is started with, and what it is told before it begins."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import articulon
from articulon.cases.loading import load_case
from articulon.studio.engine_handle import Engine, Job
from articulon.studio.engine_link import Link
from articulon.studio.engine_program import first_words

SHORT = {"run.duration": "0.5 s", "run.frames": 10, "checks": []}
PATIENCE = 60.0
"""For an engine that is loaded [s]."""


def until(true: Callable[[], bool], patience: float = PATIENCE) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + patience
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def test_nothing_of_the_current_folder_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is called as one that the engine needs."""
    case = load_case("double-pendulum", SHORT)
    for name in ("articulon.py", "numpy.py"):
        (tmp_path / name).write_text("open('ran', 'w').close()\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    engine = Engine(Job(case, case.build_model(), tmp_path / "run", waits=True))
    try:
        said: list[str] = []

        def heard() -> bool:
            said.extend(one["kind"] for one in engine.heard())
            return bool(said)

        assert until(heard) and said[0] == "ready"
        assert not (tmp_path / "ran").exists()
    finally:
        engine._process.kill()
        engine.close()


def test_no_program_of_ours_is_started_from_the_current_folder() -> None:
    """Also the workers of sweeps, which take longer to start."""
    files = Path(articulon.__file__).parent.rglob("*.py")
    starts = [found for file in files for found in re.findall(r"sys\.executable,\s*(\S+)", file.read_text("utf-8"))]
    assert len(starts) >= 2 and set(starts) == {'"-P",'}


def test_a_job_is_heard_in_whole_however_long_it_is() -> None:
    """Longer than what a socket holds; and what is said right behind it is not lost."""
    mine, its = socket.socketpair()
    page, engine = Link(mine), Link(its)
    going = threading.Event()

    def talk() -> None:
        page.say("job", toml="#" * 2_000_000)
        page.say("step")
        while not going.is_set():
            page.hear(0.01)

    thread = threading.Thread(target=talk)
    thread.start()
    try:
        said = first_words(engine, 30.0)
        while len(said) < 2:
            said += engine.hear(0.1)
    finally:
        going.set()
        thread.join()
        page.close()
    assert [one["kind"] for one in said] == ["job", "step"] and len(said[0]["toml"]) == 2_000_000
    began = time.monotonic()
    assert first_words(engine, 30.0) == [] and time.monotonic() - began < 5.0
    engine.close()


@pytest.mark.slow
def test_a_case_is_stepped_that_was_not_running(tmp_path: Path) -> None:
    """An engine is loaded that finds the wish in its line, behind the job."""
    case = load_case("double-pendulum", SHORT)
    engine = Engine(Job(case, case.build_model(), tmp_path / "run", waits=True))
    engine.tell("step")
    steps: list[int] = []

    def stepped() -> bool:
        steps.extend(said["steps"] for said in engine.heard() if said["kind"] == "progress" and said["waits"])
        return bool(steps) and steps[-1] > 0

    try:
        assert until(stepped)
        assert set(steps) == {1}
    finally:
        engine.close()
