"""Reads inputs in processes of their own, so that one that hangs or ends its process is counted and nothing else is
lost."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import tempfile
import time
import traceback
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from articulon.errors import ArticulonError
from validation.faulty.kinds import Faulty, Kind
from validation.faulty.registry import KINDS

LIMIT = 10.0
"""Processor time that an input may take [s]: what else the machine does must not count."""
PATIENCE = 30.0
"""Time that one may take, in limits of processor time: what waits for nothing uses none."""
START = 1800.0
"""Time that a process may take to begin, in which the kernels that calls need are loaded or compiled [s]."""
MEMORY = 6 * 2**30
"""Address space of a process [bytes]: more is taken for what would have brought the machine to its knees."""
LINES, CHARACTERS = 40, 20_000
"""Most that a refusal may say."""

OUTCOMES = ("accepted", "refused", "unnamed", "traceback", "hang", "crash")
"""What can become of an input. A refusal is unnamed where a line of it does not begin with its file, or where it says
more than anyone reads."""
FAULTS = OUTCOMES[2:]
"""Those that are faults of the package."""


@dataclass(frozen=True)
class Result:
    """What became of an input."""

    kind: str
    """Of the input."""
    index: int
    """Its number."""
    outcome: str
    """One of :data:`OUTCOMES`."""
    said: str
    """The message or the traceback."""
    seconds: float
    """Processor time that it took [s]."""


def made(kind: Kind, seed: int, index: int) -> Faulty:
    """An input by its number, the same in every process."""
    return kind.make(np.random.default_rng([seed, zlib.crc32(kind.name.encode()), index]))


def write(faulty: Faulty, folder: Path) -> None:
    """The files of an input."""
    for name, content in faulty.files.items():
        (folder / name).write_bytes(content)


def outcome(kind: Kind, faulty: Faulty, folder: Path) -> tuple[str, str]:
    """What becomes of an input in this process, and what is said."""
    write(faulty, folder)
    try:
        kind.read(faulty, folder)
    except ArticulonError as error:
        return _judged(str(error), None if kind.named is None else f"{folder / kind.named}")
    except (Exception, RecursionError, MemoryError):
        return "traceback", traceback.format_exc(limit=-12)
    return "accepted", ""


def _judged(message: str, file: str | None) -> tuple[str, str]:
    lines = message.splitlines()
    brief = len(lines) <= LINES and len(message) <= CHARACTERS
    named = file is None or all(line.startswith(file) for line in lines)
    return ("refused" if message.strip() and brief and named else "unnamed"), message


def _work(connection: Connection, seed: int, kinds: Mapping[str, Kind], limit: float) -> None:
    """Reads inputs by their numbers until there are no more; SIGPROF ends the process when one takes too long."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="faults-") as here:
        os.chdir(here)  # what is written to no folder in particular goes there
        threadpool_limits(1, user_api="blas")  # for matrices so small more of them only wait for each other
        for kind in kinds.values():
            if kind.warm is not None:
                kind.warm()
        connection.send(None)
        while (task := connection.recv()) is not None:
            name, index = task
            kind = kinds[name]
            faulty = made(kind, seed, index)
            with tempfile.TemporaryDirectory(prefix="faulty-") as folder:
                began = time.process_time()
                signal.setitimer(signal.ITIMER_PROF, limit)
                found = outcome(kind, faulty, Path(folder))
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                connection.send((*found, time.process_time() - began))


class _Worker:
    """A process that reads inputs one by one."""

    def __init__(self, seed: int, kinds: Mapping[str, Kind], limit: float, patience: float) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_work, args=(theirs, seed, kinds, limit), daemon=True)
        self.process.start()
        theirs.close()
        self.task: tuple[str, int] | None = None
        self.limit, self.patience = limit, patience * limit
        self.deadline = time.monotonic() + START

    def give(self, task: tuple[str, int]) -> None:
        self.task = task
        self.deadline = time.monotonic() + self.patience
        self.connection.send(task)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def results(
    tasks: Sequence[tuple[str, int]],
    seed: int,
    workers: int,
    kinds: Mapping[str, Kind] = KINDS,
    limit: float = LIMIT,
    patience: float = PATIENCE,
) -> Iterator[Result]:
    """What becomes of inputs, each named by its kind and number, in the order in which they end; what takes more
    processor time than a limit [s], or with all its waiting ``patience`` times as long, hangs."""
    left = list(reversed(tasks))
    crew = [_Worker(seed, kinds, limit, patience) for _ in range(min(workers, len(tasks)))]
    try:
        while crew:
            soonest = min(worker.deadline for worker in crew)
            heard = wait([worker.connection for worker in crew], max(0.0, soonest - time.monotonic()))
            for worker in list(crew):
                late = time.monotonic() > worker.deadline
                if worker.connection not in heard and not late:
                    continue
                result, alive = _heard(worker, worker.connection in heard)
                if result is not None:
                    yield result
                if not alive:
                    worker.end()
                    crew.remove(worker)
                    if left:
                        crew.append(_Worker(seed, kinds, limit, patience))
                elif left:
                    worker.give(left.pop())
                else:
                    worker.connection.send(None)
                    worker.process.join(5.0)
                    worker.end()
                    crew.remove(worker)
    finally:
        for worker in crew:
            worker.end()


def _heard(worker: _Worker, spoke: bool) -> tuple[Result | None, bool]:
    """What a worker has to say, and whether it can go on."""
    if not spoke:
        if worker.task is None:
            raise RuntimeError(f"a process has not begun within {START:g} s")
        return Result(*worker.task, "hang", f"did not end within {worker.patience:g} s", worker.limit), False
    try:
        found = worker.connection.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join()
        if worker.task is None:
            raise RuntimeError(f"a process ended before it began, with {worker.process.exitcode}") from None
        if worker.process.exitcode == -signal.SIGPROF:
            return Result(
                *worker.task, "hang", f"took more than {worker.limit:g} s of a processor", worker.limit
            ), False
        return Result(*worker.task, "crash", f"the process ended with {worker.process.exitcode}", 0.0), False
    if found is None:
        return None, True
    assert worker.task is not None
    result = Result(*worker.task, *found)
    worker.task = None
    return result, True
