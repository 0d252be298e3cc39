"""Treatment of touching bodies between steps: impacts, and contacts that begin or stop to rest."""

from __future__ import annotations

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.forces.impacts.impact_engine import ROUNDING, ImpactEngine, Spheres
from articulon.forces.impacts.impact_laws import Outcome
from articulon.forces.impacts.impact_memory import MEMORY, Rests, no_rests, resting, set_resting
from articulon.forces.impacts.impact_tables import TOUCH
from articulon.forces.impacts.pressing import STICKS
from articulon.forces.impacts.resting_contacts import chosen, keep_closed
from articulon.model import State
from articulon.model.state import CONTACT, WINDOW

SHORT_STEP = 1e-6
"""Fraction of the longest step below which a step that was cut counts as short."""
MOST_SHORT_STEPS = 400
"""Number of successive short steps that counts as impacts without end."""
CAPTURED = 0.1
"""Fraction of the resting speed below which a contact under pressure does not open."""
STILL = 10.0 * ROUNDING
"""Normal velocity, relative to the size of its terms, below which a contact neither opens nor closes."""


def settle(engine: ImpactEngine, evaluator: Evaluator, state: State) -> str | None:
    """Resolve the impacts of touching pairs that approach, and find the resting contacts; return why a run cannot go
    on, or None."""
    memory = state.rule.history
    if memory[MEMORY.settled] > 0.0:  # a resumed run has already done this
        engine.press(resting(memory))
        return None
    memory[MEMORY.settled] = 1.0
    at = engine.at(state.q, state.u)
    touching = engine.touching(at)
    rested = resting(memory)
    if not len(touching):
        if len(rested.contact):
            set_rests(engine, memory, rested, no_rests())
        return None
    free = _free_accelerations(engine, evaluator, state)
    at = engine.at(state.q, state.u)
    step = float(memory[MEMORY.longest])
    moved = np.abs(state.u) + step * np.abs(free)
    found = engine.collide(at, touching, moved, step)
    if found is not None:
        failure = book_impacts(engine, state, float(state.time[0]), touching, *found)
        if failure is not None:
            return failure
        at = engine.at(state.q, state.u)
    if not engine.may_rest:
        return None
    return _settle_rests(engine, state, at, touching, rested, free, moved)


def book_impacts(
    engine: ImpactEngine, state: State, time: float, touching: np.ndarray, speeds: np.ndarray, outcome: Outcome
) -> str | None:
    """Set the speeds of a state to those after the impacts of touching pairs, and record the impacts at a time, which
    may lie within a step; return why a run cannot go on, or None."""
    memory = state.rule.history
    memory[MEMORY.impacts] += outcome.impacts
    memory[MEMORY.energy] += outcome.energy
    memory[MEMORY.latest] = time
    if outcome.largest > memory[MEMORY.largest]:
        memory[MEMORY.largest], memory[MEMORY.largest_at] = outcome.largest, time
        memory[MEMORY.largest_of : MEMORY.largest_of + 2] = touching[outcome.largest_of]
    if outcome.reduced:
        memory[MEMORY.reduced] += outcome.reduced
        memory[MEMORY.reduced_of : MEMORY.reduced_of + 2] = touching[outcome.reduced_most]
    state.u[:] = speeds
    state.work[CONTACT] += outcome.energy
    state.unscaled_work[CONTACT] += outcome.energy
    return None if outcome.ended else endless_impacts(engine.name(touching[0]))


def endless_impacts(who: str) -> str:
    """Explanation of impacts without end."""
    return (
        f"endless impacts at ever shorter intervals, the latest between {who}: give resting_speed, below "
        "which they rest; the acceleration is largest"
    )


def steps_without_end(memory: np.ndarray, taken: float, latest: str) -> str | None:
    """Record the length of a step; return why a run cannot go on if its steps become shorter and shorter, or None."""
    memory[MEMORY.settled] = 0.0
    memory[MEMORY.longest] = max(memory[MEMORY.longest], taken)
    memory[MEMORY.short_steps] = (
        memory[MEMORY.short_steps] + 1.0 if taken <= SHORT_STEP * memory[MEMORY.longest] else 0.0
    )
    return endless_impacts(latest) if memory[MEMORY.short_steps] > MOST_SHORT_STEPS else None


