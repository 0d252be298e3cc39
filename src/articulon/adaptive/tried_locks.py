"""Sequential trials of joints and modes: locked if locking removes little energy, released at random.

Let P be the probability that the energy of thermal relative motion is below the bound. A trial locks with certainty
below the bound, releases with probability p, and then draws the relative speeds from the distribution below the bound.
Such trials preserve the product of N(0, kT M⁻¹) over the active motions and any distribution of the coordinates that is
the same for every set of locked joints, because the tested quantity, the relative motion in units of its own inertia,
is independent of the coordinates and of the remaining motion. In equilibrium the ratio of locked to free time of a
joint is P/p. Between trials the distribution of the coordinates must not depend on what is locked, which Fixman's
potential ensures; without it the coordinates are weighted by √det M of the moving parts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.adaptive.momentum_exchange import Space

Draw = Callable[[int], np.ndarray]
"""Draws the relative motion of a joint with n degrees of freedom, in units in which its kinetic energy is ½ z·z."""


@dataclass
class Outcome:
    """Result of a sequence of trials."""

    speeds: np.ndarray
    """Speeds of the fine model, shape (nu,)."""
    locked: np.ndarray
    """Parts that are locked now, shape (parts,)."""
    taken: dict[int, tuple[np.ndarray, float]] = field(default_factory=dict)
    """Relative speeds and removed kinetic energy, by locked part."""
    given: dict[int, float] = field(default_factory=dict)
    """Added kinetic energy, by released part."""


class Tries:
    """Dense linear algebra over the t speeds v of the joints that are tried.

    The trials are a sequence of impulses λ at these joints, u = u₀ + M⁻¹ λ. Let G be their block of M⁻¹. The matrix A
    is G with the held speeds swept: over the free speeds it is their block of M⁻¹ with the held ones fixed, G_oo − G_oh
    G_hh⁻¹ G_ho; the off-diagonal block is G_oh G_hh⁻¹, and over the held speeds it is −G_hh⁻¹. Sweeping a joint in or
    out takes O(t²) (Goodnight, Am. Stat. 33, 149, 1979).

    Parameters
    ----------
    space
        Motions with all of these joints released.
    speeds
        Indices of their speeds in the fine model, shape (t,).
    held
        Which of these are locked, shape (t,).
    u
        Current speeds, zero for locked ones, shape (nu,).
    """

    def __init__(self, space: Space, speeds: np.ndarray, held: np.ndarray, u: np.ndarray) -> None:
        self.start, self.speeds, self.held = u, speeds, held.copy()
        self.columns = space.columns(speeds)
        block = self.columns[:, speeds]
        self.A = 0.5 * (block + block.T)
        self.v, self.impulses = u[speeds], np.zeros(speeds.size)
        if held.any():
            self._sweep(np.flatnonzero(held))

    def _sweep(self, own: Any) -> None:
        """Hold some speeds."""
        beside = self.A[:, own]
        inverse = np.linalg.inv(self.A[own][:, own])
        row = beside @ inverse
        self.A -= row @ beside.T
        self.A[:, own], self.A[own] = row, row.T
        self.A[np.ix_(own, own) if isinstance(own, np.ndarray) else (own, own)] = -inverse

    def _sweep_out(self, own: slice) -> None:
        """Stop holding some speeds."""
        row = self.A[:, own].copy()
        block = np.linalg.inv(-self.A[own, own])
        block = 0.5 * (block + block.T)
        beside = row @ block
        self.A += beside @ row.T
        self.A[:, own], self.A[own] = beside, beside.T
        self.A[own, own] = block

    def _push(self, own: slice, impulse: np.ndarray) -> None:
        """Apply an impulse at some free speeds, and the impulses that keep the held ones fixed."""
        change = self.A[:, own] @ impulse
        self.v += np.where(self.held, 0.0, change)
        self.impulses -= np.where(self.held, change, 0.0)
        self.impulses[own] += impulse

    def energy(self, own: slice) -> tuple[float, np.ndarray]:
        """Kinetic energy that locking some speeds removes, and their momentum."""
        impulse = np.linalg.solve(self.A[own, own], self.v[own])
        return 0.5 * float(self.v[own] @ impulse), impulse

    def lock(self, own: slice, impulse: np.ndarray) -> None:
        """Lock the speeds evaluated by :meth:`energy`."""
        self._push(own, -impulse)
        self.held[own], self.v[own] = True, 0.0
        self._sweep(own)

    def release(self, own: slice, draw: Draw, along: np.ndarray | None) -> float:
        """Release some speeds with the relative motion of ``draw``; if a direction is given, only its energy counts.
        Return the added kinetic energy."""
        self.held[own] = False
        self._sweep_out(own)
        root = np.linalg.cholesky(self.A[own, own])
        z = draw(root.shape[0])
        if along is not None:
            white = np.linalg.solve(root, along)
            length = float(np.linalg.norm(white))
            z = white * (float(np.linalg.norm(z)) / length) if length > 0.0 else z
        self._push(own, np.linalg.solve(root.T, z))
        return 0.5 * float(z @ z)

    def result(self) -> np.ndarray:
        """Speeds after the trials, shape (nu,)."""
        u = self.start + self.impulses @ self.columns
        u[self.speeds[self.held]] = 0.0
        return u


def attempts(
    space: Space,
    parts: np.ndarray,
    locked: np.ndarray,
    u: np.ndarray,
    below: float,
    draws: dict[int, Draw],
    along: dict[int, np.ndarray],
) -> Outcome:
    """Try joints and modes in the given order: locked ones are released, the others are locked if this removes less
    than a bound.

    Parameters
    ----------
    space
        Motions with all of them released.
    parts
        Joints and modes, in the order of their trials.
    locked
        Parts that are locked before the trials, shape (parts,).
    u
        Speeds, shape (nu,).
    below
        Kinetic energy below which a part is locked.
    draws
        Relative motion of each locked part.
    along
        Direction of the relative speeds of a locked part; if absent, that of the draw is used.
    """
    start, count = space.joints.start[parts], space.joints.degrees_of_freedom[parts]
    end = np.cumsum(count)
    speeds = np.repeat(start - (end - count), count) + np.arange(count.sum())
    tries = Tries(space, speeds, np.repeat(locked[parts], count), u)
    outcome = Outcome(u, locked.copy())
    for i, last, n in zip(parts.tolist(), end.tolist(), count.tolist(), strict=True):
        own = slice(last - n, last)
        if locked[i]:
            outcome.given[i] = tries.release(own, draws[i], along.get(i))
            outcome.locked[i] = False
            continue
        relative = tries.v[own].copy()
        energy, impulse = tries.energy(own)
        # The last moving joint stays free: rejecting a trial does not disturb the balance of the others.
        if energy < below and np.count_nonzero(~outcome.locked & (space.joints.degrees_of_freedom > 0)) > 1:
            tries.lock(own, impulse)
            outcome.locked[i] = True
            outcome.taken[i] = (relative, energy)
    outcome.speeds = tries.result()
    return outcome
