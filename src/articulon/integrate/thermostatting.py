"""Checks of a thermostat, a barostat and the other choices of a run, before anything is compiled."""

from typing import Any

from articulon.barostats.base import BaseBarostat
from articulon.integrate.combination import Combination, resists
from articulon.integrate.compatibility import check
from articulon.model import Model
from articulon.scaling.base import ScalingPolicy
from articulon.thermostats.base import BaseThermostat


def check_thermostat(
    thermostat: BaseThermostat | None,
    integrator: Any,
    policy: ScalingPolicy,
    model: Model,
    duration: float,
    barostat: BaseBarostat | None = None,
) -> None:
    """Raise CaseError if the thermostat, the barostat, the integrator, the policy and the model do not go together, or
    if the thermostat does not suit the model or the duration [time]."""
    check(Combination(model, integrator, policy, thermostat, resists=resists(model), barostat=barostat))
    if barostat is not None:
        barostat.check(model, thermostat)
    if thermostat is not None:
        thermostat.check(model)
        thermostat.check_schedule(duration)
