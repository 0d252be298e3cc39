"""Results of a replica exchange."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from articulon.runs.run import Run


@dataclass(frozen=True, eq=False)
class ReplicaExchange:
    """Runs that have exchanged their coordinates, in memory or in a folder."""

    temperatures: tuple[float, ...]
    """Temperatures of the runs [temperature]."""
    locked: tuple[tuple[str, ...], ...]
    """Locked joints of each run."""
    runs: tuple[Run, ...]
    """One run for each temperature and set of locked joints. The coordinates of a run jump at an exchange, after the
    frame at that time. The frames of a run sample the ensemble of its temperature and locked joints."""
    walkers: np.ndarray
    """Index of the initial configuration (walker) that each run has after each exchange, shape (exchanges, runs)."""
    tried: np.ndarray
    """Number of exchanges attempted between each run and the next, shape (runs − 1,)."""
    accepted: np.ndarray
    """Number of exchanges accepted between each run and the next, shape (runs − 1,)."""
    folder: Path | None = None
    """Folder of the exchange; None for an exchange in memory."""

    @property
    def acceptance(self) -> np.ndarray:
        """Fraction of accepted exchanges between each run and the next, shape (runs − 1,)."""
        with np.errstate(invalid="ignore"):
            return self.accepted / self.tried

    @property
    def round_trips(self) -> int:
        """Number of times a walker has gone from the first run to the last and back."""
        ends = np.full(len(self.runs), -1)
        ends[0], ends[-1] = 0, 1  # 0 and 1 mark walkers that start at the first or the last run
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
