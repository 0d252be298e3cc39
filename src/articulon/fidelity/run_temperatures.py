"""Temperatures of the speeds and of the positions of a run: means, fluctuations, and the effects of scaling."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy

from articulon.dynamics import kinetic_energy
from articulon.fidelity.settling import SETTLED
from articulon.fidelity.verdict import HEAT, ORDER
from articulon.model import Model
from articulon.scaling.base import ScalingPolicy

ENOUGH = 20
"""Minimum number of frames for a mean."""
DRIVEN = 400
"""Number of frames at which the drift velocities are evaluated from the forces."""
PARTS = 10
"""Number of parts of a run; the scatter of their means gives the uncertainty of the mean."""


def temperatures(
    observables: Mapping[str, np.ndarray],
    degrees_of_freedom: int,
    boltzmann: float,
    not_defined: str | None,
    bath: float | None = None,
) -> dict[str, Any] | None:
    """Return the mean temperatures over the last three quarters of the frames; None for a run without a temperature.

    Parameters
    ----------
    observables
        Arrays over the frames, by name.
    degrees_of_freedom
        Degrees of freedom N that share the kinetic energy.
    boltzmann
        Boltzmann constant [energy/temperature].
    not_defined
        Reason why the configurational temperature is undefined; None if it is defined.
    bath
        Temperature of the medium [temperature]; the target if there is no thermostat.

    Returns
    -------
    dict
        Mean and standard deviation of the kinetic temperature; its canonical standard deviation √(2/N) T; the mean
        target; the configurational temperature ⟨|∇Φ|²⟩/k⟨∇²Φ⟩, or in ``not_defined`` the reason why there is none; and
        the mean ``pressure``.
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
        "canonical_standard_deviation": mean * math.sqrt(2.0 / degrees_of_freedom) if degrees_of_freedom else None,
        "target": bath if aim is None else float(aim[settled].mean()),
        "configurational": None,
        "not_defined": not_defined,
    }
    if not_defined is None:
        squares, laplacians = (observables[name][settled].mean() for name in ("gradient_squared", "laplacian"))
        found["configurational"] = float(squares / (boltzmann * laplacians))
    if "pressure" in observables:
        found["pressure"] = float(observables["pressure"][settled].mean())
    return found


def heating(observables: Mapping[str, np.ndarray], degrees_of_freedom: int, boltzmann: float) -> float | None:
    """Return the temperature at which positions are sampled in equilibrium, divided by the target.

    After equilibration, the equations of motion give the kinetic temperature divided by the factor of the potential.
    None without a target or without a potential.
    """
    aim, factor = observables.get("temperature_target"), observables.get("factor_potential")
    if aim is None or factor is None or not degrees_of_freedom:
        return None
    settled = slice(int(SETTLED * len(observables["time"])), None)
    kinetic = 2.0 * observables["kinetic_energy"][settled] / (degrees_of_freedom * boltzmann)
    return float((kinetic / (factor[settled] * aim[settled])).mean())


