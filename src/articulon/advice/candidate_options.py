"""Changes of a case that select each option, and reasons why an option is not available: incompatible features first,
then reasons of physics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from articulon.advice.advised_options import Option
from articulon.advice.case_time_scales import CaseTimeScales
from articulon.advice.subject import Subject
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.integrate import FIXED, Explicit
from articulon.integrate.integrators import Controlled
from articulon.thermostats.base import OVERDAMPS

LONG = 2000.0
"""Length of a run with conservative forces above which a symplectic integrator is chosen, in times 1/ω of the fastest
vibration. Its energy does not drift, while the energy of other integrators drifts in proportion to the time."""
OF_PARTICLES = "ermak-mccammon"
"""Integrator without inertia for free particles with friction from a thermostat."""
PLACEHOLDER = 1e-3
"""Placeholder for a step that is not known yet, as a fraction of the time between frames."""


class Candidate(NamedTuple):
    """An option before anything is measured."""

    name: str
    """Name of the option, one of :data:`articulon.advice.advised_options.NAMES`."""
    changes: Mapping[str, Any]
    """Changes of the case that select the option, without the step."""
    case: Case | None
    """Case with these changes, from the state of the subject, with a placeholder step."""
    why_not: str = ""
    """Reason why the option is not available."""

    @property
    def rule(self) -> str:
        """Name of the integrator; if the option is not available, the requested integrator."""
        return str(self.changes.get("integrator.rule", "") if self.case is None else self.case.integrator.rule)

    @property
    def refused(self) -> Option:
        """Return the option, marked as not feasible."""
        return Option(self.name, False, self.why_not, self.rule, changes=self.changes)

    @property
    def equal_steps(self) -> bool:
        """Whether the integrator takes steps of a given length."""
        assert self.case is not None
        return isinstance(self.case.integrator, FIXED) or getattr(self.case.integrator, "step", None) is not None

    def with_step(self, step: float) -> Case:
        """Return the case with a given step [time]."""
        assert self.case is not None
        return replace(self.case, integrator=self.case.integrator.model_copy(update={"step": step}))

    def tighter(self, factor: float) -> Case:
        """Return the case with its tolerances multiplied by a factor."""
        assert self.case is not None
        if factor == 1.0:
            return self.case
        integrator: Any = self.case.integrator
        rtol, atol = ({"rtol": integrator.rtol, "atol": integrator.atol}[key] for key in ("rtol", "atol"))
        return replace(
            self.case,
            integrator=integrator.model_copy(update={"rtol": _times(rtol, factor), "atol": _times(atol, factor)}),
        )


def _times(tolerance: Any, factor: float) -> Any:
    """Multiply a tolerance, or the tolerance of each kind of variable, by a factor. The result is at least the size of
    rounding errors."""
    if isinstance(tolerance, int | float):
        return max(float(tolerance) * factor, 3e-14) if tolerance else tolerance
    found = {k: v if v is None else max(float(v) * factor, 3e-14) for k, v in tolerance.model_dump().items()}
    return tolerance.model_copy(update=found)


def unscaled(case: Case) -> dict[str, Any]:
    """Return the changes that remove scaling and locking from a case."""
    changes: dict[str, Any] = {}
    if case.scaling.scales:
        changes["scaling.policy"] = "none"
    if case.adaptive is not None and case.adaptive.on:
        changes["adaptive.on"] = False
    return changes


def of_rule(subject: Subject, rule: str) -> dict[str, Any]:
    """Return the changes that select an integrator; its settings in the case are kept."""
    own, changes = subject.case.integrator, unscaled(subject.case)
    if str(own.rule) == rule:
        return changes
    changes["integrator.rule"] = rule
    if rule not in _CONTROLLED:
        changes["integrator.step"] = PLACEHOLDER * float(subject.case.run.interval)
    return changes


_CONTROLLED = ("kutta-merson", "dormand-prince", "runge-kutta-fehlberg")
"""Explicit integrators that choose their steps by an error estimate."""


def candidate_option(subject: Subject, name: str, changes: Mapping[str, Any]) -> Candidate:
    """Return the option with the given changes. If its features are incompatible, the option contains the reason."""
    try:
        case = subject.changed(changes)
    except ArticulonError as error:
        return Candidate(name, changes, None, _plain(str(error), subject))
    refused = subject.refusal(case)
    return Candidate(name, changes, None if refused else case, refused)


def _plain(message: str, subject: Subject) -> str:
    """Return the first line of an error message, without the name of the file."""
    return message.splitlines()[0].removeprefix(f"{subject.case.source}: ").removesuffix(" (set by an override)")


def explicit_rules(subject: Subject, scales: CaseTimeScales) -> list[str]:
    """Return the explicit integrators in the order in which they are tried."""
    own = subject.case.integrator
    if subject.touches or subject.particles:
        return ["velocity-verlet", "kutta-merson"]
    if isinstance(own, Explicit):
        return [str(own.rule)]
    periods = scales.duration / (2.0 * math.pi * scales.vibration)
    if subject.conservative and periods > LONG:
        return ["velocity-verlet", "dormand-prince"]
    return ["kutta-merson" if subject.noisy else "dormand-prince"]


def explicit(subject: Subject, scales: CaseTimeScales) -> Candidate:
    """Return the unscaled option with an explicit integrator: velocity Verlet for contacts, particles, or long runs
    under conservative forces; otherwise an integrator that chooses its steps by their error."""
    candidates = [
        candidate_option(subject, "explicit", of_rule(subject, rule)) for rule in explicit_rules(subject, scales)
    ]
    return next((one for one in candidates if one.case is not None), candidates[0])


def friction_implicit(subject: Subject) -> Candidate:
    """Return the unscaled option with implicit friction."""
    return candidate_option(subject, "friction-implicit", of_rule(subject, "friction-implicit"))


def overdamped(subject: Subject) -> Candidate:
    """Return the option without inertia."""
    thermostat = subject.case.thermostat
    if subject.particles and thermostat is not None and thermostat.way == OVERDAMPS:
        return candidate_option(subject, "overdamped", of_rule(subject, OF_PARTICLES))
    found = candidate_option(subject, "overdamped", of_rule(subject, "overdamped"))
    if found.case is not None and not subject.drag:
        why = "there is no drag, and without drag only inertia determines the motion"
        return Candidate("overdamped", found.changes, None, why)
    return found


def scaled(subject: Subject, a2: float) -> Candidate:
    """Return the option in which all forces except inertia are multiplied by one factor, with an integrator that
    chooses its steps."""
    own = subject.case.integrator
    rule = str(own.rule) if isinstance(own, Controlled) and isinstance(own, Explicit) else "kutta-merson"
    found = _scaled_by(subject, rule, a2)
    if found.case is None:
        # If another integrator is refused too, scaling itself is incompatible, and the reason for this is more
        # informative.
        other = _scaled_by(subject, "velocity-verlet" if subject.touches else "friction-implicit", a2)
        return found if other.case is not None else other
    if subject.drag:
        return found
    why = (
        "there is no drag: with all forces scaled by a2 the motion is the unscaled one, slower by √a2, and nothing is "
        "gained"
    )
    if subject.case.thermostat is not None:
        why += "; with a thermostat at the unscaled target it samples positions at T/a2"
    return Candidate("scaled", found.changes, None, why)


def _scaled_by(subject: Subject, rule: str, a2: float) -> Candidate:
    """Return the option in which all forces except inertia are multiplied by one factor, with a given integrator."""
    changes: dict[str, Any] = of_rule(subject, rule)
    changes.pop("scaling.policy", None)
    return candidate_option(subject, "scaled", {**changes, "scaling.policy": "constant", "scaling.a2": a2})


def adaptive(subject: Subject) -> Candidate | None:
    """Return the option that locks the joints and modes named in the case; None if it names none."""
    case = subject.case
    if case.adaptive is None:
        return None
    changes: dict[str, Any] = {} if case.adaptive.on else {"adaptive.on": True}
    if case.scaling.scales:
        changes["scaling.policy"] = "none"
    return candidate_option(subject, "adaptive", changes)


def quiet_joints(subject: Subject, reach: Mapping[str, float], tolerance: float, every: float) -> Candidate:
    """Return the option in which joints that hardly rotated in the probe are locked.

    Parameters
    ----------
    subject
        The subject.
    reach
        Rotation of the joint of each body, by the body's name [rad], for joints that can be locked separately.
    tolerance
        Allowed error. A joint that rotates by a smaller angle [rad] is locked. This angle is the displacement of the
        far end of the body, relative to its size.
    every
        Time between decisions [time].
    """
    if not reach:
        return Candidate("adaptive", {}, None, "no joint between two bodies rotates freely, so that none can be locked")
    quiet = sorted(name for name, angle in reach.items() if angle < tolerance)
    if 2 * len(quiet) < len(reach):
        worst = max(reach, key=lambda name: reach[name])
        why = (
            f"{len(reach) - len(quiet)} of {len(reach)} joints rotate by more than {tolerance:.2g} rad in the probe, "
            f"that of '{worst}' by {reach[worst]:.2g} rad: "
            + ("locking the others would save less than half" if quiet else "there are no others to lock")
        )
        return Candidate("adaptive", {}, None, why)
    group = {"name": "quiet", "bodies": quiet, "lock": {"when": "schedule", "times": [0.0]}}
    changes = unscaled(subject.case) | {"adaptive": {"every": every, "groups": [group]}}
    return candidate_option(subject, "adaptive", changes)
