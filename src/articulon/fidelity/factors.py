"""Whether the factors of a run keep its motion, its clock and the temperature of its positions.

Drag and driving forces of one factor keep the steady drift F/β. Where their factors differ the drift is wrong by their
ratio, and with noise so is the temperature that positions are sampled at.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.fidelity.verdict import HEAT, MOTION, Bounds

_DRIVING = ("potential", "conformational", "contact", "external")
"""Channels that drive."""


def drift(observables: Mapping[str, np.ndarray], bounds: Bounds = MOTION) -> dict[str, Any]:
    """The drift premise: driving forces and drag have one factor, so that the steady drift is right."""
    time, ratios = observables["time"], speed_ratios(observables)
    if not ratios or len(time) < 2:
        reason = "there is no drag or nothing that drives"
        return {"verdict": None, "reason": reason, "speed_ratio": None, "since": None}
    weights = np.diff(time) / (time[-1] - time[0])
    # A frame holds the factor of the step that led to it.
    errors = {name: np.cumsum(weights * np.abs(ratio[1:] - 1.0)) for name, ratio in ratios.items()}
    worst = max(errors.values(), key=lambda error: float(error[-1]))
    verdict = bounds.verdict(float(worst[-1]))
    return {
        "verdict": verdict,
        "reason": None,
        "since": bounds.broken_at(verdict, time, np.concatenate([[0.0], worst]), 1.0),
        "speed_ratio": {
            name: {"mean": float(weights @ r[1:]), "max": float(r[1:].max()), "min": float(r[1:].min())}
            for name, r in ratios.items()
        },
    }


def speed_ratios(observables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Steady drift over the true one, by the channel that drives it, at the frames: factor over that of the drag."""
    damping = observables.get("factor_damping")
    if damping is None:
        return {}
    return {name: observables[f"factor_{name}"] / damping for name in _DRIVING if f"factor_{name}" in observables}


def clock(
    observables: Mapping[str, np.ndarray], bath: float | None, heating: float | None, bounds: Bounds = HEAT
) -> dict[str, Any]:
    """The clock that the positions follow, and the temperature that they are sampled at, by the factors of the run.

    With drag, positions relax more slowly or faster by the ratio of the factors of what drives them and of the drag,
    and noise, friction and potential together sample them at s²/(d p) times the bath's temperature, with the factors s
    of the noise, d of the drag and p of the potential: in the two-factor form both are b2. Without drag, forces weaker
    by one factor p only slow the clock by √p.

    Parameters
    ----------
    observables
        Arrays over the frames by name.
    bath
        Temperature of the medium, where there is noise [temperature].
    heating
        Kinetic temperature of a thermostatted system over the factor of its potential and over the target.
    bounds
        Relative errors of a temperature that are trusted, and suspect.
    """
    found: dict[str, Any] = {"verdict": None, "reason": None, "since": None}
    found |= {"physical_time_per_simulated_time": None, "temperature_of_positions": None, "over_bath": None}
    ratios, time = speed_ratios(observables), observables["time"]
    if ratios:
        ratio = next(iter(ratios.values()))
        found["physical_time_per_simulated_time"] = float(_mean(time, ratio))
        if bath and "factor_stochastic" in observables:
            heat = observables["factor_stochastic"] ** 2 / observables["factor_damping"] ** 2 / ratio
            found["over_bath"] = float(_mean(time, heat))
            found["temperature_of_positions"] = found["over_bath"] * bath
            found["verdict"] = verdict = bounds.verdict(abs(found["over_bath"] - 1.0))
            wrong = np.concatenate([[0.0], np.cumsum(np.diff(time) * np.abs(heat[1:] - 1.0))])
            found["since"] = bounds.broken_at(verdict, time, wrong, float(time[-1] - time[0]))
        return found
    factors = [values for name, values in observables.items() if name.startswith("factor_")]
    potential = next((observables[f"factor_{name}"] for name in _DRIVING if f"factor_{name}" in observables), None)
    if potential is None or "factor_damping" in observables:
        found["reason"] = "nothing drives what drag holds back"
        return found
    same = all(np.array_equal(values, potential) for values in factors)
    if (same and heating is None) or (heating is not None and abs(heating - 1.0) < bounds.trusted):
        found["physical_time_per_simulated_time"] = float(_mean(time, np.sqrt(potential)))
        found["reason"] = "without drag, scaling only slows the clock, steps and physics alike: no gain"
    return found


def _mean(time: np.ndarray, values: np.ndarray) -> float:
    """Mean over time of what a frame holds of the step that led to it."""
    if time.size < 2:
        return float(values[-1])
    return float(np.diff(time) @ values[1:] / (time[-1] - time[0]))
