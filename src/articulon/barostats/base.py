"""Base classes of barostats: the declaration, and the object that acts on a state between steps.

The box changes its size and keeps its shape. Molecules are shifted as a whole with their centres of mass, so that they
are not deformed. ``State.box`` stores the edges of the box, the number of changes, and the energy that the changes have
added to the model. The energy balance therefore includes the changes, and a resumed run is bitwise the same.
"""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.errors import ArticulonError, CaseError
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.nearest_images import widths_of
from articulon.forces.whole_molecules import WholeMolecules, why_not_free
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.thermostats.base import BOLTZMANN, LINEAR, BaseThermostat
from articulon.thermostats.schedule import aimed_at

RANDOM_STREAM = 13
"""Random number stream of the barostats."""
WATER = ("Da-nm-ps", 4.5e-5, "1/bar")
"""Unit system that has a default compressibility, and this default, the compressibility of water."""


class BaseBarostat(Declaration):
    """Base of every barostat."""

    positional: ClassVar[tuple[str, ...]] = ("pressure",)
    actor: ClassVar[type["ActingBarostat"]]
    """Class of the object that acts on a state for this declaration."""
    of_virial: ClassVar[bool] = False
    """Whether the barostat needs the pressure, and therefore forces with a known virial."""

    pressure: Annotated[Quantity, Dimension("pressure")]
    """Target pressure P [energy/length³]."""
    every: Annotated[Whole, Field(ge=1)] = 25
    """Number of steps between two changes of the box."""
    compressibility: Annotated[Quantity | None, Dimension("compressibility", minimum=0, exclusive=True)] = None
    """Approximate isothermal compressibility κ of the content of the box [length³/energy]. Averages do not depend on
    it. In the units of molecules, the default is the compressibility of water."""

    def check(self, model: Model, thermostat: BaseThermostat | None, where: str = "barostat") -> None:
        """Raise CaseError for a model whose box cannot change, or which has no temperature."""
        if thermostat is None and brownian_of(model) is None:
            raise CaseError(
                f"{where}: constant pressure needs a temperature too; add a thermostat, or leave out the barostat"
            )
        box = model.box
        if box is None or not box.periodic.all():
            raise CaseError(
                f"{where}: only a box that is periodic in all three directions can change its size; add [box], or "
                "leave out the barostat"
            )
        reason = why_not_free(model)
        if reason is not None:
            raise CaseError(
                f"{where}: molecules must move with the box as wholes, but {reason}; leave out the barostat"
            )
        if self.compressibility is None and model.units.name != WATER[0]:
            raise CaseError(
                f"{where}.compressibility: is required in the units '{model.units.name}': the relative "
                "change of the volume with the pressure; an approximate value is enough"
            )

    def kappa(self, model: Model) -> float:
        """Return the compressibility κ in the units of the model [length³/energy]."""
        if self.compressibility is not None:
            return float(self.compressibility)
        return float(model.units.value(f"{WATER[1]} {WATER[2]}", "compressibility", "barostat.compressibility"))

    def acting(self, evaluator: Evaluator, step: float) -> "ActingBarostat":
        """Return the object that acts on states of a model between steps of a given length [time]."""
        return self.actor(self, evaluator, step)


class ActingBarostat:
    """A barostat acting on one model.

    Parameters
    ----------
    barostat
        Declaration of the barostat.
    evaluator
        Model, forces and thermostat, with the seed of the random numbers.
    step
        Length of a step [time].
    """

    def __init__(self, barostat: Any, evaluator: Evaluator, step: float) -> None:
        self.barostat, self.evaluator, self.step = barostat, evaluator, step
        self.molecules = WholeMolecules(evaluator.model, evaluator.sites)
        self.every, self.pressure = int(barostat.every), float(barostat.pressure)
        self.kappa = barostat.kappa(evaluator.model)
        self.narrowest = 2.0 * evaluator.sites.listing.cutoff

    def steps_to_next(self, state: State) -> int:
        """Return the number of steps until the next change."""
        return self.every - int(state.counters[STEPS]) % self.every

    def act(self, state: State) -> None:
        """Change the box if it is time, and move its contents."""
        steps = int(state.counters[STEPS])
        if steps and steps % self.every == 0:
            self.change(state, steps // self.every)

    def change(self, state: State, number: int) -> None:
        """Make the change with the given number, counted from 1."""
        raise NotImplementedError

    def kT(self, state: State) -> float:
        """Return the thermal energy kT of the thermostat at the time of the state, or of the Brownian forces
        [energy]."""
        noise = brownian_of(self.evaluator.model)
        if self.evaluator.thermostat is None and noise is not None:
            return self.evaluator.model.units.boltzmann * float(noise.temperature)
        bath = self.evaluator.system.bath
        return float(bath.constants[BOLTZMANN]) * aimed_at(
            bath.times, bath.temperatures, bool(bath.choice[LINEAR]), float(state.time[0])
        )

    def energy(self, q: np.ndarray) -> float:
        """Return the potential energy at given coordinates, in the current box of the evaluator [energy]."""
        return float(self.evaluator.energies(q).sum())

    def take(self, edges: np.ndarray) -> None:
        """Set the box of the forces; raises ArticulonError if it is too narrow for their cutoff."""
        if min(widths_of(edges)) < self.narrowest:
            raise ArticulonError(
                f"the box has shrunk to a width of {min(widths_of(edges)):.6g}, less than two cutoffs of "
                f"{0.5 * self.narrowest:.6g}: a site would interact with another one and its image; start with a "
                "larger box, or check whether the pressure is too high or the liquid evaporates"
            )
        self.evaluator.sites.put_box(edges)
