"""Observables of a thermostat: its target temperature, its variable ζ, kd ζ', and its conserved energy."""

from collections.abc import Iterable

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.model import CHANNELS, State
from articulon.model.state import THERMOSTAT, THERMOSTAT_RATE
from articulon.simulation.ledger import without_energy
from articulon.thermostats.base import EFFECT, GAIN, LINEAR, OVERDAMPS
from articulon.thermostats.schedule import aimed_at

EXCHANGING = ("thermostat", "thermostat_rate")


class ThermostatObserver:
    """Computes the observables of the thermostat in the frames of a run. A run without thermostat has no such
    observables.

    Parameters
    ----------
    evaluator
        The forces, evaluated at the observed state.
    present
        Names of the channels with forces.
    energies
        Names of the channels with an energy function.
    varies
        Whether the scaling factors change along the run.
    """

    def __init__(self, evaluator: Evaluator, present: Iterable[str], energies: Iterable[str], varies: bool) -> None:
        self.evaluator, self.bath = evaluator, evaluator.system.bath
        counted = set(energies) - without_energy(evaluator.model)
        self.conserves = (
            not varies and self.bath.choice[EFFECT] != OVERDAMPS and set(present) <= counted | set(EXCHANGING)
        )
        self.energies = [CHANNELS.index(name) for name in energies]

    @property
    def dimensions(self) -> dict[str, str]:
        """Dimension of every observable, by name."""
        if self.evaluator.thermostat is None:
            return {}
        names = {"temperature_target": "temperature"}
        if self.bath.masses.size:
            names["thermostat_zeta"] = names["thermostat_rate"] = "frequency"
        return names | ({"conserved_energy": "energy"} if self.conserves else {})

    def observables(self, state: State, kinetic: float, energies: np.ndarray) -> dict[str, float]:
        """Return the observables at a state with the given kinetic energy and energies by channel (8,) [energy]."""
        names = self.dimensions
        if not names:
            return {}
        found = {"temperature_target": self.target(float(state.time[0]))}
        if self.bath.masses.size:
            rate = float(self.evaluator.bath[1, 0])
            found["thermostat_zeta"] = float(state.bath[0])
            found["thermostat_rate"] = float(self.bath.constants[GAIN]) * rate
        if self.conserves:
            total = kinetic + sum(float(state.factor[c] * energies[c]) for c in self.energies)
            found["conserved_energy"] = total + self.reservoir(state) - float(state.box.work[:1].sum())
        return found

    def target(self, time: float) -> float:
        """Return the target temperature without the factor of a scaling policy [temperature]."""
        values = self.bath.temperatures / self.evaluator.target_factor
        return aimed_at(self.bath.times, values, bool(self.bath.choice[LINEAR]), time)

    def reservoir(self, state: State) -> float:
        """Return the energy that the thermostat has taken from the motion [energy].

        If the thermostat has variables, the energy is computed from them, which checks them against the motion.
        Otherwise it is computed from the work of the thermostat.
        """
        if not state.bath.size:
            return -float(state.work[THERMOSTAT])
        stored = 0.5 * float(self.bath.masses @ state.bath[:-1] ** 2) + float(state.bath[-1])
        return float(state.factor[THERMOSTAT]) * stored - float(state.work[THERMOSTAT_RATE])
