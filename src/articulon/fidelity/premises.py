"""The fidelity section in the summary of a scaled run: each premise of the scaling with its verdict, from the run and
from unscaled reference runs."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articulon.fidelity.factors import clock, drift, speed_ratios
from articulon.fidelity.lag import lag, lag_along, lost_by_inertia
from articulon.fidelity.motion import Motion, MotionError, motion_of, unresolved
from articulon.fidelity.paired import paired
from articulon.fidelity.record import Record
from articulon.fidelity.residual import cancellation
from articulon.fidelity.residual_observer import RESIDUAL, TOO_SLOW
from articulon.fidelity.run_temperatures import behind_its_mass, configuration, heating, kinetic, thermal_temperatures
from articulon.fidelity.verdict import Bounds, verdict_of
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drift_velocity import DriftVelocity
from articulon.integrate.lag_groups import followed_groups

WITHOUT_INERTIA = "without inertia there is no delay"
DRAWN = 200
"""Maximum number of points of each line stored for figures."""
MOST_DESCRIBED = 12
"""Number of motions that the summary describes, the worst ones, in addition to the event that ends the run."""
LARGE = 2**27
"""Number of values in all frames above which motions are not judged, because they would not fit into memory."""


@np.errstate(over="ignore", invalid="ignore")  # runs that diverge are judged too
def fidelity_of(
    record: Record,
    found: Mapping[str, Any] | None,
    relaxation: float,
    looked_seconds: float,
    wall_seconds: float,
    with_pairs: bool,
) -> dict[str, Any]:
    """Return the verdict on a scaled run, and the results on which it is based.

    Parameters
    ----------
    record
        The run.
    found
        Temperatures of the run, from :func:`articulon.fidelity.run_temperatures.temperatures`.
    relaxation
        Relaxation time τ of the slowest tree as one rigid body, without scaling [time]; infinity without drag.
    looked_seconds
        Wall time that the computation of the residual of the forces took during the run [s].
    wall_seconds
        Wall time of the run [s], including the estimators.
    with_pairs
        Whether unscaled reference runs are made, if the settings have a budget for them.

    Returns
    -------
    dict
        The result of :func:`articulon.fidelity.verdict.verdict_of`, with these keys added: ``covers``, one sentence on
        the scope of the verdict; the ``worst`` motion; the ``tolerance`` and kind of ``error``; the ``cost`` of the
        verdict; and ``along``, curves over time for figures.
    """
    began = time.perf_counter()
    observables, evaluator, settings = record.observables, record.evaluator, record.settings
    bounds, noise, k = Bounds.of_tolerance(settings.tolerance), record.noise, record.model.units.boltzmann
    bath = None if noise is None else float(noise.temperature)
    target = (found or {}).get("target") or bath
    heat = heating(observables, evaluator.degrees_of_freedom, k)
    premises: dict[str, Any] = {}
    inertial = evaluator.thermostat is None and not evaluator.overdamped
    motion, along = None, None
    if evaluator.thermostat is None and evaluator.overdamped:
        premises["lag"] = {"verdict": "trusted", "reason": WITHOUT_INERTIA, "since": None, "predicted_delay": 0.0}
        premises["drift"] = drift(observables, bounds)
    if inertial:
        if record.q.size <= LARGE and record.times.size > 1:
            motion = motion_of(record)
        premises["lag"], along = _lag(record, motion, bounds)
        premises["drift"] = drift(observables, bounds)
        premises["cancellation"] = cancellation(observables, relaxation, bool(record.model.loops.kind.size))
    premises["clock"] = clock(observables, bath, heat)
    noisy = inertial and bath is not None
    if noisy:
        memory = 0.5 * relaxation / float(observables["factor_damping"].mean()) if math.isfinite(relaxation) else 0.0
        expected = _expected_heat(record)
        premises["kinetic"] = kinetic(observables, target, _thermal(record), expected or 1.0, memory)
        if expected is not None and premises["kinetic"]["verdict"] == "suspect":
            why = (
                "masses change faster than the motions exchange heat with the medium; the slowest motion has "
                f"{expected:.2g} times the temperature of the medium"
            )
            premises["kinetic"] |= {"verdict": None, "reason": why}
    else:
        premises["kinetic"] = kinetic(observables, target)
    expected = heat if evaluator.thermostat is not None else premises["clock"]["over_bath"]
    premises["configuration"] = configuration(found, expected, observables)
    if evaluator.thermostat is None and premises["configuration"]["measured_over_target"] is None:
        # The clock premise already judges the effect of the factors alone.
        premises["configuration"] |= {"verdict": None, "since": None}
    spent = time.perf_counter() - began + looked_seconds
    wrong: Sequence[MotionError] = ()
    if motion is not None and with_pairs:
        premises["paired"] = paired(record, motion, bounds)
        wrong = premises["paired"].pop("worst")
        if "averages" in premises["paired"]:
            premises["averages"] = premises["paired"].pop("averages")
        premises["paired"]["motions"] = [
            _described(one) for k, one in enumerate(wrong) if k < MOST_DESCRIBED or one.arrives
        ]
    result = verdict_of(premises)
    pairs = premises.get("paired", {})
    result |= {
        "covers": covers(record, premises, [] if motion is None else unresolved(motion)),
        "worst": worst_of(record, premises, wrong),
        "tolerance": bounds.trusted,
        "error": settings.error,
    }
    result["cost"] = {
        "estimators_wall_seconds": spent,
        "estimators_part_of_run": spent / wall_seconds if wall_seconds > 0.0 else None,
        "paired_wall_seconds": pairs.get("wall_seconds", 0.0),
        "paired_evaluations": pairs.get("evaluations", 0),
        "paired_budget": pairs.get("budget", 0),
    }
    result["along"] = _along(record, motion, along, wrong)
    return result


def _lag(record: Record, motion: Motion | None, bounds: Bounds) -> tuple[dict[str, Any], Any]:
    """Evaluate the lag premise; return it, and the lag estimate along the run."""
    if motion is None:
        return lag(record, "there are too few frames, or too many numbers in them", None, bounds), None
    lost = lost_by_inertia(record)
    along = None if isinstance(lost, str) else lag_along(record, lost)
    return lag(record, lost, along, bounds), along


def _thermal(record: Record) -> np.ndarray | None:
    if record.u.size > LARGE:
        return None
    look = record.observables
    driven = DriftVelocity(Evaluator(record.model), ~np.any(record.u, axis=0))
    speeds = None if driven.why_not() is not None else driven.speeds
    heat, kept = look["kinetic_energy"], look["temperature_kinetic"]
    return thermal_temperatures(record.model, record.times, record.q, record.u, heat, kept, speeds)


def _expected_heat(record: Record) -> float | None:
    """Return the kinetic temperature of the slowest motion relative to that of the medium, for a policy that changes
    masses and preserves momenta: the temperature then lags behind the mass. None for other policies."""
    if not record.policy.follows or record.times.size < 2:
        return None
    followed = followed_groups(record.evaluator, record.integrator, record.policy.aim())
    return behind_its_mass(record.times, record.observables["factor_damping"], float(followed.slowest[0]))


def covers(record: Record, premises: Mapping[str, Any], without: Sequence[str] = ()) -> str:
    """Return one sentence on the scope of the verdict; ``without`` names motions that the steps do not resolve."""
    motions = "lag" in premises
    heat = "the temperatures of speeds and positions" if record.noise is not None or not motions else ""
    if not motions:
        return f"It covers {heat}, but not the paths, because they are chaotic in this run."
    paths = (
        "on average over the run and on the noise of this seed, " if record.noise is not None else "at every frame, "
    )
    kind = "the times at which positions are reached" if record.settings.error == "time" else "the positions"
    beside = f", and {heat}" if heat else ""
    few = ", ".join(without[:3]) + (f" and {len(without) - 3} more" if len(without) > 3 else "")
    but = f" except for motions smaller than the steps resolve ({few})" if without else ""
    return (
        f"It covers every body and joint{but} from the first frame to the last, {paths}{kind}{beside}; deviations "
        "shorter than a twentieth of the run count in proportion to their duration."
    )


def worst_of(record: Record, premises: Mapping[str, Any], wrong: Sequence[MotionError]) -> dict[str, Any] | None:
    """Describe the worst motion; None if no motion is known.

    The entries are ``what``, its name; its errors in time and position; ``late``, its delay [time]; ``since``, the time
    from which its error exceeds the tolerance [time]; and ``words``, a sentence that says the same.
    """
    unit = "" if record.model.units.time is None else f" {record.model.units.symbols[2]}"
    if wrong:
        one, kind, since = wrong[0], record.settings.error, premises["paired"]["since"]
        words = f"{one.what} {_amount(one, kind, record.duration)}"
        if since is not None:
            words += f" since {since:.3g}{unit}"
        return {
            "what": one.what,
            "time_error": one.time,
            "position_error": one.position,
            "late": one.delay,
            "since": since,
            "words": words,
        }
    estimate = premises.get("lag", {})
    if estimate.get("what") is None or estimate["verdict"] == "inconclusive":
        return None
    part, since = float(estimate["relative_error"]), estimate["since"]
    words = f"{estimate['what']} about {_percent(part)} late (estimated from its lag)"
    return {
        "what": estimate["what"],
        "time_error": part,
        "position_error": None,
        "late": estimate["predicted_delay"],
        "since": since,
        "words": words if since is None else f"{words} since {since:.3g}{unit}",
    }


def _amount(one: MotionError, kind: str, duration: float) -> str:
    """Return the error of a motion in words."""
    if kind == "position":
        return f"off by {_percent(one.position)} of its range"
    if abs(one.delay) >= 0.5 * one.time * duration:
        return f"{_percent(one.time)} {'late' if one.delay >= 0.0 else 'early'}"
    return f"off its path (by {_percent(one.time)} in time)"


def _percent(part: float) -> str:
    return f"{100.0 * part:.2g} %" if abs(part) < 0.995 else f"{100.0 * part:.0f} %"


def _described(one: MotionError) -> dict[str, Any]:
    return {
        "what": one.what,
        "time_error": one.time,
        "position_error": one.position,
        "late": one.delay,
        "at": one.at,
    }


def _along(record: Record, motion: Motion | None, along: Any, wrong: Sequence[MotionError]) -> dict[str, Any]:
    """Return curves over time for figures."""
    found: dict[str, Any] = {}
    observables, time_ = record.observables, record.times
    part = _thinned(time_.size)
    if along is not None:
        found["lag"] = {"what": along.what, "time": time_[part].tolist(), "delay": along.delay[part].tolist()}
    if motion is not None and wrong:
        found["paired"] = []
        for one in wrong[:3]:
            points = _thinned(one.errors.size)
            times = motion.path.times[: one.errors.size] if one.errors.size != time_.size else time_
            found["paired"].append(
                {
                    "what": one.what,
                    "time": times[points].tolist(),
                    "time_error": one.errors[points].tolist(),
                    "position_error": one.position_error[points].tolist(),
                }
            )
    if RESIDUAL in observables:
        found["cancellation"] = {
            "time": time_[part].tolist(),
            "residual": observables[RESIDUAL][part].tolist(),
            "relative_error": observables[TOO_SLOW][part].tolist(),
        }
    for name, ratio in list(speed_ratios(observables).items())[:1]:
        found["speed_ratio"] = {"time": time_[part].tolist(), "ratio": ratio[part].tolist(), "channel": name}
    return found


def _thinned(size: int) -> np.ndarray:
    return np.unique(np.linspace(0, size - 1, min(size, DRAWN)).round().astype(np.int64))
