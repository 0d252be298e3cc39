"""The consistent form of atomistic scaling: the target is scaled with the forces, which only changes the clock."""

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
    """M q'' + (ζ + kd ζ'/√a2) M q' = a2 Γ with ζ' = (q'ᵀ M q' − N k a2 Td)/Q, from initial speeds times √a2.

    With s = √a2 t and q' = √a2 dq/ds this is M d²q/ds² + (ζ* + kd dζ*/ds) M dq/ds = Γ for ζ = √a2 ζ*: exactly the
    unscaled motion, with the same Q and kd, in a slower clock. The configuration is that of **Td**, whereas scaling the
    forces but not the target gives that of Td/a2. Steps and physics slow down alike: **there is no gain**, which this
    policy serves to demonstrate. The kinetic temperature is a2 Td, and is reported divided by a2.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2",)
    policy: Literal["atomistic-clock"] = "atomistic-clock"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor of the forces and of the target; that of the clock is its square root."""
    law = staticmethod(atomistic_clock)
    thermostatted: ClassVar[bool] = True

    def parameters(self, damping: float) -> np.ndarray:
        """(a2,)."""
        return np.array([float(self.a2)])

    def least_factor(self) -> float:
        """√a2, by which all motion is slower."""
        return math.sqrt(float(self.a2))

    def target_factor(self) -> float:
        """a2."""
        return float(self.a2)
