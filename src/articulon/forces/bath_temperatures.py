"""Temperatures that forces take from the bath of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from articulon.forces.base import Force
from articulon.forces.brownian import brownian_of
from articulon.model import Model
from articulon.thermostats.base import BaseThermostat
from articulon.thermostats.schedule import schedule_arrays


def at_bath(model: Model, thermostat: BaseThermostat | None) -> Model:
    """Return the model after its forces without a temperature have received that of the thermostat or, without one,
    that of the Brownian forces. If the temperature of the bath changes, they receive its initial value. Without a bath
    the forces are not changed.

    Parameters
    ----------
    model
        The model.
    thermostat
        The thermostat, with its quantities in the units of the model.
    """
    if not any(isinstance(force, Force) and force.lacks_temperature for force in model.forces):
        return model
    bath: Any = thermostat if thermostat is not None else brownian_of(model)
    if bath is None:
        return model
    temperature = float(schedule_arrays(bath.temperature)[1][0])
    forces = tuple(
        force.model_copy(update={"temperature": temperature})
        if isinstance(force, Force) and force.lacks_temperature
        else force
        for force in model.forces
    )
    return replace(model, forces=forces)
