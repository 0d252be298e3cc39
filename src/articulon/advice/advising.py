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
from articulon.advice.looking_ahead import Ahead, ahead_of
from articulon.advice.measuring import Measuring
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
"""Wall time of the probe where none is asked for [s]; compiling is not counted."""
LONGER = 0.2
"""Part of it for the cost of what is recommended."""
LEAST_SECONDS = 1.0
"""Of wall time [s]."""
NOT_REACHED = "not measured: the advice was broken off before"


def advise(
    case: Case | str | Path,
    probe: float | str | None = None,
    *,
    seconds: float = SECONDS,
    tolerance: float | str | None = None,
    progress: Progress | bool | None = None,
    allow_code: bool = False,
) -> Advice:
    """Say how to run a case, before it is run: by which rule, at which step, at what cost, and how far to trust it.

    From its initial state the case is run for a short time, unscaled, in every way that the table of what goes with
    what allows: by an explicit rule, with the friction taken implicitly, without inertia, with all forces scaled, and
    with joints that lock. Steps follow from its time scales (relaxation of drag, vibrations, collisions, thermal
    turning) and are then halved until that changes what one observes by less than the tolerance; costs are measured on
    the first steps and frames, with kernels that are loaded, and extrapolated to the whole run. What inertia, scaling
    or locking does to the motion is measured beside the unscaled one and, where drag governs, predicted along the way
    without inertia. The checks of the case are made on what was run. Nothing is written.

    Parameters
    ----------
    case
        A case of :func:`articulon.load_case`, the name of a built-in one, or the path of a case file.
    probe
        Length of the probe [time]; a string carries its unit. By default eight of the slowest relaxation times, 64 of
        the shortest vibrations or four collisions, whichever is longest, and at most the run.
    seconds
        Wall time that is spent, about, beside compiling [s].
    tolerance
        Error that is allowed, as a part of what one observes, such as 0.02 or ``"2 %"``; that of the case's
        ``[fidelity]`` by default, or 2 %.
    progress
        Told what is being measured, as for :func:`articulon.run`; True says it on standard error.
    allow_code
        Whether functions that a case file names may run, where the case is given by its name or path.

    Returns
    -------
    Advice
        The options, and which of them is recommended.

    Raises
    ------
    CaseError
        For a case that cannot run, naming its key; for a probe that is too short to tell anything, with the length that
        it needs, or longer than the run; for a tolerance or a time that cannot be.
    KeyboardInterrupt
        After Ctrl-C; what has been found by then is the exception's ``advice``, once there is anything.

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
    told = Silent() if progress is None else shown_by(progress)
    budget = number(seconds, "advise: seconds", CaseError)
    if not LEAST_SECONDS <= budget < math.inf:
        raise CaseError(f"advise: seconds: expected at least {LEAST_SECONDS:g} s of wall time, got {budget:g}")
    allowed = _tolerance(case, tolerance)
    with one_blas_thread():
        subject = Subject.of(case)
        if not subject.model.nu:
            raise CaseError(f"{case.source}: model: no joint lets a body move, so that there is nothing to advise on")
        scales = scales_of(subject.model, float(case.run.duration))
        length = probe_length(case, scales, probe)
        advising = _Advising(subject, scales, length, budget, allowed, told)
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
            f"advise: tolerance: expected a part between 0 and 1, such as 0.02 or '2 %', got {shown(given)}"
        )
    return found


def probe_length(case: Case, scales: CaseTimeScales, asked: float | str | None) -> float:
    """The length of the probe [time]; raises CaseError for one that is too short to tell anything, or too long."""
    if asked is None:
        return scales.usual
    length = float(case.units.value(asked, "time", "advise: probe"))

    def told(value: float) -> str:
        return suited(case.units, "time", value).text(value, 3).replace("\u00a0", " ")

    if not length > 0.0:
        raise CaseError(f"advise: probe: expected a time above 0, got {shown(asked)}")
    if length > scales.duration * (1.0 + 1e-9):
        raise CaseError(
            f"advise: probe: {told(length)} is longer than the run, of {told(scales.duration)}; run the case instead, "
            "or give a shorter probe"
        )
    if length < scales.needed * (1.0 - 1e-9):
        raise CaseError(
            f"advise: probe: {told(length)} is too short to advise: it takes at least {scales.binding(case.units)}; "
            "give that much, or leave the probe out"
        )
    return length


class _Advising:
    """Measures option after option and keeps what it has."""

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
        """Measures all of them."""
        ahead = self._ahead()
        measuring = Measuring(self.subject, self.scales, ahead, self.probe, self.tolerance, self.seconds)
        for name, measure in self._measures(measuring):
            self.progress.message(f"{name} ...")
            self.found[name] = measure()
        if not any(option.feasible for option in self.found.values()):
            reasons = "\n".join(f"  {option.name}: {option.why_not}" for option in self.found.values())
            source = self.subject.case.source
            raise CaseError(f"{source}: none of the ways to run a case that advice knows runs this one:\n{reasons}")
        self._measure_longer(measuring)
        return self.so_far()

    def _measure_longer(self, measuring: Measuring) -> None:
        """Measures the cost of what is to be recommended for longer: costs change along a run, as contacts come."""
        for _ in range(2):
            best = chosen(tuple(self.found.values()))
            if best is None or best.name not in measuring.costs.tried or best.measured_to >= self.scales.horizon:
                return
            self.progress.message(f"the cost of {best.name} ...")
            self.found[best.name] = measuring.costs.again(best, LONGER * self.seconds)
            if chosen(tuple(self.found.values())) == self.found[best.name]:
                return

    def _ahead(self) -> Ahead:
        if not self.subject.drag:
            return Ahead()
        self.progress.message("the way without inertia ...")
        ahead = ahead_of(self.subject, self.probe)
        if ahead.approach is not None and ahead.approach.arrives:
            self.scales = replace(self.scales, end=ahead.approach.duration * (1.0 + ahead.late))
        return ahead

    def _measures(self, measuring: Measuring) -> Iterator[tuple[str, Callable[[], Option]]]:
        """The options in the order in which they are measured: what stands beside another comes after it."""
        steps: dict[str, Any] = {
            "friction-implicit": measuring.friction_implicit,
            "explicit": measuring.explicit,
            "overdamped": measuring.overdamped,
            "scaled": measuring.scaled,
            "adaptive": lambda: locking_option(measuring),
        }
        yield from steps.items()

    def so_far(self, interrupted: bool = False) -> Advice:
        """The advice by what has been measured."""
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
