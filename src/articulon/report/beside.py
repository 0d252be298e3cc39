"""Work in a second process, from which this one takes the result."""

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
    """Work in a copy of this process, as long as the context lasts; whatever ends that ends the process.

    Parameters
    ----------
    work
        Leaves files and the screen alone; its result can be pickled.

    Yields
    ------
    callable
        What waits for the result. It gives None where the work has failed or was interrupted; where there is but one
        core; and where a copy of this process cannot be made, or is not safe: other threads may hold locks that it
        would wait for.
    """
    child = _begun(work) if _is_safe() else None
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
        with suppress(ChildProcessError):  # where the system clears away processes that have ended
            os.waitpid(number, 0)


def _is_safe() -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return sys.platform == "linux" and cores > 1 and threading.active_count() == 1


def _begun(work: Callable[[], Any]) -> tuple[int, int] | None:
    """The number of a new process, and where its result is read; None where the system refuses either."""
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
            os._exit(0)  # nothing of the parent's is to be closed or written twice
    os.close(writing)
    return child, reading


def _read(content: bytes) -> Any:
    try:
        return pickle.loads(content)
    except (EOFError, pickle.UnpicklingError):
        return None
