"""Frames of a running simulation that a page keeps: as many as fit into memory, equally spaced in time."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

import numpy as np

from articulon.studio.stage import Frame

ROOM = 128_000_000
"""Memory for all frames that are kept [bytes]."""
MOST_FRAMES = 4_000
"""Largest number of frames; a slider cannot distinguish more frames."""
LARGE = ROOM // MOST_FRAMES
"""Size of a state above which fewer frames would fit into memory [bytes]; such a state is kept only for the last
frame."""

SLACK = 1.0 - 1e-6
"""Tolerance for rounding, as a factor of the distance between frames."""
FEW = 20
"""Number of frames from which the size of the scene is determined."""


class LiveFrames:
    """Frames in the order of their times. When they no longer fit, every second frame is dropped, and later frames are
    kept at the new, doubled distance. The folder of the run still has all its frames.

    Parameters
    ----------
    room
        Memory for all frames [bytes].
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._frames: list[Frame] = []
        self._apart = 0.0
        self._loose = False

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, number: int) -> Frame:
        return self._frames[number]

    @property
    def times(self) -> np.ndarray:
        """Times of the frames [time], shape (frames,)."""
        return np.array([frame.time for frame in self._frames])

    def number_at(self, time: float) -> int:
        """Return the number of the frame nearest to a time; 0 if there are no frames."""
        after = bisect_left(self._frames, time, key=lambda frame: frame.time)
        near = [k for k in (after - 1, after) if 0 <= k < len(self)]
        return min(near, key=lambda k: abs(self._frames[k].time - time), default=0)

    def some(self) -> list[Frame]:
        """Return a few frames, including the first and the last."""
        numbers = np.unique(np.linspace(0, len(self) - 1, min(len(self), FEW)).round().astype(int))
        return [self._frames[k] for k in numbers.tolist()] if self._frames else []

    def add(self, frame: Frame) -> None:
        """Add the latest frame. It is kept until the next frame comes; if its distance from the frame before is too
        short, the next frame replaces it."""
        if self._frames and frame.time <= self._frames[-1].time:
            return
        if self._loose:
            self._frames.pop()
        small = Frame(
            _own(frame.positions.astype(np.float32, copy=False)),
            _own(frame.rotations.astype(np.float32, copy=False)),
            frame.time,
            *(None if part is None else _own(part) for part in (frame.edges, frame.q, frame.locked, frame.state)),
        )
        if self._frames:
            self._frames[-1] = _small(self._frames[-1])
        near = SLACK * self._apart
        self._loose = bool(self._frames) and frame.time - self._frames[-1].time < near
        self._frames.append(small)
        each = sum(part.nbytes for part in _small(small) if isinstance(part, np.ndarray))
        if len(self._frames) > min(MOST_FRAMES, max(3, self._room // max(each, 1))):
            self._thin_out()

    def _thin_out(self) -> None:
        """Drop every second frame except the last."""
        regular = self._frames[:-1][::2]
        self._apart = float(np.median([b.time - a.time for a, b in pairwise(regular)]))
        last = self._frames[-1]
        self._loose = last.time - regular[-1].time < SLACK * self._apart
        self._frames = [*regular, last]

    def clear(self) -> None:
        """Remove all frames."""
        self._frames, self._apart, self._loose = [], 0.0, False


def _own(array: np.ndarray) -> np.ndarray:
    """Return an array, or its copy if it is a view, because a view would keep the whole larger array in memory."""
    return array if array.base is None else np.array(array)


def _small(frame: Frame) -> Frame:
    """Return the frame, without its state if the state is large."""
    return frame._replace(state=None) if frame.state is not None and frame.state.nbytes > LARGE else frame
