"""Effect of inertia on the true, unscaled path. It is the effect of inertia on the scaled run, multiplied by the
scaling factor a2."""

from typing import NamedTuple

import numpy as np

from articulon.fidelity.motion import Motion
from articulon.fidelity.record import Record
from articulon.integrate.drift_velocity import DriftVelocity

SPEED_MARGIN = 2.0
"""Factor that allows for differences in speed between the true path and the run: the effect of inertia on the true path
may be larger by this factor than the speeds of the run suggest."""
STEADY = 1e-6
"""Relative difference below which factors count as equal."""


class Inertia(NamedTuple):
    """Effect of inertia on the true path, relative to its effect on the run."""

    share: np.ndarray
    """Effect of inertia on the true path divided by that on the run, at the frames, shape (frames, groups)."""
    bound: float
    """Upper bound of the effect on the true path that cannot be derived from the run, relative to the range of a
    motion."""
    scaled: float
    """Largest fraction of the displacement that inertia costs at any time of the run; 1 if the scaling factor
    changes."""
    unscaled: float
    """Fraction of the whole displacement that inertia costs on the true path."""

    def unknown(self, own: float) -> float:
        """Return the first-order uncertainty of an error from which the effect ``own`` of inertia on the true path was
        subtracted."""
        return self.scaled * own + self.bound

    def second(self, own: float) -> float:
        """Return the second-order uncertainty of an error, for a reference path that includes inertia to first
        order."""
        return self.unscaled * (own + self.bound)


def inertia_of(record: Record, motion: Motion, drift: DriftVelocity) -> Inertia:
    """Estimate the effect of inertia on the true path from the frames of a run.

    While the speeds change by Δu, inertia costs the displacement ζ⁻¹ M Δu on the true path, and ζ⁻¹ M Δu/a2 in the run.
    If drag and driving forces have different factors, the speeds of the run differ from those of the true path, and the
    effect on the true path cannot be derived from the run. A bound then replaces it: the cost of inertia along the
    whole path.
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
    displacement = pace[1:] * np.diff(record.times)[:, None]
    most = float(np.minimum(slower[1:] / displacement, 1.0)[:, moved].max(initial=0.0))
    mean = min(1.0, float((sums[0][-1] / displacement.sum(axis=0))[moved].max(initial=0.0)))
    if not record.uniform:
        whole = SPEED_MARGIN * sums[0][-1][moved] / motion.reach[moved]
        return Inertia(np.zeros_like(share), float(whole.max(initial=0.0)), most, mean)
    # If the factor changed, the share still contains decaying contributions of the earlier factors.
    steady = np.ptp(a2[1:]) <= STEADY * float(a2[1:].max(initial=0.0))
    return Inertia(share, 0.0, most if steady else 1.0, mean)
