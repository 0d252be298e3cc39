"""The ladder of a replica exchange: temperatures and locked joints of its runs, and the case of each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulon.adaptive import Adaptive, Group, Schedule
from articulon.adaptive.lockable import links_named
from articulon.cases.case import Case
from articulon.errors import CaseError, ModelError
from articulon.forces.brownian import brownian_of
from articulon.forces.stokes_drag import StokesDrag
from articulon.inputs import shown, words
from articulon.integrate.combination import resists
from articulon.model import Model
from articulon.molecules.locked_parts import bodies_of_words
from articulon.runs.exchange_rule import own_seed
from articulon.simulation.frame_times import is_whole, length_of
from articulon.simulation.ledger import without_energy
from articulon.thermostats.base import BaseThermostat
from articulon.time_scales.contact_step_limit import with_unit

WHERE = "replica_exchange"
MOST = 10_000_000
"""Largest number of exchanges in a call."""
REFUSED = {
    "barostat": "coordinates of one box do not fit another; exchange at constant volume",
    "scaling": "scaled forces sample a distribution other than the one in the acceptance rule; leave it out",
    "adaptive": "locking and releasing joints changes a run's distribution between exchanges; give each run its own "
    "locked joints, with locked=",
    "rotations": "exchanges redraw joint speeds, not the rates of Euler parameters; leave it out",
    "run.stop": "a run that ends early leaves the others without a partner to exchange with; leave it out",
}
"""Options that replica exchange rejects, each with the reason."""


@dataclass(frozen=True)
class Ladder:
    """Temperatures and locked joints of the runs, and the times of exchanges."""

    temperatures: tuple[float, ...]
    """Temperatures of the runs [temperature]."""
    locked: tuple[tuple[str, ...], ...]
    """Locked joints of each run, by names of bodies or selection words."""
    every: float
    """Time between exchanges [time]."""
    exchanges: int
    """Number of exchanges."""
    seed: int
    """Seed of the random numbers."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.temperatures)

    def names(self, unit: str) -> list[str]:
        """Names of the runs' folders, such as ``02-330K`` or ``03-300K-side-chains``."""
        digits = max(2, len(str(self.runs)))
        found = []
        for k, (temperature, locked) in enumerate(zip(self.temperatures, self.locked, strict=True)):
            plain = all(letter.isalnum() or letter == "-" for word in locked for letter in word)
            what = "" if not locked else f"-{locked[0]}" if len(locked) == 1 and plain else "-locked"
            found.append(f"{k + 1:0{digits}d}-{temperature:.6g}{unit}{what}")
        return found


def ladder_of(
    model: Model,
    thermostat: BaseThermostat,
    duration: float | str,
    every: Any,
    seed: int,
    temperatures: Any = None,
    locked: Any = None,
) -> Ladder:
    """Return the ladder of a model.

    Parameters
    ----------
    model
        The model.
    thermostat
        Thermostat in units of the model. All runs have its temperature if ``temperatures`` is not given.
    duration, every
        Duration of the runs, and time between exchanges [time].
    seed
        Seed of the random numbers.
    temperatures, locked
        Temperatures and locked joints of the runs. The two lists must have the same length if both are given.

    Raises
    ------
    CaseError
        For fewer than two runs, lists of different lengths, temperatures that are not positive, and a duration that is
        not a whole number of exchange intervals.
    ModelError
        For locked joints in a model with loop constraints.
    """
    _check_forces(model)
    ladder, locks = _states(model, thermostat, temperatures, locked)
    length, between = (length_of(model.units, time, WHERE) for time in (duration, every))
    count = round(min(length / between, MOST + 1))
    if count > MOST:
        raise CaseError(f"{WHERE}: every: there would be more than {MOST} exchanges; use a longer interval")
    if count < 1 or abs(count * between - length) > 1e-9 * length:
        raise CaseError(
            f"{WHERE}: every: {length:g} is not a whole number of intervals of {between:g}; use "
            f"{length / max(1, count):.9g}"
        )
    return Ladder(ladder, locks, between, count, seed)


def _check_forces(model: Model) -> None:
    """Raise CaseError for forces that replica exchange does not support.

    Replica exchange rejects forces without an energy function, because the acceptance rule needs the energy. It rejects
    friction without noise, because the distribution of such a run is unknown.
    """
    if model.drives:
        raise CaseError(
            f"{WHERE}: '{model.drives[0].name}' drives a joint, so the distribution is not known; leave it out"
        )
    for k, force in enumerate(model.forces):
        kind = getattr(force, "kind", type(force).__name__)
        if without_energy(replace(model, forces=(force,))):
            raise CaseError(
                f"{WHERE}: forces[{k}], '{kind}' has no energy function, which exchanges need; leave it out"
            )
    resisting = sorted(str(kind.model_fields["kind"].default) for kind in resists(model))
    if brownian_of(model) is None and any(isinstance(force, StokesDrag) for force in model.forces):
        resisting.append("stokes-drag")
    if resisting:
        raise CaseError(
            f"{WHERE}: '{resisting[0]}' only dissipates energy, so no run keeps its temperature; leave it "
            "out, or add the noise to drag (brownian)"
        )


def at_temperature(model: Model, temperature: float) -> Model:
    """Return the model with all forces at one temperature."""
    return replace(model, forces=_forces_at(model.forces, temperature))


