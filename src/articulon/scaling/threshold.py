"""The published adaptive rule: the potential is scaled only where it is large (Guy 2018, 5.6 and 5.7)."""

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
    """M q'' + C + a2 β D q' = a2 Γ_others + a2* Γ_p, with a2* = a2 where Γ_p/β > α and 1 elsewhere.

    Γ_p is the sum of |F| of the potential over the bodies and β the core's drag coefficient, evaluated once per
    accepted step. Below the threshold the drag is scaled but the potential is not, so that the steady drift Γ_p/(a2 β)
    is too fast by 1/a2, as published. The fidelity section of the summary shows the effect.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2",)
    policy: Literal["threshold-adaptive"] = "threshold-adaptive"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor of the scaled forces."""
    threshold: Annotated[Quantity | None, Dimension("velocity", minimum=0)] = None
    """α, the value of Γ_p/β above which the potential is scaled too [length/time]; with None a short unscaled run
    determines it (Guy 2018, 5.2)."""
    core: BodyName | None = None
    """Body that provides β; by default the one with the largest."""
    law = staticmethod(scaled_where_large)
    switches = True
    varies = True

    def parameters(self, damping: float) -> np.ndarray:
        """(a2, α, β)."""
        if self.threshold is None:
            raise ValueError("the threshold has not been determined yet")
        return np.array([float(self.a2), float(self.threshold), damping])

    def least_factor(self) -> float:
        """a2."""
        return float(self.a2)

    def configurational_factor(self) -> None:
        """None: the factor varies."""
        return None
