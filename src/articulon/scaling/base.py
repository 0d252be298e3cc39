"""Base class of scaling policies, and the inputs of their laws.

A policy is a declaration and a jitted law ``law(parameters, sums, factor)``. The law reads its parameters (a flat
array) and the inputs ``sums`` (20,), and writes the factor of each channel into ``factor`` (8,). It may also read
``factor``, which contains the factors of the previous step; they are 1 before the first step.

The first inputs are the magnitudes of the forces by channel: the sums of |F| over the bodies, unscaled, at the start of
a step. Next are the thermostat's ζ and kd ζ' at this time [1/time], 0 without a thermostat, and the step that will be
tried [time], 0 before the first step.

For a policy that ``follows`` the lag (``integrate/lag_tracking.py``), further inputs are: the longest relaxation time
of the model [time]; the time since the factors last changed [time], 0 at the start; the time since the start [time];
and the largest delay of a tree that the scaling has caused so far [time]. Three inputs describe the tree with the
largest lag: its relative lag without scaling, infinite before it is known; the rate at which its velocity changes
[1/time]; and its relaxation time [time]. The last two are the factor that the joints within trees need, and the
relaxation time of the joint that needs it [time]. The law is called when these inputs are updated.
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
"""Indices in ``sums``, after the channels, of ζ, kd ζ', the step, the longest relaxation time, the times since the last
change and since the start, the delay so far, the lag of trees, its rate and its relaxation time, and the factor that
joints need with their relaxation time."""


class ScalingPolicy(Declaration):
    """Base class of every policy."""

    if TYPE_CHECKING:
        policy: str
    law: ClassVar[Any]
    """The jitted law."""
    scales: ClassVar[bool] = True
    """Whether the policy scales any force."""
    switches: ClassVar[bool] = False
    """Whether the policy switches at a ``threshold`` of the ratio of the potential's forces to the core's drag
    coefficient. A short unscaled run determines the threshold if it is None; ``core`` names the body whose drag is
    used."""
    varies: ClassVar[bool] = False
    """Whether the factors change along the run."""
    smooth: ClassVar[bool] = False
    """Whether the factors change gradually, without distinct switching times."""
    follows: ClassVar[bool] = False
    """Whether the law reads the lag of motions behind the forces, for which ``State.memory`` is needed."""
    thermostatted: ClassVar[bool] = False
    """Whether the policy is one of Guy (2018, chapter 4), which require a Nosé–Hoover thermostat."""

    def parameters(self, damping: float) -> np.ndarray:
        """Return the law's parameters; ``damping`` is the core's translational drag coefficient β [mass/time]."""
        raise NotImplementedError

    def least_factor(self) -> float:
        """Smallest factor of the damping; every relaxation time is longer by the inverse of this factor."""
        return 1.0

    def first_factor(self) -> float:
        """Factor of the damping in the first steps."""
        return self.least_factor()

    def noise_factor(self) -> float:
        """Factor of the damping for which noise windows are chosen."""
        return self.least_factor()

    def aim(self) -> float:
        """Target delay, relative to the time since the start, for a policy that follows the lag."""
        raise NotImplementedError

    def target_factor(self) -> float:
        """Factor of the thermostat's target, and therefore of the initial kinetic energy; it differs from 1 only for
        ``atomistic-clock``."""
        return 1.0

    def speed_factor(self) -> float:
        """Factor of the initial speeds: the square root of ``target_factor``."""
        return math.sqrt(self.target_factor())

    def configurational_factor(self) -> float | None:
        """Temperature at which positions are sampled under a thermostat, relative to the thermostat's target. It is the
        kinetic temperature divided by the factor of the potential. None if the factors vary."""
        return 1.0

    def notes(self, temperature: float | None) -> list[str]:
        """Notes for the user about a run with this policy and with Brownian forces of the given temperature, or without
        Brownian forces if it is None."""
        return []

    def describe(self) -> dict[str, Any]:
        """Describe the policy for the summary."""
        return self.model_dump()
