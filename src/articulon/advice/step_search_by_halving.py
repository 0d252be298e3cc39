"""Search for the longest step for which halving the step changes the observed motion by less than a tolerance.

For an integrator of order p, two runs with the same noise and with steps h and h/2 differ by 1 − 2⁻ᵖ times the error of
the longer steps. The runs start from the initial state and, if the motion without inertia is known, also from a later
state. With noise, paths need only satisfy a looser bound; the accuracy of means is then controlled by the angle through
which thermal motion rotates the lightest body in a step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from articulon.advice.probe_trials import MANY, MOMENTS, Trial, Window, noise_parts, path_error, trial
from articulon.advice.subject import Subject
from articulon.cases.case import Case
from articulon.model import Model

STEPS = 64
"""Minimum number of steps of a trial."""
NOISY = 0.2
"""Allowed error of a path with noise. With noise, integrators are accurate for means rather than for single paths."""
SECOND = 4.0 / 3.0
"""Ratio of the error of an integrator of order 2 to the change caused by halving its step."""
HALVINGS = 20
AFFORDABLE = 1e5
"""Maximum number of steps of a run that is tried as a whole. A longer run is tried only in part, and steps may fail
later."""
LOOSENESS = 30.0
"""Factor by which the tolerances are tightened to estimate the error that they cause."""


class StepSearchResult(NamedTuple):
    """Result of a search."""

    step: float | None
    """Length of the step [time]. It is the shortest step tried if none is within the tolerance, and None if all
    diverge."""
    error: float | None
    """Error relative to the observed motion; None if unknown."""
    what: str
    """Name of the worst motion."""
    window: float
    """Length of the trials [time]."""
    finest: Trial | None
    """Run from the initial state with the shortest steps."""
    why: str = ""
    """Reason why no step was found."""


def longest_step(
    subject: Subject,
    made: Callable[[float], Case],
    bound: float,
    interval: float,
    probe: float,
    tolerance: float,
    starts: Sequence[Model],
    deadline: float,
    until: float = 0.0,
) -> StepSearchResult:
    """Find the longest accurate step among the fractions ``interval``/2ⁿ.

    Parameters
    ----------
    subject
        The subject.
    made
        Function that returns the case with a given step [time].
    bound
        Longest step to try [time].
    interval
        Time between frames, which is a whole number of steps [time].
    probe
        Minimum length of a trial [time].
    tolerance
        Allowed error.
    starts
        Models with the start states of trials; the first is that of the run.
    deadline
        End of the search, by ``time.perf_counter``.
    until
        Time up to which the whole run is tried if it has few steps [time]; 0 to skip this trial.
    """
    duration = float(subject.case.run.duration)
    step = interval * 2.0 ** -max(0, math.ceil(math.log2(interval / min(bound, interval)) - 1e-9))
    latest = StepSearchResult(None, None, "", probe, None, "no step was found by halving")
    allowed = NOISY if subject.noisy else tolerance
    for _ in range(HALVINGS):
        found = latest
        for length, moments, models in _windows(step, probe, until, duration, starts):
            parts = max(1, round(length / moments / step))
            window = Window(starts[0], length, 2 * parts, moments)
            longer = _halved(subject, made, window, parts, models, deadline)
            # An interrupted trial gives no information about later times.
            reached = math.inf if longer.finest is None else float(longer.finest.path.times[-1])
            if reached <= found.window and found is not latest:
                break
            found = longer._replace(window=min(reached, length))
            if _error(found) > allowed or reached < length * (1.0 - 1e-9):
                break
        if _error(found) <= allowed:
            return found._replace(step=step)
        latest = found._replace(
            step=step if math.isfinite(_error(found)) else None,
            why=f"steps of {step:.3g} have an error of {_error(found):.2g} in {found.what or 'what is observed'}",
        )
        if time.perf_counter() > deadline:
            return latest._replace(why=f"{latest.why}, and the time for the probe had run out")
        step *= 0.5
    return latest


def _windows(
    step: float, probe: float, until: float, duration: float, starts: Sequence[Model]
) -> Iterator[tuple[float, int, Sequence[Model]]]:
    """Yield the trials for a step: their lengths, numbers of comparison times, and start states.

    The trials are a few steps, the probe, and the whole run if it has few steps.
    """
    unit = MOMENTS * step
    most = max(1, math.floor(duration / unit * (1.0 + 1e-9)))
    before = 0.0
    for wanted in (STEPS * step, probe):
        length = unit * min(max(1, math.ceil(wanted / unit * (1.0 - 1e-9))), most)
        if length > before:
            yield length, MOMENTS, starts
            before = length
    if before < until and until / step <= AFFORDABLE:
        yield until, MANY if until / step >= MANY else MOMENTS, starts[:1]


def _error(found: StepSearchResult) -> float:
    return math.inf if found.error is None else found.error


def _halved(
    subject: Subject,
    made: Callable[[float], Case],
    window: Window,
    parts: int,
    starts: Sequence[Model],
    deadline: float,
) -> StepSearchResult:
    """Measure how much the motion changes if the step is halved. The step is the time between two comparison times
    divided by ``parts``."""
    step = window.length / window.moments / parts
    worst, what, finest = 0.0, "", None
    for k, model in enumerate(starts):
        here = window._replace(model=model)
        coarse = trial(subject, made(step), here, parts, deadline)
        if coarse.diverged:
            return StepSearchResult(None, math.inf, "the state, which diverges", window.length, None)
        fine = trial(subject, made(0.5 * step), here, 2 * parts, deadline)
        found = path_error(subject, coarse.path, fine.path, window.length)
        finest = fine if k == 0 else finest
        if SECOND * found.error > worst or not what:
            worst, what = SECOND * found.error, found.what
    return StepSearchResult(step, worst, what, window.length, finest)


def loosest_tolerances(
    subject: Subject,
    made: Callable[[float], Case],
    probe: float,
    tolerance: float,
    starts: Sequence[Model],
    held: float,
    deadline: float,
    most: int = 4,
) -> tuple[float, StepSearchResult]:
    """Find the loosest tolerances of a case for which its integrator is accurate, as a factor on the given tolerances.

    Parameters
    ----------
    subject, probe, tolerance, starts, deadline
        See :func:`longest_step`.
    made
        Function that returns the case with its tolerances multiplied by a factor.
    held
        Longest time for which noise may be held constant [time].
    most
        Maximum number of times that the tolerances are tightened.

    Returns
    -------
    tuple
        The factor, and the result of the search, whose ``step`` is the mean step.
    """
    factor, allowed = 1.0, NOISY if subject.noisy else tolerance
    parts = noise_parts(subject, probe / MOMENTS, held)
    found = StepSearchResult(None, None, "", probe, None, "no tolerance was found")
    for _ in range(most):
        worst, what, first, finest = 0.0, "", None, None
        for k, model in enumerate(starts):
            window = Window(model, probe, parts)
            loose = trial(subject, made(factor), window, parts, deadline)
            if loose.diverged:
                worst, what = math.inf, "the state, which diverges"
                break
            tight = trial(subject, made(factor / LOOSENESS), window, parts, deadline)
            tightened = path_error(subject, loose.path, tight.path, probe)
            first, finest = (loose, tight) if k == 0 else (first, finest)
            if tightened.error > worst or not what:
                worst, what = tightened.error, tightened.what
        reached = 0.0 if first is None else float(first.path.times[-1])
        step = reached / first.steps if first is not None and first.steps and reached > 0.0 else None
        error = worst if math.isfinite(worst) else None
        why = "" if first is not None or not starts else "its steps diverge"
        found = StepSearchResult(step, error, what, probe, finest, why)
        if worst <= allowed or time.perf_counter() > deadline:
            return factor, found
        factor /= LOOSENESS
    return factor * LOOSENESS, found
