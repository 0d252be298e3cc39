"""What can be said of a case with drag before it is run: how fast its bodies relax, what bounds the steps of an
explicit rule, and what scaling would save and cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from articulon.analysis.approach import Approach, approach_of
from articulon.analysis.run_models import case_and_model
from articulon.analysis.stiffness import stability_bound, stiffest
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.forces.brownian import fastest_relaxation, relaxation_times
from articulon.forces.selection import per_body
from articulon.forces.stokes_drag import StokesDrag
from articulon.integrate import Explicit
from articulon.integrate.rules import EXPLICIT
from articulon.model import Model
from articulon.scaling.error_controlled import aimed_at
from articulon.simulation.results import Run

TOLERANCE = 0.02
"""Of the lag, where none is asked for."""
MEAN_FREE_PATH = "0.3 nm"
"""λ of liquid water: about the distance of its molecules."""
CONTINUUM = 0.1
"""Knudsen number below which a body feels the medium as a continuum."""
RULE = "kutta-merson"
"""The explicit rule of a case whose own rule is none."""


@dataclass(frozen=True)
class Relaxation:
    """How fast one body relaxes."""

    body: str
    """Name of the body, or of the first of those that are welded together."""
    translation: float
    """τ = m/β [time], which is Guy's ε (2018, 2.6) in the unit of time of the case."""
    rotation: float
    """The shortest I/β_ω [time]; infinity for a body that does not turn against a drag."""
    knudsen: float | None = None
    """Kn = λ/L (Guy 2018, 2.21), with L the diameter; None where no radius is given, or lengths have no unit."""


@dataclass(frozen=True)
class Prediction:
    """What scaling would do to a case, along the way without inertia."""

    tolerance: float
    """Of the lag."""
    approach: Approach
    """That way."""
    a2: float
    """The least constant factor that is safe."""
    lag: float
    """Its predicted lag, relative to the whole time."""
    worst: str
    """Name of the part that is this late; empty where joints are kept."""
    controlled: float
    """The mean factor of the policy ``error-controlled``."""

    @property
    def savings(self) -> tuple[float, float]:
        """Parts of the steps of an explicit rule that a constant factor and ``error-controlled`` save."""
        return 1.0 - self.a2, 1.0 - self.controlled


@dataclass(frozen=True)
class RelaxationAnalysis:
    """What is found of a case without a thermostat."""

    case: Case
    """The case."""
    bodies: tuple[Relaxation, ...]
    """Those with drag, the fastest first."""
    stiffest: dict[str, float] = field(default_factory=dict)
    """The shortest time scale of each channel at the start [time]."""
    rule: str = RULE
    """The explicit rule that steps are given for."""
    step: float = math.inf
    """Its longest stable step, unscaled [time]."""
    prediction: Prediction | None = None
    """What scaling would do; None where no net force moves a floating body."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know."""
        thermostat = self.case.thermostat
        if thermostat is not None and not thermostat.deterministic:
            return (
                f"The thermostat '{getattr(thermostat, 'kind', '')}' is no force that a scaling policy could weigh: "
                "the case runs unscaled. Longer steps come from the rule friction-implicit, for molecules with drift "
                "= 'geodesic' and a larger model.hydrogen_mass.",
            )
        if not self.bodies:
            beside = " and no thermostat" if thermostat is None else ", and the thermostat's bodies are no particles"
            return (
                f"There is no drag{beside}: scaling all forces by a2 is only a clock, in which the motion is the "
                "unscaled one slower by √a2. No gain.",
            )
        about = "there is no thermostat here" if thermostat is None else "what is said here is of drag alone"
        return (
            *self._relaxing(),
            f"Guy's Cases I to III (2018, table 4.1) are of thermostatted particles; {about}.",
        )

    def _relaxing(self) -> tuple[str, ...]:
        """What drag means for scaling."""
        unit = self.case.units.symbols[2]
        fastest = min(self.bodies, key=lambda one: min(one.translation, one.rotation))
        slowest = max(self.bodies, key=lambda one: one.translation)
        least = min(fastest.translation, fastest.rotation)
        how = "rotation" if fastest.rotation < fastest.translation else "translation"
        notes = [
            f"Steps of an explicit rule are bounded by the {how} of '{fastest.body}', which relaxes in {least:.3g} "
            f"{unit}; a factor a2 lengthens every relaxation time, and with it the step, by 1/a2.",
            f"'{slowest.body}' relaxes slowest, in {slowest.translation:.3g} {unit}. A scaled run is late by about "
            f"{slowest.translation:.3g} {unit}/a2 times the rate at which the force on it changes: the fidelity "
            "section of a run says how late, and a comparison of variants how much it saves, also against the rule "
            "friction-implicit.",
        ]
        if math.isfinite(self.step):
            notes.append(
                f"The longest stable step of {self.rule} is {self.step:.3g} {unit} unscaled, and {self.step:.3g} "
                f"{unit}/a2 scaled."
            )
        coarse = [one.body for one in self.bodies if one.knudsen is not None and one.knudsen > CONTINUUM]
        if coarse:
            notes.append(
                f"Kn is above {CONTINUUM:g} for {len(coarse)} bodies ('{coarse[0]}' first): they are hardly larger "
                "than the molecules of the medium, and Stokes drag is an extrapolation."
            )
        return (*notes, self._scaling())

    def _scaling(self) -> str:
        found, unit = self.prediction, self.case.units.symbols[2]
        if found is None:
            return (
                "No net force moves a body that floats freely, or loops bind it: the lag of a scaled run cannot be "
                "predicted, and a2 is to be found by trial (compare runs that vary scaling.a2)."
            )
        end = "arrives after" if found.approach.arrives else "goes on for"
        constant, controlled = found.savings
        noise = ""
        if any(getattr(force, "kind", "") == "brownian" for force in self.case.forces):
            noise = " Noise changes the forces besides, which calls for larger factors than these."
        joints = "kept" if found.approach.motion is None else "free"
        late = f"'{found.worst}' is then" if found.worst else "it is then"
        way = "late" if found.lag >= 0.0 else "early"
        saved = [f"{100.0 * part:.4g} %" for part in (constant, controlled)]
        return (
            f"Without inertia and noise, its joints {joints}, the slowest body {end} {found.approach.duration:.3g} "
            f"{unit}. For a lag of {100.0 * found.tolerance:.3g} % of that: a constant a2 = {found.a2:.2g} ({late} "
            f"predicted to be {100.0 * abs(found.lag):.2g} % {way}), which saves {saved[0]} of an explicit rule's "
            f"steps, or the policy error-controlled, whose factor would be {found.controlled:.2g} in the mean and "
            f"saves {saved[1]}." + noise
        )


