"""One factor for all forces but inertia, chosen along the run so that the predicted delay stays within a tolerance."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class, jit
from articulon.model.state import DAMPING
from articulon.scaling.base import (
    AGE,
    DELAY,
    ELAPSED,
    LAG,
    MEMORY,
    NEEDED,
    NEEDED_MEMORY,
    RATE,
    RELAXATION,
    ScalingPolicy,
)

SAFETY = 0.9
"""Part of the tolerance that is aimed at: the rest is for what the law follows late, for joints that settle at the
start, and for the integrator."""
LARGEST = 0.15
"""Lag at a moment at most, where the tolerance is on arrivals: what is predicted is of first order in it."""
FALL = 0.5
"""d(τ/a2)/dt at most: from rest, a relaxation time that grows as τ + t/2 costs a body the time 2τ, and no more."""
QUANTUM = 2e-3
"""Least change of ln a2: the forces are evaluated anew whenever a factor changes, and so that is rare."""


def aimed_at(tolerance: float) -> float:
    """Delay relative to the time since the start: what is late by D arrives at T + D, and D/T is to be tolerable."""
    return SAFETY * tolerance / (1.0 + tolerance)


def allowed_lag(aim, spend, largest, age, delay, rate):
    """The lag that is allowed at a moment, (1 − s/2) aim + s (aim t − D) λ/2, with s = ``spend``.

    For s = 1, half of what is left to lose, R = aim (t + 1/λ) − D, is spent in each e-folding of the force. Where
    λ = 1/(t* − t), R falls as √(t* − t), and a2 ∝ 1/R ∝ √λ: of all a2(t) that lose one time ∫ τλ/a2 dt this makes the
    cost ∫ a2 dt least, by the inequality of Cauchy and Schwarz. Where nothing is left of aim t, D grows by half of the
    aim, so that D ≤ aim t at all times if a2 follows at once. For s = 0 the aim is what is allowed.
    """
    lag = (1.0 - 0.5 * spend) * aim + 0.5 * spend * (aim * age - delay) * rate
    return min(max(lag, 0.25 * aim), max(largest, aim))


_allowed_lag = jit(allowed_lag)


@first_class
def error_controlled(parameters, sums, factor):
    aim, minimum, fall, spend, largest = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]
    before = factor[DAMPING]
    if not sums[ELAPSED] > 0.0:
        return
    allowed = _allowed_lag(aim, spend, largest, sums[AGE], sums[DELAY], sums[RATE])
    wanted, memory = sums[LAG] / allowed, sums[MEMORY]
    if sums[NEEDED] > wanted:
        wanted, memory = sums[NEEDED], sums[NEEDED_MEMORY]
    wanted = min(1.0, max(minimum, wanted))
    gone = sums[ELAPSED] * before / sums[RELAXATION]
    if wanted > before:  # as fast as what lags can follow
        a2 = before * (wanted / before) ** (1.0 - math.exp(-sums[ELAPSED] * before / memory))
    else:  # as the slowest motion's memory: nothing moves it faster
        a2 = max(before * (wanted / before) ** (1.0 - math.exp(-gone)), before / (1.0 + fall * gone))
    if abs(math.log(a2 / before)) >= QUANTUM:
        for channel in range(factor.size):
            factor[channel] = a2


class ErrorControlled(ScalingPolicy):
    """M q'' + C + a2 β D q' = a2 Γ with a2(t) as small as a tolerance on the delay allows.

    Scaled by a2, everything moves as if every mass were larger by 1/a2, and falls short of the velocity that forces and
    drag prescribe by the lag ℓ, as a part of it: for a tree of bodies as a whole (τ/a2) \\|dG/dt\\|/\\|G\\| with
    τ = Σm/Σβ and the net force G, and for rotations and joints what follows from the articulated equations. By that it
    gets late: dD/dt = ℓ, less the same of the unscaled motion. The law takes the largest lag of all translations,
    rotations and joints and lets a2 follow it, within [minimum, 1]:

        d ln a2/dt = (a2/τ) ln(wanted/a2),   wanted = ℓ a2/allowed,   d(τ/a2)/dt ≤ 1/2,

    from a2 = 1 at the start, so that starting from rest costs next to nothing; τ is the longest relaxation time while
    a2 falls, and that of what lags most while it rises. What lag is allowed at a moment says ``bounds``. Both keep D
    below the tolerance of the time since the start where the forces change little within τ/a2, as they do where bodies
    draw near to each other from afar: the first by its sum, the second at each moment, which costs about twice as much
    there, and also keeps speeds within the tolerance. Joints within trees are held to their sum. **A force that sets in
    faster is followed late:** a body that has long drifted under a steady force remembers up to τ/a2 = τ + t/2, so that
    what it then meets at once, as a step of the force at its place, can cost several parts in a hundred of t at any
    tolerance. Nothing before it says so; the run's fidelity does.

    Speeds are kept when a2 changes, so that the kinetic energy is continuous; the potential a2 Φ is not, and the energy
    that its jumps bring in is booked (``conservative_works`` in the summary), so that the energy balance closes. Under
    noise what is kept of the thermal part of the speeds is its momentum: kept speeds would bias the motion by a force
    of up to kT times the gradient of ln a2. The kinetic energy then jumps, which is booked as work of the noise.

    Lags are bounded motion by motion: coupled joints of chains can be late by more than the tolerance. So can thermal
    motion, which remembers τ/a2 and is late by some √(2 D τ/a2), whatever this law does. The run's fidelity says so.

    It bounds what drag holds back; rotations and joints without drag, and joints with damping of their own, are not
    followed. It takes an explicit Runge–Kutta rule or friction-implicit; with fixed steps nothing is saved by it.
    """

    positional: ClassVar[tuple[str, ...]] = ("tolerance",)
    policy: Literal["error-controlled"] = "error-controlled"
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 0.02
    """Largest predicted delay: of the time that an event takes since the start, when it is late by that part of it."""
    bounds: Literal["arrival", "moment"] = "arrival"
    """What the tolerance bounds: how late things are in all, so that more lag, up to 0.15, is allowed where it lasts
    for a short time; or the lag at every moment."""
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
        """(what is aimed at, minimum, fall, what is spent of the time left, largest lag at a moment)."""
        spend = 1.0 if self.bounds == "arrival" else 0.0
        return np.array([self.aim(), float(self.minimum), FALL, spend, LARGEST if spend else 0.0])

    def aim(self) -> float:
        """A part of the tolerance."""
        return aimed_at(float(self.tolerance))

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
