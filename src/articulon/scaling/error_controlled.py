"""One factor for all forces except inertia, chosen along the run so that the predicted delay stays within a
tolerance."""

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
"""Fraction of the tolerance that the law aims at. The rest is a reserve for the response time of the law, for joints
that settle at the start, and for the integrator."""
LARGEST = 0.15
"""Largest lag at any time if the tolerance bounds arrivals, because the prediction is of first order in the lag."""
FALL = 0.5
"""Largest d(τ/a2)/dt. With it, a relaxation time that grows from rest as τ + t/2 delays a body by only 2τ."""
QUANTUM = 2e-3
"""Smallest change of ln a2. The forces are evaluated again whenever a factor changes, so changes should be rare."""


def aimed_at(tolerance: float) -> float:
    """Target delay relative to the time since the start. An event at time T that is delayed by D arrives at T + D, and
    the relative error D/T must be within the tolerance."""
    return SAFETY * tolerance / (1.0 + tolerance)


def allowed_lag(aim, spend, largest, age, delay, rate):
    """Allowed lag at the time t = ``age``, (1 − s/2) aim + s (aim t − D) λ/2, with s = ``spend``, the delay D so far
    and the rate λ at which the force changes.

    For s = 1, half of the remaining delay budget R = aim (t + 1/λ) − D is spent in each e-folding time of the force. If
    λ = 1/(t* − t), R decreases as √(t* − t), and a2 ∝ 1/R ∝ √λ. By the Cauchy–Schwarz inequality, this minimises the
    cost ∫ a2 dt among all a2(t) with the same delay ∫ τλ/a2 dt. When aim t is used up, D grows at half of the rate aim,
    so that D ≤ aim t at all times if a2 responds immediately. For s = 0 the allowed lag is the aim.
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
    if wanted > before:  # the relaxation time of the lagging motion limits the response
        a2 = before * (wanted / before) ** (1.0 - math.exp(-sums[ELAPSED] * before / memory))
    else:  # the relaxation time of the slowest motion limits the response
        a2 = max(before * (wanted / before) ** (1.0 - math.exp(-gone)), before / (1.0 + fall * gone))
    if abs(math.log(a2 / before)) >= QUANTUM:
        for channel in range(factor.size):
            factor[channel] = a2


class ErrorControlled(ScalingPolicy):
    """Multiply every force by a2(t), as small as a tolerance on the delay allows: M q'' + C + a2 β D q' = a2 Γ.

    The symbols are those of ``constant``. With the factor a2, everything moves as if every mass were larger by 1/a2.
    The velocity falls short of the velocity that forces and drag prescribe by a relative lag ℓ. For a tree of bodies as
    a whole, ℓ = (τ/a2) \\|dG/dt\\|/\\|G\\|, with the relaxation time τ = Σm/Σβ and the net force G. For rotations and
    joints, the lag follows from the articulated equations. The lag causes a delay D with dD/dt = ℓ, minus the lag of
    the unscaled motion. The law takes the largest lag of all translations, rotations and joints, and adjusts a2 to it
    within [minimum, 1]:

        d ln a2/dt = (a2/τ) ln(wanted/a2),   wanted = ℓ a2/allowed,   d(τ/a2)/dt ≤ 1/2.

    It starts from a2 = 1, so that starting from rest causes almost no delay. While a2 falls, τ is the longest
    relaxation time; while a2 rises, τ is the relaxation time of the motion with the largest lag. ``bounds`` determines
    the allowed lag. Both choices keep D below the tolerance times the time since the start if the forces change little
    within τ/a2, as for bodies that approach from afar. ``"arrival"`` bounds the total delay. ``"moment"`` bounds the
    lag at every time; for approaching bodies it costs about twice as much, but it keeps speeds within the tolerance.
    For joints within trees, the total delay is bounded.

    **A force that changes faster is followed with a delay.** A body that has drifted for a long time under a steady
    force has a memory of up to τ/a2 = τ + t/2. A sudden force, such as a step at some position, can therefore cost
    several per cent of t at any tolerance. This cannot be predicted; the fidelity report of the run shows it.

    Speeds are unchanged when a2 changes, so that the kinetic energy is continuous. The potential a2 Φ is not
    continuous, and the energy of its jumps is recorded (``conservative_works`` in the summary), so that the energy
    balance closes. With noise, the momentum of the thermal part of the speeds is kept instead, because unchanged speeds
    would bias the motion by a force of up to kT times the gradient of ln a2. The kinetic energy then jumps, which is
    recorded as work of the noise.

    Lags are bounded for each motion separately, so coupled joints of chains can be delayed by more than the tolerance.
    Thermal motion, which has the memory τ/a2, lags by a distance of about √(2 D τ/a2) for a diffusion coefficient D,
    and this law cannot reduce it. The fidelity report of the run shows both.

    Only motions limited by drag are controlled. Rotations and joints without drag, and joints with damping of their
    own, are not tracked. The policy requires an explicit Runge–Kutta integrator or friction-implicit; with fixed steps
    it saves no computing time.
    """

    positional: ClassVar[tuple[str, ...]] = ("tolerance",)
    policy: Literal["error-controlled"] = "error-controlled"
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 0.02
    """Largest predicted delay of an event, relative to the time since the start."""
    bounds: Literal["arrival", "moment"] = "arrival"
    """Quantity that the tolerance bounds. ``"arrival"``: the total delay, so that a larger lag, up to 0.15, is allowed
    for a short time. ``"moment"``: the lag at every time."""
    minimum: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1e-4
    """Smallest a2."""
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
        """Return (target delay, minimum, fall, fraction of the remaining delay to spend, largest lag at any time)."""
        spend = 1.0 if self.bounds == "arrival" else 0.0
        return np.array([self.aim(), float(self.minimum), FALL, spend, LARGEST if spend else 0.0])

    def aim(self) -> float:
        """Target delay: a fraction of the tolerance."""
        return aimed_at(float(self.tolerance))

    def least_factor(self) -> float:
        """Return the minimum."""
        return float(self.minimum)

    def first_factor(self) -> float:
        """Return 1."""
        return 1.0

    def noise_factor(self) -> float:
        """A value between the least factor and 1. Noise windows for the least factor would be too long when a2 is
        large, and windows for 1 would limit the steps."""
        return math.sqrt(float(self.minimum))

    def configurational_factor(self) -> None:
        """Return None, because the factor varies."""
        return None
