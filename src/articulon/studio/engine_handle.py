"""Control of the engine from the pages' process. The engine is a separate process that runs a case into a folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.model import Model
from articulon.studio.engine_link import Link
from articulon.studio.force_arrows import MOST
from articulon.studio.pose_exchange import FrameForm, Look, PoseExchange

PATIENCE = 60.0
"""Time that an engine gets to write its checkpoint after it is asked to stop; then it is killed [s]."""


@dataclass(frozen=True)
class Job:
    """The run that an engine carries out."""

    case: Case
    """Case that is run, in its present state in memory."""
    model: Model
    """Model that the case describes."""
    folder: Path
    """Folder of the run."""
    resume: bool = False
    """Whether to continue the run in the folder."""
    rate: float | None = None
    """Simulated time per second [time]; None for as fast as possible."""
    waits: bool = False
    """Whether the engine waits before the first step."""


class Engine:
    """A process that carries out a job. It receives no signals from the terminal. When the pages' process has ended,
    the engine saves its state and ends by itself.

    Parameters
    ----------
    job
        Task of the engine.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        form = frame_form(job.case, job.model)
        self._poses = PoseExchange.made(form)
        mine, its = socket.socketpair()
        os.set_inheritable(its.fileno(), True)
        command = [
            sys.executable,
            "-P",  # Code in the current folder is not part of articulon, and is not permitted to run.
            "-m",
            "articulon.studio.engine_program",
            str(its.fileno()),
            str(self._poses.descriptor),
        ]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=(its.fileno(), self._poses.descriptor), start_new_session=True
        )
        its.close()
        self._link = Link(mine)
        self._seen = 0
        self._ended = self._ready = self._stopping = False
        self._link.say(
            "job",
            toml=job.case.to_toml(),
            source=job.case.source,
            name=job.case.name,
            allow_code=job.case.allow_code,
            folder=str(job.folder.resolve()),
            resume=job.resume,
            rate=job.rate,
            waits=job.waits,
            form=form,
        )

    @property
    def process_id(self) -> int:
        """Process ID."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process has ended and all its messages have been read."""
        return self._ended

    def tell(self, kind: str, **what: Any) -> None:
        """Send a request to the engine: ``pause``, ``go``, ``step``, ``pull``, ``let_go``, or ``speed`` with a
        ``rate``. ``watch`` tells the engine whether a page shows the run."""
        self._link.say(kind, **what)

    def heard(self) -> list[dict[str, Any]]:
        """Return the messages since the last call. The final message is ``{"kind": "gone", "error": ...}``. Its error
        is None, unless the process ended for another reason than the end of the run."""
        said = self._link.hear()
        if not self._ready and said:
            self._ready = True
            if self._stopping:
                self.stop()
        if self._link.closed and not self._ended:
            self._ended = True
            code = self._process.wait()
            said.append({"kind": "gone", "error": None if code == 0 else _cause(code)})
        return said

    def latest(self) -> Look | None:
        """Return the latest state, if it is new."""
        found = self._poses.latest(self._seen)
        if found is not None:
            self._seen = found.number
        return found

    def stop(self) -> None:
        """Ask the engine to save its state and end, as Ctrl-C does. A signal is used, which works even while the engine
        compiles kernels and reads no messages. A process that is still loading cannot handle a signal; the signal is
        then sent after its first message."""
        self._stopping = True
        if self._ready and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self, patience: float = PATIENCE) -> list[dict[str, Any]]:
        """Stop the engine and wait until its process has ended; return its last messages."""
        self.stop()
        said, end = [], time.monotonic() + patience
        while not self._ended and time.monotonic() < end:
            said += self.heard()
            time.sleep(0.02)
        if not self._ended:
            self._process.kill()
            self._process.wait()
        self._link.close()
        self._poses.close()
        return said


def frame_form(case: Case, model: Model) -> FrameForm:
    """Return the layout of frames that the page needs."""
    locks = case.adaptive is not None and bool(case.adaptive.on)
    state = model.nq + model.nu if model.bodies <= MOST else 0
    return FrameForm(
        model.bodies,
        model.box is not None,
        model.nq if model.modes else 0,
        locks,
        state,
        single=not state,
        drawn=max(model.bodies, len(model.sites.body)),
    )


def _cause(code: int) -> str:
    if code < 0:
        return (
            f"the engine's process was ended by signal {-code} ({signal.Signals(-code).name}); "
            "the run can be continued from its last checkpoint"
        )
    return f"the engine's process ended with exit code {code}"
