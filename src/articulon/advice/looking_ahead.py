"""Where a case with drag goes, found without inertia in a fraction of its cost: how late inertia makes it, what a
constant factor would do, and states further on from which steps can be tried."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from articulon.advice.subject import Subject
from articulon.analysis.approach import Approach, approach_of
from articulon.errors import ArticulonError
from articulon.model import Model


@dataclass(frozen=True)
class Ahead:
    """What is known of the way before the case has run."""

    approach: Approach | None = None
    """The way without inertia; None where it cannot be followed."""
    later: Model | None = None
    """The model as it is near the end of that way; None where joints are kept on it, or there is none."""

    @property
    def inertia(self) -> float | None:
        """How late inertia makes the unscaled run, as a part of the way; None where that is not known."""
        return None if self.approach is None else self.approach.inertia() / self.approach.duration

    @property
    def late(self) -> float:
        """That, where it is known; else 0."""
        return self.inertia or 0.0

    def factor(self, tolerance: float) -> tuple[float, float] | None:
        """The least constant factor whose lag is within a tolerance, and that lag as a part of the way."""
        if self.approach is None:
            return None
        a2 = self.approach.safe_factor(tolerance)
        a2 = min(1.0, float(f"{a2:.2g}") if float(f"{a2:.2g}") >= a2 else float(f"{1.05 * a2:.2g}"))
        return a2, abs(self.approach.worst(a2)[1]) / self.approach.duration


def ahead_of(subject: Subject, probe: float) -> Ahead:
    """Follows the way without inertia of a case.

    Parameters
    ----------
    subject
        The case.
    probe
        How long before the end of the way the later state is [time].
    """
    try:
        approach = approach_of(subject.case)
    except ArticulonError:
        approach = None
    if approach is None or approach.motion is None:
        return Ahead(approach)
    motion = approach.motion
    at = int(np.searchsorted(motion.times, motion.times[-1] - probe))
    k = min(max(at - 1, 0), motion.times.size - 1)
    if k == 0:
        return Ahead(approach)
    q, u = motion.coordinates[k], motion.speeds[k]
    if not (np.isfinite(q).all() and np.isfinite(u).all()):
        return Ahead(approach)
    return Ahead(approach, replace(subject.model, q0=q.copy(), u0=u.copy()))
