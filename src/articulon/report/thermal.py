"""Data for the figures of a thermostatted run: target temperature, canonical spread, and the variable ζ with its
rate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from articulon.fidelity.settling import SETTLED
from articulon.report.view import View


class Phase(NamedTuple):
    """Variables of a thermostat with a single variable ζ."""

    zeta: np.ndarray
    """Values of ζ [1/time], shape (frames,)."""
    rate: np.ndarray
    """Rates ζ' [1/time²], shape (frames,)."""


def thermostat_of(view: View) -> Any:
    """Return the thermostat of the case of a run; None without one."""
    return view.case.thermostat


def target(view: View) -> np.ndarray | None:
    """Target temperature of the thermostat or of the medium at the frames [temperature], shape (frames,); None if there
    is neither."""
    given = view.observables.get("temperature_target")
    if given is not None:
        return given
    bath = view.bath_temperature
    return None if bath is None else np.full(view.times.size, bath)


def degrees_of_freedom(view: View) -> int:
    """Number of degrees of freedom that share the kinetic energy."""
    thermostat = thermostat_of(view)
    return int(view.model.degrees_of_freedom if thermostat is None else thermostat.degrees_of_freedom(view.model))


def moving_freedoms(view: View) -> np.ndarray:
    """Number of degrees of freedom that are unlocked at each frame and share the kinetic energy, shape (frames,)."""
    active = view.observables.get("active_freedoms")
    return np.full(view.times.size, float(degrees_of_freedom(view))) if active is None else active


def canonical_spread(view: View, temperature: np.ndarray) -> np.ndarray:
    """Return √(2/N) T for N degrees of freedom, the standard deviation of the kinetic temperature T in the canonical
    ensemble [temperature]."""
    return np.sqrt(2.0 / np.maximum(1.0, moving_freedoms(view))) * temperature


def measured_spread(view: View) -> float | None:
    """Standard deviation of the kinetic temperature after equilibration, at a constant target [temperature]; None if
    the target changes, or if there are few frames."""
    aim, values = target(view), view.observables.get("temperature_kinetic")
    if aim is None or values is None or np.ptp(aim) > 0.0:
        return None
    settled = values[int(SETTLED * values.size) :]
    return float(settled.std()) if settled.size > 20 else None


def phase(view: View) -> Phase | None:
    """Return ζ and ζ' = (q'ᵀ M q' − N k T)/Q at the frames, with N degrees of freedom, the target T and the
    thermostat's mass Q; None for thermostats that do not have exactly one ζ."""
    zeta, aim, thermostat = view.observables.get("thermostat_zeta"), target(view), thermostat_of(view)
    kinetic = view.observables.get("temperature_kinetic")
    if zeta is None or aim is None or thermostat is None or kinetic is None:
        return None
    masses = thermostat.table(view.model, 0).masses
    if masses.size != 1:
        return None
    excess = kinetic - aim
    # A policy that scales the target also scales the kinetic energy, so the thermal energy N k T is scaled here too.
    thermal = moving_freedoms(view) * view.case.units.boltzmann * view.case.scaling.target_factor()
    return Phase(zeta, thermal * excess / masses[0])


def energies(view: View) -> dict[str, np.ndarray] | None:
    """Return :func:`energy_terms` of a run with a thermostat; None without a thermostat, or if scaling factors vary."""
    return None if thermostat_of(view) is None else energy_terms(view)


def energy_terms(view: View) -> dict[str, np.ndarray] | None:
    """Return the energies of a run and their sum, which should be constant; None if scaling factors vary.

    They are the kinetic energy T, the scaled potential energy Φ, and the work W of the thermostat, of friction and of
    all forces without an energy function. The constant sum is T + Φ − W (Guy 2018, 2.23, 3.16 and 4.21). In adaptive
    runs it is T + Φ − W + R, where R is the energy that locking has removed.
    """
    if view.case.scaling.varies:
        return None
    seen = view.observables
    potential, work, names = np.zeros(view.times.size), np.zeros(view.times.size), view.channels
    for name in names:
        if f"energy_{name}" in seen:
            potential = potential + seen[f"factor_{name}"] * seen[f"energy_{name}"]
        else:
            work = work + seen.get(f"work_{name}", 0.0)
    kinetic = seen["kinetic_energy"]
    found = {"kinetic": kinetic, "potential": potential, "work": work}
    if "reservoir_energy" in seen:
        found["reservoir"] = seen["reservoir_energy"] + seen["reservoir_potential"]
    return {**found, "total": kinetic + potential - work + found.get("reservoir", 0.0)}
