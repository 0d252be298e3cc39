"""Impulses of impacts in contact space: how each law maps normal velocities to impulses.

Contacts that touch have normal velocities v = J u, negative for approach, and impulses Λ change them by A Λ, with A = J
M⁻¹ Jᵀ. The energy of the whole system changes by ΔT = ½ (v⁻ + v⁺)ᵀ Λ, up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.forces.impacts.contact_problem import solve_contacts
from articulon.forces.impacts.linear_complementarity import lemke
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


def at_once(t: Touching, law: str = "newton") -> Outcome:
    """Resolve all impacts by one linear complementarity problem.

    Newton's law requires v_n⁺ + e v_n⁻ ≥ 0 ⊥ Λ_n ≥ 0 for all approaching contacts. With Poisson's law, one such problem
    without restitution gives the impulses of compression, and a second one those of restitution, at least e times as
    large (F. Pfeiffer and C. Glocker 1996, chapter 8). If that would add energy, which can happen with unequal
    restitutions, the impulse is the mixture with that of compression that conserves the energy.
    """
    v, e = t.velocity, np.where(-t.velocity[t.normal] < t.resting, 0.0, t.restitution)
    approaches = v[t.normal] < -t.rounding
    plastic = _solved(t, v, np.zeros(e.size))
    if plastic is None:
        return Outcome(np.zeros(v.size), 0.0, 0, 0, 0.0, False)
    if law == "poisson":
        given = e * plastic[t.normal]
        more = _solved(t, v + t.matrix @ plastic, given)
        full = None if more is None else plastic + more
    else:
        aimed = v.copy()
        aimed[t.normal] += np.where(approaches, e * v[t.normal], 0.0)
        full = _solved(t, aimed, np.zeros(e.size))
    if full is None:
        full = plastic
    impulse = _without_gain(t, plastic, full)
    after = v + t.matrix @ impulse
    normal = impulse[t.normal]
    count = int((normal > 0.0).sum())
    energy = min(0.0, 0.5 * float((v + after) @ impulse))
    ended = bool((after[t.normal] >= -1e-9 * float(np.abs(v).max())).all())
    return Outcome(impulse, float(normal.max()), int(np.argmax(normal)), count, energy, ended)


def _solved(t: Touching, b: np.ndarray, given: np.ndarray) -> np.ndarray | None:
    """Impulses that prevent the approach that b (rows,) describes; they include the ``given`` (n,) ones."""
    n = t.friction.size
    if t.per == 1:
        z = lemke(t.matrix, b + t.matrix @ given)
        return None if z is None else z + given
    solved = solve_contacts(t.matrix, b, t.friction, np.zeros((n, 2)), given)
    return None if solved is None else solved.force.ravel()


def _without_gain(t: Touching, plastic: np.ndarray, full: np.ndarray) -> np.ndarray:
    """Impulse between ``plastic`` and ``full`` that is nearest to ``full`` and adds no energy."""
    d = full - plastic
    a, b = 0.5 * float(d @ t.matrix @ d), float((t.velocity + t.matrix @ plastic) @ d)
    c = float((t.velocity + 0.5 * t.matrix @ plastic) @ plastic)
    if a + b + c <= 1e-14 * abs(c) or a <= 0.0:
        return full
    root = (-b + float(np.sqrt(max(0.0, b * b - 4.0 * a * min(c, 0.0))))) / (2.0 * a)
    return plastic + min(1.0, max(0.0, root)) * d
