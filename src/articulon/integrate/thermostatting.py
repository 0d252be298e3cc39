"""What is checked of a thermostat, and of what is chosen beside it, before anything is compiled."""

from typing import Any

from articulon.integrate.combination import Combination, resists
from articulon.integrate.compatibility import check
from articulon.model import Model
from articulon.scaling.base import ScalingPolicy
from articulon.thermostats.base import BaseThermostat


def check_thermostat(
    thermostat: BaseThermostat | None, integrator: Any, policy: ScalingPolicy, model: Model, duration: float
) -> None:
    """Raises CaseError for a thermostat, a rule, a policy and a model that do not go with each other, and for a
    thermostat that cannot go with the model or the duration [time]."""
    check(Combination(model, integrator, policy, thermostat, resists=resists(model)))
    if thermostat is not None:
        thermostat.check(model)
        thermostat.check_schedule(duration)
