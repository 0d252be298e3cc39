"""How far the scaled forces cancel, the premise of the multiscale method (Guy 2018, the ε⁰ term of 2.10).

At every frame of a scaled run the generalised forces G_c of its channels are summed, unscaled: the residual is
|Σ G_c|/Σ|G_c|, 0 where they cancel and 1 where they do not at all. It is taken joint by joint, translations and
rotations apart, so that forces are never added to torques.

On the slowest tree it says how wrong the translation is. With the sum D of all that drives it and the drag G_d, the
tree moves at −G_d·D/|D|² of the speed of its steady drift: by 1 + G_d·D/|D|² too slowly. The unscaled tree needs the
same, less by its own factor, so that 1 − a2 of it is the error of the scaling. It informs, and decides nothing: at rest
both forces are what the integrator leaves of them, and their quotient is noise.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.fidelity.residual_observer import OVER_JOINTS, RESIDUAL, TOO_SLOW
from articulon.model import CHANNELS


def cancellation(observables: Mapping[str, np.ndarray], relaxation: float, closed: bool) -> dict[str, Any]:
    """The premise that the scaled forces cancel.

    Parameters
    ----------
    observables
        Arrays over the frames by name.
    relaxation
        τ of the slowest tree, unscaled [time].
    closed
        Whether loops act, whose forces are in no channel.
    """
    found: dict[str, Any] = {"verdict": None, "reason": None, "since": None, "residual": None, "by_channel": None}
    found["relative_error"] = None
    residual, times = observables.get(RESIDUAL), observables["time"]
    if residual is None:
        return {**found, "reason": "forces were not looked at along the run, or there is no drag to balance them"}
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
        return {**found, "reason": "loops carry forces that no channel holds"}
    if "factor_stochastic" in observables:
        return {**found, "reason": "Brownian forces cancel over time and not at a moment"}
    too_slow = observables[TOO_SLOW]
    if not np.isfinite(too_slow).all() or times.size < 3:
        return {**found, "reason": "nothing drives the slowest body at times"}
    a2 = observables["factor_damping"]
    lost = too_slow * np.maximum(1.0 - a2, 0.0)
    whole = float(times[-1] - times[0])
    found["relative_error"] = float(accumulate(times, lost, relaxation / float(a2[0]))[-1]) / whole
    return found


def accumulate(times: np.ndarray, lost: np.ndarray, relaxation: float) -> np.ndarray:
    """∫ lost dt up to each moment [time], with ``lost`` exponential between two frames where it has one sign at both,
    as it is where a force grows exponentially, and linear elsewhere; what is lost at the first moment, when a run
    begins from rest, is lost for no longer than the scaled relaxation time."""
    interval = np.diff(times)
    a, b = lost[:-1], lost[1:]
    mean = 0.5 * (a + b)
    grows = (a * b > 0.0) & (np.abs(b - a) > 1e-6 * np.abs(mean))
    mean[grows] = (b - a)[grows] / np.log(b[grows] / a[grows])
    pieces = interval * mean
    pieces[0] = min(0.5 * interval[0], relaxation) * lost[0] + 0.5 * interval[0] * lost[1]
    return np.concatenate([[0.0], np.cumsum(pieces)])
