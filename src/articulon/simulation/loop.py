"""The main loop. It advances a run from frame to frame in chunks of steps; between chunks, Python is in control."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from articulon.errors import ArticulonError
from articulon.forces.sites.atom_positions import atom_positions
from articulon.integrate.status import DIVERGED, PAUSED, REACHED, STOPPED
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.simulation.chunks import CHUNK_SECONDS, Chunks
from articulon.simulation.divergence import diagnosis
from articulon.simulation.interruption import Interruption
from articulon.simulation.memory_run import Row
from articulon.simulation.observers import users_errors
from articulon.simulation.preparation import Prepared
from articulon.simulation.recorder import Recorder
from articulon.simulation.run_request import Progress
from articulon.simulation.steering import Steering
from articulon.storage.checkpoint import NEWEST, write_checkpoint
from articulon.storage.trajectory import Frame, TrajectoryWriter

STATE = "state_"
"""Prefix of a state's arrays in a checkpoint."""


class MemoryRecorder(Recorder):
    """Keeps the frames in memory. ``before`` is the number of frames of an earlier part of the run."""

    keeps_poses = False

    def __init__(
        self, prepared: Prepared, state: State, times: Sequence[float], rows: list[Row] | None = None, before: int = 0
    ) -> None:
        super().__init__(prepared, state, times)
        self.names = list(prepared.observer.dimensions)
        self.rows: list[Row] = [] if rows is None else rows
        self.before = before

    @property
    def frames(self) -> int:
        """See :class:`Recorder`."""
        return self.before + len(self.rows)

    def keep(self, frame: Frame) -> None:
        """See :class:`Recorder`."""
        # A stop condition can end a run between the times of two frames, at the end of a step.
        time = frame.time if np.isfinite(self.stop_time) else self.times[self.frames]
        self.rows.append(Row.of(frame, time, self.state, self.names))


class FolderRecorder(Recorder):
    """Writes the frames and consistent checkpoints into a folder."""

    def __init__(self, folder: Path, prepared: Prepared, writer: TrajectoryWriter, state: State) -> None:
        super().__init__(prepared, state, [float(time) for time in prepared.case.run.frame_times()])
        self.folder, self.writer = folder, writer
        self.keeps_poses = writer.layout.atoms is None
        self.checkpoint_file = folder / NEWEST

    @property
    def frames(self) -> int:
        """See :class:`Recorder`."""
        return self.writer.frames

    def keep(self, frame: Frame) -> None:
        """See :class:`Recorder`."""
        self.writer.append(with_atoms(frame, self.prepared.model, self.writer))

    @property
    def checkpoint_is_cheap(self) -> bool:
        """See :class:`Recorder`. Each checkpoint also writes the trajectory, which may take long."""
        return self.writer.flush_cheap

    def finish(self) -> None:
        """See :class:`Recorder`."""
        self.writer.finish()

    def checkpoint(self) -> None:
        """Write the trajectory, then the state."""
        self.writer.flush()
        write_checkpoint(self.folder, self.saved())

    def saved(self) -> dict[str, np.ndarray]:
        """The arrays of a checkpoint, by name."""
        threshold, observer = self.prepared.threshold, self.prepared.observer
        return {f"{STATE}{name}": array for name, array in self.state.arrays().items()} | {
            "case": np.frombuffer(bytes.fromhex(self.prepared.case.digest()), dtype=np.uint8),
            "frames": np.array(self.writer.frames),
            "last_step": np.array(self.last_step),
            "finished": np.array(self.finished),
            "start_energy": np.array(observer.start_energy),
            "stop_time": np.array(self.stop_time),
            "threshold": np.empty(0) if threshold is None else threshold.row(),
        }


def with_atoms(frame: Frame, model: Model, writer: TrajectoryWriter) -> Frame:
    """Return a frame together with the atom positions that the trajectory stores for it."""
    atoms = writer.layout.atoms
    if atoms is None or not writer.atoms_due:
        return frame
    return replace(frame, atoms=atom_positions(model, frame.q)[atoms.atom])


