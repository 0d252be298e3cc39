"""Cost of an option, and how the run that measures it changes the trust: failed checks, and the energy error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from articulon.advice.advised_options import CHECK, Option, Trust
from articulon.advice.candidate_options import Candidate
from articulon.advice.case_time_scales import CaseTimeScales
from articulon.advice.measured_pace import Pace, pace_of
from articulon.advice.subject import Subject
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.fidelity.verdict import Bounds
from articulon.report.readable_numbers import suited
from articulon.time_scales.noise_windows import fitting_step

PACE = 0.04
"""Fraction of the wall time for the first measurement of a cost."""
SHORTER = 8
"""Maximum number of times that the step is halved if a run diverges during the measurement."""


class Tried(NamedTuple):
    """All data of an option before its cost is known."""

    candidate: Candidate
    case: Case
    step: float | None
    changes: Mapping[str, Any]
    bound: str
    trust: Trust


class Costs:
    """Measures the costs of options.

    Parameters
    ----------
    subject
        The subject.
    scales
        Time scales of the case.
    bounds
        Error bounds of the verdicts.
    seconds
        Wall time for all measurements [s].
    """

    def __init__(self, subject: Subject, scales: CaseTimeScales, bounds: Bounds, seconds: float) -> None:
        self.subject, self.scales, self.bounds, self.seconds = subject, scales, bounds, seconds
        self.tried: dict[str, Tried] = {}
        """Measured options, by name."""

    def of(self, candidate: Candidate, step: float | None, bound: str, trust: Trust, part: float = PACE) -> Option:
        """Measure the cost of an option, and return the complete option.

        Parameters
        ----------
        candidate
            The option before the measurement.
        step
            Length of its step, if all steps are equal [time].
        bound
            Limit of the step, in words.
        trust
            How far the option could be trusted before this measurement.
        part
            Fraction of the wall time.
        """
        changes, case = dict(candidate.changes), candidate.case
        assert case is not None
        if step is not None:
            if candidate.name != "adaptive":  # an adaptive step already divides the time between decisions
                step = fitting_step(float(self.subject.case.run.interval), step)
            changes["integrator.step"] = self._written(step, 9 if candidate.name == "adaptive" else 4)
            step = float(self.subject.case.units.value(changes["integrator.step"], "time", "integrator.step"))
            case = candidate.with_step(step)
        return self._measured(Tried(candidate, case, step, changes, bound, trust), part * self.seconds)

    def again(self, option: Option, seconds: float) -> Option:
        """Measure the cost of an option for longer; the step is halved if the longer run diverges."""
        return self._measured(self.tried[option.name], seconds)

    def trusting(self, option: Option, trust: Trust) -> Option:
        """Return an option with a new trust. It keeps this trust if its cost is measured again."""
        self.tried[option.name] = self.tried[option.name]._replace(trust=trust)
        return replace(option, trust=trust)

    def _measured(self, tried: Tried, seconds: float) -> Option:
        """Return the option with its cost; the step is halved until the run does not diverge."""
        candidate, failed, safe = tried.candidate, False, False
        for _ in range(SHORTER if tried.step is not None else 1):
            shown = self._differing(tried.changes)
            try:
                pace = pace_of(tried.case, self.subject.model, seconds, self.scales.horizon)
            except ArticulonError as error:
                why = str(error).splitlines()[0].removeprefix(f"{self.subject.case.source}: ")
                return Option(candidate.name, False, why, candidate.rule, changes=shown)
            if not pace.failure and (safe or not failed):
                self.tried[candidate.name] = tried
                return _made(candidate, shown, pace, tried.bound, self._seen(tried.trust, pace))
            if tried.step is None or self.subject.touches:
                break
            # If a step diverged, the first step that does not diverge is halved once more, as a margin for later times.
            failed, safe = True, not pace.failure
            tried = self._shorter(tried, pace)
        why = pace.failure or "every step that was tried diverges"
        return Option(candidate.name, False, why, candidate.rule, changes=self._differing(tried.changes))

    def _shorter(self, tried: Tried, pace: Pace) -> Tried:
        """Return the option with half the step."""
        assert tried.step is not None
        step, trust = 0.5 * tried.step, tried.trust
        if pace.failure and self.subject.noisy:
            words = f"longer steps diverged ({_brief(pace.failure)}), and stronger noise may occur; {trust.words}"
            trust = replace(trust, verdict="suspect" if trust.verdict == "trusted" else trust.verdict, words=words)
        changes = {**tried.changes, "integrator.step": self._written(step)}
        bound = "stability later in the run"
        return Tried(tried.candidate, tried.candidate.with_step(step), step, changes, bound, trust)

    def _seen(self, trust: Trust, pace: Pace) -> Trust:
        """Return the trust with the results of the run. These are the failed checks of the case and, if nothing else is
        known, the energy error of the steps."""
        if pace.failed:
            words = f"{CHECK} ({pace.failed[0]}); {trust.words}"
            return replace(trust, verdict="violated" if trust.verdict == "violated" else "suspect", words=words)
        if not (self.subject.particles or self.subject.touches) or self.subject.random_bath or trust.error is None:
            return trust
        error = max(trust.error, pace.balance)
        return replace(trust, verdict=self.bounds.verdict(error), error=error)

    def _written(self, step: float, digits: int = 4) -> Any:
        """Return a step as a user writes it, with its unit."""
        units = self.subject.case.units
        if units.time is None:
            return float(f"{step:.{digits}g}")
        unit = suited(units, "time", step)
        return f"{unit.factor * step:.{digits}g} {unit.symbol.replace('µ', 'u')}"

    def _differing(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changes without values that the case already has."""
        case = self.subject.case
        found = dict(changes)
        own = getattr(case.integrator, "step", None)
        step = found.get("integrator.step")
        if own is not None and step is not None and "integrator.rule" not in found:
            value = float(case.units.value(step, "time", "integrator.step"))
            if math.isclose(value, float(own), rel_tol=1e-6):
                found.pop("integrator.step")
        return found


def _brief(failure: str) -> str:
    """Return the part of a message that says when a run diverged, without the suggested remedy."""
    return failure.partition(":")[0]


def _made(candidate: Candidate, changes: Mapping[str, Any], pace: Pace, bound: str, trust: Trust) -> Option:
    return Option(
        candidate.name,
        True,
        "",
        candidate.rule,
        changes,
        pace.step,
        candidate.equal_steps,
        pace.steps,
        pace.seconds,
        pace.per_step,
        pace.busy,
        pace.until,
        bound,
        trust,
    )
