"""The frames that a page keeps of a run as it goes on: as many as have room, equally far apart."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

import numpy as np

from articulon.studio.stage import Frame

ROOM = 128_000_000
"""Of all frames that are kept [bytes]."""
MOST_FRAMES = 4_000
"""More than a slider tells apart."""
LARGE = ROOM // MOST_FRAMES
"""State that would leave room for fewer frames: of those before the last it is not kept [bytes]."""

SLACK = 1.0 - 1e-6
"""Of the distance between frames, for rounding."""
FEW = 20
"""From which the size of what is shown is told."""


class LiveFrames:
    """Frames in the order of their times. Where they have no more room, every second one is left out, and those that
    follow are kept as far apart as the rest: the folder of the run has all of its own.

    Parameters
    ----------
    room
        Of all of them [bytes].
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
        """Number of the frame that is nearest to a time; 0 where there is none."""
        after = bisect_left(self._frames, time, key=lambda frame: frame.time)
        near = [k for k in (after - 1, after) if 0 <= k < len(self)]
        return min(near, key=lambda k: abs(self._frames[k].time - time), default=0)

    def some(self) -> list[Frame]:
        """A few of them, from the first to the last."""
        numbers = np.unique(np.linspace(0, len(self) - 1, min(len(self), FEW)).round().astype(int))
        return [self._frames[k] for k in numbers.tolist()] if self._frames else []

    def add(self, frame: Frame) -> None:
        """Take the latest frame. The last one is always there; it makes room for the next if that comes too soon."""
        if self._frames and frame.time <= self._frames[-1].time:
            return
        if self._loose:
            self._frames.pop()
        # Parts of larger arrays would keep the whole of them.
        small = Frame(
            frame.positions.astype(np.float32),
            frame.rotations.astype(np.float32),
            frame.time,
            *(None if part is None else np.array(part) for part in (frame.edges, frame.q, frame.locked, frame.state)),
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
        """Leave out every second frame but the last."""
        regular = self._frames[:-1][::2]
        self._apart = float(np.median([b.time - a.time for a, b in pairwise(regular)]))
        last = self._frames[-1]
        self._loose = last.time - regular[-1].time < SLACK * self._apart
        self._frames = [*regular, last]

    def clear(self) -> None:
        """Forget them all."""
        self._frames, self._apart, self._loose = [], 0.0, False


def _small(frame: Frame) -> Frame:
    """A frame without a state that is large."""
    return frame._replace(state=None) if frame.state is not None and frame.state.nbytes > LARGE else frame
