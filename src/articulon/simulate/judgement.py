"""The fidelity section of a scaled run's summary: every premise of the scaling, judged by the run alone."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.forces.brownian import brownian_of
from articulon.model import State
from articulon.model.state import EVALUATIONS
from articulon.simulate.cancellation import cancellation
from articulon.simulate.cancellation_observer import RESIDUAL, TOO_SLOW
from articulon.simulate.fidelity import LagAlong, clock, drift, lag, lag_along, speed_ratios
from articulon.simulate.paired import paired
from articulon.simulate.preparation import Prepared
from articulon.simulate.results import Run
from articulon.simulate.temperatures import configuration, heating, kinetic
from articulon.simulate.verdicts import TOLERANCE, Bounds, verdict_of

WITHOUT_INERTIA = "without inertia nothing is late"
DRAWN = 200
"""Points of each line that is kept for figures, at most."""


def fidelity_of(
    prepared: Prepared, state: State, run: Run, found: dict[str, Any] | None, wall_seconds: float, with_pairs: bool
) -> dict[str, Any]:
    """The verdict on a scaled run and what it rests on.

    Parameters
    ----------
    prepared
        The case, made ready.
    state
        The state that the run has come to.
    run
        Its frames.
    found
        The temperatures of the run.
    wall_seconds
        What the run took [s], of which the estimators take a part.
    with_pairs
        Whether unscaled runs are paired with it, where the case has a budget for them.

    Returns
    -------
    dict
        As of :func:`articulon.simulate.verdicts.verdict_of`, with the ``tolerance`` that is judged by, the ``cost`` of
        all this, and what is seen ``along`` the run.
    """
    began = time.perf_counter()
    observables, observer, evaluator = run.observables, prepared.observer, prepared.evaluator
    bounds = Bounds.of_tolerance(tolerance_of(prepared))
    noise, k = brownian_of(prepared.model), prepared.model.units.boltzmann
    bath = None if noise is None else float(noise.temperature)
    target = (found or {}).get("target") or bath
    heat = heating(observables, evaluator.degrees_of_freedom, k)
    premises: dict[str, Any] = {}
    estimate = None
    inertial = evaluator.thermostat is None and not evaluator.overdamped
    if evaluator.thermostat is None and evaluator.overdamped:
        premises["lag"] = {"verdict": "trusted", "reason": WITHOUT_INERTIA, "since": None, "predicted_delay": 0.0}
        premises["drift"] = drift(observables, bounds)
    if inertial:
        if np.isfinite(observer.relaxation) and len(observables["time"]) > 1:
            estimate = lag_along(observables, observer.relaxation, bounds.trusted)
        premises["lag"] = lag(observables, observer.relaxation, bounds, estimate)
        premises["drift"] = drift(observables, bounds)
        closed = bool(prepared.model.loops.kind.size)
        premises["cancellation"] = cancellation(observables, observer.relaxation, bounds, closed)
    premises["clock"] = clock(observables, bath, heat)
    premises["kinetic"] = kinetic(observables, target)
    expected = heat if evaluator.thermostat is not None else premises["clock"]["over_bath"]
    premises["configuration"] = configuration(found, expected, observables)
    if evaluator.thermostat is None and premises["configuration"]["measured_over_target"] is None:
        # What follows from the factors alone is judged with the clock.
        premises["configuration"] |= {"verdict": None, "since": None}
    spent = time.perf_counter() - began + observer.cancellation.seconds
    if inertial and with_pairs:
        premises["paired"] = paired(prepared, run, int(state.counters[EVALUATIONS]), bounds, estimate)
    result = verdict_of(premises)
    pairs = premises.get("paired", {})
    result["tolerance"] = bounds.trusted
    result["cost"] = {
        "estimators_wall_seconds": spent,
        "estimators_part_of_run": spent / wall_seconds if wall_seconds > 0.0 else None,
        "paired_wall_seconds": pairs.get("wall_seconds", 0.0),
        "paired_evaluations": pairs.get("evaluations", 0),
        "paired_budget": pairs.get("budget", 0),
    }
    result["along"] = _along(observables, estimate)
    return result


def tolerance_of(prepared: Prepared) -> float:
    """The relative error that is trusted: the case's, or the tolerance that its policy was given, or 2 %."""
    given = prepared.case.fidelity.tolerance
    if given is None:
        given = getattr(prepared.policy, "tolerance", None)
    return TOLERANCE if given is None else float(given)


def _along(observables: Mapping[str, np.ndarray], estimate: LagAlong | None) -> dict[str, Any]:
    """Lines over time for figures."""
    found: dict[str, Any] = {}
    if estimate is not None and not estimate.rough:
        middle, part = 0.5 * (estimate.times[1:] + estimate.times[:-1]), _thinned(estimate.error.size)
        delay = np.interp(middle, estimate.times, estimate.delay)
        found["lag"] = {
            "time": middle[part].tolist(),
            "relative_error": estimate.error[part].tolist(),
            "delay": delay[part].tolist(),
        }
    time = observables["time"]
    part = _thinned(time.size)
    if RESIDUAL in observables:
        found["cancellation"] = {
            "time": time[part].tolist(),
            "residual": observables[RESIDUAL][part].tolist(),
            "relative_error": observables[TOO_SLOW][part].tolist(),
        }
    for name, ratio in list(speed_ratios(observables).items())[:1]:
        found["speed_ratio"] = {"time": time[part].tolist(), "ratio": ratio[part].tolist(), "channel": name}
    return found


def _thinned(size: int) -> np.ndarray:
    return np.unique(np.linspace(0, size - 1, min(size, DRAWN)).round().astype(np.int64))
