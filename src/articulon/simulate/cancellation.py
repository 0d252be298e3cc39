"""How far the scaled forces cancel, the premise of the multiscale method (Guy 2018, the ε⁰ term of 2.10).

At chosen frames of a run the generalised forces G_c of every channel are found anew, unscaled, and the residual is
|Σ G_c|/Σ|G_c| over the channels that the run has scaled: 0 where they cancel, 1 where they do not at all. It is taken
by joints, translations and rotations apart, so that forces are never added to torques.

On the slowest tree it says how wrong the motion is. With the sum D of all that drives it and the drag G_d, the tree
moves at −G_d·D/|D|² of the speed of its steady drift: by 1 + G_d·D/|D|² too slowly. The unscaled tree needs the same,
less by its own factor, so that 1 − a2 of it is the error of the scaling.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics import recursive
from articulon.model import CHANNELS, Model
from articulon.model.joints import FREE
from articulon.model.state import DAMPING, EVALUATIONS, EXTERNAL, STOCHASTIC, WINDOW, State
from articulon.simulate.observers import evaluate
from articulon.simulate.preparation import Prepared
from articulon.simulate.results import Run
from articulon.simulate.verdicts import Bounds

MOST, LEAST = 200, 20
"""Moments at which the forces are looked at, at most and at least."""
SHARE = 0.02
"""Part of the run's evaluations that looking may cost, with more moments than the least."""


class Cancellation(NamedTuple):
    """The residual along a run."""

    times: np.ndarray
    """Moments [time], shape (moments,)."""
    slowest: np.ndarray
    """Residual of the slowest tree's translation, shape (moments,); NaN where nothing acts."""
    mean: np.ndarray
    """Mean over the joints of their residuals, shape (moments,)."""
    shares: dict[str, np.ndarray]
    """|G_c|/Σ|G_c| of the slowest tree's translation by scaled channel, shape (moments,)."""
    error: np.ndarray
    """Part by which the slowest tree moves too slowly for the forces on it, shape (moments,)."""


def cancellation_along(prepared: Prepared, state: State, run: Run) -> Cancellation | None:
    """The residual at moments of a run; None where nothing is scaled, or no drag could balance what drives."""
    observables, evaluator, model = run.observables, prepared.evaluator, prepared.model
    scaled = [
        c
        for c, name in enumerate(CHANNELS)
        if f"factor_{name}" in observables and (observables[f"factor_{name}"] != 1.0).any()
    ]
    if DAMPING not in scaled or evaluator.thermostat is not None or evaluator.particles:
        return None
    frames = moments(len(observables["time"]), int(state.counters[EVALUATIONS]), len(scaled))
    coordinates, speeds = run.coordinates, run.speeds
    starts = block_starts(model)
    slow = int(np.searchsorted(starts, model.forest.u_start[prepared.observer.slowest_range[0]]))
    probe = state.copy()
    rows: list[tuple[float, ...]] = []
    for k in frames.tolist():
        forces = channel_forces_at(prepared, probe, float(observables["time"][k]), coordinates[k], speeds[k])
        rows.append(_row(forces, scaled, starts, slow))
    values = np.array(rows)
    names = [CHANNELS[c] for c in scaled]
    return Cancellation(
        np.asarray(observables["time"])[frames],
        values[:, 0],
        values[:, 1],
        dict(zip(names, values[:, 3:].T, strict=True)),
        values[:, 2],
    )


def moments(frames: int, evaluations: int, channels: int) -> np.ndarray:
    """Numbers of the frames that are looked at, evenly spread from the first to the last."""
    affordable = int(SHARE * evaluations / (channels + 2))
    count = min(frames, max(LEAST, min(MOST, affordable)))
    return np.unique(np.linspace(0, frames - 1, count).round().astype(np.int64))


