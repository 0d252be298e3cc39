"""Short runs in memory from the same state with the same noise, and the distance between two of them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from articulon.advice.subject import Subject
from articulon.cases.case import Case
from articulon.dynamics import kinetic_energy
from articulon.errors import ArticulonError
from articulon.fidelity.paths import Path, offsets, path_distance, path_of, ranges, scales
from articulon.forces.brownian import brownian_of
from articulon.integrate import FIXED
from articulon.integrate.status import DIVERGED
from articulon.model import Model
from articulon.model.state import STEPS
from articulon.simulation.chunks import Chunks
from articulon.simulation.preparation import prepare, start_state
from articulon.time_scales.noise_windows import Windows

MOMENTS = 32
"""Number of times at which positions are compared."""
MANY = 128
"""Number of times at which positions are compared in trials of the whole run."""
LOOKED_AT = 12
"""Number of motions for which delays are computed: those with the largest distances."""
SEARCH = 0.12
"""Fraction of the wall time for one search."""
AT_LEAST = 0.25
"""Minimum wall time for the steps of a prepared trial, even after the deadline [s]."""
CHUNK = 0.1
"""Wall time of steps between returns of control to Python [s]."""


class Trial(NamedTuple):
    """Result of a short run."""

    path: Path
    """Path of every motion, at equally spaced times; it is shorter if the run was interrupted."""
    steps: int
    """Number of steps taken."""
    complete: bool
    """Whether the run reached its end in the available wall time with finite values."""
    diverged: bool
    """Whether a value became infinite or undefined."""
    balance: float
    """Energy error |T − T₀ − ΣW| at the end, divided by the largest kinetic energy."""


class Window(NamedTuple):
    """Time window of a trial."""

    model: Model
    """Model with the state at the start of the window."""
    length: float
    """Length of the window [time]."""
    finest: int
    """Maximum number of intervals between two comparison times in which noise is held constant."""
    moments: int = MOMENTS
    """Number of times at which positions are compared."""


def trial(subject: Subject, case: Case, window: Window, parts: int, deadline: float) -> Trial:
    """Run a case in a window.

    Parameters
    ----------
    subject
        The subject.
    case
        Case to run, without a thermostat whose random numbers depend on the step.
    window
        Start and length of the run.
    parts
        Number of steps between two comparison times for an integrator with fixed steps. For others, the number of
        windows in which noise is held constant.
    deadline
        Time at which the run is interrupted, by ``time.perf_counter``.
    """
    interval, moments = window.length / window.moments, window.moments
    fixed = isinstance(case.integrator, FIXED)
    windows = Windows(interval / window.finest, max(1, window.finest // parts), interval / parts if fixed else None, ())
    given: dict[str, Any] = {"duration": window.length, "frames": moments, "frame_interval": None, "stop": None}
    without = case.thermostat is not None and not case.thermostat.deterministic and not _needs_bath(case)
    case = replace(
        case,
        run=case.run.model_copy(update=given),
        thermostat=None if without else case.thermostat,
    )
    model = window.model
    try:
        prepared = prepare(case, windows=windows, model=model)
        state = start_state(prepared)
    except ArticulonError:
        return _nothing(subject, model)
    deadline = max(deadline, time.perf_counter() + AT_LEAST)
    times, q, u = [0.0], [state.q.copy()], [state.u.copy()]
    heat = largest = _kinetic(prepared.evaluator, state)
    chunks, complete, diverged = Chunks(prepared.driver, CHUNK), True, False
    for k in range(1, moments + 1):
        until = window.length * k / moments
        while True:
            began, before = time.perf_counter(), int(state.counters[STEPS])
            try:
                status = prepared.driver.advance(state, until, chunks.steps)
            except ArticulonError:
                status = DIVERGED
            chunks.took(int(state.counters[STEPS]) - before, time.perf_counter() - began)
            diverged = status == DIVERGED or not np.isfinite(state.q).all()
            if diverged or float(state.time[0]) >= until * (1.0 - 1e-9) or time.perf_counter() > deadline:
                break
        if diverged or float(state.time[0]) < until * (1.0 - 1e-9):
            complete = False
            break
        times.append(until)
        q.append(state.q.copy())
        u.append(state.u.copy())
        largest = max(largest, _kinetic(prepared.evaluator, state))
    balance = abs(_kinetic(prepared.evaluator, state) - heat - float(state.work.sum()))
    path = path_of(subject.groups, np.array(times), np.array(q), np.array(u))
    return Trial(path, int(state.counters[STEPS]), complete, diverged, balance / largest if largest > 0.0 else 0.0)


def _needs_bath(case: Case) -> bool:
    """Return whether the integrator of a case requires its thermostat."""
    return str(case.integrator.rule) == "ermak-mccammon"


def _kinetic(evaluator: Any, state: Any) -> float:
    return float(kinetic_energy(evaluator.model, state.q, state.u))


def _nothing(subject: Subject, model: Model) -> Trial:
    q, u = model.q0[None], model.u0[None]
    return Trial(path_of(subject.groups, np.zeros(1), q, u), 0, False, True, np.inf)


class PathError(NamedTuple):
    """Distance between two trials."""

    error: float
    """Error of the worst motion, relative to its range or to the reference time."""
    what: str
    """Name of that motion."""


def path_error(subject: Subject, path: Path, truth: Path, duration: float) -> PathError:
    """Return the distance of a path from the true path: the largest mean error of the watched motions.

    The error at a time is the smallest shift that moves the point onto the true path. This shift is the sum of a shift
    in time, relative to ``duration``, and a shift in position, relative to the range (:mod:`articulon.fidelity.paths`).

    If the paths cover different times, their common part is compared.
    """
    count = min(path.times.size, truth.times.size)
    if count < 3:
        return PathError(np.inf, "")
    path, truth = (Path(*(values[:count] for values in one)) for one in (path, truth))
    groups = subject.groups
    reach = np.maximum(ranges(groups, path.place), ranges(groups, truth.place))
    scale = scales(groups, reach)
    offset = offsets(groups, path, truth)
    off = np.array([np.sqrt((offset[:, g.start : g.end] ** 2).sum(axis=1)).mean() for g in groups])
    # Motions smaller than a thousandth of the largest motion of their kind are ignored.
    watched = np.isin(np.arange(len(groups)), subject.watched)
    angular = np.array([g.angular for g in groups])
    seen = np.zeros(len(groups), dtype=bool)
    for kind in (watched & angular, watched & ~angular):
        if kind.any():
            seen |= kind & (reach > 1e-3 * reach[kind].max())
    relative = np.divide(off, scale, out=np.zeros_like(off), where=seen & (scale > 0.0))
    worst = PathError(0.0, "")
    for k in np.argsort(-relative)[:LOOKED_AT].tolist():
        if relative[k] <= worst.error:
            continue
        found = path_distance(path, truth, offset, groups[k], float(scale[k]), duration)
        error = max(float(found.error.mean()), min(float(found.error[-1]), float(relative[k])))
        if error > worst.error:
            worst = PathError(error, groups[k].name)
    return worst


def noise_parts(subject: Subject, interval: float, longest: float) -> int:
    """Return the number of windows into which an interval is divided to hold noise constant. It is the smallest power
    of two for which a window is not longer than ``longest`` [time]."""
    if brownian_of(subject.model) is None:
        return 1
    count = 1
    while interval / count > longest and count < 2**20:
        count *= 2
    return count
