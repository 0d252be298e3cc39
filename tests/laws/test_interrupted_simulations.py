"""Ctrl-C ends a simulation in memory within a fraction of a second, and nothing that was computed is lost."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import articulon as ar
from articulon import announcements, kernel_cache, kernels
from articulon.errors import CaseError
from articulon.simulation import loop, memory_progress
from tests.support.remembering import CASES, assert_joined, assert_same_state
from tests.support.run_cases import BALL, case_of

SOME = ("error-controlled steps", "noise, by error", "noise, fixed", "grains", "joints that lock", "SciPy", "loops")
SOON = 0.4
"""After which Ctrl-C comes [s]."""


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Sends this process the signal of Ctrl-C."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


class AtSteps:
    """In the place of an interruption: one that comes after so many chunks, whose length is set."""

    def __init__(self, chunks: int) -> None:
        self.left = chunks

    def __call__(self, signals: Any) -> AtSteps:
        return self

    def __enter__(self) -> AtSteps:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    @property
    def requested(self) -> bool:
        self.left -= 1
        return self.left < 0

    @contextmanager
    def at_once(self) -> Iterator[None]:
        yield


def swing(**options: Any) -> Any:
    """A pendulum whose steps take some ten microseconds each."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=1.0)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return builder.build()


@pytest.mark.slow
def test_a_simulation_is_interrupted_within_a_frame() -> None:
    model = swing()
    ar.simulate(model, 0.01, rule="rk4", step=1e-3)
    began = time.monotonic()
    with (
        interrupted_after(SOON),
        pytest.raises(KeyboardInterrupt, match=r"interrupted at t = .* s; .*resume") as caught,
    ):
        ar.simulate(model, 1e7, rule="rk4", step=1e-3, frames=1)
    assert time.monotonic() - began < SOON + 2.0
    done = caught.value.run  # type: ignore[attr-defined]
    assert isinstance(done, ar.Run) and not done.complete
    assert done.times.tolist() == [0.0] and done.q[0, 0] == 1.0
    reached = float(done.state.time[0])
    assert 0.0 < reached < 1e7
    expected = ar.simulate(model, reached, rule="rk4", step=1e-3, frames=1)
    np.testing.assert_allclose(done.state.q, expected.state.q, rtol=0, atol=1e-9)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_the_frames_that_were_taken_are_kept() -> None:
    model = swing()
    with interrupted_after(SOON), pytest.raises(KeyboardInterrupt) as caught:
        ar.simulate(model, 1e6, rule="rk4", step=1e-3, frames=10**7)
    done = caught.value.run  # type: ignore[attr-defined]
    count = done.times.size
    assert count > 10 and len(done.q) == len(done.works) == len(done.kinetic_energy) == count
    np.testing.assert_allclose(done.times, 0.1 * np.arange(count), rtol=1e-12)
    expected = ar.simulate(model, 0.1 * (count - 1), rule="rk4", step=1e-3, frames=count - 1)
    np.testing.assert_allclose(done.q[:50], expected.q[:50], rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "chunks"),
    [*((name, 1) for name in SOME), *((name, chunks) for name in ("noise, by error", "grains") for chunks in (0, 4))],
)
def test_an_interrupted_simulation_is_resumed_to_the_bits_of_an_unbroken_one(
    name: str, chunks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, duration, options = CASES[name]
    model = build()
    whole = ar.simulate(model, 4 * duration, frames=8, **options)
    parts = []
    with monkeypatch.context() as patch:
        patch.setattr(memory_progress, "Interruption", AtSteps(chunks))
        patch.setattr(loop.Chunks, "took", lambda *_: None)
        with pytest.raises(KeyboardInterrupt) as caught:
            ar.simulate(model, 4 * duration, frames=8, **options)
        parts.append(caught.value.run)  # type: ignore[attr-defined]
        patch.setattr(memory_progress, "Interruption", AtSteps(2))
        with pytest.raises(KeyboardInterrupt) as caught:
            ar.resume(parts[-1])
        parts.append(caught.value.run)  # type: ignore[attr-defined]
    parts.append(ar.resume(parts[-1]))
    assert_joined(whole, *parts)
    assert parts[-1].complete
    assert_same_state(ar.resume(parts[-1], duration).state, ar.resume(whole, duration).state)


def test_one_that_was_interrupted_goes_to_its_end_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_progress, "Interruption", AtSteps(1))
    with pytest.raises(KeyboardInterrupt) as caught:
        ar.simulate(swing(), 1.0, rule="rk4", step=1e-3, frames=4)
    done = caught.value.run  # type: ignore[attr-defined]
    monkeypatch.undo()
    with pytest.raises(
        CaseError, match=r"resume: the simulation was interrupted at 0\.016 s, before its end at 1 s; finish it"
    ):
        ar.resume(done, 2.0)


