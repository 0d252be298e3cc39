"""One factor for the drag, and an additional factor for all other forces (Guy 2018, 2.15)."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import DAMPING
from articulon.scaling.base import ScalingPolicy


@first_class
def two_factor(parameters, sums, factor):
    for channel in range(factor.size):
        factor[channel] = parameters[0] * parameters[1]
    factor[DAMPING] = parameters[0]


class TwoFactor(ScalingPolicy):
    """Multiply the drag by a2 and all other forces by a2 b2: M q'' + C + a2 β D q' = a2 b2 Γ.

    M is the mass matrix, q the coordinates, C the velocity-product terms, β D q' the drag, and Γ all other forces.
    Positions relax more slowly by 1/b2 and, with noise, are sampled at the temperature b2 T.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2", "b2")
    policy: Literal["two-factor"] = "two-factor"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor of the drag."""
    b2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Additional factor of the other forces."""
    law = staticmethod(two_factor)

    def parameters(self, damping: float) -> np.ndarray:
        """Return (a2, b2)."""
        return np.array([float(self.a2), float(self.b2)])

    def least_factor(self) -> float:
        """Return a2, because relaxation times are longer by its inverse."""
        return float(self.a2)

    def notes(self, temperature: float | None) -> list[str]:
        """Describe the clock of positions, and the temperatures at which positions and speeds are sampled."""
        a2, b2 = float(self.a2), float(self.b2)
        clock = f"scaling: the two-factor policy relaxes positions more slowly by 1/b2 = {1 / b2:g}"
        if temperature is not None:
            T = temperature
            clock += (
                f" and samples them at b2 T = {b2 * T:g} K; speeds are those of a2 b2² T = {a2 * b2 * b2 * T:g} K, and "
                f"the kinetic temperature shown, divided by a2, is {b2 * b2 * T:g} K"
            )
        return [clock]

    def configurational_factor(self) -> float:
        """Return 1/(a2 b2)."""
        return 1.0 / (float(self.a2) * float(self.b2))
