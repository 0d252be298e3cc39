"""What advice consists of: the ways to run a case, what each costs, and how far it can be trusted."""

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
"""The ways to run a case, those of fewer approximations first."""


CHECK = "a check of the case does not pass"
"""How the words of a trust begin that a check has lowered."""
LEAST = 1e-4
"""Errors below this are not told apart."""


@dataclass(frozen=True)
class Trust:
    """How far the results of an option can be trusted."""

    verdict: str
    """``trusted``, ``suspect``, ``violated`` or ``inconclusive``, by the bounds of a verdict on a scaled run."""
    error: float | None
    """What is expected to be wrong, as a part of what one observes; None where nothing was found that tells."""
    words: str
    """What the error is of, and how it is known."""


@dataclass(frozen=True)
class Option:
    """One way to run a case."""

    name: str
    """One of ``explicit``, ``friction-implicit``, ``overdamped``, ``scaled`` and ``adaptive``."""
    feasible: bool
    """Whether a run would take it, and it would gain or mean anything."""
    why_not: str = ""
    """Why it is not feasible."""
    rule: str = ""
    """Name of the integration rule."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the case and the values that choose this option; those that the case has already are left out."""
    step: float | None = None
    """The step, or its mean where the rule chooses its steps [time]."""
    equal_steps: bool = True
    """Whether all steps are equal."""
    steps: float | None = None
    """Steps of the whole run, those that are rejected left out."""
    seconds: float | None = None
    """Wall time of the whole run on this machine, without compiling [s]."""
    seconds_per_step: float | None = None
    """Of a step, its frames left out [s]."""
    busy: float = 1.0
    """Processor time over wall time while its cost was measured: below 1 other programs had a part of the machine."""
    measured_to: float = 0.0
    """How far into the run its cost was measured [time]."""
    bound: str = ""
    """What bounds the step, in words."""
    trust: Trust = Trust("inconclusive", None, "not measured")
    """How far it can be trusted."""

    @property
    def measured(self) -> bool:
        """Whether its cost is known."""
        return self.feasible and self.seconds is not None

    @property
    def data(self) -> dict[str, Any]:
        """Its figures as plain numbers and words."""
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
            "trust": {"verdict": self.trust.verdict, "error": self.trust.error, "words": self.trust.words},
        }


@dataclass(frozen=True)
class Advice:
    """How to run a case, by a short unscaled probe of it. Made by :func:`articulon.advise`."""

    case: Case
    """The case."""
    tolerance: float
    """Error that is allowed, relative to what one observes."""
    scales: CaseTimeScales
    """Its time scales."""
    probe: float
    """Length of the probe [time]."""
    options: tuple[Option, ...]
    """The ways to run it."""
    chosen: str | None = None
    """Name of the one that is recommended; None where none is known to do."""
    reason: str = ""
    """Why, in one sentence."""
    interrupted: bool = False
    """Whether it was broken off, so that options may not have been measured."""

    @property
    def recommended(self) -> Option | None:
        """The option that is recommended; None where none is known to do."""
        return next((option for option in self.options if option.name == self.chosen), None)

    def option(self, name: str) -> Option:
        """The option with a name."""
        return next(option for option in self.options if option.name == name)

    @property
    def grains(self) -> bool:
        """Whether bodies touch, so that a step costs more the more contacts there are."""
        return math.isfinite(self.scales.contact)

    @property
    def arguments(self) -> list[str]:
        """Arguments of ``articulon run`` that run the recommended option."""
        return arguments_of(self.case, self.recommended)

    @property
    def command(self) -> str:
        """The command that runs the recommended option; empty where there is none."""
        return join(["articulon", "run", *self.arguments]) if self.recommended is not None else ""

    @property
    def data(self) -> dict[str, Any]:
        """All figures, as ``articulon advise --json`` prints them; times in the unit of the case."""
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
        """The recommendation in one sentence, with its reason."""
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
            rows[option.name] = option.why_not if not option.feasible else "; ".join(figures(self.case, option))
        return table_of_words(f"Advice on {self.case.name}", rows)


WAYS = {
    "explicit": "unscaled by the explicit rule",
    "friction-implicit": "unscaled with the friction taken implicitly",
    "overdamped": "without inertia",
    "scaled": "scaled",
    "adaptive": "with joints that lock",
}
"""How the options are called in sentences."""


def arguments_of(case: Case, option: Option | None) -> list[str]:
    """The case and the arguments that choose an option; names of files as they were given."""
    named = {**case.changes, **({} if option is None else option.changes)}
    found = [name_of(case)]
    for key, value in named.items():
        found += ["--set", f"{key}={value if isinstance(value, str) else inline(value)}"]
    return [*found, *(["--allow-code"] if case.allow_code else [])]


def name_of(case: Case) -> str:
    """What a command calls a case: the name of a built-in one, the path of any other."""
    from articulon.cases.library import built_in_cases

    known = built_in_cases()
    return case.name if case.name in known and str(known[case.name]) == case.source else case.source


def _how(case: Case, option: Option) -> str:
    """Rule and step of an option, in words."""
    if option.step is None:
        return f" {option.rule}"
    step = suited(case.units, "time", option.step).text(option.step, 3)
    if option.name == "explicit":
        return f" {option.rule}, in steps of {step}" + ("" if option.equal_steps else " on average")
    return f", in steps of {step}" + ("" if option.equal_steps else " on average")


def figures(case: Case, option: Option) -> list[str]:
    """Step, steps, wall time and error of an option, in words; a dash for what is not known."""
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
    """A positive number with so many significant digits."""
    if value <= 0.0:
        return value
    return float(f"{value:.{digits}g}")
