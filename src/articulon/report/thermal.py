"""What the figures of a thermostatted run are drawn from: targets, the spread that they should have, ζ and ζ'."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from articulon.report.view import View

SETTLED = 0.2
"""Fraction of the frames after which a thermostat is taken to have settled."""


class Phase(NamedTuple):
    """The variables of a thermostat of one ζ."""

    zeta: np.ndarray
    """ζ [1/time], shape (frames,)."""
    rate: np.ndarray
    """ζ' [1/time²], shape (frames,)."""


def thermostat_of(view: View) -> Any:
    """The thermostat of a run's case, or None."""
    return view.case.thermostat


def target(view: View) -> np.ndarray | None:
    """Target temperature at the frames [temperature], shape (frames,): a thermostat's, or that of the medium; None
    where there is neither."""
    given = view.observables.get("temperature_target")
    if given is not None:
        return given
    bath = view.bath_temperature
    return None if bath is None else np.full(view.times.size, bath)


def degrees_of_freedom(view: View) -> int:
    """Degrees of freedom that share the kinetic energy."""
    thermostat = thermostat_of(view)
    return int(view.model.degrees_of_freedom if thermostat is None else thermostat.degrees_of_freedom(view.model))


def moving_freedoms(view: View) -> np.ndarray:
    """Degrees of freedom that share the kinetic energy at the frames, shape (frames,): locked ones do not."""
    active = view.observables.get("active_freedoms")
    return np.full(view.times.size, float(degrees_of_freedom(view))) if active is None else active


def canonical_spread(view: View, temperature: np.ndarray) -> np.ndarray:
    """√(2/N) T: standard deviation of the kinetic temperature in the canonical ensemble [temperature]."""
    return np.sqrt(2.0 / np.maximum(1.0, moving_freedoms(view))) * temperature


def measured_spread(view: View) -> float | None:
    """Standard deviation of the kinetic temperature about a constant target, once settled [temperature]; None where the
    target changes, or there are few frames."""
    aim, values = target(view), view.observables.get("temperature_kinetic")
    if aim is None or values is None or np.ptp(aim) > 0.0:
        return None
    settled = values[int(SETTLED * values.size) :]
    return float(settled.std()) if settled.size > 20 else None


def phase(view: View) -> Phase | None:
    """ζ and ζ' = (q'ᵀ M q' − N k T)/Q at the frames; None for other thermostats than those of one ζ."""
    zeta, aim, thermostat = view.observables.get("thermostat_zeta"), target(view), thermostat_of(view)
    kinetic = view.observables.get("temperature_kinetic")
    if zeta is None or aim is None or thermostat is None or kinetic is None:
        return None
    masses = thermostat.table(view.model, 0).masses
    if masses.size != 1:
        return None
    excess = kinetic - aim
    # A policy that scales the target scales the kinetic energy with it, and the temperature is shown without.
    thermal = moving_freedoms(view) * view.case.units.boltzmann * view.case.scaling.target_factor()
    return Phase(zeta, thermal * excess / masses[0])


def energies(view: View) -> dict[str, np.ndarray] | None:
    """The :func:`energy_terms` of a run with a thermostat; None without one, or with factors that vary."""
    return None if thermostat_of(view) is None else energy_terms(view)


def energy_terms(view: View) -> dict[str, np.ndarray] | None:
    """Kinetic energy T, potential energy Φ as scaled, work W of the thermostat, of friction and of all that has no
    energy, and T + Φ − W, which is constant (Guy 2018, 2.23, 3.16 and 4.21); None with factors that vary. Where joints
    lock and release, R is what that has taken out, and T + Φ − W + R is constant."""
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