def _free_accelerations(engine: ImpactEngine, evaluator: Evaluator, state: State) -> np.ndarray:
    """Accelerations u' (nu,) without the forces of resting contacts."""
    engine.press(no_rests())
    y = evaluator.variables(state)
    dy = np.empty_like(y)
    evaluator.rates(state.factor, float(state.time[0]), int(state.counters[WINDOW]), y, dy)
    return dy[state.q.size : state.q.size + state.u.size].copy()


def _settle_rests(
    engine: ImpactEngine,
    state: State,
    at: Spheres,
    touching: np.ndarray,
    rested: Rests,
    free: np.ndarray,
    moved: np.ndarray,
) -> str | None:
    """Find which touching contacts rest.

    ``free`` are the accelerations without the forces of resting contacts, ``moved`` the sizes of the speeds for the
    bounds of rounding errors.
    """
    rows = engine.rows(at, touching)
    speed, size = rows.row @ at.u, np.abs(rows.row) @ moved
    e, _, slow = engine.constants(touching)
    # A contact that opens so slowly that it falls back within the rounding of its gap has not opened.
    sizes = engine.gaps(at, touching)[:, 1]
    captured = np.sqrt(2.0 * (np.abs(rows.row) @ np.abs(free)) * TOUCH * sizes)
    captured = np.maximum(captured, CAPTURED * slow)
    still = ((e == 0.0) | (slow >= 0.0)) & (speed >= -STILL * size) & (speed <= np.maximum(STILL * size, captured))
    contacts = touching[still]
    if not len(contacts):
        set_rests(engine, state.rule.history, rested, no_rests())
        return None
    if len(contacts) > len(engine.pressed.contact):
        return f"{len(contacts)} contacts rest, but the capacity is {len(engine.pressed.contact)}"
    stuck = _were(rested, contacts)
    slow = np.where(_turn_round(engine, rested, contacts), np.maximum(captured, 0.0)[still], 0.0)
    found = chosen(engine, contacts, free, stuck, slow, moved)
    if found is None:
        return paradox(engine.name(contacts[0]))
    rests, stilled = found
    set_rests(engine, state.rule.history, rested, rests)
    if len(rests.contact):  # contacts too slow to open, or to slip
        keep_closed(engine, state, stilled)
    return None


def _were(rested: Rests, contacts: np.ndarray) -> np.ndarray:
    """Whether each of some contacts has stuck, shape (n,)."""
    stuck = {(int(a), int(b)) for a, b in rested.contact[rested.mode == STICKS]}
    return np.array([(int(a), int(b)) in stuck for a, b in contacts], dtype=bool)


def _turn_round(engine: ImpactEngine, rested: Rests, contacts: np.ndarray) -> np.ndarray:
    """Whether each of some contacts has slid and no longer slips in the same direction, shape (n,)."""
    p, n = engine.press_rows(contacts), len(contacts)
    before = {(int(a), int(b)): direction for (a, b), direction in zip(rested.contact, rested.along, strict=True)}
    found = np.zeros(n, dtype=bool)
    for k, (a, b) in enumerate(contacts.tolist()):
        direction = before.get((a, b))
        if direction is not None and direction.any():
            found[k] = float(p.slip[k, 1:] @ (engine.axes(p.normal[k]) @ direction)) <= 0.0
    return found


def set_rests(engine: ImpactEngine, memory: np.ndarray, before: Rests, after: Rests) -> None:
    """Set the resting contacts, and count those that have begun and ended."""
    was, now = ({(int(a), int(b)) for a, b in rests.contact} for rests in (before, after))
    memory[MEMORY.rests] += len(now - was)
    memory[MEMORY.lifted] += len(was - now)
    set_resting(memory, after)
    engine.press(after)


def jammed(engine: ImpactEngine) -> str | None:
    """Reason if the latest evaluations have found no force that holds a contact closed, else None."""
    place = int(engine.pressed.jammed[0])
    return None if place == 0 else paradox(engine.name(engine.pressed.contact[place - 1]))


def paradox(who: str) -> str:
    """Explanation of Painlevé's paradox at a contact."""
    return (
        f"Painlevé's paradox: {who} slide with so much friction that no force would hold the two apart, as for a "
        "rod that is pushed across a table; for rigid bodies no motion exists: use less friction, or soft contacts; "
        "the acceleration is largest"
    )
