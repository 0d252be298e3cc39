"""What inertia does to the true path of a scaled run, by what it does to the run: the part a2 of it."""

from typing import NamedTuple

import numpy as np

from articulon.fidelity.motion import Motion
from articulon.fidelity.record import Record
from articulon.integrate.drift_velocity import DriftVelocity

OTHERWISE = 2.0
"""How many times as much as by the speeds of the run inertia may do to a true path with other speeds."""
STEADY = 1e-6
"""Relative difference of factors that are the same."""


class Inertia(NamedTuple):
    """What inertia does to the true path, by what it does to the run."""

    share: np.ndarray
    """The one over the other, at the frames, shape (frames, groups)."""
    besides: float
    """What it does at most where the run does not say, relative to the range of a motion."""
    scaled: float
    """The largest part of the way that it takes at a moment of the run; 1 where its factor changes."""
    unscaled: float
    """The part of its whole way that it takes of the true path."""

    def unknown(self, own: float) -> float:
        """How far an error may be wrong from which ``own`` was taken as the true path's: that is of first order."""
        return self.scaled * own + self.besides

    def second(self, own: float) -> float:
        """The same beside a path with inertia to first order."""
        return self.unscaled * (own + self.besides)


def inertia_of(record: Record, motion: Motion, drift: DriftVelocity) -> Inertia:
    """What inertia does to the true path, by the frames of a run.

    In a time in which the speeds change by Δu, inertia costs the displacement ζ⁻¹ M Δu, and ζ⁻¹ M Δu/a2 in the
    run. Where drag and what drives have different factors the run says nothing of the true path's share, which is
    left out: it is about what inertia costs along the whole path, whose speeds are not the run's.
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
    # What has been forgotten since is in the share of a factor that was another one then.
    steady = np.ptp(a2[1:]) <= STEADY * float(a2[1:].max(initial=0.0))
    return Inertia(share, 0.0, most if steady else 1.0, mean)
