"""Base class of the recorders of a run."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from articulon.model import State
from articulon.model.state import STEPS
from articulon.simulation.observers import users_errors
from articulon.simulation.preparation import Prepared
from articulon.storage.trajectory import Frame


class Recorder:
    """Keeps the frames of a run. It is the base of the recorders in memory and in a folder.

    Parameters
    ----------
    prepared
        The run.
    state
        State at which the run begins or continues; the state is advanced in place.
    times
        Times of all frames of the run [time].
    """

    checkpoint_file: Path | None = None
    """Checkpoint from which a run continues after a failure."""
    keeps_poses = True
    """Whether frames include the poses of bodies; these could also be computed from the coordinates."""

    def __init__(self, prepared: Prepared, state: State, times: Sequence[float]) -> None:
        self.prepared, self.state, self.times = prepared, state, times
        self.stop_time = np.nan
        self.finished = False
        self.last_step = -1
        self.latest: Frame | None = None

    @property
    def frames(self) -> int:
        """Number of frames taken, including the frames before a continuation."""
        raise NotImplementedError  # implemented by subclasses

    def keep(self, frame: Frame) -> None:
        """Add a frame."""
        raise NotImplementedError  # implemented by subclasses

    def checkpoint(self) -> None:
        """Save all results so far."""

    @property
    def checkpoint_is_cheap(self) -> bool:
        """Whether a checkpoint now is cheap compared with the run."""
        return True

    def finish(self) -> None:
        """End the recording after the last frame."""

    def frame(self) -> None:
        """Take a frame of the state."""
        with users_errors(self.prepared.evaluator, self.state):
            self.latest = self.prepared.observer.frame(self.state, self.keeps_poses)
        self.keep(self.latest)
        self.last_step = int(self.state.counters[STEPS])

    def stopped(self) -> None:
        """Record that the stop condition is met, and when, and take a last frame."""
        self.stop_time = self.prepared.observer.passage(self.state)
        if self.state.counters[STEPS] > self.last_step:
            self.frame()
