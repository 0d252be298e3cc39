"""What runs that exchange their coordinates have done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from articulon.runs.run import Run


@dataclass(frozen=True, eq=False)
class ReplicaExchange:
    """Runs that have exchanged their coordinates, in memory or in a folder."""

    temperatures: tuple[float, ...]
    """Of the runs [temperature]."""
    locked: tuple[tuple[str, ...], ...]
    """The joints that are locked in each run."""
    runs: tuple[Run, ...]
    """One run for each temperature and set of locked joints. Its coordinates jump where they have been exchanged, after
    the frame of that time; what is measured on its frames is of its own ensemble."""
    walkers: np.ndarray
    """Which of the initial coordinates each run has come to hold after each exchange, shape (exchanges, runs)."""
    tried: np.ndarray
    """Exchanges that were tried between each run and the next, shape (runs − 1,)."""
    accepted: np.ndarray
    """Those of them that were accepted, shape (runs − 1,)."""
    folder: Path | None = None
    """Of the exchange; None for one in memory."""

    @property
    def acceptance(self) -> np.ndarray:
        """Part of the exchanges that were accepted between each run and the next, shape (runs − 1,)."""
        with np.errstate(invalid="ignore"):
            return self.accepted / self.tried

    @property
    def round_trips(self) -> int:
        """How often one of the initial coordinates has come from the first run to the last and back."""
        ends = np.full(len(self.runs), -1)
        ends[0], ends[-1] = 0, 1  # where they began
        half, trips = np.zeros(len(self.runs), dtype=bool), 0
        for row in self.walkers:
            first, last = int(row[0]), int(row[-1])
            half[last] |= ends[last] == 0
            trips += int(half[first])
            half[first] = False
            ends[first], ends[last] = 0, 1
        return trips

    def __repr__(self) -> str:
        parts = ", ".join(f"{100.0 * part:.0f} %" for part in self.acceptance)
        return f"ReplicaExchange({len(self.runs)} runs, {len(self.walkers)} exchanges; accepted: {parts})"
