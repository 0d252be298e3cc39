"""Poses of a run on their way to the page: memory that both processes share, which holds the latest frame and no
other, so that the engine waits for nobody."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import NamedTuple

import numpy as np

from articulon.studio.stage import Frame

_NUMBERS = 11
"""Before the poses of a frame: its time, the number of steps, and the edges of the box."""
_ATTEMPTS = 10


class Look(NamedTuple):
    """What the page is shown of a run."""

    number: int
    """Which look it is, from 1 on."""
    steps: int
    """How many steps the run has taken."""
    frame: Frame
    """The poses."""


class PoseExchange:
    """The shared memory: two places for a frame, which are written in turn.

    Parameters
    ----------
    descriptor
        Of the file that is shared; see :meth:`made`.
    bodies
        How many bodies there are.
    boxed
        Whether they are in a box.
    """

    def __init__(self, descriptor: int, bodies: int, boxed: bool) -> None:
        self.descriptor, self.bodies, self.boxed = descriptor, bodies, boxed
        size = _NUMBERS + 7 * bodies
        self._memory = mmap.mmap(descriptor, 8 * (1 + 2 * size))
        words = np.frombuffer(self._memory, dtype=np.float64)
        self._count = words[:1].view(np.int64)
        self._places = words[1:].reshape(2, size)

    @classmethod
    def made(cls, bodies: int, boxed: bool) -> PoseExchange:
        """One in new memory, in a file without a name, which goes with the last process that holds it."""
        with tempfile.TemporaryFile() as file:
            os.ftruncate(file.fileno(), 8 * (1 + 2 * (_NUMBERS + 7 * bodies)))
            return cls(os.dup(file.fileno()), bodies, boxed)

    def put(self, frame: Frame, steps: int) -> None:
        """Show a frame in place of the one before the last."""
        following = int(self._count[0]) + 1
        place = self._places[following % 2]
        place[0], place[1] = frame.time, steps
        if frame.edges is not None:
            place[2:_NUMBERS] = np.ravel(frame.edges)
        place[_NUMBERS : _NUMBERS + 3 * self.bodies] = frame.positions.ravel()
        place[_NUMBERS + 3 * self.bodies :] = frame.rotations.ravel()
        self._count[0] = following

    def latest(self, seen: int = 0) -> Look | None:
        """The latest look, if it comes after one that has been seen."""
        for _ in range(_ATTEMPTS):
            number = int(self._count[0])
            if number <= seen:
                return None
            place = self._places[number % 2].copy()
            if int(self._count[0]) == number:
                positions = place[_NUMBERS : _NUMBERS + 3 * self.bodies].reshape(-1, 3)
                rotations = place[_NUMBERS + 3 * self.bodies :].reshape(-1, 4)
                edges = place[2:_NUMBERS].reshape(3, 3) if self.boxed else None
                return Look(number, int(place[1]), Frame(positions, rotations, float(place[0]), edges))
        return None

    def close(self) -> None:
        """Let the memory go; what has been read stays."""
        del self._count, self._places
        self._memory.close()
        os.close(self.descriptor)
