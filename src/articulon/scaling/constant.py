"""One constant factor (Guy 2018, 2.14)."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.scaling.base import ScalingPolicy


@first_class
def constant(parameters, sums, factor):
    for channel in range(factor.size):
        factor[channel] = parameters[0]


class Constant(ScalingPolicy):
    """Multiply every force by a2, as if every mass were divided by a2: M q'' + C + a2 β D q' = a2 Γ.

    M is the mass matrix, q the coordinates, C the velocity-product terms, β D q' the drag, and Γ all other forces.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2",)
    policy: Literal["constant"] = "constant"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor a2, above 0 and usually far below 1."""
    law = staticmethod(constant)

    def parameters(self, damping: float) -> np.ndarray:
        """Return (a2,)."""
        return np.array([float(self.a2)])

    def least_factor(self) -> float:
        """Return a2."""
        return float(self.a2)

    def configurational_factor(self) -> float:
        """Return 1/a2."""
        return 1.0 / float(self.a2)
