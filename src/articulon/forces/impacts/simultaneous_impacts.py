"""Impacts of several contacts at one instant as one complementarity problem, also for redundant contacts.

Newton's law requires normal velocities of at least c = e |v⁻| after the impact. Redundant contacts may make this
impossible: a body between two walls, without a gap, cannot rebound from either of them. Let impulses p in the cones of
friction balance each other, Jᵀ p = 0. Then p · v⁺ = 0, and without friction v_n⁺ ≥ c is possible if and only if p_n · c
≤ 0 for all such p: a contact with p_n > 0 in one of these p is given e = 0 (Farkas's lemma). With friction, p_n · c ≤ 0
is sufficient for Lemke's method to find a solution, because the matrix is copositive (R. W. Cottle, J.-S. Pang and R.
E. Stone, The Linear Complementarity Problem, 1992, theorem 4.4.12, for q · z = −p_n · c). All other contacts keep their
restitution.
"""

from __future__ import annotations

import numpy as np

from articulon.forces.impacts.contact_problem import SIDES, directions, solve_contacts
from articulon.forces.impacts.impact_laws import Outcome, Touching
from articulon.forces.impacts.linear_complementarity import lemke

KEPT = 1e-7
"""Decrease of a restitution below which the restitution counts as unchanged."""


def at_once(t: Touching, law: str = "newton") -> Outcome:
    """Resolve all impacts by one linear complementarity problem.

    Newton's law requires v_n⁺ + e v_n⁻ ≥ 0 ⊥ Λ_n ≥ 0 for all approaching contacts. With Poisson's law, one such problem
    without restitution gives the impulses of compression, and a second one those of restitution, at least e times as
    large (F. Pfeiffer and C. Glocker 1996, chapter 8). If Newton's law has no solution because contacts are redundant,
    the jammed contacts have no restitution. The impulses would add energy in some cases with unequal restitutions or
    friction. Then a mixture with the impulses of compression is used that conserves the energy. Contacts that do not
    influence each other are resolved separately.

    ``Outcome.reduced`` counts contacts with reduced restitution.
    """
    impulse = np.zeros(t.velocity.size)
    reduced, solved = np.zeros(t.friction.size), True
    for contacts in _coupled(t):
        rows = (t.per * contacts[:, None] + np.arange(t.per)).ravel()
        part = Touching(
            t.matrix[np.ix_(rows, rows)],
            t.velocity[rows],
            t.rounding[contacts],
            t.restitution[contacts],
            t.friction[contacts],
            t.resting[contacts],
            t.per,
        )
        if not (part.velocity[part.normal] < -part.rounding).any():
            continue
        found = _resolved(part, law)
        if found is None:
            solved = False
            continue
        impulse[rows], reduced[contacts] = found
    after = t.velocity + t.matrix @ impulse
    normal = impulse[t.normal]
    energy = min(0.0, 0.5 * float((t.velocity + after) @ impulse))
    ended = solved and bool((after[t.normal] >= -1e-9 * float(np.abs(t.velocity).max())).all())
    most, less = int(np.argmax(normal)), int(np.argmax(reduced))
    count = int((normal > 0.0).sum())
    return Outcome(impulse, float(normal[most]), most, count, energy, ended, int((reduced > 0.0).sum()), less)


def _coupled(t: Touching) -> list[np.ndarray]:
    """Groups of contacts whose impulses change each other's velocities."""
    from scipy.sparse.csgraph import connected_components

    n = t.friction.size
    linked = np.abs(t.matrix).reshape(n, t.per, n, t.per).max(axis=(1, 3)) > 0.0
    count, group = connected_components(linked, directed=False)
    return [np.flatnonzero(group == k) for k in range(count)]


