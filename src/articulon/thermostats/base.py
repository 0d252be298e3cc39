"""Interface of a thermostat: a table for kernels, and the function that advances the thermostat over a part of a step.

A thermostat acts in one of two ways. In an integrator for any right-hand side it is a force −(ζ + kd ζ') M q' with
equations for its own variables (``equations.py``). In an integrator with fixed steps it is a part of the splitting,
solved at constant positions. The function ``advance(bath, kinetic, time, h, count, factor, variables, works)`` advances
the thermostat over a time h from the current kinetic energy, and returns the factor of all speeds. ``count`` differs at
every call of a run and selects the random numbers. In step number n, it is 2n for the first call and 2n + 1 for the
second. ``factor`` (8,) holds the scaling factors of the channels, ``variables`` the thermostat's variables, and
``works`` (8,) receives the energy that the speeds gain.
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
"""Effect of a thermostat on the speeds: it has none, multiplies all speeds by one number, adds random speeds, or
replaces the speeds."""

EFFECT, SEED, STREAM, LINEAR = range(4)
"""Positions in ``Bath.choice``."""
DEGREES_OF_FREEDOM, BOLTZMANN, GAIN, FRICTION, RELAXATION = range(5)
"""Positions in ``Bath.constants``."""

RANDOM_STREAM = 2
"""Stream of random numbers from which thermostats draw."""


class Bath(NamedTuple):
    """A thermostat as kernels read it."""

    choice: np.ndarray
    """Effect on the speeds, seed, stream, and whether the temperature is linear between its knots, shape (4,)."""
    constants: np.ndarray
    """Degrees of freedom N, Boltzmann constant k [energy/temperature], gain kd [time], friction γ [1/time] and
    relaxation time [time], shape (5,). Constants that a thermostat does not have are zero."""
    masses: np.ndarray
    """Thermostat mass Q of each member of a chain [energy time²], shape (k,); empty for a thermostat without
    variables."""
    times: np.ndarray
    """Knots of the temperature [time], shape (knots,)."""
    temperatures: np.ndarray
    """Temperatures at the knots [temperature], shape (knots,)."""


def no_bath() -> Bath:
    """Return the bath of a model without a thermostat."""
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
"""Signature of the function that advances a thermostat over part of a step."""


@first_class
def leave(bath, kinetic, time, h, count, factor, variables, works):
    """Return 1; this is for no thermostat, and for thermostats that do not multiply the speeds."""
    return 1.0


def variables_of(bath: Bath) -> int:
    """Return the number of a thermostat's own variables: ζ of each member of a chain, and the energy of its
    reservoir."""
    return bath.masses.size + 1 if bath.masses.size else 0


class BaseThermostat(Declaration):
    """Base of every thermostat."""

    positional: ClassVar[tuple[str, ...]] = ("temperature",)
    way: ClassVar[int]
    """Effect on the speeds."""
    advance: ClassVar[Any] = staticmethod(leave)
    """Jitted function that advances the thermostat over a part of a step."""
    deterministic: ClassVar[bool] = False
    """Whether the thermostat is an equation of motion, which every integrator can solve."""

    temperature: Temperature
    """Target temperature T [temperature], or a table of it over time."""
    centre_of_mass: Literal["free", "removed"] = "free"
    """``"removed"`` removes the total momentum from the initial speeds, and counts three degrees of freedom less. The
    forces must then conserve the total momentum."""

    def check(self, model: Model, where: str = "thermostat") -> None:
        """Raise CaseError if the thermostat is incompatible with a model."""
        if self.degrees_of_freedom(model) < 1:
            raise CaseError(
                f"{where}: the model has no degrees of freedom to keep at a temperature"
                + (" once its total momentum is removed" if self.centre_of_mass == "removed" else "")
                + "; leave out the thermostat, or free a joint"
            )
        if self.centre_of_mass == "removed":
            check_momentum_is_kept(model, where)

    def check_schedule(self, duration: float, where: str = "thermostat") -> None:
        """Raise CaseError for a table of temperatures that ends before the run, after ``duration`` [time]."""
        check_schedule(self.temperature, duration, f"{where}.temperature")

    def degrees_of_freedom(self, model: Model) -> int:
        """Return the number of degrees of freedom N that share the kinetic energy ½ N k T."""
        return model.degrees_of_freedom - (3 if self.centre_of_mass == "removed" else 0)

    def table(self, model: Model, seed: int, target_factor: float = 1.0) -> Bath:
        """Return the table for kernels. ``target_factor`` multiplies the target temperature, but not Q."""
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
        """Return gain kd, friction γ and relaxation time; zero for each that the thermostat does not have."""
        return 0.0, 0.0, 0.0

    def thermostat_masses(self, thermal: float, kT: float) -> np.ndarray:
        """Return Q of each member of the chain, given N k T and k T at the start [energy]."""
        return np.zeros(0)
