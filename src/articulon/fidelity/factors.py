"""Premises on the scaling factors: whether they preserve the motion, its clock and the temperature of the positions.

If drag and driving forces have the same factor, the steady drift velocity F/β is preserved. If their factors differ,
the drift velocity is wrong by their ratio. With noise, the temperature at which positions are sampled is wrong too.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.fidelity.verdict import HEAT, MOTION, Bounds

_DRIVING = ("potential", "conformational", "contact", "external")
"""Channels of driving forces."""


def drift(observables: Mapping[str, np.ndarray], bounds: Bounds = MOTION) -> dict[str, Any]:
    """Evaluate the drift premise: driving forces and drag have the same factor, so that drift velocities are right."""
    time, ratios = observables["time"], speed_ratios(observables)
    if not ratios or len(time) < 2:
        reason = "there is no drag or no driving force"
        return {"verdict": None, "reason": reason, "speed_ratio": None, "since": None}
    weights = np.diff(time) / (time[-1] - time[0])
    # A frame stores the factor of the step that ends at it.
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
    """Return the ratio of the scaled to the true drift velocity at the frames, for each driving channel. It is the
    factor of the channel, divided by the factor of the drag."""
    damping = observables.get("factor_damping")
    if damping is None:
        return {}
    return {name: observables[f"factor_{name}"] / damping for name in _DRIVING if f"factor_{name}" in observables}


def clock(
    observables: Mapping[str, np.ndarray], bath: float | None, heating: float | None, bounds: Bounds = HEAT
) -> dict[str, Any]:
    """Evaluate the clock premise: scaling changes neither the rate at which positions relax nor their temperature.

    Both follow from the factors of the run. With drag, the relaxation rate of positions is multiplied by the ratio of
    the factors of driving forces and drag. Noise, friction and potential together sample positions at s²/(d p) times
    the temperature of the bath. Here s, d and p are the factors of the noise, the drag and the potential. In the
    two-factor form, s²/d and p are both b2. Without drag, a common factor p of the forces only slows the motion by √p.

    Parameters
    ----------
    observables
        Arrays over the frames, by name.
    bath
        Temperature of the medium, if there is noise [temperature].
    heating
        Kinetic temperature of a thermostatted system, divided by the factor of its potential and by the target.
    bounds
        Relative errors of a temperature that count as trusted, and as suspect.
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
        found["reason"] = "no force drives the bodies under drag"
        return found
    same = all(np.array_equal(values, potential) for values in factors)
    if (same and heating is None) or (heating is not None and abs(heating - 1.0) < bounds.trusted):
        found["physical_time_per_simulated_time"] = float(_mean(time, np.sqrt(potential)))
        found["reason"] = "without drag, scaling slows the steps and the physics by the same factor and gains nothing"
    return found


def _mean(time: np.ndarray, values: np.ndarray) -> float:
    """Return the time average of a quantity. Its value at a frame belongs to the step that ends there."""
    if time.size < 2:
        return float(values[-1])
    return float(np.diff(time) @ values[1:] / (time[-1] - time[0]))
