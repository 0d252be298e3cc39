"""The clock of a page that plays a run: which frame it shows, and when."""

from __future__ import annotations

import threading

import numpy as np

LENGTH = 10.0
"""Of a run that is played at speed 1, however long the simulated time [s]."""


class Player:
    """Which frame is shown as time goes on. Its methods may be called from several threads.

    Parameters
    ----------
    times
        Of the frames, rising [simulated time], shape (frames,).
    """

    def __init__(self, times: np.ndarray) -> None:
        self._lock = threading.Lock()
        self._times = np.asarray(times, dtype=float)
        self._moment = float(self._times[0])
        self.playing = False
        self.speed = 1.0

    @property
    def frame(self) -> int:
        """The frame that is shown: the last that is not after the moment."""
        with self._lock:
            return int(np.searchsorted(self._times, self._moment, side="right")) - 1

    def play(self) -> None:
        """Go on, from the beginning where the end is reached."""
        with self._lock:
            if self._moment >= self._times[-1]:
                self._moment = float(self._times[0])
            self.playing = True

    def pause(self) -> None:
        """Stay at the frame that is shown."""
        with self._lock:
            self.playing = False

    def seek(self, frame: int) -> None:
        """Go to a frame."""
        with self._lock:
            self._moment = float(self._times[min(max(frame, 0), len(self._times) - 1)])

    def step(self, frames: int) -> None:
        """Go some frames on, or back, and stay there."""
        self.pause()
        self.seek(self.frame + frames)

    def go_on(self, seconds: float) -> None:
        """Let wall time pass [s]."""
        with self._lock:
            if not self.playing:
                return
            span = float(self._times[-1] - self._times[0])
            self._moment = min(self._moment + self.speed * span * seconds / LENGTH, float(self._times[-1]))
            if self._moment >= self._times[-1]:
                self.playing = False

    def lengthen(self, times: np.ndarray) -> None:
        """Take the times of a run to which frames have come."""
        with self._lock:
            self._times = np.asarray(times, dtype=float)
