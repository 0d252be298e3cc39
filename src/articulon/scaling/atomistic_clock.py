"""Consistent form of atomistic scaling: the thermostat's target is scaled with the forces, which changes only the
clock."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import THERMOSTAT, THERMOSTAT_RATE
from articulon.scaling.base import ScalingPolicy


@first_class
def atomistic_clock(parameters, sums, factor):
    for channel in range(factor.size):
        factor[channel] = parameters[0]
    factor[THERMOSTAT] = 1.0
    factor[THERMOSTAT_RATE] = 1.0 / math.sqrt(parameters[0])


class AtomisticClock(ScalingPolicy):
    """Scale forces and thermostat target by a2: M q'' + (ζ + kd ζ'/√a2) M q' = a2 Γ.

    The symbols are those of ``atomistic``. The thermostat's rate is ζ' = (q'ᵀ M q' − N k a2 Td)/Q, with N degrees of
    freedom, the target temperature Td and the thermostat's mass Q. The initial speeds are multiplied by √a2. With s =
    √a2 t and q' = √a2 dq/ds, the equation becomes M d²q/ds² + (ζ* + kd dζ*/ds) M dq/ds = Γ for ζ = √a2 ζ*. This is
    exactly the unscaled motion, with the same Q and kd, in a slower clock. The configuration is that of **Td**; if only
    the forces were scaled, it would be that of Td/a2. The allowed steps become longer, but the physics becomes slower
    by the same factor, so **nothing is gained**; this policy demonstrates it. The kinetic temperature is a2 Td, and is
    reported divided by a2.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2",)
    policy: Literal["atomistic-clock"] = "atomistic-clock"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor of the forces and of the target; the factor of the clock is its square root."""
    law = staticmethod(atomistic_clock)
    thermostatted: ClassVar[bool] = True

    def parameters(self, damping: float) -> np.ndarray:
        """Return (a2,)."""
        return np.array([float(self.a2)])

    def least_factor(self) -> float:
        """Return √a2, the factor by which all motion is slower."""
        return math.sqrt(float(self.a2))

    def target_factor(self) -> float:
        """Return a2."""
        return float(self.a2)