def advance(
    recorder: Recorder,
    progress: Progress,
    interruption: Interruption,
    report: Callable[[str], None],
    steering: Steering | None = None,
) -> str:
    """Advance a run to its end; return its status: "complete", the label of the stop condition, or "interrupted".

    Parameters
    ----------
    recorder
        The state and the kept frames.
    progress
        Displays the progress.
    interruption
        Says whether a stop before the end has been requested.
    report
        Function that is called with the status after every checkpoint.
    steering
        Object that gets control between chunks; None for no steering.

    Raises
    ------
    DivergenceError
        If the state becomes non-finite; all earlier results have been kept.
    """
    prepared, state = recorder.prepared, recorder.state
    case = prepared.case
    seconds = CHUNK_SECONDS if steering is None else steering.chunk_seconds
    chunks, saved = Chunks(prepared.driver, seconds), time.monotonic()
    if recorder.frames == 0:
        begin(recorder)
        recorder.checkpoint()
        report("running")
    while recorder.frames < len(recorder.times):
        if steering is not None:
            steering.between_chunks(recorder, chunks, interruption)
        if interruption.requested:
            recorder.checkpoint()
            return "interrupted"
        if advance_a_chunk(recorder, chunks, interruption) == STOPPED:
            return _ended(recorder, report, case.run.stop.label)
        size = prepared.observer.fixed_step or float(state.step[0])
        progress.update(float(state.time[0]), size, int(state.counters[STEPS]))
        if time.monotonic() - saved >= case.run.checkpoint_interval and recorder.checkpoint_is_cheap:
            recorder.checkpoint()
            report("running")
            saved = time.monotonic()
    return _ended(recorder, report, "complete")


def begin(recorder: Recorder) -> None:
    """Take the first frame of a run."""
    recorder.prepared.observer.begin(recorder.state)
    recorder.frame()


def advance_a_chunk(recorder: Recorder, chunks: Chunks, interruption: Interruption) -> int:
    """Advance by one chunk of steps towards the next frame, and take the frame if its time is reached.

    Parameters
    ----------
    recorder
        The state and the kept frames.
    chunks
        Chooses the number of steps.
    interruption
        Interrupts integrators that cannot stop between steps.

    Returns
    -------
    int
        A value of ``integrate.status``. It is STOPPED if the run has met its stop condition; the last frame has then
        been taken.

    Raises
    ------
    DivergenceError
        If the state becomes non-finite; all earlier results have been kept.
    """
    prepared, state = recorder.prepared, recorder.state
    until, began, before = recorder.times[recorder.frames], time.monotonic(), int(state.counters[STEPS])
    ended = _advance(recorder, until, chunks.steps, interruption)
    taken, spent = int(state.counters[STEPS]) - before, time.monotonic() - began
    if ended == DIVERGED:
        recorder.checkpoint()
        step, driver = prepared.observer.fixed_step, prepared.driver
        raise diagnosis(prepared.evaluator, step, state, recorder.checkpoint_file, driver.failure, driver.culprit)
    if ended == STOPPED:
        recorder.stopped()
        return ended
    if ended == REACHED:
        recorder.frame()
    chunks.took(taken, spent)
    return ended


def _ended(recorder: Recorder, report: Callable[[str], None], status: str) -> str:
    recorder.finished = True
    recorder.finish()
    recorder.checkpoint()
    report(status)
    return status


def _advance(recorder: Recorder, until: float, steps: int, interruption: Interruption) -> int:
    """Advance by a chunk; if a user's force fails, restore the state before the chunk."""
    state, prepared = recorder.state, recorder.prepared
    before = state.copy()
    try:
        with users_errors(prepared.evaluator, state):
            if prepared.driver.at_once:
                return _all_at_once(prepared, state, before, until, interruption)
            return prepared.driver.advance(state, until, steps)
    except ArticulonError:
        state.take(before)
        recorder.checkpoint()
        raise


def _all_at_once(prepared: Prepared, state: State, before: State, until: float, interruption: Interruption) -> int:
    """Advance to the next frame with SciPy's solvers, which run in Python; if interrupted, restore the state at the
    previous frame."""
    prepared.driver.asked_to_stop = lambda: interruption.requested
    try:
        with interruption.at_once():
            status = prepared.driver.advance(state, until, 1)
    except KeyboardInterrupt:
        status = PAUSED
    if status == PAUSED or isinstance(prepared.evaluator.users.error, KeyboardInterrupt):
        state.take(before)
        prepared.evaluator.users.forget()
        return PAUSED
    return status
