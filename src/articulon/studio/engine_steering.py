"""What the engine does for the studio's pages between two chunks of a run."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from articulon.integrate.base import Driver
from articulon.integrate.glances import Glances, Poses
from articulon.model.state import STEPS
from articulon.simulation.chunks import CHUNK_SECONDS, Chunks
from articulon.simulation.interruption import Interruption, ask_runs_to_stop
from articulon.simulation.observers import poses_at
from articulon.simulation.recorder import Recorder
from articulon.studio.engine_link import Link
from articulon.studio.engine_pulls import EnginePulls
from articulon.studio.pose_exchange import PoseExchange
from articulon.studio.run_frames import locked_bodies
from articulon.studio.stage import Frame

RATE = 100.0
"""Rate at which states are shown [1/s]. It is 1.5 times the rate of the page's updates, so that each update finds a new
state even if an update or a state is sometimes late."""
SHARE = 0.03
"""Largest fraction of the run's time that is used for showing states and other work between chunks."""
TOLD = 0.1
"""Interval between reports of the run's progress [s]."""
NAP = 0.02
"""Interval at which a waiting run reads messages [s]."""
OFTEN = 64
"""Number of chunks after which the time to copy the state is measured again."""
BEHIND = 0.25
"""If the run is behind the requested speed by more than this wall time, the clock is restarted [s]."""


