"""The premise that bodies follow the forces: how late inertia makes a scaled run, by its own frames alone.

In a time in which the speeds change by Δu, inertia costs the displacement ζ⁻¹ M Δu of the drift velocities, with the
mass matrix M and the drag ζ of the articulated bodies, and ζ⁻¹ M Δu/a2 in the run: momentum is force times time. What
the run has lost more than the unscaled one is (1/a2 − 1) ζ⁻¹ M Δu, with the sign of Δu: what is lost while a force
grows is won back while it falls.

How late that makes a motion depends on what forces depend on. Where they depend on place alone, a body that is late
stays late by the same time, and what adds up is the time lost, D = Σ (1/a2 − 1) ζ⁻¹ M Δu·u/|u|². Where they depend on
time alone, it stays behind by the same way, and what adds up are the displacements. The estimate is the larger of the
two errors, known to half of it at best and no better than the two agree; where a motion is short of all of its way for
a moment, it may be anything up to twice of it, and so it may under noise. It costs no evaluation of forces; an unscaled
run beside it is far more certain.
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
"""Frames after the first from which changes of speeds are seen."""
UNRESOLVED = "nothing moves by more than the steps resolve; lower the tolerances of the integrator, atol first"
UNCERTAIN = 0.5
"""What the estimate is known to at best, as a part of it."""


class Lost(NamedTuple):
    """What inertia costs along a run, in the columns of the groups, by frame."""

    unscaled: np.ndarray
    """ζ⁻¹ M Δu since the frame before [length or rad], shape (frames, nu)."""
    scaled: np.ndarray
    """The same over a2, shape (frames, nu)."""


class LagAlong(NamedTuple):
    """The estimate along a run, of the motion that is worst."""

    what: str
    """Body and motion."""
    times: np.ndarray
    """Of the frames [time], shape (frames,)."""
    rate: np.ndarray
    """Part of its way by which it is short between the frames, shape (frames − 1,)."""
    delay: np.ndarray
    """How late it is at the frames [time], shape (frames,)."""
    error: float
    """The relative error in time that follows."""
    half_width: float
    """What that is known to."""


def lost_by_inertia(record: Record) -> Lost | str:
    """What inertia costs along a run, or why that is not known."""
    idle = ~np.any(record.u, axis=0)
    drift = DriftVelocity(Evaluator(record.model, record.seed, record.window), idle)
    reason = drift.why_not()
    if reason is None and not record.uniform:
        reason = "drag and what drives have different factors, which make another drift"
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
    a2[0] = a2[min(1, a2.size - 1)]  # no step has led to the first frame, which may hold no factor yet
    mean = np.append(a2[:1], 0.5 * (a2[1:] + a2[:-1]))
    return Lost(unscaled, unscaled / mean[:, None])


def lag_along(record: Record, lost: Lost) -> LagAlong | None:
    """The estimate along a run; None where nothing moves."""
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
        if record.noise is not None:  # speeds are thermal
            behind_error = float(np.abs(behind).max() / reach)
            time_error = behind_error
        else:
            time_error = float(np.abs(delay).max()) / T
            behind_error = float((behind / np.maximum(reach, speed * T)).max())
        error = max(time_error, behind_error)
        if found is None or error > found.error:
            rate = np.linalg.norm(more[1:, part] / interval, axis=1) / np.sqrt(pace)
            # The estimate is of first order in the part of its way by which a motion is short.
            least = 1.0 if record.noise is not None else max(UNCERTAIN, min(1.0, float(rate.max())))
            half = max(least * error, abs(time_error - behind_error))
            found = LagAlong(group.name, times, rate, delay, error, half)
    return found


def lag(record: Record, lost: Lost | str, along: LagAlong | None, bounds: Bounds) -> dict[str, Any]:
    """The lag premise.

    Returns
    -------
    dict
        ``predicted_delay`` [time] and ``predicted_relative_error`` of the motion that is worst, ``what``, the
        ``half_width`` of the error, the largest and the mean part of its way by which it is short, and a verdict.
    """
    found: dict[str, Any] = {"max": None, "mean": None, "predicted_delay": None, "predicted_relative_error": None}
    found |= {"relative_error": None, "half_width": None, "what": None, "since": None, "verdict": "inconclusive"}
    if isinstance(lost, str):
        return found | {"reason": lost}
    if record.times.size <= LEAST:
        return found | {"reason": f"fewer than {LEAST} frames do not show how speeds change; keep more (frames)"}
    if along is None and unresolved(motion_of(record)):
        return found | {"reason": UNRESOLVED}
    if along is None:
        return found | {"verdict": "trusted", "relative_error": 0.0, "half_width": 0.0, "reason": "nothing moves"}
    interval, half, verdict = np.diff(along.times), None, "inconclusive"
    reason: str | None = "it tells how late motions are, and not how far off"
    if record.settings.error == "time":
        half, verdict = along.half_width, bounds.verdict_of_interval(along.error, along.half_width)
        reason = "the estimate is too uncertain to tell" if verdict == "inconclusive" else None
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
