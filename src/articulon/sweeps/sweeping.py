"""Execution of a sweep: members are assigned to workers until all members have ended. If a worker is killed, its member
is assigned again."""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from time import monotonic, sleep
from typing import Any

from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.simulation.interruption import Interruption
from articulon.storage.folder_claim import LOCK
from articulon.sweeps.member_folders import note_failed, progress_mark
from articulon.sweeps.member_task import FAILED, STOPPED, order, run_member
from articulon.sweeps.sweep_members import Member
from articulon.sweeps.sweep_progress import Shown
from articulon.sweeps.sweep_workers import LOG, Workers

DEATHS = 5
"""Number of consecutive worker deaths without progress after which a member counts as failed."""
POLL = 0.2
"""Interval of checks for a request to stop, while the sweep waits for members [s]."""
COUNTING = 1.0
"""Interval at which workers are counted [s]."""
STOPPING = 60.0
"""Time that runs get to save their state when the sweep must stop [s]."""


LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "CommClosedError")
"""Errors of Dask that mean that a worker or the scheduler has ended."""


@dataclass
class Attempt:
    """A member that a worker is running."""

    member: Member
    mark: Any
    """Progress of the member's run when it was assigned to the worker."""
    deaths: int
    """Number of consecutive times that the member's worker was killed without progress of the run."""


@dataclass
class Sweeping:
    """Runs the members of a sweep.

    Parameters
    ----------
    case
        Case of all members.
    folder
        Folder of the sweep.
    skip
        Fraction of the frames at the start that time averages leave out.
    shown
        Displays the progress.
    """

    case: Case
    folder: Path
    skip: float
    shown: Shown
    errors: dict[str, str] = field(default_factory=dict)
    """Errors of the failed members, by name."""
    processor_seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of the workers for each member, by name [s]; killed workers are not included."""

    def run(self, members: Sequence[Member], workers: Workers, interruption: Interruption) -> bool:
        """Run members until all have ended or failed; return whether a request to stop came earlier.

        Raises
        ------
        ArticulonError
            If the scheduler has ended.
        """
        topic = f"articulon-{secrets.token_hex(8)}"
        waiting = deque(Attempt(member, None, 0) for member in members)
        running: dict[Any, Attempt] = {}
        done: Queue[Any] = Queue()
        workers.client.subscribe_topic(topic, self._receive)
        free, counted = workers.count(), monotonic()
        try:
            while running or waiting:
                if interruption.requested:
                    workers.take_back(list(running))
                    self._wait_for([attempt.member for attempt in running.values()])
                    return True
                if monotonic() - counted > COUNTING:
                    free, counted = workers.count(), monotonic()
                while waiting and len(running) < free:
                    attempt = waiting.popleft()
                    future = self._submit(attempt, workers, topic)
                    if future is not None:
                        running[future] = attempt
                        future.add_done_callback(done.put)
                if not running:
                    workers.check()
                    if waiting:
                        sleep(POLL)
                    continue
                try:
                    future = done.get(timeout=POLL)
                except Empty:
                    workers.check()
                    continue
                attempt = running.pop(future)
                if not self._ended(future, attempt):
                    free, counted = workers.count(), monotonic()
                    waiting.append(attempt)
                future.release()
            return False
        finally:
            workers.client.unsubscribe_topic(topic)

    def _wait_for(self, members: Sequence[Member]) -> None:
        """Wait until the runs, which have been asked to end, have saved their states and released their folders."""
        ends = monotonic() + STOPPING
        while any(os.path.lexists(self.folder / one.name / LOCK) for one in members) and monotonic() < ends:
            sleep(POLL)

    def _submit(self, attempt: Attempt, workers: Workers, topic: str) -> Any:
        """Submit a member to the workers and return its future; None if the member cannot be run."""
        member, folder = attempt.member, self.folder / attempt.member.name
        try:
            task = order(member.name, member.case_of(self.case), folder, self.skip, topic)
        except ArticulonError as error:
            self._failed(member, str(error))
            return None
        attempt.mark = progress_mark(folder)
        self.shown.running(member.name, 0.0)
        key = f"{topic}-{member.name}-{secrets.token_hex(4)}"
        return workers.client.submit(run_member, task, key=key, pure=False)

    def _ended(self, future: Any, attempt: Attempt) -> bool:
        """Return whether a member has ended or failed. If not, another worker continues it."""
        member, folder = attempt.member, self.folder / attempt.member.name
        found, failure = _answer(future)
        if found is not None:
            before = self.processor_seconds.get(member.name, 0.0)
            self.processor_seconds[member.name] = before + float(found["processor_seconds"])
            if found["status"] == STOPPED:
                self.shown.stopped(member.name)
                return False
            self.errors.pop(member.name, None)
            if found["status"] == FAILED:
                self.errors[member.name] = str(found["error"])
            self.shown.ended(member.name, found["status"], found["seconds"], found["error"])
            return True
        if failure is not None and type(failure).__name__ not in LOST:
            self._failed(member, f"{type(failure).__name__}: {failure}")
            return True
        further = progress_mark(folder) != attempt.mark
        attempt.deaths = 0 if further else attempt.deaths + 1
        self.shown.stopped(member.name)
        if attempt.deaths < DEATHS:
            self.shown.message(f"{member.name}: its worker ended; another one continues the run")
            return False
        self._failed(
            member,
            f"its worker ended {DEATHS} consecutive times without progress: it runs out of memory, "
            f"something kills it, or it crashes; {self.folder / LOG} may say more",
        )
        return True

    def _failed(self, member: Member, error: str) -> None:
        self.errors[member.name] = error
        note_failed(self.folder / member.name, error)
        self.shown.ended(member.name, FAILED, 0.0, error)

    def _receive(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """Process a worker's message about a member."""
        _, news = event
        if "part" in news:
            self.shown.running(str(news["member"]), float(news["part"]))
        else:
            self.shown.message(f"{news['member']}: {news['message']}", once=str(news["message"]))


def _answer(future: Any) -> tuple[Mapping[str, Any] | None, BaseException | None]:
    """Return the result of a worker, or the error that prevented the result. Both are None if the task was lost."""
    try:
        if future.status == "finished":
            return future.result(), None
        return None, future.exception() if future.status == "error" else None
    except Exception as failure:  # the worker ended before its result was fetched
        return None, failure
