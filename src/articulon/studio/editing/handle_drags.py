"""Latest places of dragged handles, in the order in which pages reported them, and the pages that hold a handle."""

from __future__ import annotations

import queue
from typing import NamedTuple

from articulon.studio.editing.joint_dragging import Handle
from articulon.studio.editing.joint_handles import Drag

HandleKey = tuple[str, Drag]
"""Name of the body for which a handle was made, and the kind of drag."""


class Dragged(NamedTuple):
    """A dragged handle."""

    held: HandleKey
    """Body and kind of drag of the handle."""
    handle: Handle
    """Place of the handle."""


class HandleDrags:
    """Queue of the drags that pages report on their own threads; the panel's thread reads it."""

    def __init__(self) -> None:
        self._reports: queue.SimpleQueue[tuple[int | None, Dragged | None, bool]] = queue.SimpleQueue()
        self._holders: dict[int | None, Dragged] = {}

    def tell(self, phase: str, handle: Handle, held: HandleKey, page: int | None) -> None:
        """Report a drag by a page, given by its number. The drag ends if ``phase`` is ``end``; otherwise it starts or
        continues."""
        self._reports.put((page, Dragged(held, handle), phase == "end"))

    def forget(self, page: int) -> None:
        """Remove a page that has been closed. A handle that it was dragging stays at its place."""
        self._reports.put((page, None, True))

    @property
    def held(self) -> bool:
        """Whether any page holds a handle."""
        return bool(self._holders)

    def latest(self) -> dict[HandleKey, tuple[Handle, bool]]:
        """Return the place of each dragged handle, and whether it has been released."""
        found: dict[HandleKey, tuple[Handle, bool]] = {}
        while not self._reports.empty():
            page, drag, ended = self._reports.get()
            before = self._holders.pop(page, None)
            drag = drag or before
            if drag is None:
                continue
            if not ended:
                self._holders[page] = drag
            found[drag.held] = drag.handle, ended or (drag.held in found and found[drag.held][1])
        return found
