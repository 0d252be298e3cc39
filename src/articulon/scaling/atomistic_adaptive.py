"""A factor that follows the thermostat, as Guy (2018, 4.3 and 4.8) suggests and leaves open."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import POTENTIAL, THERMOSTAT
from articulon.scaling.base import STEP, ZETA_RATE, ScalingPolicy


@first_class
def atomistic_adaptive(parameters, sums, factor):
    minimum, time_scale, memory = parameters[0], parameters[1], parameters[2]
    rate = abs(sums[ZETA_RATE]) * time_scale
    wanted = 1.0
    if not rate <= 1.0:
        wanted = 1.0 / rate
    if wanted < minimum:
        wanted = minimum
    before = factor[POTENTIAL]
    a2 = before * (wanted / before) ** (1.0 - math.exp(-sums[STEP] / memory))
    for channel in range(factor.size):
        factor[channel] = a2
    factor[THERMOSTAT] = 1.0


class AtomisticAdaptive(ScalingPolicy):
    """M q'' + (ζ + a2 kd ζ') M q' = a2 Γ with a2 = ε(t) = 1/(\\|kd ζ'\\| τ), within [minimum, 1] and smoothed.

    ε is Guy's small parameter (4.5) in the time scale τ, and 1 wherever kd ζ' is small. It passes through 1 whenever
    the temperature passes its target, so that a2 follows it as ln a2 = ∫ ln ε(t') exp(−(t − t')/m) dt'/m with a memory
    m, from 1 at the start. The configuration is heated as by ``atomistic``, to **Td/a2** of a mean a2; and since a
    factor that varies does work that no energy function accounts for, energy is booked as work alone.
    """

    policy: Literal["atomistic-adaptive"] = "atomistic-adaptive"
    minimum: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1e-3
    """The least a2."""
    time_scale: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """τ, the time scale at which the system is looked at [time]; Guy's Case II is that of a nanosecond."""
    memory: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """m, over which a2 is smoothed [time]; τ/1000 by default."""
    law = staticmethod(atomistic_adaptive)
    varies = True
    thermostatted: ClassVar[bool] = True

    @model_validator(mode="after")
    def _between(self) -> Self:
        if isinstance(self.minimum, float) and self.minimum > 1.0:
            raise ValueError(f"minimum must be at most 1, the factor of no scaling, got {self.minimum:g}")
        return self

    def parameters(self, damping: float) -> np.ndarray:
        """(minimum, τ, m)."""
        memory = 1e-3 * float(self.time_scale) if self.memory is None else float(self.memory)
        return np.array([float(self.minimum), float(self.time_scale), memory])

    def least_factor(self) -> float:
        """minimum."""
        return float(self.minimum)

    def configurational_factor(self) -> None:
        """It varies."""
        return None
