"""Which contacts rest: by their accelerations, one complementarity problem; and how they are kept closed."""

from __future__ import annotations

import numpy as np

from articulon.forces.impacts.contact_problem import Solved, solve_contacts
from articulon.forces.impacts.impact_engine import ImpactEngine
from articulon.forces.impacts.impact_memory import Rests
from articulon.forces.impacts.impact_tables import TOUCH
from articulon.forces.impacts.pressing import SLIDES, STICKS
from articulon.model import State
from articulon.model.state import CONTACT

SLOW = 1e-10
"""Slip, over the size of the numbers that it is the sum of, below which there is none."""
MOST_PROJECTIONS = 4
REDUNDANT = 1e-11


def chosen(
    engine: ImpactEngine, contacts: np.ndarray, free: np.ndarray, stuck: np.ndarray, u: np.ndarray
) -> Rests | None:
    """Of contacts whose gap is closed and does not open, those that rest, under accelerations that are ``free`` (nu,)
    of all contact forces; None where with friction no forces are found (P. Painlevé's paradox).

    ``stuck`` (n,) are those that have stuck before.
    """
    p, n = engine.press_rows(contacts), len(contacts)
    rows = np.arange(3 * n)
    mu = p.friction[:n].copy()
    used = np.ones(3 * n, dtype=bool)
    used.reshape(n, 3)[:, 1:] = (mu > 0.0)[:, None]
    row, jump = np.where(used[:, None], p.row[rows], 0.0), np.where(used[:, None], p.jump[rows], 0.0)
    A, b = row @ jump.T, np.where(used, row @ free + p.gamma[rows], 0.0)
    slip, normal = p.slip[:n, 1:].copy(), p.normal[:n].copy()
    size = np.abs(row * u).sum(axis=1).reshape(n, 3)[:, 1:].max(axis=1)
    speed = np.linalg.norm(slip, axis=1)
    moving = (speed > SLOW * size) & ~stuck & (mu > 0.0)
    ways = np.where(moving[:, None], slip / np.where(speed > 0.0, speed, 1.0)[:, None], 0.0)
    solved = solve_contacts(A, b, mu, ways)
    if solved is None:
        return None
    return _resting(
        contacts,
        solved,
        moving,
        ways,
        mu,
        np.array([engine.axes(one) if one.any() else np.zeros((2, 3)) for one in normal]),
    )


def _resting(
    contacts: np.ndarray, solved: Solved, moving: np.ndarray, ways: np.ndarray, mu: np.ndarray, axes: np.ndarray
) -> Rests:
    force = solved.force
    least = 1e-12 * float(np.abs(force[:, 0]).max(initial=0.0))
    held = force[:, 0] > least
    mode = np.where((mu > 0.0) & ~solved.slips, STICKS, SLIDES)
    # What begins to slip goes against the force that could not hold it.
    sizes = np.linalg.norm(force[:, 1:], axis=1)
    against = -force[:, 1:] / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    along = np.where(moving[:, None], ways, against)
    world = np.einsum("kj,kji->ki", along, axes)
    world[mode == STICKS] = 0.0
    return Rests(contacts[held], mode[held].astype(np.int64), world[held])


def keep_closed(engine: ImpactEngine, state: State, rests: Rests) -> None:
    """Moves a state back onto the contacts that rest, by the smallest step in the metric of the mass matrix: gaps to
    zero, then their rates, and the slip of those that stick. What that does to the kinetic energy is booked."""
    for _ in range(MOST_PROJECTIONS):
        at = engine.at(state.q, state.u)
        gaps = engine.gaps(at, rests.contact)
        if not (np.abs(gaps[:, 0]) > 0.1 * TOUCH * gaps[:, 1]).any():
            break
        rows = engine.rows(at, rests.contact)
        engine.move(state.q, _least(rows.row @ rows.jump.T, -gaps[:, 0]) @ rows.jump)
    at = engine.at(state.q, state.u)
    sticks = np.flatnonzero(rests.mode == STICKS)
    rows = engine.rows(at, rests.contact, 3 if sticks.size else 1)
    row, jump = rows.row, rows.jump
    if sticks.size:
        kept = np.sort(np.concatenate([3 * np.arange(len(rests.contact)), 3 * sticks + 1, 3 * sticks + 2]))
        row, jump = row[kept], jump[kept]
    before = row @ state.u
    impulse = _least(row @ jump.T, -before)
    state.u[:] += impulse @ jump
    energy = 0.5 * float((before + row @ state.u) @ impulse)
    state.work[CONTACT] += energy
    state.unscaled_work[CONTACT] += energy


def _least(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The least solution of A x = b, for rows that may follow from others."""
    found: np.ndarray = np.linalg.lstsq(A, b, rcond=REDUNDANT)[0]
    return found
