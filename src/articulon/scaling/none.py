"""No scaling."""

from typing import Literal

import numpy as np

from articulon.kernels import first_class
from articulon.scaling.base import ScalingPolicy


@first_class
def unscaled(parameters, sums, factor):
    for channel in range(factor.size):
        factor[channel] = 1.0


class NoScaling(ScalingPolicy):
    """Leave every force unchanged."""

    policy: Literal["none"] = "none"
    law = staticmethod(unscaled)
    scales = False

    def parameters(self, damping: float) -> np.ndarray:
        """Return an empty array, because the law has no parameters."""
        return np.zeros(1)
