"""Input for a verdict: the frames and settings of a run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from articulon.forces.brownian import Brownian, brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.integrate.stop_conditions import StopCondition
from articulon.model import CHANNELS, Model


class Settings(NamedTuple):
    """Criteria by which a run is judged."""

    tolerance: float
    """Relative error that counts as trusted."""
    error: str
    """Kind of error that is judged, ``"time"`` or ``"position"``."""
    budget: float
    """Allowed cost of unscaled reference runs, as a fraction of the evaluations of the run."""


class Record(NamedTuple):
    """A finished scaled run."""

    model: Model
    """Simulated model."""
    evaluator: Evaluator
    """Evaluator of the forces of the model."""
    integrator: Any
    """Declared integrator, with a known step."""
    policy: Any
    """Scaling policy."""
    q: np.ndarray
    """Coordinates at the frames, shape (frames, nq)."""
    u: np.ndarray
    """Speeds at the frames, shape (frames, nu)."""
    observables: Mapping[str, np.ndarray]
    """Arrays over the frames, by name: "time", the factors and other observables."""
    evaluations: int
    """Number of force evaluations of the run."""
    seed: int
    """Seed of its noise."""
    window: float
    """Length of a fine window of noise [time]."""
    stop: StopCondition | None
    """Condition that ends the run early; None without one."""
    adaptive: bool
    """Whether joints were locked and released during the run."""
    settings: Settings
    """Criteria by which the run is judged."""

    @property
    def times(self) -> np.ndarray:
        """Times of the frames [time], shape (frames,)."""
        return self.observables["time"]

    @property
    def duration(self) -> float:
        """Simulated time of the run [time]."""
        return float(self.times[-1] - self.times[0])

    @property
    def noise(self) -> Brownian | None:
        """Brownian forces of the run; None if there are none."""
        return brownian_of(self.model)

    @property
    def uniform(self) -> bool:
        """Whether all forces had the same factor during the whole run."""
        a2 = self.observables["factor_damping"]
        factors = [self.observables[f"factor_{c}"] for c in CHANNELS if f"factor_{c}" in self.observables]
        return all(np.array_equal(one, a2) for one in factors)