@pytest.mark.slow
def test_a_python_force_is_interrupted_without_being_blamed() -> None:
    """Under SciPy's solvers the signal finds Python at work, in the user's function more often than not."""

    def slow(time, q, u, parameters, tau):
        until = clock() + 0.01
        while clock() < until:
            pass

    clock = time.monotonic
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)), u=1.0)
    builder.add_force(ar.forces.JointActuation(function=slow))
    model = builder.build()
    ar.simulate(model, 1e-3, rule="scipy-radau", max_step=1e-3, frames=1)  # compiles what is not there yet
    with interrupted_after(2 * SOON), pytest.raises(KeyboardInterrupt) as caught:
        ar.simulate(model, 1e3, rule="scipy-radau", max_step=1e-3, frames=1)
    done = caught.value.run  # type: ignore[attr-defined]
    assert done.state.time[0] == 0.0 and done.times.tolist() == [0.0]


@pytest.mark.slow
def test_an_interruption_that_is_lost_where_it_is_raised_ends_the_run_all_the_same() -> None:
    """As between compiled code and a user's function, where an exception has nowhere to go."""

    def deaf(time, q, u, parameters, tau):
        until = clock() + 0.01
        try:
            while clock() < until:
                pass
        except KeyboardInterrupt:
            pass

    clock = time.monotonic
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)), u=1.0)
    builder.add_force(ar.forces.JointActuation(function=deaf))
    model = builder.build()
    with interrupted_after(SOON), pytest.raises(KeyboardInterrupt) as caught:
        ar.simulate(model, 0.2, rule="scipy-radau", max_step=1e-3, frames=1)  # some ten seconds, if nothing ends it
    done = caught.value.run  # type: ignore[attr-defined]
    assert done.state.time[0] == 0.0 and done.times.tolist() == [0.0]


def test_an_interruption_at_the_very_end_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(AtSteps):
        @property
        def requested(self) -> bool:
            return self.left > 0 and bool(self.over)

        over = False

        def __exit__(self, *exception: object) -> None:
            self.over = True

    monkeypatch.setattr(memory_progress, "Interruption", Late(1))
    with pytest.raises(KeyboardInterrupt) as caught:
        ar.simulate(swing(), 1.0, frames=4)
    assert caught.value.run.complete  # type: ignore[attr-defined]


# While kernels are compiled


class Slow:
    """A kernel that takes a minute to compile."""

    def __init__(self, seconds: float = 60.0) -> None:
        def slow_kernel() -> None:
            """Stands for its source."""

        self.py_func, self.seconds = slow_kernel, seconds

    def disable_compile(self, value: bool = True) -> None:
        """Nothing to disable."""

    def compile(self, signature: Any) -> None:
        """Takes a while."""
        time.sleep(self.seconds)


class Deaf(Slow):
    """One that hears no signal meanwhile, as a compiler that gives Python no turn."""

    def compile(self, signature: Any) -> None:
        """Takes a while."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            time.sleep(self.seconds)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def children() -> set[int]:
    import psutil

    return {child.pid for child in psutil.Process().children()}


def use_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets kernels be kept in a folder, of which it is not said that it is of one process alone."""
    for module in (kernels, kernel_cache):
        monkeypatch.setattr(module, "cache_folder", lambda: folder)
        monkeypatch.setattr(module, "cache_root", lambda: folder.parent)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_cache(tmp_path, monkeypatch)
    return tmp_path


