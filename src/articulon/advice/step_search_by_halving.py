"""The longest step of a rule that halving does not change what one observes by more than a tolerance.

Two runs on one noise path, with steps of h and h/2, are apart by what the longer steps are wrong by, to (1 − 2⁻ᵖ) of
it at the order p. They are made from the state that the run begins in, and from one further on where the way there is
known. Where noise acts paths are kept to a coarser bound, and means are kept by the angle that thermal motion turns the
lightest body by in a step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from articulon.advice.probe_trials import MANY, MOMENTS, Trial, Window, error_between, noise_parts, trial
from articulon.advice.subject import Subject
from articulon.cases.case import Case
from articulon.model import Model

STEPS = 64
"""Steps of a trial at least."""
NOISY = 0.2
"""Error of a path that is allowed where noise acts: rules are then right in means, not path by path."""
SECOND = 4.0 / 3.0
"""The error of steps of a rule of order 2, over what halving changes."""
HALVINGS = 20
AFFORDABLE = 1e5
"""Steps of a whole run up to which all of it is tried: what begins well may end badly."""
LOOSENESS = 30.0
"""By which tolerances are made tighter to see what they leave out."""


class Settled(NamedTuple):
    """What a search has found."""

    step: float | None
    """The step [time], the shortest that was tried where none is within the tolerance; None where none stays finite."""
    error: float | None
    """What it is wrong by, relative to what one observes; None where that was not found out."""
    what: str
    """The motion that is worst."""
    window: float
    """Length of the trials [time]."""
    finest: Trial | None
    """The finest run from the beginning."""
    why: str = ""
    """Why none was found."""


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
) -> Settled:
    """The longest step, a power of two of parts of an interval, that is right.

    Parameters
    ----------
    subject
        What is run.
    made
        The case with a step [time].
    bound
        Longest step to try [time].
    interval
        Time between frames, which a whole number of steps fills [time].
    probe
        Least length of a trial [time].
    tolerance
        Error that is allowed.
    starts
        Models that begin where trials do; the first where the run does.
    deadline
        When the search ends, by ``time.perf_counter``.
    until
        Time up to which all of the run is tried where it has few steps; 0 for none of it [time].
    """
    duration = float(subject.case.run.duration)
    step = interval * 2.0 ** -max(0, math.ceil(math.log2(interval / min(bound, interval)) - 1e-9))
    latest = Settled(None, None, "", probe, None, "no step was found by halving")
    allowed = NOISY if subject.noisy else tolerance
    for _ in range(HALVINGS):
        found = latest
        for length, moments, models in _windows(step, probe, until, duration, starts):
            parts = max(1, round(length / moments / step))
            window = Window(starts[0], length, 2 * parts, moments)
            longer = _halved(subject, made, window, parts, models, deadline)
            # One that was broken off says nothing of what comes later.
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
            why=f"steps of {step:.3g} are off by {_error(found):.2g} of {found.what or 'what is observed'}",
        )
        if time.perf_counter() > deadline:
            return latest._replace(why=f"{latest.why}, and the time for the probe was over")
        step *= 0.5
    return latest


def _windows(
    step: float, probe: float, until: float, duration: float, starts: Sequence[Model]
) -> Iterator[tuple[float, int, Sequence[Model]]]:
    """Lengths of trials, the moments at which they are looked at, and where they begin: some steps, the probe, and all
    of a run that has few."""
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


def _error(found: Settled) -> float:
    return math.inf if found.error is None else found.error


def _halved(
    subject: Subject,
    made: Callable[[float], Case],
    window: Window,
    parts: int,
    starts: Sequence[Model],
    deadline: float,
) -> Settled:
    """What halving a step changes, of so many parts of the time between two moments."""
    step = window.length / window.moments / parts
    worst, what, finest = 0.0, "", None
    for k, model in enumerate(starts):
        here = window._replace(model=model)
        coarse = trial(subject, made(step), here, parts, deadline)
        if coarse.diverged:
            return Settled(None, math.inf, "the state, which does not stay finite", window.length, None)
        fine = trial(subject, made(0.5 * step), here, 2 * parts, deadline)
        found = error_between(subject, coarse.path, fine.path, window.length)
        finest = fine if k == 0 else finest
        if SECOND * found.error > worst or not what:
            worst, what = SECOND * found.error, found.what
    return Settled(step, worst, what, window.length, finest)


def settled_tolerances(
    subject: Subject,
    made: Callable[[float], Case],
    probe: float,
    tolerance: float,
    starts: Sequence[Model],
    held: float,
    deadline: float,
    most: int = 4,
) -> tuple[float, Settled]:
    """The loosest tolerances, each a part of those of a case, whose steps are right.

    Parameters
    ----------
    subject, probe, tolerance, starts, deadline
        See :func:`longest_step`.
    made
        The case with its tolerances times a factor.
    held
        Longest time for which noise may be held [time].
    most
        How often they may be made tighter.

    Returns
    -------
    tuple
        The factor, and what was found: its ``step`` is the mean one.
    """
    factor, allowed = 1.0, NOISY if subject.noisy else tolerance
    parts = noise_parts(subject, probe / MOMENTS, held)
    found = Settled(None, None, "", probe, None, "no tolerance was found")
    for _ in range(most):
        worst, what, first, finest = 0.0, "", None, None
        for k, model in enumerate(starts):
            window = Window(model, probe, parts)
            loose = trial(subject, made(factor), window, parts, deadline)
            if loose.diverged:
                worst, what = math.inf, "the state, which does not stay finite"
                break
            tight = trial(subject, made(factor / LOOSENESS), window, parts, deadline)
            apart = error_between(subject, loose.path, tight.path, probe)
            first, finest = (loose, tight) if k == 0 else (first, finest)
            if apart.error > worst or not what:
                worst, what = apart.error, apart.what
        reached = 0.0 if first is None else float(first.path.times[-1])
        step = reached / first.steps if first is not None and first.steps and reached > 0.0 else None
        error = worst if math.isfinite(worst) else None
        why = "" if first is not None or not starts else "its steps do not stay finite"
        found = Settled(step, error, what, probe, finest, why)
        if worst <= allowed or time.perf_counter() > deadline:
            return factor, found
        factor /= LOOSENESS
    return factor * LOOSENESS, found
