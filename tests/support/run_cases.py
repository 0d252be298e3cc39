"""Small cases that have everything in them, and a hand on running them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import articulon as ar
from articulon.cases import Case, load_case
from articulon.simulation import case_run, loop

CHAIN = """
[case]
title = "Three bodies in water, pulled at by a site on the ground"
units = "fg-um-us"

[[model.bodies]]
name = "core"
mass = 10.0
inertia = 0.3
joint = "free"

[[model.bodies]]
name = "arm"
parent = "core"
mass = 1.0
inertia = [0.02, 0.03, 0.02]
com = [0.1, 0.0, 0.02]
position = [0.2, 0.0, 0.0]
rotation = [0.8, 0.0, 0.6, 0.0]
joint = "spherical"
q = [0.8, 0.6, 0.0, 0.0]
u = [1.0, 0.0, 0.5]

[[model.bodies]]
name = "hand"
parent = "arm"
mass = 0.5
inertia = 0.01
com = [0.05, 0.0, 0.0]
position = [0.2, 0.0, 0.0]
rotation = [0.6, 0.8, 0.0, 0.0]
joint = "revolute"
q = 0.3

[[model.sites]]
body = "hand"
position = [0.1, 0.0, 0.0]
kind = "tip"

[[model.sites]]
body = "ground"
position = [0.9, 0.2, 0.4]
kind = "receptor"

[[forces]]
kind = "stokes-drag"
translational = {core = 10.0, arm = 5.0, hand = 5.0}
rotational = 0.1
flow = [0.1, 0.0, 0.0]

[[forces]]
kind = "torsional-springs"
stiffness = {arm = 5.0, hand = 3.0}

[[forces]]
kind = "site-pairs"
between = [["tip", "receptor"]]
table = [{kinds = ["tip", "receptor"], A = 1e-9, C = -0.5}]

[[forces]]
kind = "gravity"
acceleration = [0.0, 0.0, -0.2]

[[forces]]
kind = "brownian"
temperature = 300.0

[integrator]
rtol = 1e-6
atol = 1e-9

[run]
duration = 1.0
frames = 20

[variants]
constant.scaling = {policy = "constant", a2 = 0.1}
two-factor.scaling = {policy = "two-factor", a2 = 0.1, b2 = 0.5}
threshold.scaling = {policy = "threshold-adaptive", a2 = 0.1}
implicit.integrator = {rule = "friction-implicit", step = 0.005}
"""

BALL = """
[case]
units = "fg-um-us"

[[model.bodies]]
name = "ball"
mass = 2.0
inertia = 0.1
joint = "free"

[run]
duration = 1.0
frames = 10
"""
"""A ball on which nothing acts yet."""

RUNNING = """
import sys
from articulon.cases import load_case
from articulon.simulation import case_run as run, loop
loop.CHUNK_SECONDS = 0.0
class Shown:
    def start(self, *_): print("started", flush=True)
    def message(self, text): print(text, flush=True)
    def update(self, *_): pass
    def finish(self, *_): pass
run.run(load_case(sys.argv[1]), sys.argv[2], resume="resume" in sys.argv, progress=Shown())
"""
"""A process that runs a case step by step and says when the first step is next."""


class Shown:
    """A progress that keeps what it is told and can do something at an update."""

    def __init__(self, at: int | None = None, what: Any = None) -> None:
        self.messages: list[str] = []
        self.started: list[tuple[Any, ...]] = []
        self.updates = 0
        self.ended = ""
        self.at, self.what = at, what

    def start(self, *arguments: Any) -> None:
        self.started.append(arguments)

    def message(self, text: str) -> None:
        self.messages.append(text)

    def update(self, time: float, step: float, steps: int) -> None:
        self.updates += 1
        if self.updates == self.at:
            self.what()

    def finish(self, text: str = "") -> None:
        self.ended = text


def case_of(
    folder: Path,
    text: str,
    overrides: dict[str, Any] | None = None,
    variant: str | None = None,
    allow_code: bool = False,
) -> Case:
    """A case from its text, which is kept in the folder."""
    file = folder / "a-case.toml"
    file.write_text(text, encoding="utf-8")
    case = load_case(file, allow_code=allow_code)
    case = case if variant is None else case.variant(variant)
    return case.with_overrides(overrides) if overrides else case


def ran(
    folder: Path,
    text: str,
    overrides: dict[str, Any] | None = None,
    variant: str | None = None,
    allow_code: bool = False,
    report: bool = False,
) -> ar.Run:
    """The results of a case, and its report where that is asked for."""
    case = case_of(folder, text, overrides, variant, allow_code)
    number = sum(path.is_dir() for path in folder.iterdir())
    return ar.run(case, folder / f"run{number}", report=report)


def bits(folder: Path) -> bytes:
    """What is promised to be the same however a run was broken off."""
    return (folder / "checkpoint.npz").read_bytes() + (folder / "trajectory.h5").read_bytes()


def killed(case_file: Path, folder: Path, seconds: float) -> bool:
    """Runs a case in a new process, kills that so long after the loop began, and says whether it still ran then."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNING, str(case_file), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    while line and line != "started\n":
        line = process.stdout.readline()
    assert line == "started\n", "the run failed before its loop"
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.returncode in (0, -signal.SIGKILL), "the run failed in its loop"
    return process.returncode != 0


def killed_child(case: Case, folder: Path, seconds: float) -> bool:
    """The same in a copy of this process, which has everything loaded."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            loop.CHUNK_SECONDS = 0.0
            shown = Shown()
            shown.start = lambda *_: os.write(write, b"started")  # type: ignore[method-assign]
            case_run.run(case, folder, progress=shown)
            os._exit(0)
        finally:
            os._exit(1)  # nothing of the parent's is to be closed or written twice
    os.close(write)
    try:
        assert os.read(read, 7) == b"started", "the run failed before its loop"
        time.sleep(seconds)
    finally:
        os.close(read)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the run failed in its loop"
    return os.WIFSIGNALED(status)


def goes_on_after_kills(
    folder: Path, text: str, seconds: Iterable[float], look: Callable[[Path], None] = lambda broken: None
) -> ar.Run:
    """Runs a case to its end, and again once for each of so many seconds after which it is killed and resumed, and
    asserts that all have the same bits; returns the first. ``look`` is given the folder of what was killed.

    The first is killed in a new process, and the others in copies of this one, which need no time to get ready.
    A run that has ended by then, on a fast machine, is run again and killed after half of the time.
    """
    case, unbroken = case_of(folder, text), folder / "unbroken"
    whole = ar.run(case, unbroken, report=False)
    for number, after in enumerate(seconds):
        in_new_process = number < 1 or not hasattr(os, "fork")
        for halvings in range(8):
            broken = folder / f"broken{number}-{halvings}"
            if in_new_process:
                was_killed = killed(folder / "a-case.toml", broken, after)
            else:
                was_killed = killed_child(case, broken, after)
            if was_killed:
                break
            after /= 2.0
        assert was_killed, "it had ended before every kill: give the case a longer duration"
        look(broken)
        ar.run(case, broken, resume=True, report=False)
        assert bits(broken) == bits(unbroken), f"killed after {after} s"
    return whole


def universe(folder: Path) -> Any:
    """The folder of a run as MDAnalysis opens it."""
    import MDAnalysis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bodies have no chemical elements
        return MDAnalysis.Universe(str(folder / "topology.pdb"), str(folder / "trajectory.h5"), format="H5MD")
