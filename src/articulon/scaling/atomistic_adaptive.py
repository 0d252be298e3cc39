"""A factor that adapts to the thermostat, which Guy (2018, 4.3 and 4.8) suggests without giving an equation."""

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
    """Scale as ``atomistic`` by a factor that varies with the thermostat: a2 = ε(t) = 1/(\\|kd ζ'\\| τ), smoothed.

    The equation is M q'' + (ζ + a2 kd ζ') M q' = a2 Γ, with the symbols of ``atomistic``, and a2 stays within [minimum,
    1]. ε is Guy's small parameter (4.5) for the time scale τ, limited to 1 if kd ζ' is small. It reaches 1 whenever the
    temperature crosses its target. Therefore a2 is smoothed with a memory m: ln a2 = ∫ ln ε(t') exp(−(t − t')/m) dt'/m,
    starting from 1. The configuration is heated as by ``atomistic``, to **Td/a2** for a mean a2. A varying factor does
    work that no energy function accounts for, so energy is recorded only as work.
    """

    policy: Literal["atomistic-adaptive"] = "atomistic-adaptive"
    minimum: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1e-3
    """Smallest a2."""
    time_scale: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """Time scale of interest τ [time]; Guy's Case II has a nanosecond."""
    memory: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Time m over which a2 is smoothed [time]; τ/1000 by default."""
    law = staticmethod(atomistic_adaptive)
    varies = True
    thermostatted: ClassVar[bool] = True

    @model_validator(mode="after")
    def _between(self) -> Self:
        if isinstance(self.minimum, float) and self.minimum > 1.0:
            raise ValueError(f"minimum must be at most 1, the factor of no scaling, got {self.minimum:g}")
        return self

    def parameters(self, damping: float) -> np.ndarray:
        """Return (minimum, τ, m)."""
        memory = 1e-3 * float(self.time_scale) if self.memory is None else float(self.memory)
        return np.array([float(self.minimum), float(self.time_scale), memory])

    def least_factor(self) -> float:
        """Return the minimum."""
        return float(self.minimum)

    def configurational_factor(self) -> None:
        """Return None, because the factor varies."""
        return None
