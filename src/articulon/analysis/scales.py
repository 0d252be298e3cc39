"""Which scaling a case allows: what ``articulon analyse`` finds by short unscaled runs.

For a thermostatted case the procedure of Guy (2018, 4.6): Q such that the temperature of the standard thermostat swings
three times in the window, kd the smallest for which the modified one settles without swinging, a2 ≈ ε = 1/(kd ζ') in
the time scale at which the system is looked at. Which of his cases that is (table 4.1) follows from ζ and kd ζ'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.analysis.expected_temperatures import pushes
from articulon.analysis.run_models import case_and_model
from articulon.analysis.time_averages import first_frame
from articulon.cases.case import Case
from articulon.cases.simulated_model import simulated
from articulon.dynamics import kinetic_energy
from articulon.errors import CaseError
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import only_particles, site_positions
from articulon.integrate import FIXED
from articulon.model import Model
from articulon.simulation.minimisation import minimise
from articulon.simulation.results import Run
from articulon.simulation.run_request import Progress, Silent
from articulon.thermostats import ModifiedNoseHoover, NoseHoover
from articulon.thermostats.schedule import TemperatureTable
from articulon.time_scales.noise_windows import fitting_step

LARGE = 10.0**1.5
"""A term above this times the acceleration, in the unit of time, is large: table 4.1 has 1 for what is not and 10³ for
what is, and this lies half-way."""
SWINGS = 3.0
"""Periods of the standard thermostat's temperature in the window (4.6)."""
TIGHT = 0.5
"""Part of the canonical spread √(2/N) T that a settled temperature may have."""
CLOSE = 0.15
"""Relative error of a period that is close enough."""
FRAMES = 200
BEGINNING = 0.01
"""Part of the window that the case is run for as it stands, to leave its initial state."""
SETTLED = 0.25
"""Part of the window that a modified thermostat is watched for, which settles within some vibrations."""
HOT = 1.5
"""Kinetic temperature, of the target's, with which the standard thermostat begins, so that it swings."""
FINE = 0.1
"""Velocity Verlet's step times the fastest frequency of the forces then: what collides harder later is somewhat
stiffer, and kinetic energies are off by (h ω)²/12."""
SCALES = ("1 ps", "1 ns", "1 us")
"""Time scales of table 4.1."""
CASES = {
    "I": (0, "neither ζ nor kd ζ' is large: no scaling"),
    "II": (1, "kd ζ' is large and ζ is not: one scaling factor"),
    "III": (2, "ζ and kd ζ' are large: two scaling factors"),
}
"""Guy's cases: how many factors, and what they are."""


@dataclass(frozen=True)
class Terms:
    """How large the thermostat's terms are beside the acceleration, at a time scale."""

    label: str
    """The time scale."""
    zeta: float
    """Root mean square of ζ times the time scale."""
    rate: float
    """Root mean square of kd ζ' times the time scale."""

    @property
    def case(self) -> str:
        """Guy's case: I, II or III."""
        if self.rate < LARGE:
            return "I"
        return "II" if self.zeta < LARGE else "III"

    @property
    def borders(self) -> bool:
        """Whether twice or half of a term would make it another case."""
        return any(0.5 * LARGE < term < 2.0 * LARGE for term in (self.zeta, self.rate))

    @property
    def epsilon(self) -> float:
        """ε = 1/(kd ζ')."""
        return 1.0 / self.rate if self.rate > 0.0 else math.inf


@dataclass(frozen=True)
class Stretch:
    """A short unscaled run under a thermostat of one ζ."""

    what: str
    """What it was made for."""
    mass: float
    """Q [energy time²]."""
    gain: float
    """kd [time]; 0 for the standard thermostat."""
    duration: float
    """[time]."""
    zeta: float
    """Root mean square of ζ, settled [1/time]."""
    rate: float
    """Root mean square of kd ζ', settled [1/time]."""
    spread: float
    """Standard deviation of the kinetic temperature, settled [temperature]."""
    period: float
    """Of the swinging of ζ [time]."""
    push: float
    """Standard deviation of q'ᵀΓ/q'ᵀMq' [1/time]."""


@dataclass(frozen=True)
class Proposal:
    """Constants by the procedure of Guy (2018, 4.6)."""

    mass: float
    """Q [energy time²]."""
    gain: float
    """kd [time]."""
    a2: float
    """The first guess ε of the scaling factor, at most 1."""


@dataclass(frozen=True)
class ThermostatAnalysis:
    """What is found of a thermostatted case."""

    case: Case
    """The case."""
    temperature: float
    """Td [temperature]."""
    degrees_of_freedom: int
    """N."""
    window: float
    """The time that is looked at [time]."""
    stretches: tuple[Stretch, ...]
    """The runs."""
    scales: tuple[Terms, ...]
    """The terms at the time scales of table 4.1, and at the chosen one last."""
    proposal: Proposal
    """What follows."""
    notes: tuple[str, ...] = field(default=())
    """What to know."""

    @property
    def chosen(self) -> Terms:
        """The terms at the chosen time scale."""
        return self.scales[-1]

    @property
    def canonical(self) -> float:
        """√(2/N) Td [temperature]."""
        return self.temperature * math.sqrt(2.0 / self.degrees_of_freedom)


