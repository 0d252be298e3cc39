"""Poses of a run for the page. They are in memory that both processes share; it holds only the latest frame, so that
the engine never waits.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from articulon.studio.stage import Frame

_COUNT = 8
"""Size of the number of frames so far, which is stored before the slots [bytes]."""
_ATTEMPTS = 10
PLACE = 12
"""Size of a position as a page receives it [bytes]."""
FLOW = 6_500_000
"""Limit of the positions that a page receives in a second [bytes], equal to 27 frames of 20,000 spheres. The page's
process takes 2 ms for each such frame; more frames would slow down a run on two cores by more than 5 %."""


class Look(NamedTuple):
    """State of a run as the page sees it."""

    number: int
    """Number of the state, counted from 1."""
    steps: int
    """Number of steps that the run has taken."""
    frame: Frame
    """The poses."""


class FrameForm(NamedTuple):
    """Layout of the frames of a model."""

    bodies: int
    """Number of bodies."""
    boxed: bool
    """Whether the model has a box."""
    coordinates: int
    """Number of coordinates in a frame; flexible bodies deform by them. 0 if no body is flexible."""
    locks: bool
    """Whether bodies are locked and released."""
    state: int = 0
    """Number of coordinates and speeds in a frame; forces are computed from them. 0 if forces are not drawn."""
    single: bool = False
    """Whether poses are in single precision, which is enough for drawing."""
    drawn: int = 0
    """Approximate number of positions that a page receives in a frame."""

    @property
    def seconds(self) -> float:
        """Shortest time between two frames, so that pages can receive them [s]."""
        return PLACE * self.drawn / FLOW

    @property
    def layout(self) -> np.dtype:
        """Layout of a frame in memory."""
        pose = np.float32 if self.single else np.float64
        parts = {
            "time": (np.float64, ()),
            "steps": (np.int64, ()),
            "edges": (np.float64, (3, 3)),
            "q": (np.float64, (0 if self.state else self.coordinates,)),  # the state begins with the coordinates
            "state": (np.float64, (self.state,)),
            "positions": (pose, (self.bodies, 3)),
            "rotations": (pose, (self.bodies, 4)),
            "locked": (np.bool_, (self.bodies if self.locks else 0,)),
        }
        return np.dtype([(name, *kind) for name, kind in parts.items()], align=True)


class PoseExchange:
    """Shared memory with two slots, each for one frame; the slots are written in turn.

    Parameters
    ----------
    descriptor
        Descriptor of the shared file; see :meth:`made`.
    form
        Layout of a frame.
    """

    def __init__(self, descriptor: int, form: FrameForm) -> None:
        self.descriptor, self.form = descriptor, form
        self._memory = mmap.mmap(descriptor, _size(form))
        self._count = np.frombuffer(self._memory, dtype=np.int64, count=1)
        self._slots = np.frombuffer(self._memory, dtype=form.layout, count=2, offset=_COUNT)

    @classmethod
    def made(cls, form: FrameForm) -> PoseExchange:
        """Create the exchange in new memory. The memory is a file without a name; it disappears when the last process
        that uses it ends."""
        with tempfile.TemporaryFile() as file:
            os.ftruncate(file.fileno(), _size(form))
            return cls(os.dup(file.fileno()), form)

    def put(self, frame: Frame, steps: int) -> None:
        """Write a frame into the slot that does not hold the latest frame."""

        def write(positions: np.ndarray, rotations: np.ndarray) -> None:
            positions[:], rotations[:] = frame.positions, frame.rotations

        self.put_poses(write, frame.time, steps, frame.edges, q=frame.q, state=frame.state, locked=frame.locked)

    def put_poses(
        self,
        write: Callable[[np.ndarray, np.ndarray], None],
        time: float,
        steps: int,
        edges: np.ndarray | None,
        **others: np.ndarray | None,
    ) -> None:
        """Write a frame into the slot that does not hold the latest frame. A function writes the poses directly into
        this memory.

        Parameters
        ----------
        write
            Function of arrays for the positions (bodies, 3) and the rotations (bodies, 4).
        time
            Time [time].
        steps
            Number of steps that the run has taken.
        edges
            Edges of the box, as rows [length], shape (3, 3); None without a box.
        others
            Other fields of the frame by name.
        """
        following = int(self._count[0]) + 1
        slot = self._slots[following % 2]
        slot["time"], slot["steps"] = time, steps
        for name, numbers in {"edges": edges, **others}.items():
            if numbers is not None and slot[name].size:
                slot[name][:] = numbers
        write(slot["positions"], slot["rotations"])
        self._count[0] = following

    def latest(self, seen: int = 0) -> Look | None:
        """Return the latest state, if its number is larger than ``seen``; otherwise None."""
        for _ in range(_ATTEMPTS):
            number = int(self._count[0])
            if number <= seen:
                return None
            slot = self._slots[number % 2]
            steps, frame = int(slot["steps"]), self._frame(slot)
            if int(self._count[0]) == number:
                return Look(number, steps, frame)
        return None

    def _frame(self, slot: Any) -> Frame:
        """Return a copy of the frame in a slot."""

        def copied(name: str) -> np.ndarray | None:
            return np.array(slot[name]) if slot[name].size else None

        state, coordinates = copied("state"), self.form.coordinates
        return Frame(
            np.array(slot["positions"]),
            np.array(slot["rotations"]),
            float(slot["time"]),
            copied("edges") if self.form.boxed else None,
            copied("q") if state is None or not coordinates else state[:coordinates],
            copied("locked"),
            state,
        )

    def close(self) -> None:
        """Release the memory; frames that have been read remain valid."""
        del self._count, self._slots
        self._memory.close()
        os.close(self.descriptor)


def _size(form: FrameForm) -> int:
    """Return the size of the shared memory [bytes]."""
    return _COUNT + 2 * form.layout.itemsize
