"""The contract of a scaling policy.

A policy is a declaration and a jitted law ``law(parameters, sums, factor)``: it reads its parameters (a flat array) and
what drives it, ``sums`` (20,): the magnitudes of the forces by channel, which are the sums of |F| over the bodies,
unscaled, at the start of a step; then the thermostat's ζ and kd ζ' there [1/time], 0 without one; then the step that is
about to be tried [time], 0 before the first. It writes the factor of each channel (8,). It may read ``factor``, which
holds those of the step before, 1 before the first.

For a policy that ``follows`` how the forces change (``integrate/lag_tracking.py``) there is besides the longest
relaxation time of the model [time], the time since the factors last changed [time], 0 at the start, the time since the
start [time], and by how much the scaling has made the latest tree late since then [time]; then, of the tree that lags
most, the lag that it would have unscaled, as a part of its way, infinite before it is known, the rate at which its
velocity changes [1/time] and its relaxation time [time]; then the factor that the joints within trees need, and the
relaxation time of the one that needs it [time]. Its law is called when these are known anew.
"""

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types

from articulon.declaration import Declaration

LAW = types.void(types.float64[::1], types.float64[::1], types.float64[::1])
"""Signature of a law."""

INPUTS = 20
"""Size of ``sums``."""
ZETA, ZETA_RATE, STEP, RELAXATION, ELAPSED, AGE, DELAY, LAG, RATE, MEMORY, NEEDED, NEEDED_MEMORY = range(8, INPUTS)
"""Where a law finds ζ, kd ζ', the step, the longest relaxation time, the times since the last change and since the
start, the delay so far, the lag of trees, its rate and its relaxation time, and what joints need, with their relaxation
time, behind the channels."""


class ScalingPolicy(Declaration):
    """Base of every policy."""

    if TYPE_CHECKING:
        policy: str
    law: ClassVar[Any]
    """The jitted law."""
    scales: ClassVar[bool] = True
    """Whether it scales anything."""
    switches: ClassVar[bool] = False
    """Whether it switches at a ``threshold`` of the potential over the core's drag, which a short unscaled run finds
    where it is None; ``core`` names the body whose drag it is."""
    varies: ClassVar[bool] = False
    """Whether the factors change along the run."""
    smooth: ClassVar[bool] = False
    """Whether they change little by little, and not at moments of which one can speak."""
    follows: ClassVar[bool] = False
    """Whether its law reads how far motions lag behind the forces, which ``State.memory`` is for."""
    thermostatted: ClassVar[bool] = False
    """Whether it is one of Guy (2018, chapter 4), which is meaningless without a thermostat of Nosé and Hoover."""

    def parameters(self, damping: float) -> np.ndarray:
        """The law's parameters; ``damping`` is the core's translational drag coefficient β [mass/time]."""
        raise NotImplementedError

    def least_factor(self) -> float:
        """The smallest factor that the damping can have: it lengthens every relaxation time by its inverse."""
        return 1.0

    def first_factor(self) -> float:
        """The factor that the damping has in the first steps."""
        return self.least_factor()

    def noise_factor(self) -> float:
        """The factor of the damping that windows of noise are made for."""
        return self.least_factor()

    def aim(self) -> float:
        """The delay that is aimed at, relative to the time since the start, for a policy that follows the lag."""
        raise NotImplementedError

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

    def notes(self, temperature: float | None) -> list[str]:
        """What a reader of a run must know of it, whose Brownian forces have this temperature; None without any."""
        return []

    def describe(self) -> dict[str, Any]:
        """For the summary."""
        return self.model_dump()
