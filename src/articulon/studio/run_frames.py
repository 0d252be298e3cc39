"""The frames of a run as they are shown, also of one that is still going."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from articulon.errors import ArticulonError
from articulon.simulation.results import Run
from articulon.studio.stage import LOOKED_AT, Frame


class RunFrames:
    """The frames of a run.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    opened
        Opens it again, to find the frames that have come since; None for one that does not go on.

    Raises
    ------
    ArticulonError
        For a run without frames, or whose places are not numbers.
    """

    def __init__(self, run: Run, opened: Callable[[], Run] | None = None) -> None:
        self.run, self._opened = run, opened
        self.model = run.model
        self._take(run)

    def _take(self, run: Run) -> None:
        self.run = run
        self.times = np.asarray(run.times)
        self.positions, self.rotations = run.positions, run.rotations
        self._boxes = run.boxes
        where = "the run" if run.in_memory else str(run.folder)
        if not len(self.times):
            raise ArticulonError(f"{where}: there is no frame yet; look again when the run has begun")
        if self.positions.shape[1] != self.model.bodies:
            raise ArticulonError(
                f"{where}: the trajectory is that of another model than case.toml; put the right files back"
            )
        whole = np.isfinite(self.positions).all(axis=(1, 2)) & np.isfinite(self.rotations).all(axis=(1, 2))
        if not whole.all():
            at = int(np.argmin(whole))
            raise ArticulonError(f"{where}: places in frame {at} (t = {self.times[at]:.6g}) are not numbers")

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, number: int) -> Frame:
        box = self.model.box
        edges = None if box is None else box.vectors if self._boxes is None else self._boxes[number]
        return Frame(self.positions[number], self.rotations[number], float(self.times[number]), edges)

    def some(self) -> list[Frame]:
        """Some of the frames, from the first to the last, from which the size of what is shown is told."""
        numbers = np.unique(np.linspace(0, len(self) - 1, LOOKED_AT).round().astype(int))
        return [self[int(number)] for number in numbers]

    @property
    def going(self) -> bool:
        """Whether more frames may come."""
        return self._opened is not None and not self.run.in_memory and self.run.summary["status"] == "running"

    def look_again(self) -> bool:
        """Looks for frames that have come since; whether there are any."""
        if self._opened is None:
            return False
        again = self._opened()
        again.model = self.model
        count = len(self)
        self._take(again)
        return len(self) != count
