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
"""Fraction of the tolerance that is targeted: the rest is for the response time of the law, for joints that settle at
the start, and for the integrator."""
LARGEST = 0.15
"""Largest lag at any time if the tolerance is on arrivals: the prediction is of first order in the lag."""
FALL = 0.5
"""Largest d(τ/a2)/dt: from rest, a relaxation time that grows as τ + t/2 delays a body by only 2τ."""
QUANTUM = 2e-3
"""Smallest change of ln a2: the forces are evaluated again whenever a factor changes, so changes should be rare."""


def aimed_at(tolerance: float) -> float:
    """Target delay relative to the time since the start: an event delayed by D arrives at T + D, and D/T must be
    tolerable."""
    return SAFETY * tolerance / (1.0 + tolerance)


def allowed_lag(aim, spend, largest, age, delay, rate):
    """Allowed lag at a time, (1 − s/2) aim + s (aim t − D) λ/2, with s = ``spend``.

    For s = 1, half of the remaining delay budget R = aim (t + 1/λ) − D is spent in each e-folding of the force. If λ =
    1/(t* − t), R falls as √(t* − t), and a2 ∝ 1/R ∝ √λ. By the Cauchy–Schwarz inequality this minimises the cost ∫ a2
    dt among all a2(t) with the same delay ∫ τλ/a2 dt. When aim t is used up, D grows by half of the aim, so that D ≤
    aim t at all times if a2 responds immediately. For s = 0 the allowed lag is the aim.
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
    if wanted > before:  # limited by the relaxation time of what lags
        a2 = before * (wanted / before) ** (1.0 - math.exp(-sums[ELAPSED] * before / memory))
    else:  # limited by the memory of the slowest motion
        a2 = max(before * (wanted / before) ** (1.0 - math.exp(-gone)), before / (1.0 + fall * gone))
    if abs(math.log(a2 / before)) >= QUANTUM:
        for channel in range(factor.size):
            factor[channel] = a2


class ErrorControlled(ScalingPolicy):
    """M q'' + C + a2 β D q' = a2 Γ with a2(t) as small as a tolerance on the delay allows.

    Scaled by a2, everything moves as if every mass were larger by 1/a2, and its velocity falls short of the one that
    forces and drag prescribe by a relative lag ℓ. For a tree of bodies as a whole ℓ = (τ/a2) \\|dG/dt\\|/\\|G\\| with τ
    = Σm/Σβ and the net force G; for rotations and joints it follows from the articulated equations. The lag causes a
    delay, dD/dt = ℓ, minus that of the unscaled motion. The law takes the largest lag of all translations, rotations
    and joints and adjusts a2 to it, within [minimum, 1]:

        d ln a2/dt = (a2/τ) ln(wanted/a2),   wanted = ℓ a2/allowed,   d(τ/a2)/dt ≤ 1/2,

    from a2 = 1 at the start, so that starting from rest causes almost no delay; τ is the longest relaxation time while
    a2 falls, and that of the motion with the largest lag while it rises. ``bounds`` determines the allowed lag. Both
    choices keep D below the tolerance times the time since the start if the forces change little within τ/a2, as for
    bodies that approach from afar: the first bounds the sum, the second the lag at every time, which costs about twice
    as much in that case and keeps speeds within the tolerance. For joints within trees the sum is bounded. **A
    force that sets in faster is followed with a delay:** a body that has long drifted under a steady force has a memory
    of up to τ/a2 = τ + t/2, so that a sudden force, such as a step at some position, can cost several per cent of t at
    any tolerance. This cannot be predicted; the fidelity report of the run shows it.

    Speeds are unchanged when a2 changes, so that the kinetic energy is continuous. The potential a2 Φ is not, and the
    energy of its jumps is booked (``conservative_works`` in the summary), so that the energy balance closes. With
    noise, the momentum of the thermal part of the speeds is kept instead: unchanged speeds would bias the motion by a
    force of up to kT times the gradient of ln a2. The kinetic energy then jumps, which is booked as work of the noise.

    Lags are bounded for each motion separately: coupled joints of chains can be delayed by more than the tolerance. So
    can thermal motion, which has the memory τ/a2 and a delay of about √(2 D τ/a2), whatever this law does. The fidelity
    report of the run shows both.

    Only motions limited by drag are controlled; rotations and joints without drag, and joints with damping of their
    own, are not tracked. The policy requires an explicit Runge–Kutta integrator or friction-implicit; with fixed steps
    it saves nothing.
    """

    positional: ClassVar[tuple[str, ...]] = ("tolerance",)
    policy: Literal["error-controlled"] = "error-controlled"
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 0.02
    """Largest predicted delay of an event, relative to the time since the start."""
    bounds: Literal["arrival", "moment"] = "arrival"
    """Quantity that the tolerance bounds: the total delay, so that a larger lag, up to 0.15, is allowed for a short
    time; or the lag at every time."""
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
        """(target delay, minimum, fall, fraction of the remaining delay to spend, largest lag at any time)."""
        spend = 1.0 if self.bounds == "arrival" else 0.0
        return np.array([self.aim(), float(self.minimum), FALL, spend, LARGEST if spend else 0.0])

    def aim(self) -> float:
        """Target delay: a fraction of the tolerance."""
        return aimed_at(float(self.tolerance))

    def least_factor(self) -> float:
        """Return the minimum."""
        return float(self.minimum)

    def first_factor(self) -> float:
        """1."""
        return 1.0

    def noise_factor(self) -> float:
        """A value between the least factor and 1: windows for the least factor would be too long when a2 is large, and
        those for 1 would limit the steps."""
        return math.sqrt(float(self.minimum))

    def configurational_factor(self) -> None:
        """None: the factor varies."""
        return None
