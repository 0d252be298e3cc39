"""What every thermostat is: a table for kernels, and the function that carries it over a part of a step.

A thermostat acts in one of two ways. In a rule that integrates any right-hand side it is a force −(ζ + kd ζ') M q' and
equations for its own variables (``equations.py``). In a rule of fixed steps it is a part of the step that is solved by
itself, with positions held: ``advance(bath, kinetic, time, h, count, factor, variables, works)`` carries it over a time
h, from the kinetic energy that the model has, and gives the number that all speeds are to be multiplied by. ``count``
is different at every call of a run, and random numbers are drawn by it: 2 step for the first of the two calls in a step
and 2 step + 1 for the second. ``factor`` (8,) are the scaling factors of the channels, ``variables`` the thermostat's
own, and ``works`` (8,) is where the energy goes that the speeds gain.
"""

from typing import Any, ClassVar, Literal, NamedTuple

import numba
import numpy as np
from numba import types

from articulon.declaration import Declaration
from articulon.errors import CaseError
from articulon.kernels import first_class
from articulon.model import Model
from articulon.thermostats.schedule import Temperature, check_schedule, schedule_arrays
from articulon.thermostats.total_momentum import check_momentum_is_kept

NOTHING, SCALES, KICKS, OVERDAMPS = range(4)
"""What a thermostat does to the speeds: nothing, multiplies all by one number, adds random ones, takes their place."""

WAY, SEED, STREAM, LINEAR = range(4)
"""Places in ``Bath.choice``."""
DEGREES_OF_FREEDOM, BOLTZMANN, GAIN, FRICTION, RELAXATION = range(5)
"""Places in ``Bath.constants``."""

RANDOM_STREAM = 2
"""The stream of random numbers that thermostats draw from."""


class Bath(NamedTuple):
    """A thermostat as kernels see it."""

    choice: np.ndarray
    """What it does, seed, stream, and whether the temperature is linear between its knots, shape (4,)."""
    constants: np.ndarray
    """Degrees of freedom N, Boltzmann constant k [energy/temperature], gain kd [time], friction γ [1/time] and
    relaxation time [time], shape (5,); zeros where a thermostat has none."""
    masses: np.ndarray
    """Q of each thermostat of a chain [energy time²], shape (k,); empty for those without variables."""
    times: np.ndarray
    """Knots of the temperature [time], shape (knots,)."""
    temperatures: np.ndarray
    """There [temperature], shape (knots,)."""


def no_bath() -> Bath:
    """That of a model without a thermostat."""
    return Bath(np.zeros(4, dtype=np.int64), np.zeros(5), np.zeros(0), np.zeros(1), np.zeros(1))


BATH = types.float64(
    numba.typeof(no_bath()),
    types.float64,
    types.float64,
    types.float64,
    types.int64,
    types.float64[::1],
    types.float64[::1],
    types.float64[::1],
)
"""Signature of what carries a thermostat over a part of a step."""


@first_class
def leave(bath, kinetic, time, h, count, factor, variables, works):
    """For a thermostat that does not multiply the speeds, and for none."""
    return 1.0


def variables_of(bath: Bath) -> int:
    """Number of a thermostat's own variables: ζ of each member of a chain, and the energy of its reservoir."""
    return bath.masses.size + 1 if bath.masses.size else 0


class BaseThermostat(Declaration):
    """Base of every thermostat."""

    positional: ClassVar[tuple[str, ...]] = ("temperature",)
    way: ClassVar[int]
    """What it does to the speeds."""
    advance: ClassVar[Any] = staticmethod(leave)
    """The jitted function that carries it over a part of a step."""
    deterministic: ClassVar[bool] = False
    """Whether it is an equation of motion, which every rule can integrate."""

    temperature: Temperature
    """Target T [temperature], or a table of it over time."""
    centre_of_mass: Literal["free", "removed"] = "free"
    """``"removed"`` takes the total momentum out of the initial speeds, and three off the degrees of freedom. The
    forces must then keep it at zero."""

    def check(self, model: Model, where: str = "thermostat") -> None:
        """Raises CaseError for what the thermostat cannot do with a model."""
        if self.degrees_of_freedom(model) < 1:
            raise CaseError(
                f"{where}: the model has no degrees of freedom to keep at a temperature"
                + (" once its total momentum is removed" if self.centre_of_mass == "removed" else "")
                + "; leave out the thermostat, or free a joint"
            )
        if self.centre_of_mass == "removed":
            check_momentum_is_kept(model, where)

    def check_schedule(self, duration: float, where: str = "thermostat") -> None:
        """Raises CaseError for a table of temperatures that does not last as long as the run [time]."""
        check_schedule(self.temperature, duration, f"{where}.temperature")

    def degrees_of_freedom(self, model: Model) -> int:
        """Number of degrees of freedom N that share the kinetic energy ½ N k T."""
        return model.degrees_of_freedom - (3 if self.centre_of_mass == "removed" else 0)

    def table(self, model: Model, seed: int, target_factor: float = 1.0) -> Bath:
        """The kernels' table; ``target_factor`` multiplies the target, and leaves Q as it is."""
        times, temperatures, linear = schedule_arrays(self.temperature)
        degrees_of_freedom, boltzmann = float(self.degrees_of_freedom(model)), model.units.boltzmann
        return Bath(
            np.array([self.way, seed, RANDOM_STREAM, linear], dtype=np.int64),
            np.array([degrees_of_freedom, boltzmann, *self.numbers()]),
            self.thermostat_masses(degrees_of_freedom * boltzmann * temperatures[0], boltzmann * temperatures[0]),
            times,
            target_factor * temperatures,
        )

    def numbers(self) -> tuple[float, float, float]:
        """Gain kd, friction γ and relaxation time; zeros where a thermostat has none."""
        return 0.0, 0.0, 0.0

    def thermostat_masses(self, thermal: float, kT: float) -> np.ndarray:
        """Q of each member of the chain, given N k T and k T at the start [energy]."""
        return np.zeros(0)
