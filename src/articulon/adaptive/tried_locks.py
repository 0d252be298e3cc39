"""Sequential trials of joints and modes: a part is locked if locking removes little energy, and released at random.

Let P be the probability that the energy of thermal relative motion is below the bound. A trial locks a free part if its
energy is below the bound. It releases a locked part with probability p, and then draws its relative speeds from the
distribution below the bound.

The trials preserve the distribution N(0, kT M⁻¹) of the active motions, together with any distribution of the
coordinates that is the same for every set of locked joints. The reason is the tested quantity: the relative motion in
units of its own inertia. It is independent of the coordinates and of the remaining motion. In equilibrium the ratio of
locked to free time of a joint is P/p. Between trials, the distribution of the coordinates must not depend on which
parts are locked. Fixman's potential ensures this; without it, the coordinates are weighted by √det M of the moving
parts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.adaptive.momentum_exchange import Space

Draw = Callable[[int], np.ndarray]
"""Function that draws the relative motion z of a joint with n degrees of freedom, in units in which its kinetic energy
is ½ z·z."""


@dataclass
class Outcome:
    """Result of a sequence of trials."""

    speeds: np.ndarray
    """Speeds of the fine model, shape (nu,)."""
    locked: np.ndarray
    """Whether each part is locked after the trials, shape (parts,)."""
    taken: dict[int, tuple[np.ndarray, float]] = field(default_factory=dict)
    """Relative speeds and kinetic energy that locking removed, by part."""
    given: dict[int, float] = field(default_factory=dict)
    """Kinetic energy that releasing added, by part."""


class LockTrials:
    """Dense linear algebra over the t speeds v of the joints that are tried.

    The trials are a sequence of impulses λ at these joints, u = u₀ + M⁻¹ λ. Let G be the block of M⁻¹ for the t speeds,
    o the free speeds among them, and h the held ones. The sweep operator on the held speeds turns G into a matrix A.
    Its block for the free speeds is G_oo − G_oh G_hh⁻¹ G_ho, the block of M⁻¹ while the held speeds are fixed. Its
    block for the held speeds is −G_hh⁻¹, and the one off the diagonal is G_oh G_hh⁻¹. Sweeping a joint in or out takes
    O(t²) operations (Goodnight, Am. Stat. 33, 149, 1979).

    Parameters
    ----------
    space
        Space of motions with all tried joints released.
    speeds
        Indices of the tried speeds in the fine model, shape (t,).
    held
        Whether each of the tried speeds is locked, shape (t,).
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
        """Sweep in some speeds, which are then held."""
        beside = self.A[:, own]
        inverse = np.linalg.inv(self.A[own][:, own])
        row = beside @ inverse
        self.A -= row @ beside.T
        self.A[:, own], self.A[own] = row, row.T
        self.A[np.ix_(own, own) if isinstance(own, np.ndarray) else (own, own)] = -inverse

    def _sweep_out(self, own: slice) -> None:
        """Sweep out some speeds, which are then free."""
        row = self.A[:, own].copy()
        block = np.linalg.inv(-self.A[own, own])
        block = 0.5 * (block + block.T)
        beside = row @ block
        self.A += beside @ row.T
        self.A[:, own], self.A[own] = beside, beside.T
        self.A[own, own] = block

    def _push(self, own: slice, impulse: np.ndarray) -> None:
        """Apply an impulse at some free speeds, together with the impulses that keep the held speeds fixed."""
        change = self.A[:, own] @ impulse
        self.v += np.where(self.held, 0.0, change)
        self.impulses -= np.where(self.held, change, 0.0)
        self.impulses[own] += impulse

    def energy(self, own: slice) -> tuple[float, np.ndarray]:
        """Return the kinetic energy that locking some speeds removes, and the momentum of these speeds."""
        impulse = np.linalg.solve(self.A[own, own], self.v[own])
        return 0.5 * float(self.v[own] @ impulse), impulse

    def lock(self, own: slice, impulse: np.ndarray) -> None:
        """Lock the speeds evaluated by :meth:`energy`."""
        self._push(own, -impulse)
        self.held[own], self.v[own] = True, 0.0
        self._sweep(own)

    def release(self, own: slice, draw: Draw, along: np.ndarray | None) -> float:
        """Release some speeds with the relative motion of ``draw``, and return the added kinetic energy. If a direction
        ``along`` is given, only the energy of the draw is used."""
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


def try_locks(
    space: Space,
    parts: np.ndarray,
    locked: np.ndarray,
    u: np.ndarray,
    below: float,
    draws: dict[int, Draw],
    along: dict[int, np.ndarray],
) -> Outcome:
    """Try joints and modes in the given order: locked parts are released, and free parts are locked if this removes
    less energy than a bound.

    Parameters
    ----------
    space
        Space of motions with all tried parts released.
    parts
        Joints and modes, in the order of their trials.
    locked
        Parts that are locked before the trials, shape (parts,).
    u
        Speeds, shape (nu,).
    below
        Kinetic energy below which a part is locked.
    draws
        Function that draws the relative motion, for each locked part.
    along
        Direction of the relative speeds of locked parts. For a part without an entry, the direction of the draw is
        used.
    """
    start, count = space.joints.start[parts], space.joints.degrees_of_freedom[parts]
    end = np.cumsum(count)
    speeds = np.repeat(start - (end - count), count) + np.arange(count.sum())
    trials = LockTrials(space, speeds, np.repeat(locked[parts], count), u)
    outcome = Outcome(u, locked.copy())
    for i, last, n in zip(parts.tolist(), end.tolist(), count.tolist(), strict=True):
        own = slice(last - n, last)
        if locked[i]:
            outcome.given[i] = trials.release(own, draws[i], along.get(i))
            outcome.locked[i] = False
            continue
        relative = trials.v[own].copy()
        energy, impulse = trials.energy(own)
        # The last moving joint stays free. The other joints keep their equilibrium if its trial is rejected.
        if energy < below and np.count_nonzero(~outcome.locked & (space.joints.degrees_of_freedom > 0)) > 1:
            trials.lock(own, impulse)
            outcome.locked[i] = True
            outcome.taken[i] = (relative, energy)
    outcome.speeds = trials.result()
    return outcome
