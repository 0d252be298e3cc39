"""Effect of inertia on the true path of a scaled run, derived from its effect on the run: the fraction a2 of it."""

from typing import NamedTuple

import numpy as np

from articulon.fidelity.motion import Motion
from articulon.fidelity.record import Record
from articulon.integrate.drift_velocity import DriftVelocity

OTHERWISE = 2.0
"""Allowance for other speeds: the effect of inertia on the true path may be this many times that at the run's
speeds."""
STEADY = 1e-6
"""Relative difference below which factors count as equal."""


class Inertia(NamedTuple):
    """Effect of inertia on the true path, relative to its effect on the run."""

    share: np.ndarray
    """Ratio of the two effects at the frames, shape (frames, groups)."""
    besides: float
    """Upper bound of the effect that the run does not show, relative to the range of a motion."""
    scaled: float
    """Largest fraction of the displacement taken by inertia at any time of the run; 1 if its factor changes."""
    unscaled: float
    """Fraction of the whole displacement of the true path taken by inertia."""

    def unknown(self, own: float) -> float:
        """First-order uncertainty of an error from which ``own`` was subtracted as the true path's effect."""
        return self.scaled * own + self.besides

    def second(self, own: float) -> float:
        """Second-order uncertainty, if the reference path includes inertia to first order."""
        return self.unscaled * (own + self.besides)


def inertia_of(record: Record, motion: Motion, drift: DriftVelocity) -> Inertia:
    """Estimate the effect of inertia on the true path from the frames of a run.

    Over a time in which the speeds change by Δu, inertia costs the displacement ζ⁻¹ M Δu, and ζ⁻¹ M Δu/a2 in the
    run. If drag and driving forces have different factors, the run does not tell the true path's share, which is then
    replaced by a bound: the cost of inertia along the whole path, whose speeds differ from those of the run.
    """
    frames, groups = record.times.size, motion.groups
    a2 = record.observables["factor_damping"]
    lost, slower = np.zeros((2, frames, len(groups)))
    for k in range(1, frames):
        change = drift.lost(record.q[k], record.u[k] - record.u[k - 1])
        for j, group in enumerate(groups):
            size = float(np.linalg.norm(change[group.start : group.end]))
            lost[k, j], slower[k, j] = size, size / a2[k]
    sums = np.cumsum(lost, axis=0), np.cumsum(slower, axis=0)
    share = np.divide(sums[0], sums[1], out=np.zeros_like(lost), where=sums[1] > 0.0)
    moved = motion.reach > motion.error
    pace = np.maximum(
        np.array([np.linalg.norm(motion.path.velocity[:, g.start : g.end], axis=1) for g in groups]).T,
        np.where(moved, motion.reach, np.inf) / record.duration,
    )
    way = pace[1:] * np.diff(record.times)[:, None]
    most = float(np.minimum(slower[1:] / way, 1.0)[:, moved].max(initial=0.0))
    mean = min(1.0, float((sums[0][-1] / way.sum(axis=0))[moved].max(initial=0.0)))
    if not record.uniform:
        whole = OTHERWISE * sums[0][-1][moved] / motion.reach[moved]
        return Inertia(np.zeros_like(share), float(whole.max(initial=0.0)), most, mean)
    # If the factor changed, the share includes contributions of earlier factors that have decayed since.
    steady = np.ptp(a2[1:]) <= STEADY * float(a2[1:].max(initial=0.0))
    return Inertia(share, 0.0, most if steady else 1.0, mean)
