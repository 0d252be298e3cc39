"""Analysis of how much scaling a thermostatted case allows, from short unscaled runs (``articulon analyse``).

The procedure is that of Guy (2018, 4.6). The thermostat mass Q is chosen such that the temperature under the standard
thermostat oscillates three times in the window. The derivative gain kd is the smallest one for which the temperature
under the modified thermostat settles without oscillation. With the friction coefficient ζ of the thermostat, a2 is then
about ε = 1/(kd ζ') at the time scale of interest. The values of ζ and kd ζ' select one of Guy's cases (table 4.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.analysis.expected_temperatures import relative_powers
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
"""Ratio of a term to the acceleration above which the term counts as large. Table 4.1 has 1 for small and 10³ for large
terms, and this threshold is the geometric mean of the two."""
SWINGS = 3.0
"""Number of periods of the temperature under the standard thermostat in the window (Guy 2018, 4.6)."""
TIGHT = 0.5
"""Largest standard deviation of a settled temperature, as a fraction of the canonical one √(2/N) T."""
CLOSE = 0.15
"""Acceptable relative error of a period."""
FRAMES = 200
BEGINNING = 0.01
"""Duration of a first run of the unchanged case, as a fraction of the window. The case relaxes from its initial state
in this run."""
SETTLED = 0.25
"""Duration of runs with a modified thermostat, as a fraction of the window. This thermostat settles within a few
vibrations."""
HOT = 1.5
"""Initial kinetic temperature of runs with the standard thermostat, relative to the target; the offset makes the
temperature oscillate."""
FINE = 0.1
"""Step h of velocity Verlet times the fastest frequency ω of the forces at the start of the run. Later collisions may
be somewhat stiffer. The relative error of kinetic energies is (h ω)²/12."""
SCALES = ("1 ps", "1 ns", "1 us")
"""Time scales in table 4.1."""
CASES = {
    "I": (0, "neither ζ nor kd ζ' is large: no scaling"),
    "II": (1, "kd ζ' is large and ζ is not: one scaling factor"),
    "III": (2, "ζ and kd ζ' are large: two scaling factors"),
}
"""Cases of Guy's table 4.1, each with its number of scaling factors and an explanation."""


@dataclass(frozen=True)
class Terms:
    """Magnitudes of the terms of the thermostat relative to the acceleration, at one time scale."""

    label: str
    """Label of the time scale."""
    zeta: float
    """Root mean square of ζ times the time scale."""
    rate: float
    """Root mean square of kd ζ' times the time scale."""

    @property
    def case(self) -> str:
        """Return the case of Guy's table 4.1: I, II or III."""
        if self.rate < LARGE:
            return "I"
        return "II" if self.zeta < LARGE else "III"

    @property
    def borders(self) -> bool:
        """Return whether a change of one term by a factor of two would change the case."""
        return any(0.5 * LARGE < term < 2.0 * LARGE for term in (self.zeta, self.rate))

    @property
    def epsilon(self) -> float:
        """Return the parameter ε = 1/(kd ζ')."""
        return 1.0 / self.rate if self.rate > 0.0 else math.inf


@dataclass(frozen=True)
class ShortRun:
    """A short unscaled run with a thermostat with a single variable ζ."""

    what: str
    """Purpose of the run."""
    mass: float
    """Thermostat mass Q [energy time²]."""
    gain: float
    """Derivative gain kd [time]; 0 for the standard thermostat."""
    duration: float
    """Duration of the run [time]."""
    zeta: float
    """Root mean square of ζ after equilibration [1/time]."""
    rate: float
    """Root mean square of kd ζ' after equilibration [1/time]."""
    spread: float
    """Standard deviation of the kinetic temperature after equilibration [temperature]."""
    period: float
    """Period of the oscillation of ζ [time]."""
    relative_power: float
    """Standard deviation of q'ᵀΓ/q'ᵀMq', which is the power of the forces Γ divided by twice the kinetic energy
    [1/time]."""


