"""Temperatures of a run: of its speeds and of its positions, how far they spread, and what scaling has done to them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.scaling.base import ScalingPolicy

SETTLED = 0.25
"""Part of the frames after which a run is taken to have settled."""
ENOUGH = 20
"""Frames from which something can be said of a mean."""
TRUSTED, SUSPECT = 0.05, 0.2
"""Relative errors of the configurational temperature below which a scaled run is trusted, and suspect."""


def temperatures(
    observables: Mapping[str, np.ndarray], freedoms: int, boltzmann: float, not_defined: str | None
) -> dict[str, Any] | None:
    """Means over the last three quarters of the frames; None for a run without a temperature.

    Parameters
    ----------
    observables
        Arrays over the frames by name.
    freedoms
        Degrees of freedom N that share the kinetic energy.
    boltzmann
        Boltzmann constant [energy/temperature].
    not_defined
        Why the configurational temperature is not defined, where it is not.

    Returns
    -------
    dict
        Mean and standard deviation of the kinetic temperature, the canonical one √(2/N) T, the mean target, and the
        configurational temperature ⟨|∇Φ|²⟩/k⟨∇²Φ⟩ or why it is ``not_defined``; the mean ``pressure``.
    """
    settled = slice(int(SETTLED * len(observables["time"])), None)
    values = observables["temperature_kinetic"][settled]
    aim = observables.get("temperature_target")
    if not np.isfinite(values).all() or (aim is None and not_defined is not None):
        return None
    mean = float(values.mean())
    found: dict[str, Any] = {
        "kinetic": mean,
        "kinetic_standard_deviation": float(values.std()),
        "canonical_standard_deviation": mean * math.sqrt(2.0 / freedoms) if freedoms else None,
        "target": None if aim is None else float(aim[settled].mean()),
        "configurational": None,
        "not_defined": not_defined,
    }
    if not_defined is None:
        squares, laplacians = (observables[name][settled].mean() for name in ("gradient_squared", "laplacian"))
        found["configurational"] = float(squares / (boltzmann * laplacians))
    if "pressure" in observables:
        found["pressure"] = float(observables["pressure"][settled].mean())
    return found


def configuration(found: Mapping[str, Any] | None, policy: ScalingPolicy, frames: int) -> dict[str, Any]:
    """The premise of a scaled thermostatted run that its positions are sampled at the target temperature."""
    expected = policy.configurational_factor()
    premise: dict[str, Any] = {"expected_over_target": expected, "measured_over_target": None}
    if found is None or found["configurational"] is None or not found["target"]:
        reason = "the configurational temperature is not defined" + (
            f": {found['not_defined']}" if found and found["not_defined"] else ""
        )
        if expected is not None and abs(expected - 1.0) >= SUSPECT:
            return {**premise, "verdict": "violated", "reason": f"{reason}; by the equations it is {expected:g} times"}
        return {**premise, "verdict": "inconclusive", "reason": reason}
    ratio = found["configurational"] / found["target"]
    premise["measured_over_target"] = ratio
    if frames * (1.0 - SETTLED) < ENOUGH:
        return {**premise, "verdict": "inconclusive", "reason": "there are too few frames for a mean"}
    error = abs(ratio - 1.0)
    verdict = "trusted" if error < TRUSTED else "suspect" if error < SUSPECT else "violated"
    return {**premise, "verdict": verdict, "reason": None}


def scaling_notes(policy: ScalingPolicy, target: float) -> list[str]:
    """What a policy of thermostats does, for the notes of a run at a target temperature."""
    if not policy.thermostatted:
        return []
    a2, factor = policy.target_factor(), policy.configurational_factor()
    if a2 != 1.0:
        return [
            f"scaling: no gain: with its target at a2 Td the motion is the unscaled one in a clock slower by √a2 = "
            f"{math.sqrt(a2):.4g}, so that steps and physics slow down alike; temperatures are shown divided by a2"
        ]
    if factor is None:
        return [
            "scaling: the thermostat keeps the kinetic temperature while the forces are weaker by a2, so that "
            "positions are sampled at Td over a mean a2"
        ]
    return [
        f"scaling: the thermostat keeps the kinetic temperature at {target:g} while the forces are weaker, so that "
        f"positions are sampled at {factor:g} times that, {factor * target:,.0f}"
    ]
