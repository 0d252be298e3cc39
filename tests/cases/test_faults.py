"""Some of every kind of the faulty input of ``python -m validation.faults``, and the processes that read it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gemmi")
pytest.importorskip("resource")  # which Windows lacks

from articulon.errors import ArticulonError
from validation.faulty import workers
from validation.faulty.kinds import Faulty, Kind
from validation.faulty.registry import KINDS, tasks

SEED = 2
TASKS = tasks(150)


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Ends what takes more of a processor, by an error that is none of the package's."""

    def late(signum: int, frame: object) -> None:
        raise TimeoutError(f"took more than {seconds:g} s of a processor")

    if not hasattr(signal, "SIGPROF"):  # on Windows what hangs hangs
        yield
        return
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_no_faulty_input_ends_in_a_traceback_or_hangs(name, tmp_path, monkeypatch):
    """They are accepted, or refused in a few lines that begin with the name of the file."""
    monkeypatch.chdir(tmp_path)
    kind, found = KINDS[name], []
    for _, index in (task for task in TASKS if task[0] == name):
        faulty = workers.made(kind, SEED, index)
        folder = tmp_path / f"{index}"
        folder.mkdir()
        with limit(workers.LIMIT):
            outcome, said = workers.outcome(kind, faulty, folder)
        found.append(outcome)
        assert outcome not in workers.FAULTS, f"{faulty.what}\n{said}"
    assert "refused" in found


def test_every_input_is_made_again_from_its_number():
    for name, kind in KINDS.items():
        first, again = (workers.made(kind, SEED, 7) for _ in range(2))
        assert (first.what, first.files) == (again.what, again.files), name
        assert workers.made(kind, SEED, 8).what != first.what or workers.made(kind, SEED, 8).files != first.files


def test_the_kinds_come_as_often_as_their_shares_say():
    assert sum(kind.share for kind in KINDS.values()) == 100
    assert 140 <= len(TASKS) <= 160 and {name for name, _ in TASKS} == set(KINDS)
    assert [name for name, _ in tasks(10, ("calls",))] == ["calls"] * 10


def _by_number(rng: np.random.Generator) -> Faulty:
    return Faulty("drawn", value=int(rng.integers(2**30)))


def _accepted(faulty: Faulty, folder: Path) -> None:
    """Takes what is given."""


def _refused(faulty: Faulty, folder: Path) -> None:
    raise ArticulonError(f"{folder / 'a.toml'}: no\n{folder / 'a.toml'}: never")


def _unnamed(faulty: Faulty, folder: Path) -> None:
    raise ArticulonError(f"{folder / 'a.toml'}: no\nnever")


def _long(faulty: Faulty, folder: Path) -> None:
    raise ArticulonError("\n".join(f"{folder / 'a.toml'}: no" for _ in range(50)))


def _traceback(faulty: Faulty, folder: Path) -> None:
    raise ValueError("no")


def _hang(faulty: Faulty, folder: Path) -> None:
    while True:
        pass


def _sleep(faulty: Faulty, folder: Path) -> None:
    time.sleep(600.0)


def _crash(faulty: Faulty, folder: Path) -> None:
    os._exit(3)


READ = {"accepted": _accepted, "refused": _refused, "unnamed": _unnamed, "long": _long, "traceback": _traceback}
WORST = {"hang": _hang, "sleep": _sleep, "crash": _crash}
INVENTED = {name: Kind(name, 1, _by_number, read, named="a.toml") for name, read in (READ | WORST).items()}


@pytest.mark.slow  # four processes begin, each of which loads the package, and one sleeps
def test_hangs_and_ends_of_processes_are_counted_and_nothing_else_is_lost():
    given = [(name, 0) for name in ("accepted", "hang", "traceback", "crash", "sleep", "long", "refused", "unnamed")]
    found = {r.kind: r for r in workers.results(given, SEED, 1, kinds=INVENTED, limit=0.5, patience=10.0)}
    outcomes = {name: result.outcome for name, result in found.items()}
    assert outcomes == {name: {"long": "unnamed", "sleep": "hang"}.get(name, name) for name, _ in given}
    assert "took more than 0.5 s of a processor" in found["hang"].said
    assert "did not end within 5 s" in found["sleep"].said
    assert "ValueError: no" in found["traceback"].said and "ended with 3" in found["crash"].said


@pytest.mark.parametrize("name", READ)
def test_what_becomes_of_an_input_is_told_apart(name, tmp_path):
    outcome, said = workers.outcome(INVENTED[name], Faulty("drawn", {"a.toml": b"x"}), tmp_path)
    assert outcome == ("unnamed" if name == "long" else name) and (said == "") == (name == "accepted")
    assert (tmp_path / "a.toml").read_bytes() == b"x"