def cases_of(case: Case, model: Model, ladder: Ladder) -> list[Case]:
    """Return the cases of the runs, which differ only in temperature, locked joints, seed and thermal speeds.

    Parameters
    ----------
    case
        The case of the exchange.
    model
        The model of the case.
    ladder
        The ladder of the runs.

    Raises
    ------
    CaseError
        For options that replica exchange rejects, frames that do not fall on exchanges, and joints that do not exist.
    """
    unit, apart = case.units.symbols[2], case.run.interval
    if not is_whole(ladder.every / apart):
        raise CaseError(
            f"{WHERE}: every: {with_unit(ladder.every, unit, 9)} is not a whole number of the "
            f"{with_unit(apart, unit, 9)} between frames; set run.frame_interval to "
            f"{with_unit(ladder.every, unit, 9)}, or to a whole fraction of it"
        )
    ours = sum(hasattr(force, "temperature") for force in case.forces)
    if sum(hasattr(force, "temperature") for force in model.forces) != ours:
        raise CaseError(
            f"{case.source}: model: it has forces with a temperature of their own, which would have to become that of "
            "each run; give them under [[forces]]"
        )
    return [_case_of(case, model, ladder, k) for k in range(ladder.runs)]


def check_case(case: Case) -> BaseThermostat:
    """Return the thermostat of a case; raise CaseError, naming the key, for options that replica exchange rejects."""
    given = {
        "barostat": case.barostat is not None,
        "scaling": case.scaling.scales,
        "adaptive": case.adaptive is not None,
        "rotations": case.dynamics.rotations != "speeds",
        "run.stop": case.run.stop is not None,
    }
    for key, there in given.items():
        if there:
            raise CaseError(f"{case.source}: {key}: replica exchange: {REFUSED[key]}")
    if case.thermostat is None:
        raise CaseError(f"{case.source}: thermostat: replica exchange needs a thermostat; add one")
    if case.run.device != "cpu":
        raise CaseError(f"{case.source}: run.device: replica exchange runs on the CPU; leave it out")
    return case.thermostat


def _case_of(case: Case, model: Model, ladder: Ladder, k: int) -> Case:
    temperature, names = ladder.temperatures[k], ladder.locked[k]
    thermostat = case.thermostat
    assert thermostat is not None
    settings = {"seed": own_seed(ladder.seed, k), "speeds": "thermal", "temperature": None}
    return replace(
        case,
        thermostat=thermostat.model_copy(update={"temperature": temperature}),
        forces=_forces_at(case.forces, temperature),
        adaptive=_held(model, names, ladder.every, f"{WHERE}: locked[{k}]") if names else None,
        run=case.run.model_copy(update=settings),
        variants={},
    )


def _held(model: Model, names: Sequence[str], every: float, where: str) -> Adaptive:
    """Return the settings that lock joints for the whole run, like the argument ``locked`` of ``simulate``."""
    try:
        bodies = bodies_of_words(model, names, where)
        links_named(model, bodies, where)
    except ModelError as error:
        raise CaseError(str(error)) from None
    group = Group(name="locked", bodies=bodies, lock=Schedule(times=(0.0,)))
    return Adaptive(every=every, groups=(group,)).resolved(model.units, where)


def _forces_at(forces: Sequence[Any], temperature: float) -> tuple[Any, ...]:
    return tuple(
        force.model_copy(update={"temperature": temperature}) if hasattr(force, "temperature") else force
        for force in forces
    )


def _states(
    model: Model, thermostat: BaseThermostat, temperatures: Any, locked: Any
) -> tuple[tuple[float, ...], tuple[tuple[str, ...], ...]]:
    """Return the temperatures and locked joints of the runs; raise CaseError for lists that do not match."""
    temperatures = temperatures.tolist() if isinstance(temperatures, np.ndarray) else temperatures
    for name, given in (("temperatures", temperatures), ("locked", locked)):
        if given is not None and (isinstance(given, str | bytes) or not isinstance(given, Sequence)):
            raise CaseError(f"{WHERE}: {name}: expected a list with one entry for each run, got {shown(given)}")
    number = max(len(temperatures) if temperatures is not None else 0, len(locked) if locked is not None else 0)
    if number < 2:
        raise CaseError(
            f"{WHERE}: give the temperatures of two runs or more, or the joints that are locked in each, "
            'such as temperatures = ("300 K", "330 K")'
        )
    if temperatures is not None and locked is not None and len(temperatures) != len(locked):
        raise CaseError(
            f"{WHERE}: there are {len(temperatures)} temperatures and {len(locked)} sets of locked joints; give "
            "equally many"
        )
    if temperatures is None:
        if not isinstance(thermostat.temperature, int | float):
            raise CaseError(f"{WHERE}: thermostat.temperature: expected one number, since it must be constant")
        temperatures = [thermostat.temperature] * number
    found = [
        float(model.units.value(T, "temperature", f"{WHERE}: temperatures[{k}]")) for k, T in enumerate(temperatures)
    ]
    if not all(0.0 < T < math.inf for T in found):
        raise CaseError(f"{WHERE}: temperatures: must be positive, got {found}")
    locks = [words(names, f"{WHERE}: locked[{k}]", CaseError) for k, names in enumerate(locked or [()] * number)]
    if any(locks) and model.loops.kind.size:
        raise ModelError(
            f"{WHERE}: locked: with loop constraints, the mass determinant of the free joints is not known; leave out "
            "the locks, or the loops"
        )
    return tuple(found), tuple(tuple(names) for names in locks)
