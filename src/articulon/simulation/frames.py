"""What a summary and a verdict read of a run, wherever its results are."""

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
        """[time], shape (frames,)."""

    @property
    def observables(self) -> dict[str, np.ndarray]:
        """ "time" and what was observed, by name, each of shape (frames,)."""