def analyse_thermostat(
    case: Case | Run,
    time_scale: float | str | None = None,
    window: float | str | None = None,
    progress: Progress | None = None,
) -> ThermostatAnalysis:
    """Runs a case of thermostatted free particles unscaled for short times, and says how it may be scaled.

    Parameters
    ----------
    case
        The case, or a run of it; its thermostat's Q and kd, where it has them, are where the search begins.
    time_scale
        At which the system is looked at [time]; the unit of time of the case by default.
    window
        The time in which the temperature is to swing three times [time]; the duration of the case by default.
    progress
        Told what is being run.

    Raises
    ------
    CaseError
        For a case without a thermostat, or whose bodies are no free particles.
    """
    case, model = case_and_model(case)
    shown, units = Silent() if progress is None else progress, case.units
    thermostat = case.thermostat
    if thermostat is None or not only_particles(model):
        raise CaseError(f"{case.source}: this is no case of free particles with a thermostat")
    span = float(case.run.duration) if window is None else units.value(window, "time", "window")
    chosen = 1.0 if time_scale is None else units.value(time_scale, "time", "time_scale")
    given = thermostat.temperature
    temperature = float(given.values[0] if isinstance(given, TemperatureTable) else given)
    degrees_of_freedom = thermostat.degrees_of_freedom(model)
    if temperature <= 0.0:
        raise CaseError(f"{case.source}: thermostat.temperature: nothing swings at a temperature of 0")
    look = _Look(case, model, temperature, degrees_of_freedom, span, shown)
    wanted, thermal = span / SWINGS, degrees_of_freedom * units.boltzmann * temperature
    stretches: list[Stretch] = []
    masses = thermostat.table(model, 0).masses
    mass = float(masses[0]) if masses.size == 1 else 2.0 * thermal * (wanted / (2.0 * math.pi)) ** 2
    if isinstance(thermostat, ModifiedNoseHoover):
        stretches.append(look("the case as it stands", mass, float(thermostat.derivative_gain), SETTLED * span))
    for _ in range(2):
        found = look("the standard thermostat", mass, 0.0, span)
        stretches.append(found)
        if abs(found.period / wanted - 1.0) <= CLOSE:
            break
        mass *= (wanted / found.period) ** 2
    settles = wanted / math.pi
    tightens = found.push * mass / (TIGHT * math.sqrt(2.0 / degrees_of_freedom) * thermal)
    gain = max(settles, tightens)
    stretches.append(look("the proposed constants", mass, gain, SETTLED * span))
    # The case as it stands, where it has the terms that table 4.1 is about; else what is proposed.
    basis = stretches[0] if stretches[0].gain > 0.0 else stretches[-1]
    scales = tuple(_terms(basis, *named) for named in _named_scales(units, chosen))
    epsilon = 1.0 / (stretches[-1].rate * chosen) if stretches[-1].rate > 0.0 else 1.0
    proposal = Proposal(mass, gain, min(1.0, epsilon))
    return ThermostatAnalysis(
        case,
        temperature,
        degrees_of_freedom,
        span,
        tuple(stretches),
        scales,
        proposal,
        _notes(temperature, proposal, scales[-1]),
    )


def _terms(stretch: Stretch, label: str, scale: float) -> Terms:
    return Terms(label, stretch.zeta * scale, stretch.rate * scale)


def _named_scales(units: Any, chosen: float) -> list[tuple[str, float]]:
    """Time scales by their label, the chosen one last [time]."""
    if units.mass is None:
        return [(f"{chosen:g}", chosen)]
    named = [(text, units.value(text, "time", "time scale")) for text in SCALES]
    others = [(text, scale) for text, scale in named if not math.isclose(scale, chosen, rel_tol=1e-9)]
    return [*others, (f"{chosen:g} {units.symbols[2]}", chosen)]


def _notes(temperature: float, proposal: Proposal, chosen: Terms) -> tuple[str, ...]:
    count, words = CASES[chosen.case]
    near = " A term is within a factor of 2 of the border, where his table names no case." if chosen.borders else ""
    notes = [f"Case {chosen.case} of Guy (2018, table 4.1) at {chosen.label}: {words}.{near}"]
    if count == 0:
        notes.append("At this time scale his analysis allows no scaling: run the case unscaled, with policy = 'none'.")
        return tuple(notes)
    notes.append(
        f"The published form (policy = 'atomistic', a2 = {proposal.a2:.2g}) keeps the kinetic temperature and samples "
        f"positions at Td/a2 = {temperature / proposal.a2:,.0f}, not at {temperature:g}: what it shows is another "
        "system, hotter by 1/a2. The summary of a run reports the configurational temperature."
    )
    notes.append(
        "The consistent form (policy = 'atomistic-clock') keeps the configuration and is the unscaled motion in a "
        "clock slower by √a2: no gain for equal physical times."
    )
    return tuple(notes)


