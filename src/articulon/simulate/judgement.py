"""The fidelity section of a scaled run's summary: every premise of the scaling, judged by the run alone."""

import time
from typing import Any

import numpy as np

from articulon.forces.brownian import brownian_of
from articulon.model import State
from articulon.model.state import EVALUATIONS
from articulon.simulate.cancellation import Cancellation, cancellation, cancellation_along
from articulon.simulate.fidelity import LagAlong, clock, drift, lag, lag_along, speed_ratios
from articulon.simulate.paired import paired
from articulon.simulate.preparation import Prepared
from articulon.simulate.results import Run
from articulon.simulate.temperatures import configuration, heating, kinetic
from articulon.simulate.verdicts import TOLERANCE, Bounds, verdict_of

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
    estimate, residual = None, None
    if evaluator.thermostat is None:
        if np.isfinite(observer.relaxation) and len(observables["time"]) > 1:
            estimate = lag_along(observables, observer.relaxation, bounds.trusted)
        residual = cancellation_along(prepared, state, run)
        premises["lag"] = lag(observables, observer.relaxation, bounds, estimate)
        premises["drift"] = drift(observables, bounds)
        closed = bool(prepared.model.loops.kind.size)
        premises["cancellation"] = cancellation(residual, observables, observer.relaxation, bounds, closed)
    premises["clock"] = clock(observables, bath, heat)
    premises["kinetic"] = kinetic(observables, target)
    expected = heat if evaluator.thermostat is not None else premises["clock"]["over_bath"]
    premises["configuration"] = configuration(found, expected, observables)
    if evaluator.thermostat is None and premises["configuration"]["measured_over_target"] is None:
        # What follows from the factors alone is judged with the clock.
        premises["configuration"] |= {"verdict": None, "since": None}
    spent = time.perf_counter() - began
    if evaluator.thermostat is None and with_pairs:
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
    result["along"] = _along(run, estimate, residual)
    return result


def tolerance_of(prepared: Prepared) -> float:
    """The relative error that is trusted: the case's, or the tolerance that its policy was given, or 2 %."""
    given = prepared.case.fidelity.tolerance
    if given is None:
        given = getattr(prepared.policy, "tolerance", None)
    return TOLERANCE if given is None else float(given)


def _along(run: Run, estimate: LagAlong | None, residual: Cancellation | None) -> dict[str, Any]:
    """Lines over time for figures."""
    found: dict[str, Any] = {}
    if estimate is not None and not estimate.rough:
        part = _thinned(estimate.error.size)
        found["lag"] = {
            "time": (0.5 * (estimate.times[1:] + estimate.times[:-1]))[part].tolist(),
            "relative_error": estimate.error[part].tolist(),
            "delay": np.interp(0.5 * (estimate.times[1:] + estimate.times[:-1]), estimate.times, estimate.delay)[
                part
            ].tolist(),
        }
    if residual is not None:
        found["cancellation"] = {
            "time": residual.times.tolist(),
            "residual": residual.slowest.tolist(),
            "mean_over_joints": residual.mean.tolist(),
            "relative_error": residual.error.tolist(),
        }
    for name, ratio in list(speed_ratios(run.observables).items())[:1]:
        part = _thinned(ratio.size)
        found["speed_ratio"] = {
            "time": run.observables["time"][part].tolist(),
            "ratio": ratio[part].tolist(),
            "channel": name,
        }
    return found


def _thinned(size: int) -> np.ndarray:
    return np.unique(np.linspace(0, size - 1, min(size, DRAWN)).round().astype(np.int64))
