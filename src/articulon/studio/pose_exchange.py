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


class FrameForm(NamedTuple):
    """What the frames of a model are made of."""

    bodies: int
    """How many bodies there are."""
    boxed: bool
    """Whether they are in a box."""
    coordinates: int
    """How many coordinates a frame has, by which bodies deform; 0 where none does."""
    locks: bool
    """Whether bodies are locked and released."""
    state: int = 0
    """How many coordinates and speeds it has, from which forces follow; 0 where they are not drawn."""

    @property
    def bounds(self) -> list[int]:
        """Where positions, rotations, coordinates, the state and locks begin among the numbers of a frame."""
        sizes = _NUMBERS, 3 * self.bodies, 4 * self.bodies, self.coordinates, self.state
        return [int(bound) for bound in np.cumsum(sizes)]

    @property
    def size(self) -> int:
        """How many numbers a frame has."""
        return self.bounds[-1] + (self.bodies if self.locks else 0)


class PoseExchange:
    """The shared memory: two places for a frame, which are written in turn.

    Parameters
    ----------
    descriptor
        Of the file that is shared; see :meth:`made`.
    form
        What a frame is made of.
    """

    def __init__(self, descriptor: int, form: FrameForm) -> None:
        self.descriptor, self.form = descriptor, form
        size = form.size
        self._memory = mmap.mmap(descriptor, 8 * (1 + 2 * size))
        words = np.frombuffer(self._memory, dtype=np.float64)
        self._count = words[:1].view(np.int64)
        self._places = words[1:].reshape(2, size)

    @classmethod
    def made(cls, form: FrameForm) -> PoseExchange:
        """One in new memory, in a file without a name, which goes with the last process that holds it."""
        with tempfile.TemporaryFile() as file:
            os.ftruncate(file.fileno(), 8 * (1 + 2 * form.size))
            return cls(os.dup(file.fileno()), form)

    def put(self, frame: Frame, steps: int) -> None:
        """Show a frame in place of the one before the last."""
        following = int(self._count[0]) + 1
        place = self._places[following % 2]
        place[0], place[1] = frame.time, steps
        if frame.edges is not None:
            place[2:_NUMBERS] = np.ravel(frame.edges)
        parts = np.split(place, self.form.bounds)
        given = frame.positions, frame.rotations, frame.q, frame.state, frame.locked
        for part, numbers in zip(parts[1:], given, strict=True):
            if part.size and numbers is not None:
                part[:] = np.ravel(numbers)
        self._count[0] = following

    def latest(self, seen: int = 0) -> Look | None:
        """The latest look, if it comes after one that has been seen."""
        for _ in range(_ATTEMPTS):
            number = int(self._count[0])
            if number <= seen:
                return None
            place = self._places[number % 2].copy()
            if int(self._count[0]) == number:
                return Look(number, int(place[1]), self._frame(place))
        return None

    def _frame(self, place: np.ndarray) -> Frame:
        numbers, positions, rotations, q, state, locked = np.split(place, self.form.bounds)
        return Frame(
            positions.reshape(-1, 3),
            rotations.reshape(-1, 4),
            float(numbers[0]),
            numbers[2:].reshape(3, 3) if self.form.boxed else None,
            q if q.size else None,
            locked.astype(bool) if locked.size else None,
            state if state.size else None,
        )

    def close(self) -> None:
        """Let the memory go; what has been read stays."""
        del self._count, self._places
        self._memory.close()
        os.close(self.descriptor)
