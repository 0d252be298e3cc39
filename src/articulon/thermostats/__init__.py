"""Thermostats, one per file: the declaration, and the function that advances the thermostat over a part of a step.
Every thermostat class in this package is found automatically; the names below are listed for type checkers and editors
only."""

from typing import Annotated, TypeAlias

from articulon.families import Family
from articulon.thermostats.base import BaseThermostat
from articulon.thermostats.langevin import Langevin
from articulon.thermostats.modified_nose_hoover import ModifiedNoseHoover
from articulon.thermostats.nose_hoover import NoseHoover, NoseHooverChain
from articulon.thermostats.overdamped import Overdamped
from articulon.thermostats.schedule import TemperatureTable
from articulon.thermostats.stochastic_velocity_rescaling import StochasticVelocityRescaling

THERMOSTATS = Family("thermostat", "kind", lambda member: issubclass(member, BaseThermostat))
"""All thermostats by their ``kind``: every class of this package that has a ``kind``."""
THERMOSTATS.discover(__name__, __path__)
Thermostat: TypeAlias = Annotated[BaseThermostat, THERMOSTATS]
"""Any thermostat, selected by its ``kind``."""
globals().update({member.__name__: member for member in THERMOSTATS})

__all__ = [
    "THERMOSTATS",
    "Langevin",
    "ModifiedNoseHoover",
    "NoseHoover",
    "NoseHooverChain",
    "Overdamped",
    "StochasticVelocityRescaling",
    "TemperatureTable",
    "Thermostat",
]
