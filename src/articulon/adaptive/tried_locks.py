"""Joints and modes tried one after the other: locked where locking takes out little, released by chance.

With P the part of the relative motion's thermal distribution below the bound, a try that locks with certainty below it
and releases with probability p, drawing the relative speeds from that part, leaves the product of N(0, kT M⁻¹) over the
active motions and any distribution of the coordinates that is the same for every set of locked joints as it is: what is
tested, the relative motion in units of its own inertia, is independent of the coordinates and of the motion that is
left. In equilibrium a joint is then locked P/p times as long as it is free. Between tries the coordinates must follow
the same distribution whatever is locked, which Fixman's potential brings about; without it, √det M of what moves weighs
them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.adaptive.momentum_exchange import Space

Draw = Callable[[int], np.ndarray]
"""Gives the relative motion of a joint of so many degrees of freedom, in units in which its kinetic energy is ½ z·z."""


@dataclass
class Outcome:
    """What a row of tries has come to."""

    speeds: np.ndarray
    """Of the fine model, shape (nu,)."""
    locked: np.ndarray
    """Parts that are locked now, shape (parts,)."""
    taken: dict[int, tuple[np.ndarray, float]] = field(default_factory=dict)
    """By part that was locked: its relative speeds and the kinetic energy taken out."""
    given: dict[int, float] = field(default_factory=dict)
    """By part that was released: the kinetic energy given."""


class Tries:
    """Dense algebra over the speeds v of the joints that are tried, t of them.

    All that tries do is a row of impulses λ at these joints, u = u₀ + M⁻¹ λ. With G the block of M⁻¹ that belongs to
    them, the matrix A is G with the speeds that are held swept: over the others it is their block of M⁻¹ with the held
    ones kept still, G_oo − G_oh G_hh⁻¹ G_ho, beside it stands G_oh G_hh⁻¹, and −G_hh⁻¹ over the held ones. To sweep a
    joint in or out takes O(t²) (Goodnight, Am. Stat. 33, 149, 1979).

    Parameters
    ----------
    space
        The motions with all of them released.
    speeds
        Their speeds, numbers of the fine model, shape (t,).
    held
        Which of these are locked, shape (t,).
    u
        The speeds at present, zero at those locked, shape (nu,).
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
        """Holds some speeds."""
        beside = self.A[:, own]
        inverse = np.linalg.inv(self.A[own][:, own])
        row = beside @ inverse
        self.A -= row @ beside.T
        self.A[:, own], self.A[own] = row, row.T
        self.A[np.ix_(own, own) if isinstance(own, np.ndarray) else (own, own)] = -inverse

    def _sweep_out(self, own: slice) -> None:
        """Holds some speeds no more."""
        row = self.A[:, own].copy()
        block = np.linalg.inv(-self.A[own, own])
        block = 0.5 * (block + block.T)
        beside = row @ block
        self.A += beside @ row.T
        self.A[:, own], self.A[own] = beside, beside.T
        self.A[own, own] = block

    def _push(self, own: slice, impulse: np.ndarray) -> None:
        """An impulse at some speeds that are free, and those by which the held ones stay."""
        change = self.A[:, own] @ impulse
        self.v += np.where(self.held, 0.0, change)
        self.impulses -= np.where(self.held, change, 0.0)
        self.impulses[own] += impulse

    def energy(self, own: slice) -> tuple[float, np.ndarray]:
        """Kinetic energy that locking some speeds takes out, and the impulse that they have."""
        impulse = np.linalg.solve(self.A[own, own], self.v[own])
        return 0.5 * float(self.v[own] @ impulse), impulse

    def lock(self, own: slice, impulse: np.ndarray) -> None:
        """Locks what :meth:`energy` has looked at."""
        self._push(own, -impulse)
        self.held[own], self.v[own] = True, 0.0
        self._sweep(own)

    def release(self, own: slice, draw: Draw, along: np.ndarray | None) -> float:
        """Releases some speeds with the relative motion of ``draw``, of which only the energy counts where the
        direction is given. Gives the kinetic energy that they bring in."""
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
        """The speeds that the tries have come to, shape (nu,)."""
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
    """Tries joints and modes in the given order: those that are locked are released, the others locked where that takes
    out less than a bound.

    Parameters
    ----------
    space
        The motions with all of them released.
    parts
        The joints and modes, in the order of their tries.
    locked
        Parts that are locked before, shape (parts,).
    u
        Speeds, shape (nu,).
    below
        Kinetic energy below which one is locked.
    draws
        For a part that is locked, its relative motion.
    along
        For a part that is locked: relative speeds whose direction it takes; absent for that of the draw.
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
        # The last joint that moves stays free: a try that is turned down leaves the others' balance as it is.
        if energy < below and np.count_nonzero(~outcome.locked & (space.joints.degrees_of_freedom > 0)) > 1:
            tries.lock(own, impulse)
            outcome.locked[i] = True
            outcome.taken[i] = (relative, energy)
    outcome.speeds = tries.result()
    return outcome
