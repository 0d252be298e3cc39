"""The lag premise: the delay that inertia causes in a scaled run, estimated from the frames of the run alone.

Let M be the mass matrix and ζ the drag of the articulated bodies. While the speeds change by Δu, inertia costs the
displacement ζ⁻¹ M Δu, relative to motion at the drift velocities. In the scaled run it costs ζ⁻¹ M Δu/a2, because
forces that are smaller by the factor a2 need more time to change the momentum. The scaled run therefore loses (1/a2 −
1) ζ⁻¹ M Δu more than the unscaled one. The loss has the sign of Δu: a displacement lost while a force grows is
recovered while the force decreases.

The resulting delay depends on the kind of forces. If they depend on position alone, a late body stays late by the same
time, and lost times accumulate: D = Σ (1/a2 − 1) ζ⁻¹ M Δu·u/|u|². If they depend on time alone, a body stays behind by
the same distance, and lost displacements accumulate. The estimate is the larger of the two errors. Its uncertainty is
at least half of the estimate, and at least the difference of the two errors. Under noise, or if inertia costs the whole
displacement of a motion at some time, the true error can have any value between zero and twice the estimate. The
estimate needs no force evaluation; an unscaled reference run is far more accurate.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.fidelity.motion import motion_of, resolution, unresolved
from articulon.fidelity.paths import groups_of, path_of, ranges, scales
from articulon.fidelity.record import Record
from articulon.fidelity.verdict import Bounds
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drift_velocity import DriftVelocity
from articulon.model.array_rotations import matrices

LEAST = 10
"""Minimum number of frames after the first; fewer do not resolve the changes of speeds."""
UNRESOLVED = "no motion exceeds the resolution of the steps; lower the tolerances of the integrator, atol first"
UNCERTAIN = 0.5
"""Minimum relative uncertainty of the estimate."""


class Lost(NamedTuple):
    """Displacement that inertia costs along a run, for each speed between successive frames."""

    unscaled: np.ndarray
    """Loss ζ⁻¹ M Δu of an unscaled run since the previous frame [length or rad], shape (frames, nu)."""
    scaled: np.ndarray
    """Loss ζ⁻¹ M Δu/a2 of the scaled run since the previous frame [length or rad], shape (frames, nu)."""


class LagAlong(NamedTuple):
    """Lag estimate along a run, for the worst motion."""

    what: str
    """Name of the body and motion."""
    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    rate: np.ndarray
    """Fraction of the displacement that is lost between successive frames, shape (frames − 1,)."""
    delay: np.ndarray
    """Delay at the frames [time], shape (frames,)."""
    error: float
    """Error in time that results from the delay, relative to the duration of the run."""
    half_width: float
    """Uncertainty of the relative error."""


def lost_by_inertia(record: Record) -> Lost | str:
    """Compute the displacement that inertia costs along a run, or the reason why it is unknown."""
    idle = ~np.any(record.u, axis=0)
    drift = DriftVelocity(Evaluator(record.model, record.seed, record.window), idle)
    reason = drift.why_not()
    if reason is None and not record.uniform:
        reason = "drag and driving forces have different factors, which change the drift"
    if reason is not None:
        return reason
    unscaled = np.zeros_like(record.u)
    for k in range(1, record.times.size):
        unscaled[k] = drift.lost(record.q[k], record.u[k] - record.u[k - 1])
    for group in groups_of(record.model):
        if group.turns:
            part, e = slice(group.start, group.end), record.q[:, group.coordinate : group.coordinate + 4]
            unscaled[:, part] = np.einsum("nij,nj->ni", matrices(e), unscaled[:, part])
    a2 = record.observables["factor_damping"].copy()
    a2[0] = a2[min(1, a2.size - 1)]  # no step ends at the first frame, which may have no factor yet
    mean = np.append(a2[:1], 0.5 * (a2[1:] + a2[:-1]))
    return Lost(unscaled, unscaled / mean[:, None])


def lag_along(record: Record, lost: Lost) -> LagAlong | None:
    """Estimate the lag of the worst motion along a run; None if nothing moves."""
    T, times, groups = record.duration, record.times, groups_of(record.model)
    path = path_of(groups, times, record.q, record.u)
    more, interval = lost.scaled - lost.unscaled, np.diff(record.times)[:, None]
    found: LagAlong | None = None
    reaches = ranges(groups, path.place)
    moves = reaches > resolution(record, groups)
    for group, reach, moving in zip(groups, scales(groups, reaches), moves, strict=True):
        if not moving:
            continue
        part = slice(group.start, group.end)
        velocity = path.velocity[:, part]
        middle = 0.5 * (velocity[1:] + velocity[:-1])
        square = (middle**2).sum(axis=1)
        pace = np.maximum(square, (reach / T) ** 2)
        delay = np.append(0.0, np.cumsum((more[1:, part] * middle).sum(axis=1) / pace))
        behind = np.linalg.norm(np.cumsum(more[:, part], axis=0), axis=1)
        speed = np.linalg.norm(velocity, axis=1)
        if record.noise is not None:  # the speeds are thermal
            behind_error = float(np.abs(behind).max() / reach)
            time_error = behind_error
        else:
            time_error = float(np.abs(delay).max()) / T
            behind_error = float((behind / np.maximum(reach, speed * T)).max())
        error = max(time_error, behind_error)
        if found is None or error > found.error:
            rate = np.linalg.norm(more[1:, part] / interval, axis=1) / np.sqrt(pace)
            # The estimate is of first order in the lost fraction, so its relative uncertainty is of the size of this
            # fraction.
            least = 1.0 if record.noise is not None else max(UNCERTAIN, min(1.0, float(rate.max())))
            half = max(least * error, abs(time_error - behind_error))
            found = LagAlong(group.name, times, rate, delay, error, half)
    return found


def lag(record: Record, lost: Lost | str, along: LagAlong | None, bounds: Bounds) -> dict[str, Any]:
    """Evaluate the lag premise.

    Returns
    -------
    dict
        ``predicted_delay`` [time] and ``predicted_relative_error`` of the worst motion; ``what``, its name; the
        ``half_width`` of the error; the largest and the mean fraction of its displacement that is lost; and a verdict.
    """
    found: dict[str, Any] = {"max": None, "mean": None, "predicted_delay": None, "predicted_relative_error": None}
    found |= {"relative_error": None, "half_width": None, "what": None, "since": None, "verdict": "inconclusive"}
    if isinstance(lost, str):
        return found | {"reason": lost}
    if record.times.size <= LEAST:
        return found | {
            "reason": f"fewer than {LEAST} frames do not show how speeds change; store more frames (frames)"
        }
    if along is None and unresolved(motion_of(record)):
        return found | {"reason": UNRESOLVED}
    if along is None:
        return found | {"verdict": "trusted", "relative_error": 0.0, "half_width": 0.0, "reason": "nothing moves"}
    interval, half, verdict = np.diff(along.times), None, "inconclusive"
    reason: str | None = "it estimates delays, not position errors"
    if record.settings.error == "time":
        half, verdict = along.half_width, bounds.verdict_of_interval(along.error, along.half_width)
        reason = "the estimate is too uncertain" if verdict == "inconclusive" else None
    return found | {
        "max": float(along.rate.max()),
        "mean": float((along.rate * interval).sum() / interval.sum()),
        "predicted_delay": float(along.delay[-1]),
        "predicted_relative_error": float(along.delay[-1]) / record.duration,
        "relative_error": along.error,
        "half_width": half,
        "what": along.what,
        "since": bounds.broken_at(verdict, along.times, along.delay, record.duration),
        "verdict": verdict,
        "reason": reason,
    }
