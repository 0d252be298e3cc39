"""Data of the advice: the options for running a case, their costs, and how far each can be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import join
from typing import Any

from articulon.advice.case_time_scales import CaseTimeScales
from articulon.cases.case import Case
from articulon.cases.toml_writing import inline
from articulon.notebook_table import table_of_words
from articulon.report.readable_numbers import number, percent, suited, wall_time

NAMES = ("explicit", "friction-implicit", "overdamped", "scaled", "adaptive")
"""Names of the options, those with fewer approximations first."""


CHECK = "a check of the case does not pass"
"""First words of the explanation if a failed check made an option less trusted."""
LEAST = 1e-4
"""Error below which options count as equally accurate."""


@dataclass(frozen=True)
class Trust:
    """How far the results of an option can be trusted."""

    verdict: str
    """Verdict ``trusted``, ``suspect``, ``violated`` or ``inconclusive``, by the same error bounds as for scaled
    runs."""
    error: float | None
    """Expected error, relative to the observed quantity; None if unknown."""
    words: str
    """Explanation of the error and of how it is known."""
    tried_over: str = ""
    """Time with its unit over which steps were compared, if this was only a part of the run. The verdict on the step
    then holds only for this time."""

    @property
    def label(self) -> str:
        """Return the verdict and the time that it covers: ``trusted``, or ``step trusted over 250 fs``."""
        return f"step {self.verdict} over {self.tried_over}" if self.tried_over else self.verdict


@dataclass(frozen=True)
class Option:
    """One way to run a case."""

    name: str
    """One of ``explicit``, ``friction-implicit``, ``overdamped``, ``scaled`` and ``adaptive``."""
    feasible: bool
    """Whether the option is possible for the case, and useful."""
    why_not: str = ""
    """Reason why the option is not feasible."""
    rule: str = ""
    """Name of the integration rule."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Changes of the case that select this option: values by key, without values that the case already has."""
    step: float | None = None
    """Length of the step, or its mean if the integrator chooses its steps [time]."""
    equal_steps: bool = True
    """Whether all steps are equal."""
    steps: float | None = None
    """Number of steps of the whole run, without rejected steps."""
    seconds: float | None = None
    """Wall time of the whole run on this machine, without compiling [s]."""
    seconds_per_step: float | None = None
    """Wall time of a step, without the time to record frames [s]."""
    busy: float = 1.0
    """Processor time divided by wall time during the measurement. Below 1, other programs used part of the machine."""
    measured_to: float = 0.0
    """Simulated time up to which the cost was measured [time]."""
    bound: str = ""
    """Limit of the step, in words."""
    trust: Trust = Trust("inconclusive", None, "not measured")
    """How far the option can be trusted."""

    @property
    def measured(self) -> bool:
        """Whether the cost of the option has been measured."""
        return self.feasible and self.seconds is not None

    @property
    def data(self) -> dict[str, Any]:
        """Return the data of the option as plain numbers and words."""
        return {
            "name": self.name,
            "feasible": self.feasible,
            "why_not": self.why_not or None,
            "rule": self.rule or None,
            "changes": dict(self.changes),
            "step": self.step,
            "equal_steps": self.equal_steps,
            "steps": self.steps,
            "wall_seconds": self.seconds,
            "seconds_per_step": self.seconds_per_step,
            "processor_seconds": None if self.seconds is None else self.busy * self.seconds,
            "measured_to": self.measured_to,
            "bound": self.bound or None,
            "trust": {
                "verdict": self.trust.verdict,
                "error": self.trust.error,
                "words": self.trust.words,
                "tried_over": self.trust.tried_over or None,
            },
        }


