"""Whether a scaled run can be trusted, by what its own frames show.

Scaling every force by a2 is dividing every mass by it: a body relaxes in τ' = τ/a2 instead of τ = m/β. Where the
force grows at the rate λ = d ln|F|/dt, τ' x'' + x' = F/β moves the body as if F had grown at λ(1 + τ'λ): exactly so for
a force that grows exponentially along the path, x' = x/T, for which τ'λ² + λ = 1/T. Along its path the body therefore
loses the time ∫ τ'λ/(1 + τ'λ) dt, and a start from rest costs τ'/(1 + τ'λ) more, to first order in τ'λ. The unscaled
body loses the same with τ, so the scaled one is late by

    (τ' − τ)/(1 + τ'λ) at the start, and ∫ (τ' − τ) λ/(1 + τ'λ) dt on the way.

Where drag and driving forces have different factors the steady drift F/β is wrong besides, by their ratio.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.simulate.observers import NET_FORCE

TRUSTED, SUSPECT = 0.02, 0.1
"""Predicted relative errors below which a run is trusted, and suspect; above it is violated."""
_ROUGH = 1.5
"""A smooth force varies as much between every fourth frame as between all of them; noise makes the second larger."""
_DRIVING = ("potential", "conformational", "contact", "external")


def relative_changes(forces: np.ndarray) -> np.ndarray:
    """|ΔF|/|F| between the rows of ``forces`` (frames, 3), with the logarithmic mean of the magnitudes: ln F₂/F₁ where
    only the magnitude changes. Infinite where the force begins or ends at nothing."""
    size = np.linalg.norm(forces, axis=1)
    change = np.linalg.norm(np.diff(forces, axis=0), axis=1)
    a, b = size[:-1], size[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(b / a)
        mean = np.where(np.abs(ratio) < 1e-6, 0.5 * (a + b), (b - a) / ratio)
        return np.where(change == 0.0, 0.0, change / np.where(np.isfinite(mean), mean, 0.0))


def lag(observables: Mapping[str, np.ndarray], relaxation: float) -> dict[str, Any]:
    """The lag premise: (τ/a2) |dF/dt|/|F| along the run, and the delay that follows.

    Parameters
    ----------
    observables
        Arrays over the frames by name, "time" among them.
    relaxation
        τ of the slowest tree, unscaled [time].
    """
    time, a2 = observables["time"], observables.get("factor_damping")
    nothing = {"max": None, "mean": None, "predicted_delay": None, "predicted_relative_error": None}
    if a2 is None or not np.isfinite(relaxation):
        return {**nothing, "verdict": "inconclusive", "reason": "without drag there is no relaxation time to lag by"}
    if len(time) < 2:
        return {**nothing, "verdict": "inconclusive", "reason": "one frame shows no change of the forces"}
    forces = np.stack([observables[name] for name in NET_FORCE], axis=1)
    changes, interval, factor = relative_changes(forces), np.diff(time), 0.5 * (a2[1:] + a2[:-1])
    if not np.isfinite(changes).all():
        return {
            **nothing,
            "verdict": "inconclusive",
            "reason": "the force on the slowest body begins or ends at nothing",
        }
    rate = relaxation / factor * changes / interval
    elapsed = float(time[-1] - time[0])
    slower = (relaxation / factor - relaxation) / (1.0 + rate)
    delay = float(slower[0] + (slower * changes).sum())
    found: dict[str, Any] = {
        "max": float(rate.max()),
        "mean": float((rate * interval).sum() / elapsed),
        "predicted_delay": delay,
        "predicted_relative_error": delay / elapsed,
        "relaxation_time": relaxation,
    }
    coarse = relative_changes(forces[:: max(1, min(4, len(time) - 1))])
    if changes.sum() > _ROUGH * max(coarse.sum(), TRUSTED * elapsed / float(slower.max() or np.inf)):
        reason = "the force varies from frame to frame by noise or faster than the frames show"
        return {**found, "verdict": "inconclusive", "reason": reason}
    return {**found, "verdict": _verdict(delay / elapsed), "reason": None}


def drift(observables: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The drift premise: driving forces and drag have one factor, so that the steady drift is right."""
    damping, time = observables.get("factor_damping"), observables["time"]
    ratios = {
        name: observables[f"factor_{name}"] / damping
        for name in _DRIVING
        if damping is not None and f"factor_{name}" in observables
    }
    if not ratios or len(time) < 2:
        return {"verdict": "inconclusive", "reason": "there is no drag or nothing that drives", "speed_ratio": None}
    weights = np.diff(time) / (time[-1] - time[0])
    # A frame holds the factor of the step that led to it.
    error = max(float(weights @ np.abs(ratio[1:] - 1.0)) for ratio in ratios.values())
    return {
        "verdict": _verdict(error),
        "reason": None,
        "speed_ratio": {
            name: {"mean": float(weights @ r[1:]), "max": float(r[1:].max()), "min": float(r[1:].min())}
            for name, r in ratios.items()
        },
    }


def fidelity(observables: Mapping[str, np.ndarray], relaxation: float) -> dict[str, Any]:
    """The fidelity section of a scaled run's summary: the worst verdict of its premises, and each of them."""
    return verdict_of({"lag": lag(observables, relaxation), "drift": drift(observables)})


def verdict_of(premises: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The worst verdict of premises, by name, and each of them."""
    verdicts = [premise["verdict"] for premise in premises.values()]
    basis = f"the premise{'s' if len(premises) > 1 else ''} of {' and '.join(premises)}"
    worst = next(v for v in ("violated", "inconclusive", "suspect", "trusted") if v in verdicts)
    return {"verdict": worst, "basis": f"{basis} alone", "premises": premises}


def _verdict(error: float) -> str:
    return "trusted" if error < TRUSTED else "suspect" if error < SUSPECT else "violated"
