"""Parameters of an Ewald sum for a given precision, by the error estimate of Kolafa and Perram (1992).

For N charges at random positions in a volume V, with Q = Σq², the rms errors of the force on a charge are

    real part, summed to r_c         2 Q / √(N r_c V) · exp(−α² r_c²)
    reciprocal part, summed to k_c   Q α √(8/(N V k_c)) · exp(−k_c²/4α²)

in units of Coulomb's constant (Mol. Simul. 9, 351; the second is written with the wave number k_c itself, so that the
box may be triclinic). Errors are relative to the force between two charges of rms magnitude at the mean distance
(V/N)^⅓.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.error_function import LARGEST
from articulon.model.box import volume_of

PAIR_COST, WAVE_COST = 4.4, 0.55
"""Cost of a neighbour and of a wave per charge [ns, on one core]. Only their ratio matters; they are constants, not
measured in the run, so that every machine chooses the same parameters."""
_CHOICES = 60
_MARGIN = math.sqrt(0.5)
"""Error of each part relative to the total; both parts together then have the required error."""


@dataclass(frozen=True, kw_only=True)
class SplitParameters:
    """Parameters of the split of a sum, and the expected errors of its two parts."""

    damping: float
    """α [1/length]."""
    cutoff: float
    """Cutoff of the real part [length]."""
    real_error: float
    """Expected rms error of the forces of the real part, relative as explained above."""
    reciprocal_error: float
    """Expected rms error of the forces of the reciprocal part, relative as explained above."""

    @property
    def error(self) -> float:
        """Expected rms error of both parts together."""
        return math.hypot(self.real_error, self.reciprocal_error)


@dataclass(frozen=True, kw_only=True)
class EwaldParameters(SplitParameters):
    """Parameters of an Ewald sum, and its expected errors."""

    longest: float
    """Largest wave number k of the reciprocal part [1/length]; infinity if the waves are given."""
    waves: tuple[int, int, int]
    """Largest index of a wave along each reciprocal edge."""
    count: int
    """Number of waves in the sum, counting one of each k and −k."""


@dataclass(frozen=True)
class Charges:
    """Properties of the charges on which the estimate depends."""

    number: int
    """N, number of charged sites."""
    squares: float
    """Q, sum of squared charges [charge²]."""
    vectors: np.ndarray
    """Edges of the box [length], shape (3, 3)."""

    @cached_property
    def volume(self) -> float:
        """Volume V of the box."""
        return volume_of(self.vectors)

    @cached_property
    def force(self) -> float:
        """Force to which errors are relative, in units of Coulomb's constant."""
        return self.squares / self.number * (self.number / self.volume) ** (2.0 / 3.0)

    @property
    def half_width(self) -> float:
        """Largest possible cutoff: half of the smallest width of the box."""
        return 0.5 / float(np.linalg.norm(np.linalg.inv(self.vectors), axis=0).max())

    def real_error(self, damping: float, cutoff: float) -> float:
        """Relative error of the real part."""
        scale = 2.0 * self.squares / math.sqrt(self.number * cutoff * self.volume)
        return scale * math.exp(-((damping * cutoff) ** 2)) / self.force

    def reciprocal_error(self, damping: float, longest: float) -> float:
        """Relative error of the reciprocal part."""
        scale = self.squares * damping * math.sqrt(8.0 / (self.number * self.volume * longest))
        return scale * math.exp(-0.25 * (longest / damping) ** 2) / self.force

    def damping_for(self, cutoff: float, error: float) -> float:
        """α for which the real part has a given error at a cutoff."""
        ratio = self.real_error(0.0, cutoff) / error
        return min(math.sqrt(math.log(max(ratio, math.e))), LARGEST) / cutoff

    def longest_for(self, damping: float, error: float) -> float:
        """k_c for which the reciprocal part has a given error."""
        low, high = 1e-3 * damping, damping
        while self.reciprocal_error(damping, high) > error:
            low, high = high, 2.0 * high
        return _root(lambda k: self.reciprocal_error(damping, k) - error, low, high)

    def indices(self, longest: float) -> tuple[int, int, int]:
        """Largest indices of waves up to a wave number."""
        a, b, c = np.floor(longest * np.linalg.norm(self.vectors, axis=1) / (2.0 * np.pi) + 1e-9)
        return int(a), int(b), int(c)

    def complete(self, waves: tuple[int, int, int]) -> float:
        """Largest wave number up to which the given indices include all waves."""
        lengths = np.linalg.norm(self.vectors, axis=1)
        return float(((np.array(waves) + 1.0) * 2.0 * np.pi / lengths).min())


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of a decreasing function, by bisection."""
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) > 0.0 else (low, middle)
    return high


def choose(
    charges: Charges,
    precision: float,
    cutoff: float | None,
    damping: float | None,
    waves: tuple[int, int, int] | None,
    where: str,
) -> tuple[float, float, float]:
    """Return the α, the cutoff and the largest wave number of least cost that meet the precision. Some of them may be
    given.

    Raises
    ------
    ModelError
        If the given parameters leave no cutoff that fits the box.
    """
    error = _MARGIN * precision
    most = charges.half_width
    if waves is not None and damping is None:
        # The largest damping that the waves allow.
        known = charges.complete(waves)
        low = known / 40.0
        damping = (
            _root(lambda a: error - charges.reciprocal_error(a, known), low, 4.0 * known) if cutoff is None else None
        )
    if cutoff is None and damping is not None:
        cutoff = _cutoff_for(charges, damping, error, most, where)
    if cutoff is None:
        cutoff = _cheapest(charges, error, most)
    if damping is None:
        damping = charges.damping_for(cutoff, error)
    longest = math.inf if waves is not None else charges.longest_for(damping, error)
    return damping, cutoff, longest


def _cutoff_for(charges: Charges, damping: float, error: float, most: float, where: str) -> float:
    if charges.real_error(damping, most) > error:
        raise ModelError(
            f"{where}: a damping of {damping:.4g} does not reach the precision at {most:.4g}, half of the smallest "
            "width of the box; choose a higher damping, more waves or a larger precision value"
        )
    return _root(lambda r: charges.real_error(damping, r) - error, 1e-3 * most, most)


def _cheapest(charges: Charges, error: float, most: float) -> float:
    """Cutoff of least cost: the cost of neighbours grows with the cube of the cutoff, and the cost of waves falls with
    the cutoff."""
    best, cheapest = most, math.inf
    for cutoff in np.geomspace(0.05 * most, most, _CHOICES).tolist():
        damping = charges.damping_for(cutoff, error)
        longest = charges.longest_for(damping, error)
        pairs = 4.0 / 3.0 * math.pi * cutoff**3 * charges.number / charges.volume
        waves = longest**3 * charges.volume / (12.0 * math.pi**2)
        cost = PAIR_COST * pairs + WAVE_COST * waves
        if cost < cheapest:
            best, cheapest = cutoff, cost
    return best
