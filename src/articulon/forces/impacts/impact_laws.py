"""Impulses of impacts in the space of contacts: what one law or another makes of normal velocities.

Contacts that touch have normal velocities v = J u, negative where they approach, and impulses Λ change them by A Λ,
with A = J M⁻¹ Jᵀ. What the whole system gains is ΔT = ½ (v⁻ + v⁺)ᵀ Λ, to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST_IN_TURN = 20000
"""Impacts one after the other at one instant, at most."""


class Touching(NamedTuple):
    """Contacts at one instant."""

    matrix: np.ndarray
    """A, shape (rows, rows)."""
    velocity: np.ndarray
    """v⁻, shape (rows,)."""
    rounding: np.ndarray
    """What is rounding of v, of each contact, shape (n,)."""
    restitution: np.ndarray
    """e, shape (n,)."""
    friction: np.ndarray
    """μ, shape (n,)."""
    resting: np.ndarray
    """Approach speed below which a contact is inelastic, −1 for none, shape (n,)."""
    per: int
    """Rows of a contact: 1, or 3 with friction."""

    @property
    def normal(self) -> slice:
        """Rows of normals."""
        return slice(None, None, self.per)


class Outcome(NamedTuple):
    """What impacts do."""

    impulse: np.ndarray
    """Λ, shape (rows,)."""
    largest: float
    """The largest normal impulse of a single impact."""
    largest_of: int
    """The contact that it was of."""
    impacts: int
    """Impacts."""
    energy: float
    """ΔT, at most 0 [energy]."""
    ended: bool
    """Whether none approaches any more."""


def in_turn(t: Touching) -> Outcome:
    """One impact after the other, always that which approaches fastest, until none does any more."""
    A, v, impulse = t.matrix, t.velocity.copy(), np.zeros(t.velocity.size)
    largest, which, energy = 0.0, 0, 0.0
    for count in range(MOST_IN_TURN):
        approach = -v[t.normal]
        approach[approach <= t.rounding] = 0.0
        k = int(np.argmax(approach))
        if approach[k] <= 0.0:
            return Outcome(impulse, largest, which, count, energy, True)
        e = 0.0 if approach[k] < t.resting[k] else float(t.restitution[k])
        rows = slice(t.per * k, t.per * (k + 1))
        single = np.zeros(t.per)
        single[0] = (1.0 + e) * approach[k] / A[t.per * k, t.per * k]
        before = v[rows].copy()
        v += A[:, rows] @ single
        impulse[rows] += single
        energy += 0.5 * float((before + v[rows]) @ single)
        if single[0] > largest:
            largest, which = float(single[0]), k
    return Outcome(impulse, largest, which, MOST_IN_TURN, energy, False)
