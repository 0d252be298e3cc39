"""What is kept of a run on its way."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from articulon.model import State
from articulon.model.state import STEPS
from articulon.simulation.observers import users_errors
from articulon.simulation.preparation import Prepared
from articulon.storage.trajectory import Frame


class Recorder:
    """What is kept of a run on its way; the base of the two places where it can be kept.

    Parameters
    ----------
    prepared
        The run.
    state
        Where it begins or goes on; it is advanced in place.
    times
        Of all its frames [time].
    """

    checkpoint_file: Path | None = None
    """What a run goes on from after a failure."""
    keeps_poses = True
    """Whether frames are kept with the places of bodies, which follow from the coordinates."""

    def __init__(self, prepared: Prepared, state: State, times: Sequence[float]) -> None:
        self.prepared, self.state, self.times = prepared, state, times
        self.stop_time = np.nan
        self.finished = False
        self.last_step = -1
        self.latest: Frame | None = None

    @property
    def frames(self) -> int:
        """Frames that have been taken, those before a continuation included."""
        raise NotImplementedError  # of a subclass

    def keep(self, frame: Frame) -> None:
        """Add a frame."""
        raise NotImplementedError  # of a subclass

    def checkpoint(self) -> None:
        """Make safe what has been computed."""

    @property
    def checkpoint_is_cheap(self) -> bool:
        """Whether a checkpoint costs little now, beside what the run takes."""
        return True

    def finish(self) -> None:
        """The last frame has been taken."""

    def frame(self) -> None:
        """Take a frame of the state."""
        with users_errors(self.prepared.evaluator, self.state):
            self.latest = self.prepared.observer.frame(self.state, self.keeps_poses)
        self.keep(self.latest)
        self.last_step = int(self.state.counters[STEPS])

    def stopped(self) -> None:
        """The condition that ends the run before its time is fulfilled: when that was, and a last frame."""
        self.stop_time = self.prepared.observer.passage(self.state, float(self.prepared.case.run.stop.advance))
        if self.state.counters[STEPS] > self.last_step:
            self.frame()