@dataclass(frozen=True)
class Advice:
    """Advice on how to run a case, from a short unscaled probe. Created by :func:`articulon.advise`."""

    case: Case
    """The case."""
    tolerance: float
    """Allowed error, relative to the observed quantities."""
    scales: CaseTimeScales
    """Time scales of the case."""
    probe: float
    """Length of the probe [time]."""
    options: tuple[Option, ...]
    """Options for running the case."""
    chosen: str | None = None
    """Name of the recommended option; None if no suitable one is known."""
    reason: str = ""
    """Reason for the recommendation, in one sentence."""
    interrupted: bool = False
    """Whether the advice was interrupted, so that some options may not have been measured."""

    @property
    def recommended(self) -> Option | None:
        """Recommended option; None if no suitable one is known."""
        return next((option for option in self.options if option.name == self.chosen), None)

    def option(self, name: str) -> Option:
        """Return the option with the given name."""
        return next(option for option in self.options if option.name == name)

    @property
    def grains(self) -> bool:
        """Whether bodies can touch, so that the cost of a step grows with the number of contacts."""
        return math.isfinite(self.scales.contact)

    @property
    def arguments(self) -> list[str]:
        """Arguments of ``articulon run`` for the recommended option."""
        return arguments_of(self.case, self.recommended)

    @property
    def command(self) -> str:
        """Command that runs the recommended option; empty if there is none."""
        return join(["articulon", "run", *self.arguments]) if self.recommended is not None else ""

    @property
    def data(self) -> dict[str, Any]:
        """Return all results as ``articulon advise --json`` prints them; times are in the unit of the case."""
        return {
            "case": self.case.name,
            "title": self.case.title,
            "time_unit": self.case.units.label("time"),
            "duration": float(self.case.run.duration),
            "tolerance": self.tolerance,
            "probe": self.probe,
            "recommended": self.chosen,
            "reason": self.reason,
            "command": self.command or None,
            "interrupted": self.interrupted,
            "time_scales": self.scales.data,
            "options": [option.data for option in self.options],
        }

    @property
    def sentence(self) -> str:
        """Return the recommendation and its reason in one sentence."""
        best = self.recommended
        if best is None:
            return self.reason
        return f"Run it {WAYS[best.name]}{_how(self.case, best)}: {self.reason}."

    def __repr__(self) -> str:
        best = self.recommended
        what = "nothing recommended" if best is None else f"{best.name}{_how(self.case, best)}"
        cost = (
            "" if best is None or best.seconds is None else f", about {wall_time(best.seconds)}".replace("\u00a0", " ")
        )
        return f"Advice({self.case.name!r}: {what}{cost})"

    def _repr_html_(self) -> str:
        rows = {"recommended": self.sentence, "command": self.command}
        for option in self.options:
            shown = [*figures(self.case, option), option.trust.label]
            rows[option.name] = "; ".join(shown) if option.feasible else option.why_not
        return table_of_words(f"Advice on {self.case.name}", rows)


WAYS = {
    "explicit": "unscaled with the explicit rule",
    "friction-implicit": "unscaled with implicit friction",
    "overdamped": "without inertia",
    "scaled": "scaled",
    "adaptive": "with joints that lock",
}
"""Phrases for the options in sentences."""


def arguments_of(case: Case, option: Option | None) -> list[str]:
    """Return the arguments of ``articulon run`` that name the case and select the option. File names are as given."""
    named = {**case.changes, **({} if option is None else option.changes)}
    found = [name_of(case)]
    for key, value in named.items():
        found += ["--set", f"{key}={value if isinstance(value, str) else inline(value)}"]
    return [*found, *(["--allow-code"] if case.allow_code else [])]


def name_of(case: Case) -> str:
    """Return how a command names a case: by the name of a built-in case, or by the path of its file."""
    from articulon.cases.library import built_in_cases

    known = built_in_cases()
    return case.name if case.name in known and str(known[case.name]) == case.source else case.source


def _how(case: Case, option: Option) -> str:
    """Return the integrator and the step of an option in words."""
    if option.step is None:
        return f" {option.rule}"
    step = suited(case.units, "time", option.step).text(option.step, 3)
    if option.name == "explicit":
        return f" {option.rule}, in steps of {step}" + ("" if option.equal_steps else " on average")
    return f", in steps of {step}" + ("" if option.equal_steps else " on average")


def figures(case: Case, option: Option) -> list[str]:
    """Step, number of steps, wall time and error of an option, in words; a dash for unknown values."""
    if not option.feasible:
        return ["–"] * 4
    step = "–"
    if option.step is not None:
        step = suited(case.units, "time", option.step).text(option.step, 3)
        step = step if option.equal_steps else f"~ {step}"
    steps = "–" if option.steps is None or not math.isfinite(option.steps) else number(round_to(option.steps, 3))
    wall = "–" if option.seconds is None else wall_time(option.seconds)
    wrong = option.trust.error
    error = "–" if wrong is None else f"< {percent(LEAST, 2)}" if wrong < LEAST else percent(wrong, 2)
    return [text.replace("\u00a0", " ").replace("\u202f", ",") for text in (step, steps, wall, error)]


def round_to(value: float, digits: int) -> float:
    """Round a positive number to a number of significant digits."""
    if value <= 0.0:
        return value
    return float(f"{value:.{digits}g}")
