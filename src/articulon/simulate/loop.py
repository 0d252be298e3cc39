"""The loop: from frame to frame in chunks of steps, with Python in control between them."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from articulon.errors import ArticulonError
from articulon.integrate.drivers import DIVERGED, REACHED, STOPPED
from articulon.model import State
from articulon.model.state import STEPS
from articulon.simulate.checkpoint import NEWEST, write_checkpoint
from articulon.simulate.chunks import CHUNK_SECONDS, Chunks
from articulon.simulate.description import Progress
from articulon.simulate.divergence import diagnosis
from articulon.simulate.interruption import Interruption
from articulon.simulate.observers import users_errors
from articulon.simulate.preparation import Prepared
from articulon.simulate.trajectory import TrajectoryWriter


class Recorder:
    """What is kept of a run: its trajectory, and checkpoints that count on it."""

    def __init__(self, folder: Path, prepared: Prepared, writer: TrajectoryWriter, state: State) -> None:
        self.folder, self.prepared, self.writer, self.state = folder, prepared, writer, state
        self.times = [float(time) for time in prepared.case.run.frame_times()]
        self.stop_time = np.nan
        self.finished = False
        self.last_step = -1

    def checkpoint(self) -> None:
        """Write the trajectory, then the state."""
        self.writer.flush()
        threshold, observer = self.prepared.threshold, self.prepared.observer
        write_checkpoint(
            self.folder,
            {f"state_{name}": array for name, array in self.state._asdict().items()}
            | {
                "case": np.frombuffer(bytes.fromhex(self.prepared.case.digest()), dtype=np.uint8),
                "frames": np.array(self.writer.frames),
                "last_step": np.array(self.last_step),
                "finished": np.array(self.finished),
                "start_energy": np.array(observer.start_energy),
                "stop_time": np.array(self.stop_time),
                "threshold": np.empty(0) if threshold is None else threshold.row(),
            },
        )

    def frame(self) -> None:
        """Take a frame of the state."""
        self.writer.append(self.prepared.observer.frame(self.state))
        self.last_step = int(self.state.counters[STEPS])

    def stopped(self) -> None:
        """The condition that ends the run before its time is fulfilled: when that was, and a last frame."""
        self.stop_time = self.prepared.observer.passage(self.state, float(self.prepared.case.run.stop.advance))
        if self.state.counters[STEPS] > self.last_step:
            self.frame()


def advance(
    recorder: Recorder,
    progress: Progress,
    interruption: Interruption,
    report: Callable[[str], None],
) -> str:
    """Advances a run to its end; returns how it ended: "complete", the label of what stopped it, or "interrupted".

    Parameters
    ----------
    recorder
        The state and what is kept.
    progress
        Shows how it goes.
    interruption
        Says when to stop before the end.
    report
        Called with the status after every checkpoint.

    Raises
    ------
    DivergenceError
        Where the numbers stop meaning anything; all that was computed before has been written.
    """
    prepared, state, writer = recorder.prepared, recorder.state, recorder.writer
    case = prepared.case
    times, chunks, saved = recorder.times, Chunks(prepared.driver, CHUNK_SECONDS), time.monotonic()
    if writer.frames == 0:
        prepared.observer.begin(state)
        recorder.frame()
        recorder.checkpoint()
        report("running")
    while writer.frames < len(times):
        if interruption.requested:
            recorder.checkpoint()
            return "interrupted"
        until, began, before = times[writer.frames], time.monotonic(), int(state.counters[STEPS])
        ended = _advance(recorder, until, chunks.steps)
        taken, spent = int(state.counters[STEPS]) - before, time.monotonic() - began
        if ended == DIVERGED:
            recorder.checkpoint()
            step, driver = prepared.observer.fixed_step, prepared.driver
            raise diagnosis(prepared.evaluator, step, state, recorder.folder / NEWEST, driver.failure, driver.culprit)
        if ended == STOPPED:
            recorder.stopped()
            return _ended(recorder, report, case.run.stop.label)
        if ended == REACHED:
            recorder.frame()
        chunks.took(taken, spent)
        size = prepared.observer.fixed_step or float(state.step[0])
        progress.update(float(state.time[0]), size, int(state.counters[STEPS]))
        if time.monotonic() - saved >= case.run.checkpoint_interval:
            recorder.checkpoint()
            report("running")
            saved = time.monotonic()
    return _ended(recorder, report, "complete")


def _ended(recorder: Recorder, report: Callable[[str], None], status: str) -> str:
    recorder.finished = True
    recorder.writer.finish()
    recorder.checkpoint()
    report(status)
    return status


def _advance(recorder: Recorder, until: float, steps: int) -> int:
    """A chunk; where a user's force fails, the state before it is kept."""
    state, prepared = recorder.state, recorder.prepared
    before = state.copy()
    try:
        with users_errors(prepared.evaluator, state):
            return prepared.driver.advance(state, until, steps)
    except ArticulonError:
        state.take(before)
        recorder.checkpoint()
        raise
