"""Do work in a second process and return its result."""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def beside(work: Callable[[], Any]) -> Iterator[Callable[[], Any]]:
    """Do work in a forked copy of this process while the context lasts; the copy ends when the context ends.

    Parameters
    ----------
    work
        Function without side effects on files and screen, whose result can be pickled.

    Yields
    ------
    callable
        Function that waits for the result. It returns None if the work failed or was interrupted, or if there is only
        one core. It also returns None if this process cannot be forked safely, because other threads may hold locks for
        which the copy would wait.
    """
    child = _forked(work) if _is_safe() else None
    if child is None:
        yield lambda: None
        return
    number, reading = child
    try:
        with os.fdopen(reading, "rb") as stream:
            yield lambda: _read(stream.read())
    finally:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
        with suppress(ChildProcessError):  # some systems clean up ended processes themselves
            os.waitpid(number, 0)


def _is_safe() -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return sys.platform == "linux" and cores > 1 and threading.active_count() == 1


def _forked(work: Callable[[], Any]) -> tuple[int, int] | None:
    """Return the id of a new process and the pipe with its result; None if the system cannot create one of them."""
    try:
        reading, writing = os.pipe()
    except OSError:
        return None
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child == 0:
        try:
            os.close(reading)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            with os.fdopen(writing, "wb") as stream:
                stream.write(pickle.dumps(work()))
        finally:
            os._exit(0)  # skip the parent's cleanup, which must not run twice
    os.close(writing)
    return child, reading


def _read(content: bytes) -> Any:
    try:
        return pickle.loads(content)
    except (EOFError, pickle.UnpicklingError):
        return None