@pytest.mark.parametrize("slow", [Slow(), Deaf(10.0)], ids=["slow", "deaf"])
def test_a_compilation_is_interrupted_at_once(empty_cache: Path, slow: Slow) -> None:
    before, began = children(), time.monotonic()
    with interrupted_after(SOON), pytest.raises(KeyboardInterrupt):
        kernels.prepare(slow, "nothing")
    assert time.monotonic() - began < SOON + 1.0
    assert children() == before
    assert not [path for path in empty_cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_compilation_that_is_killed_by_ctrl_c_is_not_done_again(empty_cache: Path, number: int) -> None:
    """From a terminal the signal reaches both processes, and the parent may keep it for later."""
    kept = signal.signal(signal.SIGINT, lambda *_: None)
    before, told = children(), []

    def kill() -> None:
        time.sleep(SOON)
        for child in children() - before:
            os.kill(child, number)

    killing = threading.Thread(target=kill)
    killing.start()
    try:
        with (
            announcements.announcing(told.append),
            pytest.raises(KeyboardInterrupt, match="while kernels were compiled"),
        ):
            kernels.prepare(Slow(), "nothing")
    finally:
        killing.join()
        signal.signal(signal.SIGINT, kept)
    assert len(told) == 1 and re.match(r"compiling \d+ kernels?, once per machine", told[0])
    assert not [path for path in empty_cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_a_long_compilation_says_how_far_it_is(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(kernels, "PROGRESS_INTERVAL", 0.5 * SOON)
    with announcements.announcing(told.append), interrupted_after(SOON), pytest.raises(KeyboardInterrupt):
        kernels.prepare_all([(Slow(), "nothing"), (Slow(), "nothing")])
    assert told[0].startswith("compiling 2 kernels")
    assert told[1:] and all(re.fullmatch(r"compiled 0 of 2 kernels after \d+ s", one) for one in told[1:])


def test_a_run_passes_on_the_first_batch_and_how_far_it_is() -> None:
    from articulon.simulation.folder_run import announcing_once
    from articulon.simulation.run_request import Silent

    class Kept(Silent):
        """What is shown."""

        said: ClassVar[list[str]] = []

        def message(self, text: str) -> None:
            """Keep a text."""
            self.said.append(text)

    with announcing_once(Kept()):
        for text in ("compiling 5 kernels", "compiled 1 of 5 kernels", "compiling 2 kernels", "FILE is damaged"):
            announcements.announce(text)
    assert Kept.said == ["compiling 5 kernels", "compiled 1 of 5 kernels", "FILE is damaged"]


def test_an_ensemble_says_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """To standard error, as ``ar.simulate`` does."""
    model = swing()
    ar.Ensemble(model, model.q0, model.u0).advance(1, 0.01)  # compiles what is not there yet
    capfd.readouterr()
    monkeypatch.setattr(kernels, "_compile_aside", lambda *_: None)
    monkeypatch.setattr(announcements, "_TOLD", set())
    monkeypatch.setattr(kernels, "_READY", {})
    use_cache(tmp_path, monkeypatch)
    ar.Ensemble(model, model.q0, model.u0).advance(1, 0.01)
    assert re.match(r"articulon: compiling \d+ kernels?, once per machine", capfd.readouterr().err)


def test_a_run_of_a_case_is_interrupted_while_it_is_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from articulon.simulation import case_run as running

    monkeypatch.setattr(running, "prepare", lambda *_: time.sleep(60.0))
    case, began = case_of(tmp_path, BALL), time.monotonic()
    with interrupted_after(SOON), pytest.raises(KeyboardInterrupt, match="before the first step"):
        ar.run(case, tmp_path / "run")
    assert time.monotonic() - began < SOON + 1.0
    assert not (tmp_path / "run").exists()


def test_simulate_says_once_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """To standard error, unless somebody else is told."""
    model = swing()
    ar.simulate(model, 0.1)  # compiles what is not there yet
    capfd.readouterr()
    ar.simulate(model, 0.1)
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(kernels, "_compile_aside", lambda *_: None)
    monkeypatch.setattr(announcements, "_TOLD", set())
    monkeypatch.setattr(kernels, "_READY", {})
    done = kernel_cache.cache_folder()
    use_cache(tmp_path, monkeypatch)
    ar.simulate(model, 0.1)
    said = capfd.readouterr().err.splitlines()
    line = r"articulon: compiling \d+ kernels?, once per machine: about \d+ s, up to three minutes in all"
    assert said and all(re.fullmatch(line, one) for one in said) and len(set(said)) == len(said)
    # Passes that this process has loaded are not asked for again; the stepper is.
    assert [path for path in tmp_path.rglob("compiled/*") if path.suffix != ".lock"] and done.exists()
    told: list[str] = []
    kernels._READY.clear()
    for path in tmp_path.rglob("compiled/*"):
        path.unlink()
    ar.simulate(model, 0.1)
    assert capfd.readouterr().err == ""
    kernels._READY.clear()
    for path in tmp_path.rglob("compiled/*"):
        path.unlink()
    with announcements.announcing(told.append):
        ar.simulate(model, 0.1)
    assert told and capfd.readouterr().err == ""
    assert announcements._listener is announcements._quiet
