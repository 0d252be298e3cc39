"""Interface through which summaries and verdicts read the frames of a run, in memory or in a folder."""

from typing import Protocol

import numpy as np


class Frames(Protocol):
    """The frames of a run."""

    @property
    def q(self) -> np.ndarray:
        """Coordinates, shape (frames, nq)."""

    @property
    def u(self) -> np.ndarray:
        """Speeds, shape (frames, nu)."""

    @property
    def times(self) -> np.ndarray:
        """Times of the frames [time], shape (frames,)."""

    @property
    def observables(self) -> dict[str, np.ndarray]:
        """Observables by name, including "time", each of shape (frames,)."""
