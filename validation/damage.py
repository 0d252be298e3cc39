"""Damaged checkpoints and trajectories: a run that is to go on from one is refused in words, or ends on the same bits.

    python -m validation.damage --count 500 --seed 1

makes a run that was interrupted half-way, damages copies of its folder, one after the other, resumes each in another
process, and says how that ended. It exits with 1 where one ended in other bits, a traceback, a crash, or not at all.
With --write it rewrites its section of docs/validation.md.

`damaged_runs` gives the folders with what was done to them, for other programs to try; `outcomes` tries them too.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import articulon as ar
from articulon.errors import ArticulonError
from articulon.simulation import loop
from articulon.simulation.case_run import TRAJECTORY
from articulon.storage.checkpoint import NEWEST, PREVIOUS
from validation.damage_ways import CHECKPOINT, TRAJECTORIES
from validation.page import table, write_section

CASE = """
[case]
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
position = [0.2, 0.0, 0.0]
joint = "spherical"
u = [1.0, 0.0, 0.5]
[[forces]]
kind = "stokes-drag"
translational = 5.0
rotational = 0.1
[[forces]]
kind = "torsional-springs"
stiffness = {arm = 5.0}
[[forces]]
kind = "brownian"
temperature = 300.0
[scaling]
policy = "constant"
a2 = 0.5
[fidelity]
budget = 0
[integrator]
rtol = 1e-9
atol = 1e-12
[run]
duration = 0.5
frames = 12
checkpoint_interval = 1e-6
"""
"""A small run with noise and a scaling, whose state has most of what states have."""

REFUSED, SAME = "refused", "same bits"
"""How a resumption may end."""
OTHER, TRACEBACK, CRASH, HANG, NAMELESS = "other bits", "traceback", "crash", "hang", "refused without the file's name"
"""How it must not."""
LIMIT = 10.0
"""Processor time that one may take [s]: what else the machine does must not count."""
PATIENCE = 300.0
"""Time that one may take with all its waiting [s]."""


@dataclass(frozen=True)
class DamagedRun:
    """A folder of a run that was broken off, with damage."""

    folder: Path
    """The folder; it is removed when the next one is asked for."""
    case: Path
    """The case that it is of."""
    file: str
    """Which file is damaged."""
    what: str
    """What was done to it."""
    whole: Path
    """The folder of the same run, unbroken."""


@dataclass(frozen=True)
class Outcome:
    """How the resumption of a damaged run ended."""

    run: DamagedRun
    """Which."""
    end: str
    """``REFUSED`` or ``SAME``, or what must not be."""
    said: str
    """The message, or the end of a traceback."""

    @property
    def good(self) -> bool:
        """Whether it ended as it may."""
        return self.end in (REFUSED, SAME)


def damaged_runs(seed: int, count: int) -> Iterator[DamagedRun]:
    """Folders of a run that was broken off, each damaged in another way.

    Parameters
    ----------
    seed
        Chooses the damage; equal seeds give equal damage.
    count
        How many.
    """
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        case, whole, broken, other = _runs(scratch)
        ways = [*CHECKPOINT, *TRAJECTORIES]
        for number in range(count):
            folder = Path(shutil.copytree(broken, scratch / f"damaged{number}"))
            # Every way once, then any.
            way = ways[number] if number < len(ways) else ways[int(random.integers(len(ways)))]
            file = TRAJECTORY if way in TRAJECTORIES else NEWEST
            what = way(folder, random, other)
            if file == NEWEST and random.random() < 0.5:
                # The one before is good, or damaged in the same way.
                if (folder / NEWEST).is_file():
                    shutil.copyfile(folder / NEWEST, folder / PREVIOUS)
                    what += ", both"
            yield DamagedRun(folder, case, file, what, whole)
            shutil.rmtree(folder, ignore_errors=True)


def outcomes(seed: int, count: int) -> Iterator[Outcome]:
    """How the resumption of each of `damaged_runs` ends, in a process that may crash or hang."""
    worker = _Worker()
    try:
        for run in damaged_runs(seed, count):
            end, said = worker.resume(run)
            yield Outcome(run, end, said)
    finally:
        worker.stop()


def _runs(scratch: Path) -> tuple[Path, Path, Path, Path]:
    """A case; the folders of its run, of one that was broken off, and of one with another seed."""
    file = scratch / "case.toml"
    file.write_text(CASE, encoding="utf-8")
    case = ar.load_case(file)
    ar.run(case, scratch / "whole", report=False)
    before, loop.CHUNK_SECONDS = loop.CHUNK_SECONDS, 0.0
    try:
        for name, overrides in (("broken", {}), ("other", {"run.seed": 2})):
            with suppress(KeyboardInterrupt):
                ar.run(case.with_overrides(overrides), scratch / name, progress=_BrokenOff(40))
            assert ar.open_run(scratch / name).summary["status"] == "interrupted"
    finally:
        loop.CHUNK_SECONDS = before
    return file, scratch / "whole", scratch / "broken", scratch / "other"


class _BrokenOff:
    """A progress that stops the run after a number of updates."""

    def __init__(self, at: int) -> None:
        self.left = at

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """See :class:`Progress`."""

    def message(self, text: str) -> None:
        """See :class:`Progress`."""

    def update(self, time: float, step: float, steps: int) -> None:
        """Asks the run to stop as Ctrl-C does."""
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGINT)

    def finish(self, text: str = "") -> None:
        """See :class:`Progress`."""


# Resuming, in another process.


class _Worker:
    """A process that resumes runs, one after the other, and is replaced when it crashes or hangs."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def resume(self, run: DamagedRun) -> tuple[str, str]:
        """How the resumption of a run ends, and what it says."""
        if self._process is None:
            root = Path(__file__).parents[1]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "validation.damage", "--worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
            # Loading everything takes longer than any of the runs.
            self._ask([str(run.case), str(run.whole), "", str(run.whole)], 600.0)
        end, said = self._ask([str(run.case), str(run.folder), run.file, str(run.whole)], PATIENCE)
        return end, said

    def _ask(self, question: list[str], patience: float) -> tuple[str, str]:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
        except OSError:
            pass
        ready, _, _ = select.select([process.stdout], [], [], patience)
        line = process.stdout.readline() if ready else ""
        if line:
            end, said = json.loads(line)
            return str(end), str(said)
        self.stop()
        if not ready:
            return HANG, f"after {patience:g} s"
        if process.returncode == -signal.SIGPROF:
            return HANG, f"after {LIMIT:g} s of a processor"
        return CRASH, f"exit status {process.returncode}"

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            self._process = None


