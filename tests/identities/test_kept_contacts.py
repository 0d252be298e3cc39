"""What contacts remember outlives lists and states, whichever of the two spheres comes first in the order of cells."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.forces.contact.contact_columns import COUNTS, HISTORY, KEPT, MEMORY, RECORD
from articulon.forces.contact.contact_history import KEEP
from articulon.forces.contact.contact_tables import FREE
from tests.support import grain_models as gm
from tests.support.listing import run_list

ROLLS = gm.GRAIN | {
    "rolling_friction": 0.2,
    "rolling_damping": 0.3,
    "twisting_friction": 0.1,
    "twisting_stiffness": 0.5,
    "twisting_damping": 1e-4,
}
STEPS = 60


@pytest.fixture(params=[8, 14], ids=["one thread", "shared out"], scope="module")
def settled(request) -> tuple:
    """Grains that touch each other and a floor, roll and twist, and their state."""
    radii, _, start = gm.heap(9, request.param, 0.005)
    shuffled = np.random.default_rng(10).permutation(radii.size)
    radii, start = radii[shuffled], gm.Motion(*(values[shuffled] for values in start))
    floor = ar.forces.Plane(point=(0.0, 0.0, -0.99 * radii.mean()), normal=(0.0, 0.0, 1.0), kind="grain")
    model = gm.moving(start, radii, floor, material=ROLLS, rolling="spring", twisting="spring")
    moves, state = gm.moved_by(model)
    moves.advance(state, 1e9, STEPS)
    contacts = moves.contacts
    contacts.restore(state)
    moves.chunk_programs(state, state.counters, state.time, state.contacts.times)[0]()
    return radii, contacts, state


def by_pair(state) -> dict[tuple[int, int], np.ndarray]:
    return {(int(i), int(j)): row for (i, j), row in zip(state.contacts.pairs, state.contacts.memory, strict=True)}


def test_contacts_of_a_state_are_sorted(settled) -> None:
    radii, _, state = settled
    pairs = state.contacts.pairs
    assert len(pairs) > len(radii)
    assert np.any(pairs[:, 1] == len(radii)), "the floor is touched"
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert np.array_equal(pairs, pairs[np.lexsort(pairs.T[::-1])])


def test_slots_have_what_the_state_holds(settled) -> None:
    """The tangential displacement is that of the first sphere against the second, so that it changes its sign where the
    slot has them the other way; so does the couple."""
    _, contacts, state = settled
    candidates, order, known = contacts.system.candidates, contacts.system.particles.order, by_pair(state)
    used = np.flatnonzero(candidates.touches[: candidates.counts[COUNTS.listed]] != FREE)
    turned = 0
    for slot in used:
        i, j = int(order[candidates.first[slot]]), int(order[candidates.root[slot]])
        row, s = known[min(i, j), max(i, j)], 1.0 if i < j else -1.0
        turned += i > j
        assert np.array_equal(candidates.memory[slot], row[: MEMORY.width] * [s, s, s, 1.0])
        assert (candidates.since[slot], candidates.touches[slot]) == (row[KEPT.since], row[KEPT.friction_state])
        couple = row[KEPT.resistance : KEPT.width] * np.repeat([s, 1.0], [3, 4])
        assert np.array_equal(candidates.resistance[slot], couple)
    assert len(used) == np.sum(state.contacts.pairs[:, 1] < contacts.spheres)
    assert 0 < turned < len(used)
    walls = contacts.system.walls
    at_wall = np.flatnonzero(walls.touches[: walls.counts[COUNTS.listed]] != FREE)
    for slot in at_wall:
        row = known[int(order[walls.place[slot]]), contacts.spheres + int(walls.feature[slot])]
        assert np.array_equal(walls.record[slot], row[: RECORD.width])
        assert (walls.since[slot], walls.touches[slot]) == (row[KEPT.since], row[KEPT.friction_state])
        assert np.array_equal(walls.resistance[slot], row[KEPT.resistance : KEPT.width])
    assert len(at_wall) == np.sum(state.contacts.pairs[:, 1] == contacts.spheres) > 0


def test_a_list_keeps_all_that_the_law_asks_for(settled) -> None:
    _, contacts, state = settled
    kept, known = contacts.system.kept, by_pair(state)
    run_list(contacts.lists[KEEP], contacts.system)
    count = int(kept.counts[COUNTS.listed])
    assert count == len(known)
    resistance = slice(KEPT.resistance, KEPT.width)
    for k in range(count):
        i, j = sorted((int(kept.first[k]), int(kept.other[k])))
        row = known.pop((i, j))
        if j >= contacts.spheres:
            assert np.array_equal(kept.column[k], row)
            continue
        assert np.array_equal(kept.history[k, : MEMORY.width], row[: MEMORY.width])
        assert (kept.history[k, HISTORY.since], kept.history[k, HISTORY.friction_state]) == (
            row[KEPT.since],
            row[KEPT.friction_state],
        )
        assert np.array_equal(kept.column[k, resistance], row[resistance])
    assert not known
    ends = kept.stop[kept.first[:count]]
    assert np.all((kept.start[kept.first[:count]] <= np.arange(count)) & (np.arange(count) < ends))
