"""The process that runs a case for the pages: ``python -m articulon.studio.engine_program LINE POSES``.

Both arguments are inherited file descriptors. The process starts when it receives the case, and ends with the run or
when the connection is closed.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from articulon.cases.case import Case, resolve
from articulon.cases.case_library_runs import run
from articulon.cases.overrides import parsed
from articulon.errors import ArticulonError, DivergenceError
from articulon.storage.file_reading import read_summary
from articulon.studio.engine_link import Link
from articulon.studio.engine_pulls import EnginePulls
from articulon.studio.engine_steering import EngineSteering
from articulon.studio.pose_exchange import FrameForm, PoseExchange

PATIENCE = 30.0
"""Time that the process waits for the case, and, at its end, for the reading of its last messages [s]."""


class LinkProgress:
    """Forwards the progress and messages of a run to the pages' process."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """See :class:`articulon.simulation.run_request.Progress`."""
        self._link.say("started", total=total_time, unit=unit, resumed_from=resumed_from)

    def message(self, text: str) -> None:
        """See :class:`articulon.simulation.run_request.Progress`."""
        self._link.say("message", text=text)

    def update(self, time: float, step: float, steps: int) -> None:
        """See :class:`articulon.simulation.run_request.Progress`. This does nothing, because :class:`EngineSteering`
        informs the pages between chunks."""

    def finish(self, text: str = "") -> None:
        """See :class:`articulon.simulation.run_request.Progress`."""
        if text:
            self._link.say("message", text=text)


def case_of(job: dict[str, Any]) -> Case:
    """Return the case of a job as it was sent; its files are not read again."""
    return resolve(parsed(job["toml"]), job["source"], job["name"], {}, job["allow_code"])


def first_words(link: Link, patience: float) -> list[dict[str, Any]]:
    """Return the first messages, even if they arrive in pieces. The list is empty if the connection closes before, or
    after the timeout ``patience`` [s]."""
    end = time.monotonic() + patience
    said: list[dict[str, Any]] = []
    while not said and not link.closed and time.monotonic() < end:
        said = link.hear(max(0.0, end - time.monotonic()))
    return said


def serve(link: Link, descriptor: int) -> None:
    """Run the case that is received through the link."""
    link.say("ready")
    said = first_words(link, PATIENCE)
    if not said:
        return
    job, folder = said[0], Path(said[0]["folder"])
    poses = PoseExchange(descriptor, FrameForm(*job["form"]))
    pulls = EnginePulls(link, folder)
    steering = EngineSteering(link, poses, pulls, job["rate"], job["waits"])
    for wish in said[1:]:
        steering.carry_out(wish)
    status, heading, error = "failed", "error", None
    try:
        done = run(
            case_of(job),
            folder,
            job["resume"],
            LinkProgress(link),
            allow_code=job["allow_code"],
            steering=steering,
        )
        status = str(done.summary["status"])
    except KeyboardInterrupt:
        status, heading = "interrupted", "interrupted"
    except DivergenceError as failure:
        heading, error = "diverged", str(failure)
    except ArticulonError as failure:
        error = str(failure)
    except OSError as failure:
        error = ": ".join(str(part) for part in (failure.filename, failure.strerror or failure) if part)
    except Exception:
        # The output of this process is not shown, so unexpected errors are also reported on the page.
        error = traceback.format_exc()
    steering.last_look()
    summary = None
    with suppress(ArticulonError):
        summary = read_summary(folder)
    link.say("ended", status=status, heading=heading, error=error, summary=summary)
    if status != "interrupted" and error is None and not link.closed:
        _report(link, folder)
    link.finish(PATIENCE)


def _report(link: Link, folder: Path) -> None:
    from articulon.studio.run_report import write_report

    try:
        link.say("message", text=f"the report is {write_report(folder)}")
    except ArticulonError as failure:
        link.say("message", text=f"there is no report: {failure}")


def main(line: int, poses: int) -> None:
    """Run the process."""
    with suppress(AttributeError):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closed terminal ends the studio, which ends this process
    link = Link(socket.socket(fileno=line))
    try:
        serve(link, poses)
    except KeyboardInterrupt:
        link.say("ended", status="interrupted", heading="interrupted", error=None, summary=None)
        link.finish(1.0)
    finally:
        link.close()
    # End without waiting for threads of libraries.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
