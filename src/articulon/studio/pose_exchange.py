"""Poses of a run for the page: memory shared by both processes that holds only the latest frame, so that the engine
never waits.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import NamedTuple

import numpy as np

from articulon.studio.stage import Frame

_NUMBERS = 11
"""Number of values before the poses of a frame: its time, the number of steps, and the edges of the box."""
_ATTEMPTS = 10


class Look(NamedTuple):
    """State of a run as the page sees it."""

    number: int
    """Number of the look, from 1 on."""
    steps: int
    """Number of steps that the run has taken."""
    frame: Frame
    """The poses."""


class FrameForm(NamedTuple):
    """Layout of the frames of a model."""

    bodies: int
    """Number of bodies."""
    boxed: bool
    """Whether there is a box."""
    coordinates: int
    """Number of coordinates in a frame, by which bodies deform; 0 if none deforms."""
    locks: bool
    """Whether bodies are locked and released."""
    state: int = 0
    """Number of coordinates and speeds, from which forces follow; 0 if forces are not drawn."""

    @property
    def bounds(self) -> list[int]:
        """Return where positions, rotations, coordinates, the state and locks begin among the numbers of a frame."""
        sizes = _NUMBERS, 3 * self.bodies, 4 * self.bodies, self.coordinates, self.state
        return [int(bound) for bound in np.cumsum(sizes)]

    @property
    def size(self) -> int:
        """Number of values in a frame."""
        return self.bounds[-1] + (self.bodies if self.locks else 0)


class PoseExchange:
    """Shared memory with two slots for a frame, which are written in turn.

    Parameters
    ----------
    descriptor
        Descriptor of the shared file; see :meth:`made`.
    form
        Layout of a frame.
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
        """Create the exchange in new memory, in a file without a name, which disappears with the last process that
        holds it."""
        with tempfile.TemporaryFile() as file:
            os.ftruncate(file.fileno(), 8 * (1 + 2 * form.size))
            return cls(os.dup(file.fileno()), form)

    def put(self, frame: Frame, steps: int) -> None:
        """Write a frame, in place of the one before the last."""
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
        """Return the latest look, if it is newer than ``seen``."""
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
        """Release the memory; frames that have been read remain valid."""
        del self._count, self._places
        self._memory.close()
        os.close(self.descriptor)