class EngineSteering:
    """Takes control between chunks: carries out requests of the pages, and shows the state to the pages.

    Parameters
    ----------
    link
        Connection to the page's process.
    poses
        Shared memory through which the page sees the state.
    pulls
        Springs with which users of the pages pull on bodies.
    rate
        Simulated time per second [time]; None for as fast as possible.
    waits
        Whether the run waits before its first step.
    """

    def __init__(
        self, link: Link, poses: PoseExchange, pulls: EnginePulls, rate: float | None = None, waits: bool = False
    ) -> None:
        self.link, self.poses, self.pulls, self.rate = link, poses, pulls, rate
        self.waits, self.watched = waits, True
        self.often = max(1.0 / RATE, poses.form.seconds)
        """Usual interval between two shown states [s]; it is never shorter than half of this."""
        self.chunk_seconds = self.often
        self.idle_seconds = 0.0
        self._single = False
        self._recorder: Recorder | None = None
        self._last_report = self._looked = -np.inf
        self._cost = self._copying = self._glance_cost = 0.0
        self._glances = Glances(self._show_within)
        self._chunks = 0
        self._frames = -1
        self._begin_counting()

    def _begin_counting(self) -> None:
        """Restart the clock of the requested speed."""
        self._origin: tuple[float, float] | None = None
        self._before: tuple[float, float] | None = None
        self._factor: float | None = None

    def between_chunks(self, recorder: Recorder, chunks: Chunks, interruption: Interruption) -> None:
        """See :class:`articulon.simulation.steering.Steering`."""
        if self._recorder is None:
            self.link.say("observables", dimensions=recorder.prepared.observer.dimensions)
        elif self._single:  # the single step has been taken
            self._single, self.waits = False, True
        self._recorder = recorder
        self._listen()
        self._show()
        self._wait(recorder, interruption)
        self.pulls.apply(recorder, chunks)
        self._pace(chunks)

    def _wait(self, recorder: Recorder, interruption: Interruption) -> None:
        """Wait until the run may continue."""
        began = time.monotonic()
        while not interruption.requested:
            ahead = self._ahead(float(recorder.state.time[0]))
            if self.waits:
                self._begin_counting()
            elif ahead <= 0.0:
                break
            self._listen(NAP if self.waits else min(ahead, NAP))
            if self._single:
                self.waits = False
                break
            self._show()
        self.idle_seconds += time.monotonic() - began

    def _ahead(self, now: float) -> float:
        """Return the wall time by which the run is ahead of the requested speed [s]."""
        if self.rate is None:
            return 0.0
        clock = time.monotonic()
        if self._origin is None:
            self._origin = clock, now
        ahead = (now - self._origin[1]) / self.rate - (clock - self._origin[0])
        if ahead < -BEHIND:
            self._origin = clock, now
        return ahead

    def _pace(self, chunks: Chunks) -> None:
        """Set the number of steps of the next chunk. It is the number between two updates of the page, or larger if
        work other than steps would otherwise take too large a fraction of the time."""
        recorder = self._recorder
        assert recorder is not None
        if self._chunks % OFTEN == 0:
            # Each chunk starts with a copy of the state. For large models the copy is costly, so its time is measured.
            began = time.thread_time()
            recorder.state.copy()
            self._copying = time.thread_time() - began
        self._chunks += 1
        beside = self._cost + self._copying + chunks.driver.overhead
        own = max(self.often, beside / SHARE)
        chunks.seconds = min(own, CHUNK_SECONDS) if self.watched else CHUNK_SECONDS
        self._set_glances(chunks.driver, self.watched and own > self.often)
        if self._single:
            chunks.steps = 1
            return
        if self.rate is not None:
            step = recorder.prepared.observer.fixed_step or float(recorder.state.step[0])
            if step > 0.0:
                chunks.steps = min(chunks.steps, max(1, int(self.rate / RATE / step)))

    def _set_glances(self, driver: Driver, asked: bool) -> None:
        """Make the stepper show the bodies within chunks too, if ``asked``. This is needed if chunks are longer than
        the interval of the page's updates."""
        form = self.poses.form
        # Forces, deformations and locks need the whole state, which is not available within a chunk.
        if not (driver.can_glance and asked) or form.state or form.coordinates or form.locks:
            driver.glances = None
            return
        if driver.glances is None:
            driver.glances = self._glances
        self._glances.seconds = max(self.often, self._glance_cost / SHARE)

    def _show_within(self, now: float, steps: int, poses: Poses) -> None:
        """Show the bodies within a chunk."""
        began = time.thread_time()
        self.poses.put_poses(poses, now, steps, self._edges())
        self._looked, self._glance_cost = time.monotonic(), time.thread_time() - began

    def _edges(self) -> np.ndarray | None:
        """Return the edges of the box, as rows [length], shape (3, 3); None without a box."""
        if not self.poses.form.boxed:
            return None
        assert self._recorder is not None
        state, box = self._recorder.state, self._recorder.prepared.model.box
        assert box is not None
        return np.array(state.box.edges if state.box.edges.size else box.vectors)

    def _listen(self, patience: float = 0.0) -> None:
        for said in self.link.hear(patience):
            self.carry_out(said)
        if self.link.closed:
            # The pages' process has ended: save the results, as after Ctrl-C.
            ask_runs_to_stop()

    def carry_out(self, said: dict[str, Any]) -> None:
        """Carry out a request of the pages, from the next chunk on."""
        match said["kind"]:
            case "pause":
                self.waits = True
            case "go":
                self.waits = False
            case "step":
                self._single = True
            case "speed":
                self.rate = said["rate"]
                self._begin_counting()
            case "watch":
                self.watched = bool(said["watched"])
            case "stop":
                ask_runs_to_stop()
            case "pull":
                self.pulls.ask(said)
            case "let_go":
                self.pulls.ask(None)

    def _show(self) -> None:
        """Send news to the pages: the latest kept frame, the state, and the progress of the run."""
        recorder = self._recorder
        assert recorder is not None
        if recorder.frames != self._frames and recorder.latest is not None:
            self._frames = recorder.frames
            values = {name: value for name, value in recorder.latest.observables.items() if np.isfinite(value)}
            self.link.say("frame", must=False, time=recorder.latest.time, values=values)
        now = time.monotonic()
        if self.watched and now - self._looked >= max(0.5 * self.often, self._cost / SHARE):
            self.look(recorder)
        self._tell(TOLD)

    def look(self, recorder: Recorder) -> None:
        """Show the state to the pages."""
        steps = int(recorder.state.counters[STEPS])
        # Thread time excludes the time taken by other programs.
        began = time.thread_time()
        model, state, form = recorder.prepared.model, recorder.state, self.poses.form
        positions, rotations = poses_at(model, state.q)
        locked = locked_bodies(model, state.u[None])[0] if form.locks else None
        moving = np.concatenate([state.q, state.u]) if form.state else None
        self.poses.put(Frame(positions, rotations, float(state.time[0]), self._edges(), state.q, locked, moving), steps)
        self._looked, self._cost = time.monotonic(), time.thread_time() - began

    def _tell(self, every: float) -> None:
        now, recorder = time.monotonic(), self._recorder
        assert recorder is not None
        if now - self._last_report < max(every, NAP):
            return
        state = recorder.state
        at = float(state.time[0])
        if self._before is not None and now - self._before[0] >= 0.5:
            self._factor = (at - self._before[1]) / (now - self._before[0])
        if self._before is None or now - self._before[0] >= 0.5:
            self._before = now, at
        self._last_report = now
        self.link.say(
            "progress",
            must=False,
            time=at,
            step=recorder.prepared.observer.fixed_step or float(state.step[0]),
            steps=int(state.counters[STEPS]),
            rate=self._factor,
            waits=self.waits and not self._single,
            pulled=self.pulls.pulling,
        )

    def last_look(self) -> None:
        """Show the final state of the run."""
        if self._recorder is not None:
            self._last_report = -np.inf
            self._show()
            self.look(self._recorder)
