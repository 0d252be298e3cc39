"""Plot of the energies of a run beside its frames, with a mark at the shown frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from articulon.report import palette
from articulon.report.readable_numbers import suited, unit_text
from articulon.studio.run_frames import RunFrames

if TYPE_CHECKING:
    import viser

MOST_POINTS = 400
"""Largest number of points of a line. More points are not visible at this size, and all points are sent again with each
frame."""
ASPECT = 1.5
"""Ratio of the plot's width to its height."""


class EnergyPlot:
    """Plot of the kinetic energy, the change of the potential energy since the start, and their sum.

    Parameters
    ----------
    gui
        Page to which the plot is added.
    frames
        Frames of the run.
    """

    def __init__(self, gui: viser.GuiApi, frames: RunFrames) -> None:
        self._frames = frames
        self._take()
        units = unit_text(frames.model.units, "energy")
        scale = suited(frames.model.units, "time", float(frames.times[-1]))
        lines = [
            {"label": "kinetic", "stroke": palette.VERMILION, "width": 1.5},
            {"label": "potential", "stroke": palette.BLUE, "width": 1.5},
            {"label": "sum", "stroke": palette.BLACK, "width": 1.5, "dash": [4, 3]},
            {
                "label": "now",
                "stroke": palette.GREY,
                "width": 0,
                "points": {"show": True, "size": 9, "fill": palette.GREY},
            },
        ]
        series: Any = ({"label": scale.axis("time")}, *lines)
        self._plot = gui.add_uplot(
            self._data(0),
            series,
            title=f"energy ({units})" if units else "energy",
            scales=self._scales(),
            legend={"show": True, "live": False},
            aspect=ASPECT,
        )

    def _take(self) -> None:
        """Compute the lines from the available frames."""
        run = self._frames.run
        count = len(self._frames)
        self._numbers = np.unique(np.linspace(0, count - 1, MOST_POINTS).round().astype(int))
        kinetic = np.asarray(run.observables.get("kinetic_energy", np.full(count, np.nan)))
        potential = run.potential_energy - run.potential_energy[0]
        scale = suited(self._frames.model.units, "time", float(self._frames.times[-1]))
        lines = (scale.factor * self._frames.times, kinetic, potential, kinetic + potential)
        self._lines = tuple(np.asarray(line, dtype=float)[self._numbers] for line in lines)

    def _scales(self) -> Any:
        """Return the ranges of the axes. The page cannot find them itself, because the mark has only one point."""
        values = np.concatenate(self._lines[1:])
        values = values[np.isfinite(values)] if np.isfinite(values).any() else np.zeros(1)
        low, high = float(values.min()), float(values.max())
        margin = 0.05 * (high - low) or 1.0
        return {"x": {"time": False}, "y": {"range": (low - margin, high + margin)}}

    def _data(self, number: int) -> tuple[np.ndarray, ...]:
        """Return the lines, and the mark on the line of the sum."""
        mark = np.full(len(self._numbers), np.nan)
        at = int(np.searchsorted(self._numbers, number, side="right")) - 1
        mark[at] = self._lines[3][at]
        return (*self._lines, mark)

    def show(self, number: int) -> None:
        """Move the mark to a frame."""
        self._plot.data = self._data(number)

    def look_again(self, number: int) -> None:
        """Draw the plot with the frames that have been added since the last call, and the mark at a frame."""
        self._take()
        self._plot.scales = self._scales()
        self.show(number)
