"""Thermostats, one file each: the declaration, and the function that carries it over a part of a step. One is found by
being here: the names below are written out for type checkers and editors alone."""

from typing import Annotated, TypeAlias

from articulon.baths.base import BaseThermostat
from articulon.baths.langevin import Langevin
from articulon.baths.modified_nose_hoover import ModifiedNoseHoover
from articulon.baths.nose_hoover import NoseHoover, NoseHooverChain
from articulon.baths.overdamped import Overdamped
from articulon.baths.schedule import TemperatureTable
from articulon.baths.stochastic_velocity_rescaling import StochasticVelocityRescaling
from articulon.families import Family

THERMOSTATS = Family("thermostat", "kind", lambda member: issubclass(member, BaseThermostat))
"""All thermostats by their ``kind``: the classes of this package that have one."""
THERMOSTATS.discover(__name__, __path__)
Thermostat: TypeAlias = Annotated[BaseThermostat, THERMOSTATS]
"""Any thermostat, chosen by its ``kind``."""
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
