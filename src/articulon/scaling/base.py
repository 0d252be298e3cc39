"""The contract of a scaling policy.

A policy is a declaration and a jitted law ``law(parameters, sums, factor)``: it reads its parameters (a flat array) and
what drives it, ``sums`` (11,): the magnitudes of the forces by channel, which are the sums of |F| over the bodies,
unscaled, at the start of a step; then the thermostat's ζ and kd ζ' there [1/time], 0 without one; then the step that is
about to be tried [time], 0 before the first. It writes the factor of each channel (8,). It may read ``factor``, which
holds those of the step before, 1 before the first.
"""

import math
from typing import Any, ClassVar

import numpy as np
from numba import types

from articulon.declaration import Declaration

LAW = types.void(types.float64[::1], types.float64[::1], types.float64[::1])
"""Signature of a law."""

INPUTS = 11
"""Size of ``sums``."""
ZETA, ZETA_RATE, STEP = 8, 9, 10
"""Where a law finds ζ, kd ζ' and the step, behind the channels."""


class ScalingPolicy(Declaration):
    """Base of every policy."""

    law: ClassVar[Any]
    """The jitted law."""
    varies: ClassVar[bool] = False
    """Whether the factors change along the run."""
    thermostatted: ClassVar[bool] = False
    """Whether it is one of Guy (2018, chapter 4), which is meaningless without a thermostat of Nosé and Hoover."""

    def parameters(self, damping: float) -> np.ndarray:
        """The law's parameters; ``damping`` is the core's translational drag coefficient β [mass/time]."""
        raise NotImplementedError

    def least_factor(self) -> float:
        """The smallest factor that the damping can have: it lengthens every relaxation time by its inverse."""
        return 1.0

    def target_factor(self) -> float:
        """What the target of a thermostat is multiplied by, and with it the initial kinetic energy: 1 but for
        ``atomistic-clock``."""
        return 1.0

    def speed_factor(self) -> float:
        """What the initial speeds are multiplied by: the square root of ``target_factor``."""
        return math.sqrt(self.target_factor())

    def configurational_factor(self) -> float | None:
        """Temperature at which a thermostat makes a system sample positions, over the target: the kinetic temperature
        over the factor of the potential. None where the factors vary."""
        return 1.0

    def describe(self) -> dict[str, Any]:
        """For the summary."""
        return self.model_dump()