def _resolved(t: Touching, law: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Impulses (rows,) of contacts, and the reduction of the restitution of each (n,); None if no impulses are
    found."""
    approach = np.where(t.velocity[t.normal] < -t.rounding, -t.velocity[t.normal], 0.0)
    e = np.where((approach > 0.0) & (approach >= t.resting), t.restitution, 0.0)
    plastic = _solved(t, t.velocity, np.zeros(e.size))
    if plastic is None:
        return None

    def restored(e: np.ndarray) -> np.ndarray | None:
        if law == "poisson":
            more = _solved(t, t.velocity + t.matrix @ plastic, e * plastic[t.normal])
            return None if more is None else plastic + more
        aimed = t.velocity.copy()
        aimed[t.normal] -= e * approach
        return _solved(t, aimed, np.zeros(e.size))

    full, kept = restored(e), e
    for cones in (False, True) if law == "newton" else ():
        if full is None:
            kept = np.where(jammed_contacts(t, cones), 0.0, e)
            full = restored(kept)
    if full is None:
        full, kept = plastic, np.zeros(e.size)
    impulse, part = _without_gain(t, plastic, full)
    less = e - part * kept
    return impulse, np.where((approach > 0.0) & (less > KEPT), less, 0.0)


def jammed_contacts(t: Touching, cones: bool) -> np.ndarray:
    """Whether each contact has a normal impulse in some set of impulses that balance each other, shape (n,). The
    impulses are along normals or, with ``cones``, within the cones of friction."""
    from scipy.optimize import linprog

    n = t.friction.size
    rubs = np.flatnonzero(t.friction > 0.0) if cones else np.zeros(0, dtype=np.int64)
    pushes = np.zeros((n * t.per, n + SIDES * rubs.size))
    pushes[t.normal, :n] = np.eye(n)
    across = np.zeros((rubs.size, pushes.shape[1]))
    for i, k in enumerate(rubs):
        sides = slice(n + SIDES * i, n + SIDES * (i + 1))
        rows = slice(t.per * k + 1, t.per * (k + 1))
        pushes[rows, sides] = directions(t.velocity[rows])
        across[i, k], across[i, sides] = -t.friction[k], 1.0
    size = np.sqrt(np.repeat(np.diag(t.matrix)[t.normal], t.per))
    balance = (t.matrix / np.outer(size, size)) @ pushes
    # Variables: impulses in units of each contact's own, and s ≤ min(1, normal impulse), whose sum is maximal.
    some = np.hstack([-np.eye(n), np.zeros((n, pushes.shape[1] - n)), np.eye(n)])
    rubbing = np.hstack([across, np.zeros((rubs.size, n))])
    found = linprog(
        np.concatenate([np.zeros(pushes.shape[1]), -np.ones(n)]),
        A_ub=np.vstack([some, rubbing]),
        b_ub=np.zeros(n + rubs.size),
        A_eq=np.hstack([balance, np.zeros((n * t.per, n))]),
        b_eq=np.zeros(n * t.per),
        bounds=[(0.0, None)] * pushes.shape[1] + [(0.0, 1.0)] * n,
    )
    if found.x is None:
        return np.ones(n, dtype=bool)
    jammed: np.ndarray = found.x[-n:] > 0.5
    return jammed


def _solved(t: Touching, b: np.ndarray, given: np.ndarray) -> np.ndarray | None:
    """Impulses that prevent the approach that b (rows,) describes; they include the ``given`` (n,) ones."""
    n = t.friction.size
    if t.per == 1:
        z = lemke(t.matrix, b + t.matrix @ given)
        return None if z is None else z + given
    solved = solve_contacts(t.matrix, b, t.friction, np.zeros((n, 2)), given)
    return None if solved is None else solved.force.ravel()


def _without_gain(t: Touching, plastic: np.ndarray, full: np.ndarray) -> tuple[np.ndarray, float]:
    """Impulse between ``plastic`` and ``full`` that is nearest to ``full`` and adds no energy, and the fraction of
    ``full`` in it."""
    d = full - plastic
    a, b = 0.5 * float(d @ t.matrix @ d), float((t.velocity + t.matrix @ plastic) @ d)
    c = float((t.velocity + 0.5 * t.matrix @ plastic) @ plastic)
    if a + b + c <= 1e-14 * abs(c) or a <= 0.0:
        return full, 1.0
    root = (-b + float(np.sqrt(max(0.0, b * b - 4.0 * a * min(c, 0.0))))) / (2.0 * a)
    part = min(1.0, max(0.0, root))
    return plastic + part * d, part
