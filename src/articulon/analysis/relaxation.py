"""What can be said of a case with drag before it is run: how fast its bodies relax, and what that does to steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from articulon.cases.case import Case
from articulon.forces.brownian import relaxation_times


@dataclass(frozen=True)
class Relaxation:
    """How fast one body relaxes."""

    body: str
    """Name of the body, or of the first of those that are welded together."""
    translation: float
    """τ = m/β [time]."""
    rotation: float
    """The shortest I/β_ω [time]; infinity for a body that does not turn against a drag."""


@dataclass(frozen=True)
class RelaxationAnalysis:
    """What is found of a case without a thermostat."""

    case: Case
    """The case."""
    bodies: tuple[Relaxation, ...]
    """Those with drag, the fastest first."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know."""
        if not self.bodies:
            return (
                "There is no drag and no thermostat: scaling all forces by a2 is only a clock, in which the motion is "
                "the unscaled one slower by √a2. No gain.",
            )
        unit = self.case.units.symbols[2]
        fastest = min(self.bodies, key=lambda one: min(one.translation, one.rotation))
        slowest = max(self.bodies, key=lambda one: one.translation)
        least = min(fastest.translation, fastest.rotation)
        how = "rotation" if fastest.rotation < fastest.translation else "translation"
        return (
            f"Steps of an explicit rule are bounded by the {how} of '{fastest.body}', which relaxes in {least:.3g} "
            f"{unit}; a factor a2 lengthens every relaxation time, and with it the step, by 1/a2.",
            f"'{slowest.body}' relaxes slowest, in {slowest.translation:.3g} {unit}. A scaled run is late by about "
            f"{slowest.translation:.3g} {unit}/a2 times the rate at which the force on it changes: the fidelity "
            "section of a run says how late, and articulon compare how much it saves, also against the rule "
            "friction-implicit.",
            "Guy's Cases I to III (2018, table 4.1) are of thermostatted particles; there is no thermostat here.",
        )


def analyse_relaxation(case: Case) -> RelaxationAnalysis:
    """How fast the bodies of a case relax, from its masses and its drag, without running it."""
    model = case.build_model()
    found = [
        Relaxation(model.names[int(model.head[link])], translation, rotation)
        for link, (translation, rotation) in relaxation_times(model).items()
    ]
    return RelaxationAnalysis(case, tuple(sorted(found, key=lambda one: min(one.translation, one.rotation, math.inf))))