def analyse_relaxation(
    case: Case | Run, tolerance: float = TOLERANCE, mean_free_path: str | float = MEAN_FREE_PATH
) -> RelaxationAnalysis:
    """How fast the bodies of a case relax, and what scaling would do to it, without running it.

    Parameters
    ----------
    case
        The case, or a run of it.
    tolerance
        Lag of a scaled run, relative to its time.
    mean_free_path
        λ of the medium [length], for Knudsen numbers.
    """
    case, model = case_and_model(case)
    numbers = knudsen_numbers(model, mean_free_path)
    found = [
        Relaxation(model.names[int(model.head[link])], translation, rotation, numbers.get(link))
        for link, (translation, rotation) in relaxation_times(model).items()
    ]
    bodies = tuple(sorted(found, key=lambda one: min(one.translation, one.rotation, math.inf)))
    if not bodies:
        return RelaxationAnalysis(case, bodies)
    scales = stiffest(model)
    rule = case.integrator.rule if isinstance(case.integrator, Explicit) else RULE
    fastest = scales.get("damping", fastest_relaxation(model))
    return RelaxationAnalysis(
        case, bodies, scales, rule, stability_bound(EXPLICIT[rule]) * fastest, predict(case, tolerance)
    )


def predict(case: Case, tolerance: float) -> Prediction | None:
    """What scaling would do to a case within a tolerance; None where it cannot be foreseen."""
    try:
        approach = approach_of(case)
    except ArticulonError:
        return None
    if approach is None:
        return None
    a2 = approach.safe_factor(tolerance)
    worst, late = approach.worst(a2)
    return Prediction(
        tolerance, approach, a2, late / approach.duration, worst, approach.controlled(aimed_at(tolerance), 1e-4)
    )


def knudsen_numbers(model: Model, mean_free_path: str | float) -> dict[int, float]:
    """Kn = λ/2R of the links whose drag is given by a radius; none where lengths have no unit. Of several bodies on a
    link it is the largest."""
    if model.units.length is None:
        return {}
    path = model.units.value(mean_free_path, "length", "mean free path")
    found: dict[int, float] = {}
    for k, force in enumerate(model.forces):
        if isinstance(force, StokesDrag) and force.radius is not None:
            bodies, _, _ = force.coefficients(model, f"forces[{k}]")
            radii = per_body(model, force.radius, bodies, f"forces[{k}].radius")
            for body, radius in zip(bodies.tolist(), radii.tolist(), strict=True):
                link = int(model.link[body])
                if link >= 0 and radius > 0.0:
                    found[link] = max(found.get(link, 0.0), path / (2.0 * radius))
    return found