def _resumed(case: str, folder: str, file: str, whole: str) -> tuple[str, str]:
    """How the resumption of a run ends."""
    try:
        ar.run(ar.load_case(Path(case)), folder, resume=True, report=False)
    except ArticulonError as error:
        said = str(error)
        return (REFUSED if file in said or PREVIOUS in said else NAMELESS), said
    except BaseException as error:
        return TRACEBACK, f"{type(error).__name__}: {error}"
    for name in (TRAJECTORY, NEWEST):
        if (Path(folder) / name).read_bytes() != (Path(whole) / name).read_bytes():
            return OTHER, name
    return SAME, ""


def _work() -> None:
    """Resumes runs as they are asked for; SIGPROF ends the process when one takes too long."""
    for number, line in enumerate(sys.stdin):
        # The first one loads, and may compile, everything.
        signal.setitimer(signal.ITIMER_PROF, LIMIT if number else 0.0)
        answer = _resumed(*json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run it and say how it went."""
    parser = argparse.ArgumentParser(prog="python -m validation.damage", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="how many damaged folders")
    parser.add_argument("--seed", type=int, default=1, help="chooses the damage")
    parser.add_argument("--write", action="store_true", help="rewrite the section of docs/validation.md")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given: Any = parser.parse_args(arguments)
    if given.worker:
        _work()
        return 0
    ends: Counter[tuple[str, str]] = Counter()
    bad = 0
    for found in outcomes(given.seed, given.count):
        ends[found.run.file, found.end] += 1
        if not found.good:
            bad += 1
            sys.stdout.write(f"{found.end}: {found.run.file}, {found.run.what}: {found.said}\n")
    rows = [[file, end, str(number)] for (file, end), number in sorted(ends.items())]
    summary = f"{bad} of {given.count} resumptions ended wrongly."
    if given.write:
        how = f"`python -m validation.damage --count {given.count} --seed {given.seed} --write`"
        words = "Each copy of an interrupted run is damaged in one of about twenty ways and then resumed:"
        found = table(["damaged file", "how the resumption ended", "times"], rows)
        write_section("damage", f"## Damaged checkpoints and trajectories\n\n{how}.\n{words}\n\n{found}\n\n{summary}")
        return 1 if bad else 0
    for file, end, times in rows:
        sys.stdout.write(f"{times:>6}  {file:<16} {end}\n")
    sys.stdout.write(summary + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