class _Look:
    """Makes the short runs, each from where the one before has ended, and measures them."""

    def __init__(
        self, case: Case, model: Model, temperature: float, degrees_of_freedom: int, span: float, shown: Progress
    ) -> None:
        self.case, self.model, self.temperature, self.degrees_of_freedom, self.shown = (
            case,
            model,
            temperature,
            degrees_of_freedom,
            shown,
        )
        self.evaluator = Evaluator(model)
        shown.message("leaving the initial state")
        start = minimise(model, temperature=temperature) if case.run.minimise else model.q0
        own = case.integrator.model_dump(exclude_none=True)
        if isinstance(case.integrator, FIXED):
            own["step"] = fitting_step(BEGINNING * span, float(own["step"]))
        begun = simulated(model, BEGINNING * span, thermostat=case.thermostat, frames=1, q=start, **own)
        self.q, self.u = begun.q[-1], begun.u[-1]
        fastest, given = fastest_frequency(self.evaluator, self.q), getattr(case.integrator, "step", None)
        # Where nothing collides just then, frequencies of the thermostat remain.
        self.step = min(FINE / fastest if fastest > 0.0 else math.inf, float(given or math.inf), FINE * span / FRAMES)

    def __call__(self, what: str, mass: float, gain: float, duration: float) -> Stretch:
        unit, given = self.case.units.symbols[2], self.case.thermostat
        settings: dict[str, Any] = {"temperature": self.temperature, "mass": mass}
        settings["centre_of_mass"] = "free" if given is None else given.centre_of_mass
        thermostat = ModifiedNoseHoover(**settings, derivative_gain=gain) if gain > 0.0 else NoseHoover(**settings)
        self.shown.message(
            f"{what}: Q = {mass:.4g}, kd = {gain:.4g}, {duration:.4g} {unit} unscaled in steps of {self.step:.2g}"
        )
        u = self.u
        if gain == 0.0:
            thermal = self.degrees_of_freedom * self.model.units.boltzmann * self.temperature
            u = u * math.sqrt(HOT * thermal / (2.0 * kinetic_energy(self.model, self.q, u)))
        done = simulated(
            self.model,
            duration,
            rule="velocity-verlet",
            step=fitting_step(duration / FRAMES, self.step),
            frames=FRAMES,
            thermostat=thermostat,
            q=self.q,
            u=u,
        )
        self.q, self.u = done.q[-1], done.u[-1]
        return self._measured(what, mass, gain, duration, done)

    def _measured(self, what: str, mass: float, gain: float, duration: float, done: Run) -> Stretch:
        # A thermostat that settles does so early; one that swings does so all along.
        late = slice(first_frame(len(done.times), 0.25), None)
        thermal = self.degrees_of_freedom * self.model.units.boltzmann
        zeta, temperatures = done.observables["thermostat_zeta"], 2.0 * done.kinetic_energy / thermal
        rate = gain * thermal * (temperatures - self.temperature) / mass
        return Stretch(
            what,
            mass,
            gain,
            duration,
            float(np.sqrt((zeta[late] ** 2).mean())),
            float(np.sqrt((rate[late] ** 2).mean())),
            float(temperatures[late].std()),
            swing(done.times, zeta),
            float(pushes(self.evaluator, done.q[late], done.u[late]).std()),
        )


def fastest_frequency(evaluator: Evaluator, q: np.ndarray, turns: int = 20) -> float:
    """ω of the fastest vibration of free particles about q [1/time], 0 where no force changes there: the root of the
    largest eigenvalue of M⁻¹ ∂²Φ, by power iteration with differences of forces."""
    model = evaluator.model
    places = site_positions(model, q)
    masses = model.masses[:, None]
    size = 1e-6 * float(np.ptp(places, axis=0).max())
    way = np.random.default_rng(0).normal(size=places.shape)
    found = 0.0
    for _ in range(turns):
        way *= size / np.abs(way).max()
        change = (evaluator.on_sites(places - way) - evaluator.on_sites(places + way)) / (2.0 * masses)
        if not change.any():
            return 0.0
        found = float(np.linalg.norm(change) / np.linalg.norm(way))
        way = change
    return math.sqrt(found)


def swing(times: np.ndarray, values: np.ndarray) -> float:
    """Period of the sinusoid about a constant that fits values best, from four frames to twice the times' length
    [time]."""
    length = float(times[-1] - times[0])
    best, found = math.inf, length
    for cycles in np.linspace(0.5, times.size / 8.0, 40 * times.size // 8):
        angle = 2.0 * math.pi * cycles * (times - times[0]) / length
        basis = np.stack([np.ones_like(angle), np.cos(angle), np.sin(angle)], axis=1)
        rest = values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]
        error = float(rest @ rest)
        if error < best:
            best, found = error, length / float(cycles)
    return found