def channel_forces_at(prepared: Prepared, probe: State, time: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Generalised forces by channel at coordinates and speeds, unscaled, shape (8, nu); ``probe`` is overwritten."""
    evaluator, model = prepared.evaluator, prepared.model
    forest, tables = model.forest, evaluator.system.forces
    probe.q[:], probe.u[:], probe.time[0] = q, u, time
    probe.counters[WINDOW] = int(time / prepared.windows.held * (1.0 + 1e-12))
    evaluate(evaluator, probe, np.ones(8))
    result, tau = np.zeros((8, model.nu)), np.empty(model.nu)
    channels = evaluator.channels
    for c in range(8):
        wrench = channels.wrench[c].copy()
        if c == EXTERNAL and tables.gravity.any():
            arms = np.einsum("kij,kj->ki", evaluator.ws.rotation.reshape(-1, 3, 3), forest.moment)
            wrench[:, :3] += forest.mass[:, None] * tables.gravity
            wrench[:, 3:] += np.cross(arms, tables.gravity)
        elif c not in tables.wrench_channels:
            wrench[:] = 0.0
        if wrench.any():
            recursive.project_wrenches(forest, probe.q, evaluator.ws, wrench, tau)
            result[c] = tau
        if c in tables.joint_channels:
            result[c] += channels.joint[c]
    return result


def block_starts(model: Model) -> np.ndarray:
    """First speeds of the joints, those of free bodies as two: translation, and rotation."""
    forest = model.forest
    free = forest.u_start[forest.kind == FREE] + 3
    return np.unique(np.concatenate([forest.u_start, free])).astype(np.int64)


def _row(forces: np.ndarray, scaled: list[int], starts: np.ndarray, slow: int) -> tuple[float, ...]:
    """Residual of the slow block, mean residual, part by which it is too slow, and its shares by channel."""
    sizes = np.sqrt(np.add.reduceat(forces[scaled] ** 2, starts, axis=1))
    whole = sizes.sum(axis=0)
    net = np.sqrt(np.add.reduceat(forces[scaled].sum(axis=0) ** 2, starts))
    with np.errstate(divide="ignore", invalid="ignore"):
        residual, shares = net / whole, sizes[:, slow] / whole[slow]
    end = starts[slow + 1] if slow + 1 < starts.size else forces.shape[1]
    block = forces[:, starts[slow] : end]
    drag = block[DAMPING]
    drive = block.sum(axis=0) - drag - block[STOCHASTIC]
    size = float(drive @ drive)
    error = 1.0 + float(drag @ drive) / size if size > 0.0 else np.nan
    acting = residual[np.isfinite(residual)]
    return float(residual[slow]), float(acting.mean()) if acting.size else np.nan, error, *shares.tolist()


def cancellation(
    along: Cancellation | None, observables: Mapping[str, np.ndarray], relaxation: float, bounds: Bounds, closed: bool
) -> dict[str, Any]:
    """The premise that the scaled forces cancel.

    Parameters
    ----------
    along
        The residual along the run.
    observables
        Arrays over the frames by name.
    relaxation
        τ of the slowest tree, unscaled [time].
    bounds
        Relative errors that are trusted, and suspect.
    closed
        Whether loops act, whose forces are in no channel.
    """
    found: dict[str, Any] = {"verdict": None, "reason": None, "since": None, "residual": None, "by_channel": None}
    if along is None:
        return {**found, "reason": "there is no drag that could balance what drives"}
    finite = np.isfinite(along.slowest)
    if not finite.any():
        return {**found, "verdict": "inconclusive", "reason": "no scaled force acts on the slowest body"}
    found["residual"] = {
        "mean": float(along.slowest[finite].mean()),
        "max": float(along.slowest[finite].max()),
        "final": float(along.slowest[finite][-1]),
        "mean_over_joints": float(np.nanmean(along.mean)),
    }
    found["by_channel"] = {name: float(np.nanmean(values)) for name, values in along.shares.items()}
    if closed:
        return {**found, "reason": "loops carry forces that no channel holds"}
    if "factor_stochastic" in observables:
        return {**found, "reason": "Brownian forces cancel over time and not at a moment"}
    if not np.isfinite(along.error).all() or along.times.size < 3:
        return {**found, "verdict": "inconclusive", "reason": "nothing drives the slowest body at times"}
    a2 = np.interp(along.times, observables["time"], observables["factor_damping"])
    lost = along.error * np.maximum(1.0 - a2, 0.0)
    whole = float(along.times[-1] - along.times[0])
    accumulated = accumulate(along.times, lost, relaxation / float(a2[0]))
    error = float(accumulated[-1]) / whole
    verdict = bounds.verdict(abs(error))
    found["relative_error"], found["verdict"] = error, verdict
    found["since"] = bounds.broken_at(verdict, along.times, accumulated, whole)
    return found


def accumulate(times: np.ndarray, lost: np.ndarray, relaxation: float) -> np.ndarray:
    """∫ lost dt up to each moment [time], by the trapezoidal rule; what is lost at the first moment, when a run begins
    from rest, is lost for no longer than the scaled relaxation time."""
    interval = np.diff(times)
    pieces = 0.5 * interval * (lost[1:] + lost[:-1])
    if interval.size:
        pieces[0] = min(0.5 * interval[0], relaxation) * lost[0] + 0.5 * interval[0] * lost[1]
    return np.concatenate([[0.0], np.cumsum(pieces)])
