"""Thermostats, one file each: the declaration, and the function that carries it over a part of a step."""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.baths.langevin import Langevin
from articulon.baths.modified_nose_hoover import ModifiedNoseHoover
from articulon.baths.nose_hoover import NoseHoover, NoseHooverChain
from articulon.baths.overdamped import Overdamped
from articulon.baths.schedule import TemperatureTable
from articulon.baths.stochastic_velocity_rescaling import StochasticVelocityRescaling

Thermostat: TypeAlias = Annotated[
    NoseHoover | NoseHooverChain | ModifiedNoseHoover | Langevin | StochasticVelocityRescaling | Overdamped,
    Field(discriminator="kind"),
]
"""Any thermostat, chosen by its ``kind``."""

__all__ = [
    "Langevin",
    "ModifiedNoseHoover",
    "NoseHoover",
    "NoseHooverChain",
    "Overdamped",
    "StochasticVelocityRescaling",
    "TemperatureTable",
    "Thermostat",
]
