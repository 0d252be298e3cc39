"""What is looked at of hard spheres: how often they hit each other, and what that makes of the pressure."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulon.integrate.sphere_memory import SPHERES
from articulon.model import Model, State
from articulon.model.state import CONTACT
from articulon.simulation.impact_summary import NO_IMPULSE, largest_impulse


class HardSphereObserver:
    """Looks at the impacts of hard spheres from frame to frame.

    With the collisional virial, ΔW = Σ r · Δp of the impacts of spheres with each other in a time t,

        Z = p V/(N k T) = 1 + ΔW/(3 N k T t)

    (B. J. Alder and T. E. Wainwright, Journal of Chemical Physics 33, 1439, 1960). The temperature is that of the later
    frame, of speeds against the common motion, which impacts do not change: 3 (N − 1) k T/2 = K − P²/(2 M). Before the
    second frame pressure and Z are not defined.

    Parameters
    ----------
    model
        Hard spheres alone.
    """

    def __init__(self, model: Model) -> None:
        self.model, box = model, model.box
        self.volume = box.volume if box is not None and box.periodic.all() else None

    @property
    def dimensions(self) -> dict[str, str]:
        """Dimension of every observable by name."""
        names = {"impacts": "dimensionless", "impact_rate": "frequency"}
        if self.volume is not None:
            names |= {"pressure": "pressure", "compressibility_factor": "dimensionless"}
        return names

    def observables(self, state: State) -> dict[str, float]:
        """Impacts of spheres with each other so far, and their rate, the pressure and Z between the latest two frames.

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
        """k T of the speeds against the common motion [energy]; 0 for one sphere, which has none."""
        masses = self.model.masses
        against = velocities - masses @ velocities / masses.sum()
        return float(masses @ (against**2).sum(axis=1)) / (3.0 * max(len(masses) - 1, 1))


def hard_sphere_figures(model: Model, state: State) -> dict[str, Any]:
    """What the summary says of the impacts of hard spheres, in the words of other runs with impacts.

    Parameters
    ----------
    model
        Hard spheres alone.
    state
        The last state of a run that goes from impact to impact.
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
