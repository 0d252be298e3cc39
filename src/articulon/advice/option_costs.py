"""What an option costs, and what its trust is worth once it has run: the checks of the case, and the energy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from articulon.advice.advised_options import CHECK, Option, Trust
from articulon.advice.case_time_scales import CaseTimeScales
from articulon.advice.measured_pace import Pace, pace_of
from articulon.advice.subject import Subject
from articulon.advice.ways_to_run import Way
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.fidelity.verdict import Bounds
from articulon.report.readable_numbers import suited
from articulon.time_scales.noise_windows import fitting_step

PACE = 0.04
"""Part of the wall time for the first measurement of a cost."""
SHORTER = 8
"""How often a step is halved that does not stay finite when it is timed."""


class Tried(NamedTuple):
    """All that an option is made of but its cost."""

    way: Way
    case: Case
    step: float | None
    changes: Mapping[str, Any]
    bound: str
    trust: Trust


class Costs:
    """Measures what options cost.

    Parameters
    ----------
    subject
        What is run.
    scales
        Its time scales.
    bounds
        Of errors that are trusted.
    seconds
        Wall time for all that is measured [s].
    """

    def __init__(self, subject: Subject, scales: CaseTimeScales, bounds: Bounds, seconds: float) -> None:
        self.subject, self.scales, self.bounds, self.seconds = subject, scales, bounds, seconds
        self.tried: dict[str, Tried] = {}
        """What has been measured, by the name of the option."""

    def of(self, way: Way, step: float | None, bound: str, trust: Trust, part: float = PACE) -> Option:
        """An option with its cost.

        Parameters
        ----------
        way
            What it changes.
        step
            Its step, where all are equal [time].
        bound
            What bounds the step, in words.
        trust
            How far it can be trusted, but for what is seen now.
        part
            Of the wall time.
        """
        changes, case = dict(way.changes), way.case
        assert case is not None
        if step is not None:
            if way.name != "adaptive":  # whose steps fill the time between decisions
                step = fitting_step(float(self.subject.case.run.interval), step)
            changes["integrator.step"] = self._written(step, 9 if way.name == "adaptive" else 4)
            step = float(self.subject.case.units.value(changes["integrator.step"], "time", "integrator.step"))
            case = way.with_step(step)
        return self._measured(Tried(way, case, step, changes, bound, trust), part * self.seconds)

    def again(self, option: Option, seconds: float) -> Option:
        """An option with its cost measured for longer; a step that does not stay finite by then is halved."""
        return self._measured(self.tried[option.name], seconds)

    def trusting(self, option: Option, trust: Trust) -> Option:
        """An option with another trust, which stays when it is measured again."""
        self.tried[option.name] = self.tried[option.name]._replace(trust=trust)
        return replace(option, trust=trust)

    def _measured(self, tried: Tried, seconds: float) -> Option:
        """The option with its cost; a step that does not stay finite is halved."""
        way, failed, safe = tried.way, False, False
        for _ in range(SHORTER if tried.step is not None else 1):
            shown = self._differing(tried.changes)
            try:
                pace = pace_of(tried.case, self.subject.model, seconds, self.scales.horizon)
            except ArticulonError as error:
                why = str(error).splitlines()[0].removeprefix(f"{self.subject.case.source}: ")
                return Option(way.name, False, why, way.rule, changes=shown)
            if not pace.failure and (safe or not failed):
                self.tried[way.name] = tried
                return _made(way, shown, pace, tried.bound, self._seen(tried.trust, pace))
            if tried.step is None or self.subject.touches:
                break
            # Where one has not stayed finite, the first that does is halved once more, for what comes later.
            failed, safe = True, not pace.failure
            tried = self._shorter(tried, pace)
        why = pace.failure or "no step was found that stays finite"
        return Option(way.name, False, why, way.rule, changes=self._differing(tried.changes))

    def _shorter(self, tried: Tried, pace: Pace) -> Tried:
        """The same in half the step."""
        assert tried.step is not None
        step, trust = 0.5 * tried.step, tried.trust
        if pace.failure and self.subject.noisy:
            words = f"longer steps did not stay finite ({_brief(pace.failure)}), and noise may do more; {trust.words}"
            trust = Trust("suspect" if trust.verdict == "trusted" else trust.verdict, trust.error, words)
        changes = {**tried.changes, "integrator.step": self._written(step)}
        bound = "what stays finite later in the run"
        return Tried(tried.way, tried.way.with_step(step), step, changes, bound, trust)

    def _seen(self, trust: Trust, pace: Pace) -> Trust:
        """The trust, with what the checks of the case find, and with what steps lost of energy where nothing else
        tells."""
        if pace.failed:
            words = f"{CHECK} ({pace.failed[0]}); {trust.words}"
            return Trust("violated" if trust.verdict == "violated" else "suspect", trust.error, words)
        if not (self.subject.particles or self.subject.touches) or self.subject.random_bath or trust.error is None:
            return trust
        error = max(trust.error, pace.balance)
        return Trust(self.bounds.verdict(error), error, trust.words)

    def _written(self, step: float, digits: int = 4) -> Any:
        """A step as a user writes it, with its unit."""
        units = self.subject.case.units
        if units.time is None:
            return float(f"{step:.{digits}g}")
        unit = suited(units, "time", step)
        return f"{unit.factor * step:.{digits}g} {unit.symbol.replace('µ', 'u')}"

    def _differing(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The changes but for what the case has already."""
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
    """When a run diverged, without what it is told to do."""
    return failure.partition(":")[0]


def _made(way: Way, changes: Mapping[str, Any], pace: Pace, bound: str, trust: Trust) -> Option:
    return Option(
        way.name,
        True,
        "",
        way.rule,
        changes,
        pace.step,
        way.equal_steps,
        pace.steps,
        pace.seconds,
        pace.per_step,
        pace.busy,
        pace.until,
        bound,
        trust,
    )
