"""The task of a worker: run one member. It receives the text of the member's case, and returns plain numbers.

Only texts, numbers and the names of the functions in this file are sent between the sweep and its workers.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from time import monotonic, process_time, sleep
from typing import Any

import numba

from articulon import __version__
from articulon.cases.case import Case, resolve
from articulon.cases.overrides import parsed
from articulon.errors import ArticulonError, CheckpointError
from articulon.runs.entry import run
from articulon.simulation.case_run import HELD
from articulon.simulation.interruption import ask_runs_to_stop
from articulon.storage.folder_claim import LOCK, claimed
from articulon.sweeps.member_folders import note_ended, note_failed, noted_error, time_averages

FAILED, STOPPED = "failed", "interrupted"
"""Statuses of a member's run that is not complete."""
BETWEEN = 0.5
"""Shortest time between two progress messages [s]."""
PATIENCE = 60.0
"""Time for which a worker waits for another process that still locks the folder but is about to end [s]."""

_one_at_a_time = Lock()


def worker_report(folder: str) -> dict[str, Any]:
    """Return the worker's version of articulon, and whether it sees the folder of the sweep."""
    return {"articulon": __version__, "sees": os.path.isdir(folder)}


def order(name: str, case: Case, folder: Path, skip: float, topic: str) -> dict[str, Any]:
    """Return the task for a worker, as texts and numbers.

    Parameters
    ----------
    name
        Name of the member.
    case
        Case that the member runs.
    folder
        Folder of its run.
    skip
        Fraction of the frames at the start that time averages leave out.
    topic
        Topic of the scheduler's events under which the worker reports progress.

    Raises
    ------
    CaseError
        For a case that cannot be written to a file.
    """
    return {
        "member": name,
        "case": case.to_toml(),
        "source": case.source,
        "called": case.name,
        "allow_code": case.allow_code,
        "folder": str(folder.absolute()),
        "skip": skip,
        "topic": topic,
    }


def run_member(task: Mapping[str, Any]) -> dict[str, Any]:
    """Run or continue a member on one thread, and return how it ended. Errors are returned, not raised.

    Parameters
    ----------
    task
        A task from :func:`order`.

    Returns
    -------
    dict
        ``member``, ``status``, the ``error`` of a failed member, the wall time ``seconds``, and ``processor_seconds``,
        the processor time of this process.
    """
    folder = Path(task["folder"])
    with _one_at_a_time:
        began, computed = monotonic(), process_time()
        ask_runs_to_stop(False)
        status, error = FAILED, None
        try:
            status = _run(task, folder)
        except KeyboardInterrupt:
            status = STOPPED
        except CheckpointError as failure:
            # A diverged run cannot be continued from its checkpoint. The earlier error is the reason, so it comes
            # first.
            error = "\n".join(dict.fromkeys([*noted_error(folder), str(failure)]))
        except ArticulonError as failure:
            error = str(failure)
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}\n{traceback.format_exc()}"
        if error is not None:
            note_failed(folder, error)
        spent = {"seconds": monotonic() - began, "processor_seconds": process_time() - computed}
    return {"member": task["member"], "status": status, "error": error, **spent}


def _run(task: Mapping[str, Any], folder: Path) -> str:
    case = resolve(parsed(task["case"]), task["source"], task["called"], {}, task["allow_code"])
    if case.run.threads is not None:
        case = case.with_overrides({"run.threads": 1})
    # Workers share the machine; with one thread each, they keep all cores busy. Results do not depend on the number of
    # threads.
    numba.set_num_threads(1)
    _wait_for(folder)
    begun = any(os.path.lexists(folder / name) for name in HELD)
    done = run(case, folder, begun, WorkerProgress(task["member"], task["topic"]), report=False)
    if done.complete:
        note_ended(folder, time_averages(folder, task["skip"]), task["skip"])
    return str(done.summary["status"])


def _wait_for(folder: Path) -> None:
    """Wait until another process that has locked a folder has ended, but not longer than ``PATIENCE``."""
    ends = monotonic() + PATIENCE
    while os.path.lexists(folder / LOCK):
        try:
            with claimed(folder, lambda _: None):
                return
        except ArticulonError:
            if monotonic() > ends:
                return  # the run that follows will report the error
            sleep(0.1)


class WorkerProgress:
    """Reports the progress of a run to the sweep, and stops the run if the sweep no longer needs it.

    Parameters
    ----------
    member
        Name of the member.
    topic
        Topic of the scheduler's events.
    """

    def __init__(self, member: str, topic: str) -> None:
        self.member, self.topic = member, topic
        self.total, self.reported = 0.0, 0.0
        self.worker, self.task = _worker_and_task()

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """See :class:`Progress`."""
        self.total = total_time
        self._report({"part": resumed_from / total_time if total_time else 0.0})

    def message(self, text: str) -> None:
        """See :class:`Progress`."""
        self._report({"message": text})

    def update(self, time: float, step: float, steps: int) -> None:
        """See :class:`Progress`."""
        now = monotonic()
        if now - self.reported < BETWEEN:
            return
        self.reported = now
        self._report({"part": time / self.total if self.total else 0.0})
        if self._is_withdrawn():
            ask_runs_to_stop()

    def finish(self, text: str = "") -> None:
        """See :class:`Progress`."""

    def _report(self, what: Mapping[str, Any]) -> None:
        if self.worker is not None:
            self.worker.log_event(self.topic, {"member": self.member, **what})

    def _is_withdrawn(self) -> bool:
        """Return whether the task was withdrawn. This happens if the sweep must stop, or if the sweep was killed and
        its workers now belong to another process."""
        if self.worker is None:
            return False
        task = self.worker.state.tasks.get(self.task)
        return task is None or task.state in ("cancelled", "released", "forgotten")


def _worker_and_task() -> tuple[Any, str]:
    """Return the worker of this thread and the key of its task; None if the thread belongs to no worker, as in a
    test."""
    from distributed.worker import get_worker, thread_state

    try:
        return get_worker(), str(thread_state.key)
    except (ValueError, AttributeError):
        return None, ""
