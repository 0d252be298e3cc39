"""Cost of a run, measured frame by frame on its first steps after the kernels are loaded."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.forces.brownian import brownian_of
from articulon.integrate.status import DIVERGED, STOPPED
from articulon.kernels import one_blas_thread
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.simulation.checks import Frames, prepared_checks
from articulon.simulation.chunks import Chunks
from articulon.simulation.divergence import diagnosis
from articulon.simulation.preparation import Prepared, prepare, start_state
from articulon.storage.trajectory import Frame

CHUNK = 0.1
"""Wall time between returns of control to Python [s]."""
WARM = 4
"""Number of warm-up steps, which the measurement leaves out."""
LATE = 0.5
"""Fraction of the measurement, at its end, from which the cost of later steps is extrapolated."""
ONCE = 0.1
"""Wall time to create and close the files of a run [s]."""
WRITING = 2e-4
"""Minimum wall time to write a frame, in addition to its observables [s]."""
WRITING_A_NUMBER = 2.5e-8
"""Additional wall time for each number in a frame [s]."""


class Pace(NamedTuple):
    """Cost of a run."""

    steps: float
    """Number of steps of the whole run."""
    seconds: float
    """Wall time of the whole run with its frames and checks, without compiling [s]."""
    busy: float
    """Processor time divided by wall time during the measurement: one on an idle machine with one thread, and less if
    other programs run."""
    per_step: float
    """Wall time per step [s]."""
    step: float
    """Mean step of the whole run [time]."""
    until: float
    """Simulated time up to which the cost was measured [time]."""
    failed: tuple[str, ...]
    """Failed checks of the case. Only checks of conserved quantities are considered, or all checks if the run reached
    its end and has no random forces."""
    balance: float
    """Largest energy error |T − T₀ − ΣW| so far, including the energy of locked joints and modes, divided by the
    largest kinetic energy."""
    stopped: bool
    """Whether the stop condition ended the run at the time ``until``."""
    failure: str
    """Reason why the run did not continue; empty if it did."""


def pace_of(case: Case, model: Model, seconds: float, horizon: float) -> Pace:
    """Measure the cost of a case.

    Parameters
    ----------
    case
        The case, starting from the initial state of the model.
    model
        Its model.
    seconds
        Wall time for the measurement [s].
    horizon
        Expected end of the run [time].

    Raises
    ------
    CaseError
        If the case cannot be run.
    """
    with one_blas_thread():
        return _pace(case, prepare(case, model=model), seconds, horizon)


def _pace(case: Case, prepared: Prepared, seconds: float, horizon: float) -> Pace:
    warm = start_state(prepared)
    _warmed(prepared, warm, float(case.run.duration))
    state = start_state(prepared)
    prepared.observer.begin(state)
    times = case.run.frame_times()
    frames, observing, stepping, failure, stopped = 0, 0.0, 0.0, "", False
    balance, largest = 0.0, prepared.observer.start_energy
    marks = [(0.0, 0, 0.0)]  # wall time of steps, their number, simulated time
    chunks, deadline = Chunks(prepared.driver, CHUNK), time.perf_counter() + seconds
    kept: list[Frame] = []
    started, processor = time.perf_counter(), time.process_time()
    while frames < len(times) and not failure and not stopped:
        began, before = time.perf_counter(), int(state.counters[STEPS])
        if times[frames] > float(state.time[0]) or frames == 0:
            try:
                status = prepared.driver.advance(state, times[frames], chunks.steps) if frames else 0
            except ArticulonError as error:
                failure = str(error)
                break
            if status == DIVERGED or not np.isfinite(state.q).all():
                step, driver = prepared.observer.fixed_step, prepared.driver
                found = diagnosis(prepared.evaluator, step, state, None, driver.failure, driver.culprit)
                failure = f"it diverges at t = {found.time:.4g} {found.time_unit}: {found.reason}".replace(" :", ":")
                break
            stopped = status == STOPPED
        took = time.perf_counter() - began
        stepping += took
        chunks.took(int(state.counters[STEPS]) - before, took)
        if frames == 0 or float(state.time[0]) >= times[frames] * (1.0 - 1e-12) or stopped:
            began = time.perf_counter()
            frame = prepared.observer.frame(state)
            observing += time.perf_counter() - began
            kept.append(frame)
            largest = max(largest, frame.observables["kinetic_energy"])
            balance = max(balance, abs(frame.observables["energy_balance"]))
            frames += 1
        marks.append((stepping, int(state.counters[STEPS]), float(state.time[0])))
        if time.perf_counter() > deadline and int(state.counters[STEPS]) > 0:
            break
    busy = (time.process_time() - processor) / max(time.perf_counter() - started, 1e-9)
    expected = sum(moment <= horizon * (1.0 + 1e-9) for moment in times)
    atoms = prepared.model.atoms  # positions of atoms are written in single precision
    places = 7.0 * len(kept[0].positions) if atoms is None else 1.5 * len(atoms)
    values = places + kept[0].q.size + kept[0].u.size
    ended = stopped or frames == len(times)
    began = time.perf_counter()
    failed = () if failure else _failed(case, prepared, kept, ended)
    checking = (time.perf_counter() - began) / max(frames, 1)
    of_a_frame = checking + observing / max(frames, 1) + WRITING + WRITING_A_NUMBER * values
    return _extrapolated(
        marks,
        horizon,
        ONCE + (frames if stopped else expected) * of_a_frame,
        failed,
        balance / largest if largest > 0.0 else 0.0,
        failure,
        stopped,
    )._replace(busy=busy)


CONSERVED = ("energy", "momentum", "angular-momentum", "loops")
"""Kinds of checks that must pass at any time of a run."""


def _failed(case: Case, prepared: Prepared, kept: list[Frame], ended: bool) -> tuple[str, ...]:
    """Return the checks of a case that fail, as the summary of the run would report them."""
    if not case.checks or len(kept) < 2:
        return ()
    chance = case.thermostat is not None or brownian_of(prepared.model) is not None
    dimensions = prepared.observer.dimensions
    frames = Frames(
        prepared.model,
        np.array([frame.time for frame in kept]),
        np.array([frame.q for frame in kept]),
        np.array([frame.u for frame in kept]),
        {name: np.array([frame.observables[name] for frame in kept]) for name in dimensions},
        dimensions,
        prepared.policy.varies,
    )
    found = []
    # All checks are evaluated, because their time is part of the cost. Some results mean nothing before the run ends.
    for check in prepared_checks(case.checks, prepared.model, dimensions, case.source):
        one = check.outcome(frames)
        if not one.passed and ((ended and not chance) or getattr(check, "kind", "") in CONSERVED):
            found.append(f"{one.what}: {one.value:.2g}, allowed {one.bound:.2g} {one.unit}".rstrip())
    return tuple(found)


def _warmed(prepared: Prepared, state: State, duration: float) -> None:
    """Run each function that steps and frames need once, so that it is loaded."""
    prepared.observer.begin(state)
    prepared.driver.advance(state, duration, WARM)
    prepared.observer.frame(state)


def _extrapolated(
    marks: list[tuple[float, int, float]],
    horizon: float,
    frames: float,
    failed: tuple[str, ...],
    balance: float,
    failure: str,
    stopped: bool,
) -> Pace:
    """Extrapolate the cost to the whole run from the last part of the measurement."""
    wall, steps, until = marks[-1]
    none = math.nan
    found = Pace(none, none, 1.0, none, none, until, failed, balance, stopped, failure)
    if steps == 0 or until <= 0.0 or failure:
        return found._replace(failure=failure or "no step was completed in the available time")
    if stopped or until >= horizon * (1.0 - 1e-9):
        return found._replace(steps=steps, seconds=wall + frames, per_step=wall / steps, step=until / steps)
    early = next((mark for mark in marks if mark[2] >= (1.0 - LATE) * until), marks[0])
    early = early if until > early[2] and steps > early[1] else marks[0]
    rate = (steps - early[1]) / (until - early[2])
    per_step = (wall - early[0]) / (steps - early[1])
    more = (horizon - until) * rate
    whole = steps + more
    seconds = wall + more * per_step + frames
    return found._replace(steps=whole, seconds=seconds, per_step=per_step, step=horizon / whole)
