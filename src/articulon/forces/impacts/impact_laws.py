"""Impulses of impacts in contact space: how each law maps normal velocities to impulses.

Contacts that touch have normal velocities v = J u, negative for approach, and impulses Λ change them by A Λ, with A = J
M⁻¹ Jᵀ. The energy of the whole system changes by ΔT = ½ (v⁻ + v⁺)ᵀ Λ, up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.forces.impacts.single_impact import impact_with_friction

MOST_IN_TURN = 20000
"""Largest number of successive impacts at one instant."""


class Touching(NamedTuple):
    """Contacts that touch at one instant."""

    matrix: np.ndarray
    """A, shape (rows, rows)."""
    velocity: np.ndarray
    """v⁻, shape (rows,)."""
    rounding: np.ndarray
    """Rounding error of v for each contact, shape (n,)."""
    restitution: np.ndarray
    """Coefficient of restitution e, shape (n,)."""
    friction: np.ndarray
    """Coefficient of friction μ, shape (n,)."""
    resting: np.ndarray
    """Approach speed below which a contact is inelastic, −1 for none, shape (n,)."""
    per: int
    """Rows per contact: 1, or 3 with friction."""

    @property
    def normal(self) -> slice:
        """Rows of the normals."""
        return slice(None, None, self.per)


class Outcome(NamedTuple):
    """Result of the impacts."""

    impulse: np.ndarray
    """Λ, shape (rows,)."""
    largest: float
    """The largest normal impulse of a single impact."""
    largest_of: int
    """Contact with the largest normal impulse."""
    impacts: int
    """Number of impacts."""
    energy: float
    """Change of the kinetic energy ΔT, at most 0 [energy]."""
    ended: bool
    """Whether no contact approaches any more."""
    reduced: int = 0
    """Number of contacts that rebound with less than their restitution, because no impulse would give the full
    restitution, or only one that adds energy."""
    reduced_most: int = 0
    """Contact whose restitution is reduced most."""


def in_turn(t: Touching, law: str = "newton") -> Outcome:
    """Resolve impacts one at a time by a law, always the contact that approaches fastest, until none approaches."""
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
        if t.friction[k] > 0.0:
            single = impact_with_friction(A[rows, rows], v[rows], e, float(t.friction[k]), law)
        else:
            single = np.zeros(t.per)
            single[0] = (1.0 + e) * approach[k] / A[t.per * k, t.per * k]
        before = v[rows].copy()
        v += A[:, rows] @ single
        impulse[rows] += single
        energy += 0.5 * float((before + v[rows]) @ single)
        if single[0] > largest:
            largest, which = float(single[0]), k
    return Outcome(impulse, largest, which, MOST_IN_TURN, energy, False)