@dataclass(frozen=True)
class Proposal:
    """Constants from the procedure of Guy (2018, 4.6)."""

    mass: float
    """Thermostat mass Q [energy time²]."""
    gain: float
    """Derivative gain kd [time]."""
    a2: float
    """First estimate ε of the scaling factor, at most 1."""


@dataclass(frozen=True)
class ThermostatAnalysis:
    """Results for a thermostatted case."""

    case: Case
    """The case."""
    temperature: float
    """Target temperature Td [temperature]."""
    degrees_of_freedom: int
    """Number N of degrees of freedom."""
    window: float
    """Length of the window [time]."""
    stretches: tuple[ShortRun, ...]
    """Short runs of the analysis."""
    scales: tuple[Terms, ...]
    """Terms of the thermostat at the time scales of table 4.1, and last at the chosen time scale."""
    proposal: Proposal
    """Proposed constants."""
    notes: tuple[str, ...] = field(default=())
    """Notes for the user."""

    @property
    def chosen(self) -> Terms:
        """Return the terms of the thermostat at the chosen time scale."""
        return self.scales[-1]

    @property
    def canonical(self) -> float:
        """Return the canonical standard deviation √(2/N) Td of the kinetic temperature [temperature]."""
        return self.temperature * math.sqrt(2.0 / self.degrees_of_freedom)


def analyse_thermostat(
    case: Case | Run,
    time_scale: float | str | None = None,
    window: float | str | None = None,
    progress: Progress | None = None,
) -> ThermostatAnalysis:
    """Determine how far a case of thermostatted free particles may be scaled, from short unscaled runs.

    Parameters
    ----------
    case
        The case, or a run of it. If its thermostat has Q and kd, the search starts from them.
    time_scale
        Time scale of interest [time]; by default the unit of time of the case.
    window
        Time in which the temperature should oscillate three times [time]; by default the duration of the case.
    progress
        Receives messages on the runs.

    Raises
    ------
    CaseError
        For a case without a thermostat, or with bodies other than free particles.
    """
    case, model = case_and_model(case)
    shown, units = Silent() if progress is None else progress, case.units
    thermostat = case.thermostat
    if thermostat is None or not only_particles(model):
        raise CaseError(f"{case.source}: this is not a case of free particles with a thermostat")
    span = float(case.run.duration) if window is None else units.value(window, "time", "window")
    chosen = 1.0 if time_scale is None else units.value(time_scale, "time", "time_scale")
    given = thermostat.temperature
    temperature = float(given.values[0] if isinstance(given, TemperatureTable) else given)
    degrees_of_freedom = thermostat.degrees_of_freedom(model)
    if temperature <= 0.0:
        raise CaseError(f"{case.source}: thermostat.temperature: nothing oscillates at a temperature of 0")
    short_run = _ShortRuns(case, model, temperature, degrees_of_freedom, span, shown)
    wanted, thermal = span / SWINGS, degrees_of_freedom * units.boltzmann * temperature
    stretches: list[ShortRun] = []
    masses = thermostat.table(model, 0).masses
    mass = float(masses[0]) if masses.size == 1 else 2.0 * thermal * (wanted / (2.0 * math.pi)) ** 2
    if isinstance(thermostat, ModifiedNoseHoover):
        stretches.append(short_run("the unchanged case", mass, float(thermostat.derivative_gain), SETTLED * span))
    for _ in range(2):
        found = short_run("the standard thermostat", mass, 0.0, span)
        stretches.append(found)
        if abs(found.period / wanted - 1.0) <= CLOSE:
            break
        mass *= (wanted / found.period) ** 2
    settles = wanted / math.pi
    tightens = found.relative_power * mass / (TIGHT * math.sqrt(2.0 / degrees_of_freedom) * thermal)
    gain = max(settles, tightens)
    stretches.append(short_run("the proposed constants", mass, gain, SETTLED * span))
    # The terms of table 4.1 belong to the given thermostat if it has a kd, and otherwise to the proposed constants.
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


def _terms(stretch: ShortRun, label: str, scale: float) -> Terms:
    return Terms(label, stretch.zeta * scale, stretch.rate * scale)


