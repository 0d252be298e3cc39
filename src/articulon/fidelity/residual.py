"""The cancellation premise: the scaled forces cancel, as the multiscale method assumes (Guy 2018, eq. 2.10, order ε⁰).

The residual |Σ G_c|/Σ|G_c| is computed at every frame of a scaled run, from the unscaled generalised forces G_c of the
channels. It is 0 if the forces cancel, and 1 if they do not cancel at all. It is computed for each joint, separately
for translations and rotations, so that forces are never added to torques.

For the slowest tree, the residual shows the error of the translation. With the sum D of all driving forces and the drag
G_d, the speed of the tree is the fraction −G_d·D/|D|² of its drift velocity: it is too slow by the fraction
1 + G_d·D/|D|². For the unscaled tree this deficit is smaller by the factor a2, so that the fraction 1 − a2 of it is the
error of the scaling. The value is for information and does not affect the verdict: at rest, both forces are residuals
of the integrator, and their ratio is random.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.fidelity.residual_observer import OVER_JOINTS, RESIDUAL, TOO_SLOW
from articulon.model import CHANNELS


def cancellation(observables: Mapping[str, np.ndarray], relaxation: float, closed: bool) -> dict[str, Any]:
    """Evaluate the premise that the scaled forces cancel.

    Parameters
    ----------
    observables
        Arrays over the frames, by name.
    relaxation
        Relaxation time τ of the slowest tree, unscaled [time].
    closed
        Whether loop constraints act. Their forces belong to no channel.
    """
    found: dict[str, Any] = {"verdict": None, "reason": None, "since": None, "residual": None, "by_channel": None}
    found["relative_error"] = None
    residual, times = observables.get(RESIDUAL), observables["time"]
    if residual is None:
        return {**found, "reason": "forces were not observed along the run, or there is no drag to balance them"}
    finite = np.isfinite(residual)
    if not finite.any():
        return {**found, "reason": "no force acts on the slowest body"}
    found["residual"] = {
        "mean": float(residual[finite].mean()),
        "max": float(residual[finite].max()),
        "final": float(residual[finite][-1]),
        "mean_over_joints": float(observables[OVER_JOINTS][finite].mean()),
    }
    shares = {name: observables[f"net_{name}"] for name in CHANNELS if f"net_{name}" in observables}
    found["by_channel"] = {name: float(values[finite].mean()) for name, values in shares.items()}
    if closed:
        return {**found, "reason": "the constraint forces of loops belong to no channel"}
    if "factor_stochastic" in observables:
        return {**found, "reason": "Brownian forces cancel on average over time, not at each time"}
    too_slow = observables[TOO_SLOW]
    if not np.isfinite(too_slow).all() or times.size < 3:
        return {**found, "reason": "at some times no force drives the slowest body"}
    a2 = observables["factor_damping"]
    lost = too_slow * np.maximum(1.0 - a2, 0.0)
    whole = float(times[-1] - times[0])
    found["relative_error"] = float(accumulate(times, lost, relaxation / float(a2[0]))[-1]) / whole
    return found


def accumulate(times: np.ndarray, lost: np.ndarray, relaxation: float) -> np.ndarray:
    """Return the integral ∫ lost dt up to each time [time].

    Between two frames, ``lost`` is interpolated exponentially if it has the same sign at both, which suits a force that
    grows exponentially, and linearly otherwise. The loss at the first time, when a run starts from rest, counts for at
    most the scaled relaxation time.
    """
    interval = np.diff(times)
    a, b = lost[:-1], lost[1:]
    mean = 0.5 * (a + b)
    grows = (a * b > 0.0) & (np.abs(b - a) > 1e-6 * np.abs(mean))
    mean[grows] = (b - a)[grows] / np.log(b[grows] / a[grows])
    pieces = interval * mean
    pieces[0] = min(0.5 * interval[0], relaxation) * lost[0] + 0.5 * interval[0] * lost[1]
    return np.concatenate([[0.0], np.cumsum(pieces)])
