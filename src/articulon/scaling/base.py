"""The contract of a scaling policy.

A policy is a declaration and a jitted law ``law(parameters, sums, factor)``: it reads its parameters (a flat array)
and the magnitudes of the forces by channel (8,), the sum of |F| over the bodies, unscaled, at the start of a step, and
writes the factor of each channel (8,). It may read ``factor``, which holds those of the step before.
"""

from typing import Any, ClassVar

import numpy as np
from numba import types

from articulon.declaration import Declaration

LAW = types.void(types.float64[::1], types.float64[::1], types.float64[::1])
"""Signature of a law."""


class ScalingPolicy(Declaration):
    """Base of every policy."""

    law: ClassVar[Any]
    """The jitted law."""
    varies: ClassVar[bool] = False
    """Whether the factors change along the run."""

    def parameters(self, damping: float) -> np.ndarray:
        """The law's parameters; ``damping`` is the core's translational drag coefficient β [mass/time]."""
        raise NotImplementedError

    def least_factor(self) -> float:
        """The smallest factor that the damping can have: it lengthens every relaxation time by its inverse."""
        return 1.0

    def describe(self) -> dict[str, Any]:
        """For the summary."""
        return self.model_dump()
