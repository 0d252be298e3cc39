"""Selection of the resting contacts from accelerations, by one complementarity problem, and their projection."""

from __future__ import annotations

import numpy as np

from articulon.forces.impacts.contact_problem import SIDES, Solved, solve_contacts
from articulon.forces.impacts.impact_engine import ImpactEngine
from articulon.forces.impacts.impact_memory import Rests
from articulon.forces.impacts.impact_tables import TOUCH
from articulon.forces.impacts.pressing import SLIDES, STICKS
from articulon.model import State
from articulon.model.state import CONTACT

SLOW = 1e-10
"""Slip that counts as zero, relative to the size of the terms of its sum."""
GIVES = 1e-9
"""Fraction of the largest force by which a contact may pull or exceed its friction cone; it counts as a rounding
error."""
MOST_PROJECTIONS = 4
REDUNDANT = 1e-11


def chosen(
    engine: ImpactEngine,
    contacts: np.ndarray,
    free: np.ndarray,
    stuck: np.ndarray,
    slow: np.ndarray,
    moved: np.ndarray,
) -> tuple[Rests, Rests] | None:
    """Select the resting contacts among those that are closed and do not open, for the accelerations ``free`` (nu,)
    without contact forces; None if no forces are found, which is possible with friction (P. Painlevé's paradox). The
    second return value differs in one point: contacts that do not slip yet, and whose slip shall stay zero, have the
    mode of sticking.

    ``stuck`` (n,) marks contacts that stuck before, ``slow`` (n,) gives speeds below which there is no slip, and
    ``moved`` (nu,) the sizes of the terms that determine the rounding of speeds.
    """
    p, n = engine.press_rows(contacts), len(contacts)
    rows = np.arange(3 * n)
    mu = p.friction[:n].copy()
    used = np.ones(3 * n, dtype=bool)
    used.reshape(n, 3)[:, 1:] = (mu > 0.0)[:, None]
    row, jump = np.where(used[:, None], p.row[rows], 0.0), np.where(used[:, None], p.jump[rows], 0.0)
    A, b = row @ jump.T, np.where(used, row @ free + p.gamma[rows], 0.0)
    slip, normal = p.slip[:n, 1:].copy(), p.normal[:n].copy()
    size = (np.abs(row) @ moved).reshape(n, 3)[:, 1:].max(axis=1)
    speed = np.linalg.norm(slip, axis=1)
    moving = (speed > np.maximum(SLOW * size, slow)) & ~stuck & (mu > 0.0)
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
) -> tuple[Rests, Rests]:
    force = solved.force
    least = 1e-12 * float(np.abs(force[:, 0]).max(initial=0.0))
    held = force[:, 0] > least
    mode = np.where((mu > 0.0) & ~solved.slips, STICKS, SLIDES)
    # The force of a contact that begins to slip is opposite to the slip that friction could not prevent.
    sizes = np.linalg.norm(force[:, 1:], axis=1)
    against = -force[:, 1:] / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    along = np.where(moving[:, None], ways, against)
    world = np.einsum("kj,kji->ki", along, axes)
    world[mode == STICKS] = 0.0
    rests = Rests(contacts[held], mode[held].astype(np.int64), world[held])
    slow = np.where((mu > 0.0) & ~moving, STICKS, mode)
    return rests, rests._replace(mode=slow[held].astype(np.int64))


def margin(engine: ImpactEngine, u: np.ndarray) -> float:
    """Margin of the resting contacts until one pulls, slips or reverses its slip, after an evaluation at speeds u
    (nu,); negative, beyond rounding, if a contact does so.

    If more contacts rest than are needed, the individual forces are not determined. The margin then tells whether
    forces exist that neither pull nor leave the friction cones: it follows from the smallest error of accelerations
    that such forces leave.
    """
    p, n = engine.pressed, int(engine.pressed.total[0])
    force, mu = p.force[:n], p.friction[:n]
    least = GIVES * float(np.abs(force).max(initial=0.0))
    left, slipping = float(force[:, 0].min()) + least, 1.0
    for k in np.flatnonzero(mu > 0.0).tolist():
        if p.mode[k] == STICKS:
            left = min(left, float(mu[k] * force[k, 0] - np.linalg.norm(force[k, 1:])) + least)
            continue
        forward = float(p.slip[k, 1:] @ (engine.axes(p.normal[k]) @ p.along[k]))
        if forward < -1e-13 * float(np.abs(p.row[3 * k + 1]) @ np.abs(u)):
            slipping = min(slipping, forward)
    if slipping < 0.0 or left >= 0.0 or n == 1:
        return min(left, slipping)
    return _feasible(engine)


def _feasible(engine: ImpactEngine) -> float:
    """``GIVES`` minus the smallest error of accelerations under forces within their cones, relative to the size of the
    forces."""
    # SciPy's solvers are slow to import, and a run without resting contacts does not need them.
    from scipy.optimize import nnls

    p, n = engine.pressed, int(engine.pressed.total[0])
    kept, pushes = [], []
    wanted = p.force[:n].ravel()
    for k in range(n):
        kept.append(3 * k)
        unit = np.zeros((3 * n,))
        unit[3 * k] = 1.0
        if p.friction[k] <= 0.0:
            pushes.append(unit)
            continue
        if p.mode[k] != STICKS:
            unit[3 * k + 1 : 3 * k + 3] = p.force[k, 1:] / p.force[k, 0] if p.force[k, 0] != 0.0 else 0.0
            pushes.append(unit)
            continue
        kept += [3 * k + 1, 3 * k + 2]
        begin = float(np.arctan2(p.force[:n, 2].sum(), p.force[:n, 1].sum()))
        for angle in begin + 2.0 * np.pi * np.arange(SIDES) / SIDES:
            edge = unit.copy()
            edge[3 * k + 1 : 3 * k + 3] = p.friction[k] * np.array([np.cos(angle), np.sin(angle)])
            pushes.append(edge)
    used = np.zeros(3 * n, dtype=bool)
    used.reshape(n, 3)[:] = (p.friction[:n] > 0.0)[:, None]
    used[::3] = True
    jump = np.where(used[:, None], p.jump[: 3 * n], 0.0)
    A = p.row[kept] @ jump.T
    target = A @ wanted
    size = float(np.linalg.norm(target))
    error = float(nnls(A @ np.array(pushes).T, target)[1]) if size > 0.0 else 0.0
    return GIVES - error / max(size, 1e-300)


def keep_closed(engine: ImpactEngine, state: State, rests: Rests) -> None:
    """Project a state onto the resting contacts by the smallest step in the metric of the mass matrix: first gaps, then
    their rates and the slip of sticking contacts become zero. The change of the kinetic energy is booked."""
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
    """Minimum-norm solution of A x = b, for rows that may depend on others."""
    found: np.ndarray = np.linalg.lstsq(A, b, rcond=REDUNDANT)[0]
    return found
