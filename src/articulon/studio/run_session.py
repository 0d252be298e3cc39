"""The run that a page shows: its engine, its kept frames, and its messages."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.cases.case_library_runs import open_run
from articulon.errors import ArticulonError
from articulon.model import Model
from articulon.simulation.folder_run import HELD
from articulon.simulation.results import CASE
from articulon.storage.file_reading import read_summary
from articulon.studio.engine_handle import Engine, Job
from articulon.studio.force_arrows import MOST
from articulon.studio.live_frames import ROOM, LiveFrames
from articulon.studio.live_plots import Observed
from articulon.studio.run_frames import RunFrames
from articulon.studio.some_frames import with_some_frames
from articulon.studio.stage import Frame

MOST_NOTES = 40
"""Largest number of messages that are kept."""
FAILED = "this run has failed; its frames so far are shown; Run starts a new run"
"""Message for a failed run that is opened again; only the page that started the run has shown the details."""
MOST_LOADED = 1_000
"""Largest number of frames that are loaded from the folder of a run."""


class RunSession:
    """A sequence of runs, each in its own folder.

    Parameters
    ----------
    runs
        Folder in which new folders are made.
    allow_code
        Whether functions that a case names may run.
    """

    def __init__(self, runs: Path, allow_code: bool = False) -> None:
        self.runs, self.allow_code = runs, allow_code
        self.state = "idle"
        """``"idle"``, ``"starting"``, ``"running"``, ``"waiting"`` or ``"ended"``."""
        self.frames, self.observed = LiveFrames(), Observed()
        self.notes: deque[tuple[str, str]] = deque(maxlen=MOST_NOTES)
        self.folder: Path | None = None
        self.case: Case | None = None
        self.model: Model | None = None
        self.engine: Engine | None = None
        self.rate: float | None = None
        self._finishing: list[Engine] = []
        self._forget()

    def _forget(self) -> None:
        self.summary: dict[str, Any] | None = None
        self.error: str | None = None
        self.time, self.steps, self.step = 0.0, 0, 0.0
        self.pace: float | None = None
        self.pulled = False
        self.dimensions: dict[str, str] = {}
        self.told = 0
        """Number of messages so far."""

    @property
    def going(self) -> bool:
        """Whether the run has an engine, so that it is in progress."""
        return self.engine is not None

    @property
    def can_go_on(self) -> bool:
        """Whether the run in the folder is unfinished."""
        return self.folder is not None and self.summary is not None and self.summary.get("status") == "interrupted"

    def note(self, heading: str, text: str) -> None:
        """Keep a message for the page."""
        self.notes.appendleft((heading, text))
        self.told += 1

    def open(self, folder: Path, case: Case, model: Model) -> None:
        """Load a run from a folder: frames, observables and key numbers."""
        self._forget()
        self.folder, self.case, self.model = folder, case, model
        self._load()
        assert self.summary is not None
        if self.summary.get("status") == "running":
            self.summary["status"] = "interrupted"  # the run was killed
        if self.summary.get("status") == "failed":
            self.error = FAILED
            self.note("failed", FAILED)
        self.time = float(self.frames.times[-1]) if self.frames else 0.0
        self.steps = int(self.summary.get("steps", 0))
        self.state = "ended"
        self._take_notes()

    def _load(self) -> None:
        """Load the frames, the observables and the key numbers from the folder."""
        assert self.folder is not None and self.model is not None
        run = open_run(self.folder, allow_code=self.allow_code)
        run.model = self.model
        self.summary = dict(run.summary)
        frames = RunFrames(with_some_frames(run, most_loaded(self.model)), follows=False)
        self.observed.fill(run.times, run.observables)
        self.frames.clear()
        for k in range(len(frames)):
            self.frames.add(frames.with_state(k) if self.model.bodies <= MOST else frames[k])

    def begin(self, case: Case, model: Model, waits: bool = False) -> None:
        """Run a case. If the run in the folder has the same case, it is continued; otherwise a run starts in a new
        folder.

        Raises
        ------
        CaseError
            For a case that names functions, unless they are allowed to run.
        OSError
            If the folder cannot be accessed, or the engine cannot be started.
        """
        case.check_code()
        resume = self.can_go_on and self.case is not None and self.case.digest() == case.digest()
        folder = self.folder if resume else free_folder(self.runs, case.folder_name)
        assert folder is not None
        # If the engine cannot be started, the session stays unchanged.
        engine = Engine(Job(case, model, folder, resume, self.rate, waits))
        if not resume:
            self.frames.clear()
            self.observed.clear()
        self._forget()
        self.case, self.model, self.folder, self.engine = case, model, folder, engine
        self.note("", f"continuing the run in {folder}" if resume else f"the results go to {folder}")
        self.state = "starting"

    def set_rate(self, rate: float | None) -> None:
        """Set the simulated time per second [time]; None for as fast as possible."""
        self.rate = rate
        self.tell("speed", rate=rate)

    def tell(self, kind: str, **what: Any) -> None:
        """Send a message to the engine, if there is one."""
        if self.engine is not None:
            self.engine.tell(kind, **what)

    def stop(self) -> None:
        """Make the run save its state and end."""
        if self.engine is not None:
            self.engine.stop()

    def poll(self) -> Frame | None:
        """Process the engine's messages since the last call; return its state as a frame, if it is new."""
        for late in tuple(self._finishing):
            self._take_last_words(late.heard())
            if late.ended:
                late.close()
                self._finishing.remove(late)
        engine = self.engine
        if engine is None:
            return None
        # The engine shows a state before it reports it. So a state that is read after the last message is the last
        # state.
        heard, look = engine.heard(), engine.latest()
        if look is not None:
            self.frames.add(look.frame)
        for said in heard:
            self._take(said)
        if look is not None:
            # Within a long chunk, the engine reports no progress, but it shows the state.
            self.time, self.steps = max(self.time, look.frame.time), max(self.steps, look.steps)
        if engine.ended:
            engine.close()
        if self.state == "ended":
            # The engine may still write its report; the session does not wait for this.
            self.engine = None
            self._finishing += [] if engine.ended else [engine]
        return None if look is None else look.frame

    def _take_last_words(self, heard: list[dict[str, Any]]) -> None:
        """Process messages of an engine whose run has ended. They must not affect another run that may be in
        progress."""
        for said in heard:
            if said["kind"] == "message":
                self._take(said)

    def _take(self, said: Mapping[str, Any]) -> None:
        match said["kind"]:
            case "message":
                self.note("", said["text"])
            case "refused":
                self.note("refused", said["text"])
            case "started":
                self.state, self.time = "running", said["resumed_from"]
            case "observables":
                self.dimensions = said["dimensions"]
            case "frame":
                self.observed.take(said["time"], said["values"])
            case "progress":
                self.time, self.step, self.steps, self.pace = (said[k] for k in ("time", "step", "steps", "rate"))
                self.state = "waiting" if said["waits"] else "running"
                self.pulled = said["pulled"]
            case "ended":
                self._end(said)
            case "gone":
                if self.state not in ("ended", "idle"):
                    self._end({"summary": None, "error": said["error"] or "the engine ended", "heading": "error"})
                    self._find_checkpoint()

    def _end(self, said: Mapping[str, Any]) -> None:
        self.state, self.pace, self.pulled = "ended", None, False
        self.summary, self.error = said["summary"], said["error"]
        if self.summary is not None:
            self.time, self.steps = self.summary["simulated_time"], self.summary["steps"]
            self._take_notes()
            assert self.model is not None
            if min(self.observed.taken, most_loaded(self.model)) > len(self.frames):
                # Of a very short run, the page has received only a few states; the folder of the run has more frames.
                with suppress(ArticulonError, OSError):
                    self._load()
        if self.error is not None:
            self.note(said["heading"], self.error)

    def _find_checkpoint(self) -> None:
        """Check whether a killed engine has left a checkpoint from which the run can be continued."""
        assert self.folder is not None
        with suppress(ArticulonError, OSError):
            found = dict(read_summary(self.folder))
            if found["status"] in ("running", "interrupted"):
                self.summary = {**found, "status": "interrupted"}

    def _take_notes(self) -> None:
        """Take the messages that the command prints at the end of a run."""
        assert self.summary is not None
        for check in self.summary.get("checks") or []:
            value = "not a number" if check["value"] is None else f"{check['value']:.3g}"
            found = f"{check['what']}: {value}, allowed {check['bound']:.3g} {check['unit']}".rstrip()
            self.note("passed" if check["passed"] else "failed", found)
        for text in self.summary.get("notes") or []:
            self.note("note", text)

    def close(self) -> str | None:
        """Stop the engine and save the state. Return a message on how to continue the run; None if there is no run to
        continue."""
        for late in self._finishing:
            self._take_last_words(late.close())
        if self.engine is not None:
            for said in self.engine.close():
                self._take(said)
        self.engine, self._finishing = None, []
        if not self.can_go_on or self.folder is None:
            return None
        return f"articulon studio {self.folder}"


def most_loaded(model: Model) -> int:
    """Return the number of frames that are loaded from a folder: as many as fit in memory, in double precision."""
    each = 8 * (7 * model.bodies + model.nq + model.nu)
    return min(MOST_LOADED, max(2, ROOM // max(each, 1)))


def free_folder(runs: Path, name: str) -> Path:
    """Return a folder of this name that contains no run and no other files; a number is appended to the name if
    necessary."""
    number = 1
    while True:
        folder = runs / (name if number == 1 else f"{name}-{number}")
        if not os.path.lexists(folder) or (folder.is_dir() and not os.listdir(folder)):
            return folder
        number += 1


def check_is_run(folder: Path) -> bool:
    """Return whether a folder contains a run; raises ArticulonError if it contains parts of a run without its case."""
    held = [name for name in HELD if os.path.lexists(folder / name)]
    if held and CASE not in held:
        raise ArticulonError(f"{folder} holds {held[0]} and no {CASE}: put the case back, or open another folder")
    return bool(held)
