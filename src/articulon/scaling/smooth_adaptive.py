"""The published adaptive rule with a continuous switch, as Guy (2018, 5.9) proposes."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import BodyName, Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import POTENTIAL
from articulon.scaling.base import ScalingPolicy


@first_class
def scaled_smoothly_where_large(parameters, sums, factor):
    a2, alpha, damping, width = parameters[0], parameters[1], parameters[2], parameters[3]
    for channel in range(factor.size):
        factor[channel] = a2
    above = 0.5 * (1.0 + math.tanh((sums[POTENTIAL] / damping - alpha) / width))
    factor[POTENTIAL] = 1.0 + (a2 - 1.0) * above


class SmoothAdaptive(ScalingPolicy):
    """Scale like ``threshold-adaptive``, but with a continuous switch of the potential's factor.

    The equation is M q'' + C + a2 β D q' = a2 Γ_others + a2* Γ_p, with a2* = 1 − (1 − a2) (1 + tanh((Γ_p/β − α)/w))/2:
    a hyperbolic switch of width w replaces the jump. The symbols are those of ``threshold-adaptive``. Below the
    threshold, this policy has the same error: the drift is too fast by 1/a2. The fidelity section of the summary shows
    the effect.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2",)
    policy: Literal["smooth-adaptive"] = "smooth-adaptive"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor of the scaled forces."""
    threshold: Annotated[Quantity | None, Dimension("velocity", minimum=0)] = None
    """Threshold α: the value of Γ_p/β around which the potential begins to be scaled [length/time]. If None, a short
    unscaled run determines it (Guy 2018, 5.2)."""
    width: Annotated[Quantity | None, Dimension("velocity", minimum=0, exclusive=True)] = None
    """Width w of the switch [length/time]; a tenth of the threshold by default. From α − w to α + w the switch covers
    76 % of its range."""
    core: BodyName | None = None
    """Body whose drag coefficient is β; by default the body with the largest coefficient."""
    law = staticmethod(scaled_smoothly_where_large)
    switches = True
    varies = True
    smooth = True

    def parameters(self, damping: float) -> np.ndarray:
        """Return (a2, α, β, w)."""
        if self.threshold is None:
            raise ValueError("the threshold has not been determined yet")
        threshold = float(self.threshold)
        width = 0.1 * threshold if self.width is None else float(self.width)
        if not width > 0.0:
            raise ValueError("a threshold of 0 gives no default width; give one")
        return np.array([float(self.a2), threshold, damping, width])

    def least_factor(self) -> float:
        """Return a2."""
        return float(self.a2)

    def configurational_factor(self) -> None:
        """Return None, because the factor varies."""
        return None
