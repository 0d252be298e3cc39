"""Analysis of a case with drag before a run: relaxation times of its bodies, the longest stable step of an explicit
integrator, and the predicted benefit and error of scaling."""

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
"""Default tolerance of the lag."""
MEAN_FREE_PATH = "0.3 nm"
"""Mean free path λ in liquid water, which is about the distance between water molecules."""
CONTINUUM = 0.1
"""Knudsen number below which the medium acts as a continuum."""
RULE = "kutta-merson"
"""Explicit integrator assumed for a case whose own integrator is not explicit."""


@dataclass(frozen=True)
class Relaxation:
    """Relaxation of one body."""

    body: str
    """Name of the body, or of the first of several welded bodies."""
    translation: float
    """Relaxation time τ = m/β [time]. As a number in the unit of time of the case, it is ε of Guy (2018, eq. 2.6)."""
    rotation: float
    """Shortest relaxation time I/β_ω of rotation [time]; infinity for a body without rotational drag."""
    knudsen: float | None = None
    """Knudsen number Kn = λ/L (Guy 2018, 2.21), with L the diameter; None if no radius is given, or lengths have no
    unit."""


@dataclass(frozen=True)
class Prediction:
    """Effect of scaling on a case, predicted along its motion without inertia."""

    tolerance: float
    """Tolerance of the lag."""
    approach: Approach
    """Motion without inertia."""
    a2: float
    """Smallest constant factor whose lag is within the tolerance."""
    lag: float
    """Predicted lag, relative to the whole duration."""
    worst: str
    """Name of the part with this lag; empty if joints keep their initial coordinates."""
    controlled: float
    """Mean factor of the policy ``error-controlled``."""

    @property
    def savings(self) -> tuple[float, float]:
        """Return the fractions of the steps of an explicit integrator that are saved by the constant factor and by the
        policy ``error-controlled``."""
        return 1.0 - self.a2, 1.0 - self.controlled


@dataclass(frozen=True)
class RelaxationAnalysis:
    """Results for a case without a thermostat."""

    case: Case
    """The case."""
    bodies: tuple[Relaxation, ...]
    """Bodies with drag, the fastest first."""
    stiffest: dict[str, float] = field(default_factory=dict)
    """Shortest time scale of each channel at the start [time]."""
    rule: str = RULE
    """Explicit integrator for which ``step`` is given."""
    step: float = math.inf
    """Longest stable step of this integrator without scaling [time]."""
    prediction: Prediction | None = None
    """Predicted effect of scaling; None if no net force moves a floating body."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user."""
        thermostat = self.case.thermostat
        if thermostat is not None and not thermostat.deterministic:
            return (
                f"The thermostat '{getattr(thermostat, 'kind', '')}' is not a force that a scaling policy could scale: "
                "the case runs unscaled. For longer steps use the rule friction-implicit, for molecules with drift "
                "= 'geodesic' and a larger model.hydrogen_mass.",
            )
        if not self.bodies:
            beside = " and no thermostat" if thermostat is None else ", and the thermostat's bodies are not particles"
            return (
                f"There is no drag{beside}: scaling all forces by a2 only changes the clock; the motion is the "
                "unscaled one, slower by √a2. No gain.",
            )
        about = "there is no thermostat here" if thermostat is None else "these results concern drag alone"
        return (
            *self._relaxing(),
            f"Guy's Cases I to III (2018, table 4.1) concern thermostatted particles; {about}.",
        )

    def _relaxing(self) -> tuple[str, ...]:
        """Return notes on what the drag means for scaling."""
        unit = self.case.units.symbols[2]
        fastest = min(self.bodies, key=lambda one: min(one.translation, one.rotation))
        slowest = max(self.bodies, key=lambda one: one.translation)
        least = min(fastest.translation, fastest.rotation)
        how = "rotation" if fastest.rotation < fastest.translation else "translation"
        notes = [
            f"Steps of an explicit rule are limited by the {how} of '{fastest.body}', which relaxes in {least:.3g} "
            f"{unit}; a factor a2 lengthens every relaxation time, and with it the step, by 1/a2.",
            f"'{slowest.body}' relaxes slowest, in {slowest.translation:.3g} {unit}. The delay of a scaled run is "
            f"about {slowest.translation:.3g} {unit}/a2 times the relative rate of change of the force on it. The "
            "fidelity section of a run reports the delay, and a comparison of variants the saving, also relative to "
            "the rule friction-implicit.",
        ]
        if math.isfinite(self.step):
            notes.append(
                f"The longest stable step of {self.rule} is {self.step:.3g} {unit} unscaled, and {self.step:.3g} "
                f"{unit}/a2 scaled."
            )
        coarse = [one.body for one in self.bodies if one.knudsen is not None and one.knudsen > CONTINUUM]
        if coarse:
            notes.append(
                f"Kn is above {CONTINUUM:g} for {len(coarse)} bodies (the first is '{coarse[0]}'): they are hardly "
                "larger than the molecules of the medium, and Stokes drag is an extrapolation."
            )
        return (*notes, self._scaling())

    def _scaling(self) -> str:
        found, unit = self.prediction, self.case.units.symbols[2]
        if found is None:
            return (
                "No net force moves a freely floating body, or loops constrain it: the lag of a scaled run cannot be "
                "predicted, and a2 must be found by trial (compare runs that vary scaling.a2)."
            )
        end = "arrives after" if found.approach.arrives else "moves for"
        constant, controlled = found.savings
        noise = ""
        if any(getattr(force, "kind", "") == "brownian" for force in self.case.forces):
            noise = " Noise also changes the forces and requires larger factors than these."
        joints = "kept" if found.approach.motion is None else "free"
        late = f"'{found.worst}' is then" if found.worst else "it is then"
        way = "late" if found.lag >= 0.0 else "early"
        saved = [f"{100.0 * part:.4g} %" for part in (constant, controlled)]
        return (
            f"Without inertia and noise, its joints {joints}, the slowest body {end} {found.approach.duration:.3g} "
            f"{unit}. For a lag of {100.0 * found.tolerance:.3g} % of that: a constant a2 = {found.a2:.2g} ({late} "
            f"predicted to be {100.0 * abs(found.lag):.2g} % {way}) saves {saved[0]} of an explicit rule's steps; the "
            f"policy error-controlled, with a mean factor of {found.controlled:.2g}, saves {saved[1]}." + noise
        )


def analyse_relaxation(
    case: Case | Run, tolerance: float = TOLERANCE, mean_free_path: str | float = MEAN_FREE_PATH
) -> RelaxationAnalysis:
    """Analyse the relaxation of the bodies of a case and the effect of scaling, without running it.

    Parameters
    ----------
    case
        The case, or a run of it.
    tolerance
        Allowed lag of a scaled run, relative to its duration.
    mean_free_path
        Mean free path λ of the medium [length], for Knudsen numbers.
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
    """Predict the effect of scaling a case with a lag within ``tolerance``; None if it cannot be predicted."""
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
    """Return the Knudsen numbers Kn = λ/2R of links with a drag radius, by index of the link.

    For a link of several bodies, it is the largest Knudsen number among the bodies. The result is empty if lengths have
    no unit.
    """
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
