"""What a verdict is made from: the frames of a run, and what the run was."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from articulon.forces.brownian import Brownian, brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.model import CHANNELS, Model


class Settings(NamedTuple):
    """What a run is judged by."""

    tolerance: float
    """Relative error that is trusted."""
    error: str
    """``"time"`` or ``"position"``."""
    budget: float
    """What unscaled runs beside it may cost, as a part of its evaluations."""


class Record(NamedTuple):
    """A scaled run that has ended."""

    model: Model
    """What was simulated."""
    evaluator: Evaluator
    """Its forces."""
    integrator: Any
    """The declared integrator, its step found."""
    policy: Any
    """The scaling policy."""
    q: np.ndarray
    """Coordinates at the frames, shape (frames, nq)."""
    u: np.ndarray
    """Speeds there, shape (frames, nu)."""
    observables: Mapping[str, np.ndarray]
    """Arrays over the frames by name: "time", the factors and what else was seen."""
    evaluations: int
    """Evaluations of forces that the run took."""
    seed: int
    """Of its noise."""
    window: float
    """Length of a fine window of noise [time]."""
    stop: tuple[int, np.ndarray, float] | None
    """Body, direction and advance [length] that ended it, or would have; None without such a condition."""
    adaptive: bool
    """Whether joints were locked and released along the run."""
    settings: Settings
    """What it is judged by."""

    @property
    def times(self) -> np.ndarray:
        """Of the frames [time], shape (frames,)."""
        return self.observables["time"]

    @property
    def duration(self) -> float:
        """Simulated time of the run [time]."""
        return float(self.times[-1] - self.times[0])

    @property
    def noise(self) -> Brownian | None:
        """Its Brownian forces."""
        return brownian_of(self.model)

    @property
    def uniform(self) -> bool:
        """Whether all forces have had one factor all along."""
        a2 = self.observables["factor_damping"]
        factors = [self.observables[f"factor_{c}"] for c in CHANNELS if f"factor_{c}" in self.observables]
        return all(np.array_equal(one, a2) for one in factors)