def configuration(
    found: Mapping[str, Any] | None, expected: float | None, observables: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Evaluate the premise that positions are sampled at the target temperature.

    Parameters
    ----------
    found
        Result of :func:`temperatures` for the run.
    expected
        Temperature of the positions, divided by the target, that follows from the equations of motion of the run.
    observables
        Arrays over the frames, by name.
    """
    premise: dict[str, Any] = {"expected_over_target": expected, "measured_over_target": None, "since": None}
    times, reasons, verdicts = observables["time"], [], []
    if expected is not None and HEAT.verdict(abs(expected - 1.0)) != "trusted":
        verdicts.append(HEAT.verdict(abs(expected - 1.0)))
        reasons.append(
            f"according to the equations of motion, positions are sampled at {expected:.4g} times the target "
            "temperature"
        )
    if found is None or found["configurational"] is None or not found["target"]:
        why = f": {found['not_defined']}" if found and found["not_defined"] else ""
        reasons.insert(0, f"the configurational temperature is not defined{why}")
    else:
        premise["measured_over_target"] = ratio = found["configurational"] / found["target"]
        if len(times) * (1.0 - SETTLED) < ENOUGH:
            reasons.insert(0, "there are too few frames for a mean")
        else:
            verdicts.append(HEAT.verdict(abs(ratio - 1.0)))
    worst = next((verdict for verdict in ORDER if verdict in verdicts), "inconclusive")
    if worst in ("suspect", "violated"):
        premise["since"] = float(times[0])
    return {**premise, "verdict": worst, "reason": "; ".join(reasons) or None}


def kinetic(
    observables: Mapping[str, np.ndarray],
    target: float | None,
    thermal: np.ndarray | None = None,
    expected: float = 1.0,
    memory: float = 0.0,
) -> dict[str, Any]:
    """Evaluate the premise that speeds have the target temperature, after division by the scaling factor.

    A wrong temperature makes a run at most suspect, because positions can be right even if speeds are wrong. The
    confidence interval follows from the means of ten parts of the equilibrated run. It is wider if the parts are
    correlated.

    Parameters
    ----------
    observables
        Arrays over the frames, by name.
    target
        Temperature of the medium or of the thermostat [temperature]; None if there is neither.
    thermal
        Kinetic temperature of the equilibrated frames without the mean drift of each of ``PARTS`` successive parts of
        equal length. Subtracting a mean over few relaxation times also removes thermal motion, so that the true
        temperature of the speeds is between ``thermal`` and the kinetic temperature of the frames. None if nothing
        drifts.
    expected
        Temperature of the slowest motion, divided by the target. It differs from 1 if masses change faster than this
        motion thermalises. For the other motions, the ratio is between this value and 1.
    memory
        Correlation time of the kinetic energy of the slowest motion [time].
    """
    premise: dict[str, Any] = {"verdict": None, "reason": None, "since": None, "over_target": None, "half_width": None}
    times = observables["time"]
    settled = slice(int(SETTLED * len(times)), None)
    values = [observables["temperature_kinetic"][settled], *([] if thermal is None else [thermal])]
    if not target or not all(np.isfinite(one).all() for one in values):
        return {**premise, "reason": "nothing controls the temperature"}
    if values[0].size < 2 * PARTS:
        return {**premise, "reason": "there are too few frames for a mean"}
    means = [np.array([part.mean() for part in np.array_split(one, PARTS)]) / target for one in values]
    ratios = [float(one.mean()) for one in means]
    wider = _remembering(float(times[-1] - times[settled][0]), memory)
    half = wider * max(
        float(scipy.special.stdtrit(PARTS - 1, 0.975) * one.std(ddof=1) / math.sqrt(PARTS)) for one in means
    )
    # Distance between the range of possible temperatures of the speeds and the range of expected ones.
    wrong = max(min(ratios) - max(1.0, expected), min(1.0, expected) - max(ratios), 0.0)
    verdict = HEAT.verdict_of_interval(wrong, half)
    premise |= {"over_target": ratios[-1], "with_drift": ratios[0], "half_width": half}
    if verdict == "inconclusive":
        return {**premise, "reason": "the interval is too wide"}
    return {**premise, "verdict": "suspect" if verdict == "violated" else verdict}


def _remembering(duration: float, memory: float) -> float:
    """Return the factor by which the confidence interval of a mean exceeds that for ``PARTS`` uncorrelated parts, if
    the correlation decays exponentially."""
    if not memory > 0.0:
        return 1.0

    def spread(length: float) -> float:
        """Return the variance of a mean over a time ``length``, relative to that of a single value."""
        x = length / memory
        return 2.0 * (x + math.expm1(-x)) / x**2

    return math.sqrt(PARTS * spread(duration) / spread(duration / PARTS))


def behind_its_mass(times: np.ndarray, factor: np.ndarray, relaxation: float) -> float:
    """Return the mean kinetic temperature after equilibration, divided by the target, of a body whose mass m/a2 changes
    while its thermal momentum p is preserved.

    From ⟨p²⟩' = −2 (a2/τ) ⟨p²⟩ + 2 β kT follows c' = (2 a2/τ)(1 − c) + c (ln a2)' for c = ⟨p²⟩ a2/(m kT). Between
    frames the equation is solved for ln a2 linear in time, with the mean of a2 in the first term.

    Parameters
    ----------
    times
        Times of the frames [time], shape (frames,).
    factor
        Factor a2 at the frames, shape (frames,).
    relaxation
        Relaxation time τ = m/β [time].
    """
    found = np.ones(times.size)
    for k in range(1, times.size):
        length = times[k] - times[k - 1]
        gain = (factor[k] + factor[k - 1]) / relaxation * length
        left = gain - math.log(factor[k] / factor[k - 1])
        found[k] = found[k - 1] * math.exp(-left) - gain * (math.expm1(-left) / left if left else -1.0)
    return float(found[int(SETTLED * times.size) :].mean())


def thermal_temperatures(
    model: Model,
    times: np.ndarray,
    q: np.ndarray,
    u: np.ndarray,
    kinetic_energies: np.ndarray,
    temperatures: np.ndarray,
    drift: Callable[[float, np.ndarray], np.ndarray] | None = None,
) -> np.ndarray | None:
    """Return the kinetic temperature of the equilibrated frames without the drift of each speed; None for too few
    frames.

    The energy ½ ūᵀ M ū of the mean speeds ū in each of ``PARTS`` parts is not thermal and is subtracted. A mean over n
    frames also removes the fraction 1/n of the thermal energy, which is added back. If forces change within a part,
    subtracting the drift velocities at the frames removes more drift energy; the smaller of the two temperatures is
    returned. The drift velocities are evaluated at ``DRIVEN`` of the frames.

    Parameters
    ----------
    model
        The model.
    times
        Times of the frames [time], shape (frames,).
    q, u
        Coordinates (frames, nq) and speeds (frames, nu).
    kinetic_energies, temperatures
        Kinetic energy [energy] and kinetic temperature [temperature] of the frames, shape (frames,).
    drift
        Drift velocities, at which drag balances the forces, for a time and coordinates, shape (nu,); None if unknown.
    """
    first = int(SETTLED * temperatures.size)
    settled = np.arange(first, temperatures.size)
    if settled.size < 2 * PARTS or not (kinetic_energies[settled] > 0.0).all():
        return None
    found = []
    for part in np.array_split(settled, PARTS):
        mean = u[part].mean(axis=0)
        moving = np.array([kinetic_energy(model, q[k], mean) for k in part])
        thermal = (kinetic_energies[part] - moving) * part.size / (part.size - 1.0)
        found.append(temperatures[part] * thermal / kinetic_energies[part])
    least = np.concatenate(found)
    if drift is None:
        return least
    looked = settled[np.linspace(0, settled.size - 1, min(DRIVEN, settled.size)).round().astype(np.int64)]
    driven = np.array([kinetic_energy(model, q[k], drift(float(times[k]), q[k])) for k in looked])
    other = temperatures[looked] * (1.0 - driven / kinetic_energies[looked])
    return other if other.mean() < least.mean() else least


def scaling_notes(policy: ScalingPolicy, target: float) -> list[str]:
    """Return notes on the effect of a scaling policy combined with a thermostat of the given target temperature."""
    if not policy.thermostatted:
        return []
    a2, factor = policy.target_factor(), policy.configurational_factor()
    if a2 != 1.0:
        return [
            "scaling: no gain: with the target temperature a2 Td, the motion is the unscaled motion, slower by the "
            f"factor √a2 = {math.sqrt(a2):.4g}, so that steps and physics are slowed by the same factor; "
            "temperatures are shown divided by a2"
        ]
    if factor is None:
        return [
            "scaling: the thermostat keeps the kinetic temperature while the forces are weaker by a2, so that "
            "positions are sampled at Td over the mean a2"
        ]
    return [
        f"scaling: the thermostat keeps the kinetic temperature at {target:g} while the forces are weaker, so that "
        f"positions are sampled at {factor:g} times that, {factor * target:,.0f}"
    ]
