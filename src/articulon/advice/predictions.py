"""Cheap predictions for a case with drag, from its motion without inertia. They are the delay due to inertia, the
effect of a constant scaling factor, and a later state from which steps can be tried."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from articulon.advice.subject import Subject
from articulon.analysis.approach import Approach, approach_of
from articulon.errors import ArticulonError
from articulon.model import Model


@dataclass(frozen=True)
class Predictions:
    """Predictions for a case before it has run."""

    approach: Approach | None = None
    """Motion without inertia; None if it cannot be computed."""
    later: Model | None = None
    """Model in a state near the end of the motion without inertia. None if that motion is unknown, if joints keep their
    initial coordinates in it, or if it is shorter than the probe."""

    @property
    def inertia(self) -> float | None:
        """Relative delay of the unscaled run due to inertia; None if unknown."""
        return None if self.approach is None else self.approach.inertia() / self.approach.duration

    @property
    def delay(self) -> float:
        """Relative delay due to inertia if known, otherwise 0."""
        return self.inertia or 0.0

    def factor(self, tolerance: float) -> tuple[float, float] | None:
        """Return the smallest constant factor whose relative lag is within a tolerance, and this lag."""
        if self.approach is None:
            return None
        a2 = self.approach.safe_factor(tolerance)
        a2 = min(1.0, float(f"{a2:.2g}") if float(f"{a2:.2g}") >= a2 else float(f"{1.05 * a2:.2g}"))
        return a2, abs(self.approach.worst(a2)[1]) / self.approach.duration


def predictions_of(subject: Subject, probe: float) -> Predictions:
    """Compute the motion without inertia of a case.

    Parameters
    ----------
    subject
        The subject.
    probe
        Time between the later state and the end of the motion [time].
    """
    try:
        approach = approach_of(subject.case)
    except ArticulonError:
        approach = None
    if approach is None or approach.motion is None:
        return Predictions(approach)
    motion = approach.motion
    at = int(np.searchsorted(motion.times, motion.times[-1] - probe))
    k = min(max(at - 1, 0), motion.times.size - 1)
    if k == 0:
        return Predictions(approach)
    q, u = motion.coordinates[k], motion.speeds[k]
    if not (np.isfinite(q).all() and np.isfinite(u).all()):
        return Predictions(approach)
    return Predictions(approach, replace(subject.model, q0=q.copy(), u0=u.copy()))