def _named_scales(units: Any, chosen: float) -> list[tuple[str, float]]:
    """Return the time scales with their labels [time]. The chosen one is the last."""
    if units.mass is None:
        return [(f"{chosen:g}", chosen)]
    named = [(text, units.value(text, "time", "time scale")) for text in SCALES]
    others = [(text, scale) for text, scale in named if not math.isclose(scale, chosen, rel_tol=1e-9)]
    return [*others, (f"{chosen:g} {units.symbols[2]}", chosen)]


def _notes(temperature: float, proposal: Proposal, chosen: Terms) -> tuple[str, ...]:
    count, words = CASES[chosen.case]
    near = (
        " A term is within a factor of 2 of the border between two cases, where the table names no case."
        if chosen.borders
        else ""
    )
    notes = [f"Case {chosen.case} of Guy (2018, table 4.1) at {chosen.label}: {words}.{near}"]
    if count == 0:
        notes.append("At this time scale his analysis allows no scaling: run the case unscaled, with policy = 'none'.")
        return tuple(notes)
    notes.append(
        f"The published form (policy = 'atomistic', a2 = {proposal.a2:.2g}) keeps the kinetic temperature and samples "
        f"positions at Td/a2 = {temperature / proposal.a2:,.0f}, not at {temperature:g}: it shows a different system, "
        "hotter by 1/a2. The summary of a run reports the configurational temperature."
    )
    notes.append(
        "The consistent form (policy = 'atomistic-clock') keeps the configuration and is the unscaled motion with a "
        "clock slower by √a2: no gain for equal physical times."
    )
    return tuple(notes)


class _ShortRuns:
    """Performs and evaluates the short runs. Each run starts from the end of the previous one."""

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
        # If no particles interact at the start, only the thermostat limits the step.
        self.step = min(FINE / fastest if fastest > 0.0 else math.inf, float(given or math.inf), FINE * span / FRAMES)

    def __call__(self, what: str, mass: float, gain: float, duration: float) -> ShortRun:
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

    def _measured(self, what: str, mass: float, gain: float, duration: float, done: Run) -> ShortRun:
        # The temperature either settles early, or oscillates until the end of the run.
        late = slice(first_frame(len(done.times), 0.25), None)
        thermal = self.degrees_of_freedom * self.model.units.boltzmann
        zeta, temperatures = done.observables["thermostat_zeta"], 2.0 * done.kinetic_energy / thermal
        rate = gain * thermal * (temperatures - self.temperature) / mass
        return ShortRun(
            what,
            mass,
            gain,
            duration,
            float(np.sqrt((zeta[late] ** 2).mean())),
            float(np.sqrt((rate[late] ** 2).mean())),
            float(temperatures[late].std()),
            oscillation_period(done.times, zeta),
            float(relative_powers(self.evaluator, done.q[late], done.u[late]).std()),
        )


def fastest_frequency(evaluator: Evaluator, q: np.ndarray, turns: int = 20) -> float:
    """Return the frequency ω of the fastest vibration of free particles at the coordinates q [1/time].

    It is the square root of the largest eigenvalue of M⁻¹ ∂²Φ/∂q², computed by power iteration with finite differences
    of forces. It is 0 if no force depends on the positions near q.
    """
    model = evaluator.model
    places = site_positions(model, q)
    masses = model.masses[:, None]
    size = 1e-6 * float(np.ptp(places, axis=0).max())
    direction = np.random.default_rng(0).normal(size=places.shape)
    found = 0.0
    for _ in range(turns):
        direction *= size / np.abs(direction).max()
        change = (evaluator.on_sites(places - direction) - evaluator.on_sites(places + direction)) / (2.0 * masses)
        if not change.any():
            return 0.0
        found = float(np.linalg.norm(change) / np.linalg.norm(direction))
        direction = change
    return math.sqrt(found)


def oscillation_period(times: np.ndarray, values: np.ndarray) -> float:
    """Return the period of the sinusoid about a constant that fits the values best [time]. Periods from four frames to
    twice the length of the times are considered."""
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
