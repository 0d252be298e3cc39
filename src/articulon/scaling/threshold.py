"""The published adaptive rule: the potential is scaled only if its forces are large (Guy 2018, 5.6 and 5.7)."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import BodyName, Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import POTENTIAL
from articulon.scaling.base import ScalingPolicy


@first_class
def scaled_where_large(parameters, sums, factor):
    a2, alpha, damping = parameters[0], parameters[1], parameters[2]
    for channel in range(factor.size):
        factor[channel] = a2
    factor[POTENTIAL] = a2 if sums[POTENTIAL] / damping > alpha else 1.0


class ThresholdAdaptive(ScalingPolicy):
    """Multiply all forces by a2, but those of the potential only if they exceed a threshold.

    The equation is M q'' + C + a2 β D q' = a2 Γ_others + a2* Γ_p, with a2* = a2 if Γ_p/β > α, and a2* = 1 otherwise. M
    is the mass matrix, q the coordinates, C the velocity-product terms, β D q' the drag, and Γ_others all forces except
    drag and potential. In the condition, Γ_p is the sum of |F| of the potential over the bodies, and β is the core's
    drag coefficient, evaluated once per accepted step. Below the threshold, the drag is scaled but the potential is
    not, so that the steady drift Γ_p/(a2 β) is too fast by 1/a2, as published. The fidelity section of the summary
    shows the effect.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2",)
    policy: Literal["threshold-adaptive"] = "threshold-adaptive"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor of the scaled forces."""
    threshold: Annotated[Quantity | None, Dimension("velocity", minimum=0)] = None
    """Threshold α: the value of Γ_p/β above which the potential is scaled too [length/time]. If None, a short unscaled
    run determines it (Guy 2018, 5.2)."""
    core: BodyName | None = None
    """Body whose drag coefficient is β; by default the body with the largest coefficient."""
    law = staticmethod(scaled_where_large)
    switches = True
    varies = True

    def parameters(self, damping: float) -> np.ndarray:
        """Return (a2, α, β)."""
        if self.threshold is None:
            raise ValueError("the threshold has not been determined yet")
        return np.array([float(self.a2), float(self.threshold), damping])

    def least_factor(self) -> float:
        """Return a2."""
        return float(self.a2)

    def configurational_factor(self) -> None:
        """Return None, because the factor varies."""
        return None
