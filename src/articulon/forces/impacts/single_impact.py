"""One impact with Coulomb friction, integrated over its normal impulse.

As the normal impulse p grows, dv/dp = A (1, −μ s), with s the direction of the slip. Depending on A and friction the
slip rotates, ends, sticks or starts again. The motion is known for every p (E. J. Routh, Dynamics of a System of Rigid
Bodies, 1905; V. Bhatt and J. Koechling, J. Appl. Mech. 62, 907, 1995). Compression ends when the normal velocity is
zero. The laws differ in the end of restitution. No law continues after the normal impulse has returned all the work
that it absorbed, so energy never increases. Friction dissipates energy at every p.
"""

from __future__ import annotations

import math

import numpy as np

PARALLEL = 1e-12
"""Sine of the angle by which a slip may rotate and still count as straight."""
TURN = 0.01
"""Relative change of the slip in one step while its direction changes."""
ENDED = 1e-10
"""A slip counts as ended if it is smaller than this fraction of its earlier size, or of the size that the impulses
could produce."""
MOST_PARTS = 20000
"""Largest number of phases of an impact."""


def impact_with_friction(A: np.ndarray, v: np.ndarray, e: float, mu: float, law: str) -> np.ndarray:
    """Compute the impulse of one impact.

    Parameters
    ----------
    A
        J M⁻¹ Jᵀ of the normal and two directions across, shape (3, 3).
    v
        Velocities along these directions before the impact, the first negative, shape (3,).
    e, mu
        Restitution and friction.
    law
        Quantity whose ratio is e: ``newton``, ``poisson`` or ``energetic``.

    Returns
    -------
    numpy.ndarray
        Impulse along the three directions, shape (3,).
    """
    impact = _Impact(A, v, e, mu, law)
    for _ in range(MOST_PARTS):
        if impact.part():
            break
    return impact.impulse


class _Impact:
    """An impact in progress."""

    def __init__(self, A: np.ndarray, v: np.ndarray, e: float, mu: float, law: str) -> None:
        self.A, self.v, self.e, self.mu, self.law = A, v.astype(np.float64).copy(), e, mu, law
        self.impulse, self.work, self.taken, self.at_compression = np.zeros(3), 0.0, 0.0, 0.0
        self.start, self.compressing = float(v[0]), True
        self.slow = ENDED * max(float(np.linalg.norm(v[1:])), abs(self.start) * mu)

    def part(self) -> bool:
        """Advance to the next change of regime; return whether the impact has ended."""
        slip = float(np.linalg.norm(self.v[1:]))
        if slip > self.slow:
            f = np.array([1.0, *(-self.mu * self.v[1:] / slip)])
        else:
            self.v[1:], slip = 0.0, 0.0
            f = self._at_rest()
        rate = self.A @ f
        ends = self._left(rate)
        if slip > 0.0:
            s = self.v[1:] / slip
            across = abs(float(s[0] * rate[2] - s[1] * rate[1]))
            along = float(s @ rate[1:])
            if across > PARALLEL * float(np.linalg.norm(self.A[1:]) * (1.0 + self.mu)):
                step = TURN * slip / float(np.linalg.norm(rate[1:]))
                if step < ends:
                    self._rotate_slip(step)
                    return False
            elif along < 0.0 and -slip / along < ends:
                self._advance(f, rate, -slip / along)
                self.v[1:] = 0.0
                return False
        if math.isinf(ends):  # impossible for a positive definite matrix
            return True
        self._advance(f, rate, ends)
        if not self.compressing:
            return True
        self.v[0], self.compressing = 0.0, False
        self.taken, self.at_compression = self.work, float(self.impulse[0])
        return self.e == 0.0

    def _at_rest(self) -> np.ndarray:
        """Impulse per normal impulse that keeps the slip at zero or, if friction cannot, that of the slip that
        begins."""
        A, mu = self.A, self.mu
        stick = -np.linalg.lstsq(A[1:, 1:], A[1:, 0], rcond=1e-12)[0]
        size = float(np.linalg.norm(stick))
        if size <= mu:
            return np.array([1.0, *stick])
        low, high = 0.0, float(np.linalg.norm(A[1:, 0]))
        for _ in range(200):  # find c with |(μ A_tt + c)⁻¹ A_tn| = 1; the left side falls with c
            c = 0.5 * (low + high)
            s = np.linalg.solve(mu * A[1:, 1:] + c * np.eye(2), A[1:, 0])
            if float(s @ s) > 1.0:
                low = c
            else:
                high = c
        s /= float(np.linalg.norm(s))
        self.v[1:] = 2.0 * self.slow * s  # the contact slips in this direction from now on
        return np.array([1.0, *(-mu * s)])

    def _left(self, rate: np.ndarray) -> float:
        """Normal impulse up to the end of compression, or of restitution, at a rate (3,) of the velocities."""
        v, a = float(self.v[0]), float(rate[0])
        if self.compressing:
            return -v / a if a > 0.0 else math.inf
        ends = [_first_root(0.5 * a, v, self.work)]  # the normal impulse has returned all the work
        if self.law == "newton":
            ends.append((-self.e * self.start - v) / a if a > 0.0 else math.inf)
        elif self.law == "poisson":
            ends.append((1.0 + self.e) * self.at_compression - float(self.impulse[0]))
        else:
            ends.append(_first_root(0.5 * a, v, self.work - (1.0 - self.e**2) * self.taken))
        if a < 0.0:
            ends.append(-v / a)
        return max(0.0, min(ends))

    def _advance(self, f: np.ndarray, rate: np.ndarray, dp: float) -> None:
        self.work += dp * (float(self.v[0]) + 0.5 * dp * float(rate[0]))
        self.v += dp * rate
        self.impulse += dp * f

    def _rotate_slip(self, dp: float) -> None:
        """Take one fourth-order step along a slip whose direction changes."""

        def slope(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            f = np.array([1.0, *(-self.mu * v[1:] / np.linalg.norm(v[1:]))])
            return f, self.A @ f

        f1, k1 = slope(self.v)
        f2, k2 = slope(self.v + 0.5 * dp * k1)
        f3, k3 = slope(self.v + 0.5 * dp * k2)
        f4, _ = slope(self.v + dp * k3)
        f = (f1 + 2.0 * f2 + 2.0 * f3 + f4) / 6.0
        self._advance(f, self.A @ f, dp)


def _first_root(a: float, b: float, c: float) -> float:
    """Smallest x ≥ 0 with a x² + b x + c = 0, c ≤ 0; infinity if there is none."""
    if c >= 0.0:
        return 0.0
    if a == 0.0:
        return -c / b if b > 0.0 else math.inf
    d = b * b - 4.0 * a * c
    if d < 0.0:
        return math.inf
    root = math.sqrt(d)
    # Form without cancellation for b ≥ 0.
    x = -2.0 * c / (b + root) if b + root > 0.0 else math.inf
    return x if x >= 0.0 else math.inf
