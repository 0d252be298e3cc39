"""One factor for all forces but inertia, chosen along the run so that the predicted lag stays within a tolerance."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import DAMPING
from articulon.scaling.base import ELAPSED, LAG, RELAXATION, ScalingPolicy

SAFETY = 0.8
"""Part of the tolerance that is aimed at: the rest is for what the law follows late, and for the integrator."""
FALL = 0.5
"""d(τ/a2)/dt at most: from rest, a relaxation time that grows as τ + t/2 costs a body the time 2τ, and no more."""
QUANTUM = 2e-3
"""Least change of ln a2: the forces are evaluated anew whenever a factor changes, and so that is rare."""


@first_class
def error_controlled(parameters, sums, factor):
    aim, minimum, fall, before = parameters[0], parameters[1], parameters[2], factor[DAMPING]
    if not sums[ELAPSED] > 0.0:
        return
    wanted = min(1.0, max(minimum, sums[LAG] / aim))
    # The slowest tree's memory: nothing moves it faster.
    gone = sums[ELAPSED] * before / sums[RELAXATION]
    a2 = max(before * (wanted / before) ** (1.0 - math.exp(-gone)), before / (1.0 + fall * gone))
    if abs(math.log(a2 / before)) >= QUANTUM:
        for channel in range(factor.size):
            factor[channel] = a2


class ErrorControlled(ScalingPolicy):
    """M q'' + C + a2 β D q' = a2 Γ with a2(t) as small as a tolerance on the lag allows at each moment.

    Scaled by a2, a tree of bodies moves as if every mass were larger by 1/a2, and lags behind the slow path that forces
    and drag prescribe by (τ/a2) \\|dG/dt\\|/\\|G\\| of its way, with τ = Σm/Σβ and G the net force on it but for drag
    and noise. The law takes the largest of these over the trees and lets a2 follow it, within [minimum, 1]:

        d ln a2/dt = (a2/τ) ln(wanted/a2),   wanted = max τ \\|G'\\|/\\|G\\| / (0.8 tolerance),   d(τ/a2)/dt ≤ 1/2,

    from a2 = 1 at the start, so that starting from rest costs next to nothing. G' is the rate of G over the time τ/a2.
    Speeds are kept when a2 changes, so that the kinetic energy is continuous; the potential a2 Φ is not, and the energy
    that its jumps bring in is booked (``conservative_works`` in the summary), so that the energy balance closes.

    The lag is that of trees as wholes that float freely in a medium with Stokes drag: what bodies of one tree do among
    themselves, rotations, and trees that hang on the ground are not followed. It takes an explicit Runge–Kutta rule or
    friction-implicit; with fixed steps nothing is saved by it.
    """

    policy: Literal["error-controlled"] = "error-controlled"
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 0.02
    """Largest predicted lag: of the time that an event takes, when it is late by that part of it."""
    minimum: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1e-4
    """The least a2."""
    law = staticmethod(error_controlled)
    varies = True
    smooth = True
    follows: ClassVar[bool] = True

    @model_validator(mode="after")
    def _between(self) -> Self:
        if isinstance(self.minimum, float) and self.minimum > 1.0:
            raise ValueError(f"minimum must be at most 1, the factor of no scaling, got {self.minimum:g}")
        return self

    def parameters(self, damping: float) -> np.ndarray:
        """(what is aimed at, minimum, fall)."""
        return np.array([SAFETY * float(self.tolerance), float(self.minimum), FALL])

    def least_factor(self) -> float:
        """minimum."""
        return float(self.minimum)

    def first_factor(self) -> float:
        """1."""
        return 1.0

    def noise_factor(self) -> float:
        """Between the least factor and 1: windows for the least would be too long where a2 is large, and those for 1
        would bound the steps."""
        return math.sqrt(float(self.minimum))

    def configurational_factor(self) -> None:
        """It varies."""
        return None
