"""An engine that says what it is told to, in place of a process."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulon.studio.pose_exchange import Look
from articulon.studio.stage import Frame


class ScriptedEngine:
    """In place of a process: what it says next, and shows then."""

    def __init__(self, job: Any) -> None:
        self.job, self.said, self.ended = job, [], False
        self.look: Look | None = None
        self.told: list[str] = []

    def tell(self, kind: str, **what: Any) -> None:
        """It only keeps it."""
        self.told.append(kind)

    def heard(self) -> list[dict[str, Any]]:
        """What it has been given to say."""
        said, self.said = self.said, []
        self.ended = self.ended or any(one["kind"] == "gone" for one in said)
        if any(one["kind"] == "ended" for one in said):
            self.look = Look(1, 5, frame(5.0))
        return said

    def latest(self) -> Look | None:
        """What it has shown by now."""
        look, self.look = self.look, None
        return look

    def stop(self) -> None:
        """Nothing goes on."""

    def close(self) -> list[dict[str, Any]]:
        """The rest of what it says."""
        return self.heard()


def frame(time: float, bodies: int = 2) -> Frame:
    """Some poses."""
    return Frame(np.full((bodies, 3), time), np.tile([1.0, 0.0, 0.0, 0.0], (bodies, 1)), time, None)
