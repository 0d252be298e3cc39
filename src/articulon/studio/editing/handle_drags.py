"""Where pages have dragged handles to, in the order in which they said so, and which pages hold one."""

from __future__ import annotations

import queue
from typing import NamedTuple

from articulon.studio.editing.joint_dragging import Handle
from articulon.studio.editing.joint_handles import Drag

Held = tuple[str, Drag]
"""Name of the body that a handle was made for, and what it drags."""


class Dragged(NamedTuple):
    """A handle at a place."""

    held: Held
    """What it is about."""
    handle: Handle
    """Where it is."""


class HandleDrags:
    """What pages tell of their handles, on their threads, until somebody follows."""

    def __init__(self) -> None:
        self._told: queue.SimpleQueue[tuple[int | None, Dragged | None, bool]] = queue.SimpleQueue()
        self._holders: dict[int | None, Dragged] = {}

    def tell(self, phase: str, handle: Handle, held: Held, page: int | None) -> None:
        """A page, by its number, drags a handle: it begins to, goes on or, where ``phase`` is ``end``, lets go."""
        self._told.put((page, Dragged(held, handle), phase == "end"))

    def forget(self, page: int) -> None:
        """A page has been closed: what it was dragging stays where it has come to."""
        self._told.put((page, None, True))

    @property
    def held(self) -> bool:
        """Whether some page holds a handle."""
        return bool(self._holders)

    def latest(self) -> dict[Held, tuple[Handle, bool]]:
        """Where each handle that has been dragged is now, and whether somebody has let it go."""
        found: dict[Held, tuple[Handle, bool]] = {}
        while not self._told.empty():
            page, drag, ended = self._told.get()
            before = self._holders.pop(page, None)
            drag = drag or before
            if drag is None:
                continue
            if not ended:
                self._holders[page] = drag
            found[drag.held] = drag.handle, ended or (drag.held in found and found[drag.held][1])
        return found
