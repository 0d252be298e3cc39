"""Work in a second process, from which this one takes the result."""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def beside(work: Callable[[], Any]) -> Callable[[], Any] | None:
    """Begins work in a copy of this process.

    Parameters
    ----------
    work
        Leaves files and the screen alone; its result can be pickled.

    Returns
    -------
    callable or None
        What waits for the result; it gives None where the work has failed or was interrupted. None where there is but
        one core, or where a copy of this process is not safe: other threads may hold locks that the copy waits for.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if sys.platform != "linux" or cores < 2 or threading.active_count() > 1:
        return None
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            with os.fdopen(writing, "wb") as stream:
                stream.write(pickle.dumps(work()))
        finally:
            os._exit(0)  # nothing of the parent's is to be closed or written twice
    os.close(writing)

    def result() -> Any:
        try:
            with os.fdopen(reading, "rb") as stream:
                content = stream.read()
        except BaseException:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            raise
        finally:
            os.waitpid(child, 0)
        try:
            return pickle.loads(content)
        except (EOFError, pickle.UnpicklingError):
            return None

    return result
