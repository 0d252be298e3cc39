"""Observables of hard spheres: the rate of their impacts, and the pressure that follows from the impacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulon.integrate.sphere_memory import SPHERES
from articulon.model import Model, State
from articulon.model.state import CONTACT
from articulon.simulation.impact_summary import NO_IMPULSE, largest_impulse


class HardSphereObserver:
    """Computes the observables of impacts of hard spheres from frame to frame.

    The collisional virial, ΔW = Σ r · Δp over the impacts between spheres in a time t, gives

        Z = p V/(N k T) = 1 + ΔW/(3 N k T t)

    (B. J. Alder and T. E. Wainwright, Journal of Chemical Physics 33, 1439, 1960). The temperature T is taken at the
    later of two frames. It follows from the velocities relative to the centre of mass: 3 (N − 1) k T/2 = K − P²/(2 M),
    with the kinetic energy K, the total momentum P and the total mass M. Impacts conserve this energy. Pressure and Z
    are undefined before the second frame.

    Parameters
    ----------
    model
        A model of hard spheres only.
    """

    def __init__(self, model: Model) -> None:
        self.model, box = model, model.box
        self.volume = box.volume if box is not None and box.periodic.all() else None

    @property
    def dimensions(self) -> dict[str, str]:
        """Dimension of every observable, by name."""
        names = {"impacts": "dimensionless", "impact_rate": "frequency"}
        if self.volume is not None:
            names |= {"pressure": "pressure", "compressibility_factor": "dimensionless"}
        return names

    def observables(self, state: State) -> dict[str, float]:
        """Compute the number of impacts between spheres so far, and, between the last two frames, the rate of impacts,
        the pressure and Z.

        Parameters
        ----------
        state
            The state.
        """
        memory = state.rule.history
        begun = memory[SPHERES.begun] > 0.0
        time = float(memory[SPHERES.between]) if begun else np.nan
        found = {
            "impacts": float(memory[SPHERES.impacts]),
            "impact_rate": float(memory[SPHERES.impacts] - memory[SPHERES.impacts_before]) / time,
        }
        if self.volume is not None:
            heat = self._thermal_energy(state.u.reshape(-1, 3)) * self.model.bodies
            virial = float(memory[SPHERES.latest_virial]) / (3.0 * time)
            found["pressure"] = (heat + virial) / self.volume
            found["compressibility_factor"] = 1.0 + virial / heat if heat > 0.0 else np.nan
        return found

    def _thermal_energy(self, velocities: np.ndarray) -> float:
        """Return k T from the velocities relative to the centre of mass [energy]; 0 for a single sphere."""
        masses = self.model.masses
        against = velocities - masses @ velocities / masses.sum()
        return float(masses @ (against**2).sum(axis=1)) / (3.0 * max(len(masses) - 1, 1))


def hard_sphere_figures(model: Model, state: State) -> dict[str, Any]:
    """Compute the entries of the summary on impacts of hard spheres. They have the same keys as in other runs with
    impacts.

    Parameters
    ----------
    model
        A model of hard spheres only.
    state
        The last state of an event-driven run.
    """
    memory = state.rule.history
    some = memory[SPHERES.impulse] > 0.0
    first, second = (int(body) for body in memory[SPHERES.impulse_of : SPHERES.impulse_of + 2])
    between = f"'{model.names[first]}' and " + ("a wall" if second < 0 else f"'{model.names[second]}'")
    impulse, time = float(memory[SPHERES.impulse]), float(memory[SPHERES.impulse_time])
    largest = largest_impulse(impulse, time, between) if some else NO_IMPULSE
    return {
        "impacts": int(memory[SPHERES.impacts]),
        "wall_impacts": int(memory[SPHERES.wall_impacts]),
        "energy_lost": -float(state.work[CONTACT]),
        **largest,
        "collisional_virial": float(memory[SPHERES.virial]),
    }
