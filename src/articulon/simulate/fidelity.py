"""Whether a scaled run can be trusted, by what its own frames show.

Scaling every force by a2 is dividing every mass by it: a body relaxes in τ' = τ/a2 instead of τ = m/β. By
τ' x'' + x' = F/β its speed falls short of that of the steady drift F/β: g = x'β/F follows

    τ' dg/dt = 1 − (1 + τ'λ) g,   λ = d ln|F|/dt along its path,

for any λ(t) and τ'(t), from g = 0 where it starts from rest. Along its path the body therefore loses the time
∫ (1 − g) dt: τ'/(1 + τ'λ)² by a start from rest and τ'λ/(1 + τ'λ) of the time on the way, where the force grows
exponentially, and (1 − F₁/F₂) τ' where it jumps from F₁ to F₂. The unscaled body loses the same with τ; what the scaled
one loses more is what it is late by.

Where drag and driving forces have different factors the steady drift F/β is wrong besides, by their ratio.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from articulon.simulate.observers import NET_FORCE
from articulon.simulate.verdicts import HEAT, MOTION, Bounds

_ROUGH, _APART = 1.5, 4
"""A smooth force varies as much between every fourth frame as between all of them; noise makes the second larger, and
with it the delay that is found."""
_DRIVING = ("potential", "conformational", "contact", "external")


class LagAlong(NamedTuple):
    """The lag estimate along a run."""

    times: np.ndarray
    """Of the frames [time], shape (frames,)."""
    rate: np.ndarray
    """(τ/a2) |dF/dt|/|F| between the frames, shape (frames − 1,)."""
    error: np.ndarray
    """Part by which the slowest body moves too slowly, start-up included, between the frames, shape (frames − 1,)."""
    delay: np.ndarray
    """How late it is at the frames [time], shape (frames,)."""
    total: float
    """How late it is at the end, all of the start-up counted [time]."""
    rough: bool
    """Whether the force varies by noise, or faster than the frames show, so that nothing here means anything."""


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


def lost_time(changes: np.ndarray, interval: np.ndarray, relaxation: np.ndarray) -> tuple[np.ndarray, float]:
    """The time that a body starting from rest loses to the steady drift, τ dg/dt = 1 − (1 + τλ) g, with λ and τ
    constant between frames.

    Parameters
    ----------
    changes
        λ times the interval, shape (frames − 1,).
    interval
        Between the frames [time], shape (frames − 1,).
    relaxation
        τ [time], shape (frames − 1,).

    Returns
    -------
    lost, left
        ∫ (1 − g) dt between the frames [time], shape (frames − 1,), and what is still to be lost after the last frame
        for having started from rest [time].
    """
    steady = 1.0 / (1.0 + relaxation * changes / interval)
    memory = relaxation * steady
    keep = np.exp(-interval / memory)
    lost, g, rest = np.empty_like(interval), 0.0, 1.0
    for k in range(interval.size):
        lost[k] = (1.0 - steady[k]) * interval[k] + (steady[k] - g) * memory[k] * (1.0 - keep[k])
        g = steady[k] + (g - steady[k]) * keep[k]
        rest *= keep[k]
    return lost, float(rest * memory[-1] * steady[0])


def lag_along(observables: Mapping[str, np.ndarray], relaxation: float, tolerance: float) -> LagAlong | None:
    """The lag estimate along a run whose slowest tree relaxes in ``relaxation`` [time], unscaled; None where the force
    on it begins or ends at nothing."""
    time, a2 = observables["time"], observables["factor_damping"]
    forces = np.stack([observables[name] for name in NET_FORCE], axis=1)
    changes, interval, factor = relative_changes(forces), np.diff(time), 0.5 * (a2[1:] + a2[:-1])
    if not np.isfinite(changes).all():
        return None
    scaled = relaxation / factor
    rate = scaled * changes / interval
    elapsed = float(time[-1] - time[0])
    slower = (scaled - relaxation) / (1.0 + rate)
    lost, left = lost_time(changes, interval, scaled)
    unscaled, of_unscaled = lost_time(changes, interval, np.full_like(scaled, relaxation))
    lost -= unscaled
    # The last frame too: an approach may make most of its changes just before it.
    some = np.unique(np.append(np.arange(0, len(time), _APART), len(time) - 1))
    parts, sums = np.add.reduceat(slower * changes, some[:-1]), np.add.reduceat(changes, some[:-1])
    weights = np.divide(parts, sums, out=np.zeros_like(parts), where=sums > 0.0)
    coarse = float((weights * relative_changes(forces[some])).sum())
    return LagAlong(
        time,
        rate,
        lost / interval,
        np.concatenate([[0.0], np.cumsum(lost)]),
        float(lost.sum() + left - of_unscaled),
        # Noise only adds: what is tolerable with it is tolerable.
        bool((slower * changes).sum() > _ROUGH * max(coarse, tolerance * elapsed)),
    )


def lag(
    observables: Mapping[str, np.ndarray], relaxation: float, bounds: Bounds = MOTION, along: LagAlong | None = None
) -> dict[str, Any]:
    """The lag premise: (τ/a2) |dF/dt|/|F| along the run, and the delay that follows.

    Parameters
    ----------
    observables
        Arrays over the frames by name, "time" among them.
    relaxation
        τ of the slowest tree, unscaled [time].
    bounds
        Relative errors that are trusted, and suspect.
    along
        The estimate along the run, where it is known.
    """
    time, a2 = observables["time"], observables.get("factor_damping")
    nothing = {"max": None, "mean": None, "predicted_delay": None, "predicted_relative_error": None, "since": None}
    if a2 is None or not np.isfinite(relaxation):
        return {**nothing, "verdict": "inconclusive", "reason": "without drag there is no relaxation time to lag by"}
    if len(time) < 2:
        return {**nothing, "verdict": "inconclusive", "reason": "one frame shows no change of the forces"}
    along = along or lag_along(observables, relaxation, bounds.trusted)
    if along is None:
        return {
            **nothing,
            "verdict": "inconclusive",
            "reason": "the force on the slowest body begins or ends at nothing",
        }
    interval, elapsed = np.diff(time), float(time[-1] - time[0])
    found: dict[str, Any] = {
        "max": float(along.rate.max()),
        "mean": float((along.rate * interval).sum() / elapsed),
        "predicted_delay": along.total,
        "predicted_relative_error": along.total / elapsed,
        "relaxation_time": relaxation,
        "since": None,
    }
    if along.rough:
        reason = "the force varies from frame to frame by noise or faster than the frames show"
        return {**found, "verdict": "inconclusive", "reason": reason}
    verdict = bounds.verdict(along.total / elapsed)
    found["since"] = bounds.broken_at(verdict, along.times, along.delay, elapsed)
    return {**found, "verdict": verdict, "reason": None}


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
