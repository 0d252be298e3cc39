"""Playback clock of a page. It decides which frame of a run the page shows at each time."""

from __future__ import annotations

import threading

import numpy as np

LENGTH = 10.0
"""Duration of the playback of a run at speed 1, for a run of any simulated time [s]."""


class Player:
    """Playback of frames in time. Its methods may be called from several threads.

    Parameters
    ----------
    times
        Times of the frames, ascending [simulated time], shape (frames,).
    """

    def __init__(self, times: np.ndarray) -> None:
        self._lock = threading.Lock()
        self._times = np.asarray(times, dtype=float)
        self._moment = float(self._times[0])
        self.playing = False
        self.speed = 1.0

    @property
    def frame(self) -> int:
        """Number of the shown frame: the last frame at or before the present time of playback."""
        with self._lock:
            return int(np.searchsorted(self._times, self._moment, side="right")) - 1

    def play(self) -> None:
        """Start or continue playback, from the beginning if the end has been reached."""
        with self._lock:
            if self._moment >= self._times[-1]:
                self._moment = float(self._times[0])
            self.playing = True

    def pause(self) -> None:
        """Stop at the shown frame."""
        with self._lock:
            self.playing = False

    def seek(self, frame: int) -> None:
        """Go to a frame."""
        with self._lock:
            self._moment = float(self._times[min(max(frame, 0), len(self._times) - 1)])

    def step(self, frames: int) -> None:
        """Move some frames forward or back, and stay there."""
        self.pause()
        self.seek(self.frame + frames)

    def go_on(self, seconds: float) -> None:
        """Advance playback by wall time [s]."""
        with self._lock:
            if not self.playing:
                return
            span = float(self._times[-1] - self._times[0])
            self._moment = min(self._moment + self.speed * span * seconds / LENGTH, float(self._times[-1]))
            if self._moment >= self._times[-1]:
                self.playing = False

    def lengthen(self, times: np.ndarray) -> None:
        """Set the times of a run that has new frames."""
        with self._lock:
            self._times = np.asarray(times, dtype=float)
