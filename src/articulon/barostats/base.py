"""What every barostat is: a declaration, and what acts on a state between steps.

The box changes its size and keeps its shape. Molecules are moved as wholes, by their centres of mass, so that nothing
within them is strained. What changes is in ``State.box``: edges, the energy that the changes have put into the model,
and their number, so that the books balance and a run goes on to the same bits.
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
"""The stream of random numbers that barostats draw from."""
WATER = ("Da-nm-ps", 4.5e-5, "1/bar")
"""Units in which the compressibility is that of water unless another is given, and that compressibility."""


class BaseBarostat(Declaration):
    """Base of every barostat."""

    positional: ClassVar[tuple[str, ...]] = ("pressure",)
    actor: ClassVar[type["ActingBarostat"]]
    """What acts, of this declaration."""
    of_virial: ClassVar[bool] = False
    """Whether it reads the pressure, and so needs forces whose virial is known."""

    pressure: Annotated[Quantity, Dimension("pressure")]
    """P that is aimed at [energy/length³]."""
    every: Annotated[Whole, Field(ge=1)] = 25
    """Steps between two changes of the box."""
    compressibility: Annotated[Quantity | None, Dimension("compressibility", minimum=0, exclusive=True)] = None
    """Isothermal κ of what is in the box, about, on which no average depends; that of water by default in the units of
    molecules [length³/energy]."""

    def check(self, model: Model, thermostat: BaseThermostat | None, where: str = "barostat") -> None:
        """Raises CaseError for a model whose box cannot change, or that has no temperature."""
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
            raise CaseError(f"{where}: molecules move with the box as wholes, and {reason}; leave out the barostat")
        if self.compressibility is None and model.units.name != WATER[0]:
            raise CaseError(
                f"{where}.compressibility: is required in the units '{model.units.name}': how much the volume changes "
                "with the pressure, about"
            )

    def kappa(self, model: Model) -> float:
        """κ in the model's units [length³/energy]."""
        if self.compressibility is not None:
            return float(self.compressibility)
        return float(model.units.value(f"{WATER[1]} {WATER[2]}", "compressibility", "barostat.compressibility"))

    def acting(self, evaluator: Evaluator, step: float) -> "ActingBarostat":
        """What acts on states of a model between steps of a length [time]."""
        return self.actor(self, evaluator, step)


class ActingBarostat:
    """A barostat at work on one model.

    Parameters
    ----------
    barostat
        Its declaration.
    evaluator
        The model, its forces and its thermostat, with the seed of the random numbers.
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
        """How many steps lead to the next change."""
        return self.every - int(state.counters[STEPS]) % self.every

    def act(self, state: State) -> None:
        """Changes the box, if it is time, and moves what is in it."""
        steps = int(state.counters[STEPS])
        if steps and steps % self.every == 0:
            self.change(state, steps // self.every)

    def change(self, state: State, number: int) -> None:
        """The change of a number, counted from 1."""
        raise NotImplementedError

    def kT(self, state: State) -> float:
        """Of the thermostat at the state's time, or of the Brownian forces [energy]."""
        noise = brownian_of(self.evaluator.model)
        if self.evaluator.thermostat is None and noise is not None:
            return self.evaluator.model.units.boltzmann * float(noise.temperature)
        bath = self.evaluator.system.bath
        return float(bath.constants[BOLTZMANN]) * aimed_at(
            bath.times, bath.temperatures, bool(bath.choice[LINEAR]), float(state.time[0])
        )

    def energy(self, q: np.ndarray) -> float:
        """Potential energy at coordinates, in the box that the evaluator has [energy]."""
        return float(self.evaluator.energies(q).sum())

    def take(self, edges: np.ndarray) -> None:
        """Gives the forces another box; raises ArticulonError for one that is too narrow for their cutoff."""
        if min(widths_of(edges)) < self.narrowest:
            raise ArticulonError(
                f"the box has shrunk to a width of {min(widths_of(edges)):.6g}, less than two cutoffs of "
                f"{0.5 * self.narrowest:.6g}: a site would meet another one and its image; begin with a larger box, or "
                "see whether the pressure is too high or the liquid boils away"
            )
        self.evaluator.sites.put_box(edges)
