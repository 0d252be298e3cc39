"""Advice on how to run a case, by a short unscaled probe of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from articulon.advice.advised_options import NAMES, Advice, Option
from articulon.advice.case_time_scales import CaseTimeScales, scales_of
from articulon.advice.locking import locking_option
from articulon.advice.measuring import Measuring
from articulon.advice.predictions import Predictions, predictions_of
from articulon.advice.recommending import chosen, reason_of
from articulon.advice.subject import Subject
from articulon.cases.case import Case
from articulon.cases.loading import load_case
from articulon.errors import CaseError
from articulon.fidelity.verdict import TOLERANCE
from articulon.inputs import flag, number, shown
from articulon.kernels import one_blas_thread
from articulon.report.readable_numbers import suited
from articulon.runs.progress import shown_by
from articulon.simulation.run_request import Progress, Silent

SECONDS = 30.0
"""Default wall time of the probe [s], without compiling."""
LONGER = 0.2
"""Fraction of the allowed wall time for a second and longer measurement of the cost of the recommended option."""
LEAST_SECONDS = 1.0
"""Minimum wall time of the probe [s]."""
NOT_REACHED = "not measured: the advice was interrupted before"


def advise(
    case: Case | str | Path,
    probe: float | str | None = None,
    *,
    seconds: float = SECONDS,
    tolerance: float | str | None = None,
    progress: Progress | bool | None = None,
    allow_code: bool = False,
) -> Advice:
    """Advise on how to run a case: which integrator and step to use, what the run costs, and how far to trust it.

    The case is run for a short time from its initial state, with every option that is compatible with its features. The
    options are an explicit integrator, implicit friction, no inertia, scaling of all forces, and joints that lock.
    First steps follow from the time scales of the case (drag relaxation, vibrations, collisions, thermal rotation).
    They are then halved until the observed motion changes by less than the tolerance. Costs are measured on the first
    steps and frames, after the kernels are loaded, and extrapolated to the whole run. The effect of inertia, scaling or
    locking is measured by comparison with the unscaled motion. If drag dominates, it is also predicted along the motion
    without inertia. The checks of the case are applied to these runs. No files are written.

    Parameters
    ----------
    case
        A case from :func:`articulon.load_case`, the name of a built-in case, or the path of a case file.
    probe
        Length of the probe [time]; a string includes the unit. By default it is the longest of three times: eight times
        the slowest relaxation time, 64 times the period 1/ω of the fastest vibration, and the duration of four
        collisions. It is not longer than the run.
    seconds
        Approximate wall time to spend, without compiling [s].
    tolerance
        Allowed error, relative to the observed quantities, such as 0.02 or ``"2 %"``; by default that of the case's
        ``[fidelity]``, or 2 %.
    progress
        Receives messages on what is being measured, as for :func:`articulon.run`; True prints them to standard error.
    allow_code
        Whether Python functions named in the case file may be run, if the case is given by its name or path.

    Returns
    -------
    Advice
        The options and the recommendation.

    Raises
    ------
    CaseError
        If the case cannot run; the message names the key. If the probe is too short or longer than the run; the message
        gives the length needed. If the tolerance or time is invalid.
    KeyboardInterrupt
        After Ctrl-C. The attribute ``advice`` of the exception holds the results so far, if any.

    Examples
    --------
    >>> import articulon as ar
    >>> advice = ar.advise("double-pendulum", seconds=2)
    >>> advice.recommended.name
    'explicit'
    """
    if isinstance(case, str | Path):
        case = load_case(case, allow_code=flag(allow_code, "advise, allow_code", CaseError))
    if not isinstance(case, Case):
        raise CaseError(f"advise: expected a case, as load_case gives it, got {shown(case)}")
    reporter = Silent() if progress is None else shown_by(progress)
    budget = number(seconds, "advise: seconds", CaseError)
    if not LEAST_SECONDS <= budget < math.inf:
        raise CaseError(f"advise: seconds: expected at least {LEAST_SECONDS:g} s of wall time, got {budget:g}")
    allowed = _tolerance(case, tolerance)
    with one_blas_thread():
        subject = Subject.of(case)
        if not subject.model.nu:
            raise CaseError(f"{case.source}: model: no joint lets a body move, so there is nothing to advise on")
        scales = scales_of(subject.model, float(case.run.duration))
        length = probe_length(case, scales, probe)
        advising = _Advising(subject, scales, length, budget, allowed, reporter)
        try:
            return advising.advice()
        except KeyboardInterrupt as interruption:
            interruption.advice = advising.so_far(interrupted=True)  # type: ignore[attr-defined]
            raise


def _tolerance(case: Case, given: float | str | None) -> float:
    value = case.fidelity.tolerance if given is None else given
    if value is None:
        return TOLERANCE
    found = float(case.units.value(value, "dimensionless", "advise: tolerance"))
    if not 0.0 < found < 1.0:
        raise CaseError(
            f"advise: tolerance: expected a fraction between 0 and 1, such as 0.02 or '2 %', got {shown(given)}"
        )
    return found


def probe_length(case: Case, scales: CaseTimeScales, asked: float | str | None) -> float:
    """Return the length of the probe [time]; raises CaseError if the requested length is too short to be useful, or
    longer than the run."""
    if asked is None:
        return scales.usual
    length = float(case.units.value(asked, "time", "advise: probe"))

    def time_text(value: float) -> str:
        return suited(case.units, "time", value).text(value, 3).replace("\u00a0", " ")

    if not length > 0.0:
        raise CaseError(f"advise: probe: expected a time above 0, got {shown(asked)}")
    if length > scales.duration * (1.0 + 1e-9):
        raise CaseError(
            f"advise: probe: {time_text(length)} is longer than the run, of {time_text(scales.duration)}; run the "
            "case instead, or give a shorter probe"
        )
    if length < scales.needed * (1.0 - 1e-9):
        raise CaseError(
            f"advise: probe: {time_text(length)} is too short to advise: it takes at least "
            f"{scales.binding(case.units)}; give that much, or leave the probe out"
        )
    return length


class _Advising:
    """Measures one option after another and keeps the results."""

    def __init__(
        self,
        subject: Subject,
        scales: CaseTimeScales,
        probe: float,
        seconds: float,
        tolerance: float,
        progress: Progress,
    ) -> None:
        self.subject, self.scales, self.probe, self.tolerance = subject, scales, probe, tolerance
        self.progress, self.seconds = progress, seconds
        self.found: dict[str, Option] = {name: Option(name, False, NOT_REACHED) for name in NAMES}

    def advice(self) -> Advice:
        """Measure all options."""
        predictions = self._predictions()
        measuring = Measuring(self.subject, self.scales, predictions, self.probe, self.tolerance, self.seconds)
        for name, measure in self._measures(measuring):
            self.progress.message(f"{name} ...")
            self.found[name] = measure()
        if not any(option.feasible for option in self.found.values()):
            reasons = "\n".join(f"  {option.name}: {option.why_not}" for option in self.found.values())
            source = self.subject.case.source
            raise CaseError(f"{source}: none of the options of the advice can run this case:\n{reasons}")
        self._measure_longer(measuring)
        return self.so_far()

    def _measure_longer(self, measuring: Measuring) -> None:
        """Measure the cost of the recommended option for longer, because contacts that form during a run raise the
        cost."""
        for _ in range(2):
            best = chosen(tuple(self.found.values()))
            if best is None or best.name not in measuring.costs.tried or best.measured_to >= self.scales.horizon:
                return
            self.progress.message(f"cost of {best.name} ...")
            self.found[best.name] = measuring.costs.again(best, LONGER * self.seconds)
            if chosen(tuple(self.found.values())) == self.found[best.name]:
                return

    def _predictions(self) -> Predictions:
        if not self.subject.drag:
            return Predictions()
        self.progress.message("motion without inertia ...")
        predictions = predictions_of(self.subject, self.probe)
        if predictions.approach is not None and predictions.approach.arrives:
            self.scales = replace(self.scales, end=predictions.approach.duration * (1.0 + predictions.delay))
        return predictions

    def _measures(self, measuring: Measuring) -> Iterator[tuple[str, Callable[[], Option]]]:
        """Yield the options and their measurements. An option comes after the one with which it is compared."""
        steps: dict[str, Any] = {
            "friction-implicit": measuring.friction_implicit,
            "explicit": measuring.explicit,
            "overdamped": measuring.overdamped,
            "scaled": measuring.scaled,
            "adaptive": lambda: locking_option(measuring),
        }
        yield from steps.items()

    def so_far(self, interrupted: bool = False) -> Advice:
        """Return the advice based on the measurements so far."""
        options = tuple(self.found[name] for name in NAMES)
        best = chosen(options)
        units = self.subject.case.units
        reason = "Nothing has been measured." if best is None else reason_of(best, options, self.scales, units)
        return Advice(
            self.subject.case,
            self.tolerance,
            self.scales,
            self.probe,
            options,
            None if best is None else best.name,
            reason,
            interrupted,
        )
