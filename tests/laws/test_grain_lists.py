"""Lists of grains near each other: made anew only when grains may have come near, whatever they do together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import articulon as ar
from articulon.forces.contact import contact_engine, contact_tables
from articulon.forces.contact.contact_columns import COUNTS
from articulon.forces.sites.cells import REBUILDS
from articulon.integrate import grain_driver
from tests.support import grain_models as gm

STEP, CHUNK, SPEED = 1e-5, 37, 20.0
"""Of a cloud in which grains that fly go by a part of the skin in each step."""


def pairs_in_touch(positions: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Pairs of spheres that overlap, from a search of their own, in order; shape (pairs, 2)."""
    near = cKDTree(positions).query_pairs(2.0 * radii.max(), output_type="ndarray")
    i, j = near.T
    touch = near[np.linalg.norm(positions[i] - positions[j], axis=1) < radii[i] + radii[j]]
    return touch[np.lexsort(touch.T[::-1])]


@pytest.mark.slow
@pytest.mark.parametrize("flying", [1.0, 0.5], ids=["all", "the upper half"])
def test_what_grains_go_together_calls_for_half_as_many_lists(flying: float) -> None:
    """Two grains come nearer to each other by at most the skin while all fly by that, or while half of them do."""
    radii, _, start = gm.heap(3, 13, 0.005, speed=0.05)
    z = start.positions[:, 2]
    start.velocities[z >= np.quantile(z, 1.0 - flying), 2] += SPEED
    moves, state = gm.moved_by(gm.moving(start, radii))
    counts, skin = moves.contacts.system.particles.counts, moves.contacts.skin
    lists = 0
    for _ in range(3):
        before = int(counts[REBUILDS])
        moves.advance(state, 1e9, CHUNK)
        lists += int(counts[REBUILDS]) - before - 1  # a chunk begins with one
        positions = state.q.reshape(-1, 7)[:, :3]
        assert np.array_equal(state.contacts.pairs, pairs_in_touch(positions, radii))
    assert len(state.contacts.pairs) > 1000
    flown = 3 * CHUNK * STEP * SPEED
    # What grains do beside takes a little of the skin, and lists are made a step before it is used up, or one behind.
    assert 0.8 * flown / skin <= lists <= 1.1 * flown / (skin - STEP * SPEED)
    assert lists < 0.7 * flown / (0.5 * skin)


def test_no_contact_is_missed_where_layers_go_past_each_other() -> None:
    """Each grain of two layers meets others all the time, which were not near it."""
    radii, _, start = gm.heap(4, 13, 0.005, speed=0.05)
    upper = start.positions[:, 2] > np.median(start.positions[:, 2])
    start.velocities[upper, 0] += 6.0
    moves, state = gm.moved_by(gm.moving(start, radii))
    met = set()
    for _ in range(4):
        moves.advance(state, 1e9, 2 * CHUNK)
        found = pairs_in_touch(state.q.reshape(-1, 7)[:, :3], radii)
        assert np.array_equal(state.contacts.pairs, found)
        met |= {(i, j) for i, j in found if upper[i] != upper[j]}
    assert len(met) > 13**2


@pytest.mark.parametrize("speed", [0.0, 8.0], ids=["standing", "rising"])
def test_no_contact_with_a_wall_is_missed_by_grains_that_fall_together(speed: float) -> None:
    """What grains go together brings them to walls all the same, and walls that move to them."""
    radii, _, start = gm.heap(5, 8, 0.005, speed=0.05)
    start.velocities[:, 2] -= SPEED - speed
    floor = -4.0 * radii.max()
    wall = ar.forces.Plane(point=(0.0, 0.0, floor), normal=(0.0, 0.0, 1.0), kind="grain", velocity=(0.0, 0.0, speed))
    moves, state = gm.moved_by(gm.moving(start, radii, wall))
    touched = set()
    for k in range(1, 6):
        moves.advance(state, 1e9, CHUNK)
        height = state.q.reshape(-1, 7)[:, 2] - floor - speed * k * CHUNK * STEP
        pairs = state.contacts.pairs
        found = pairs[pairs[:, 1] >= radii.size, 0]
        assert np.array_equal(np.sort(found), np.flatnonzero(height < radii))
        touched |= set(found)
    assert len(touched) >= 8**2


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_bits_depend_neither_on_threads_nor_on_chunks_while_lists_change(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strips are shared out in as many groups as there are threads, some of which wait for earlier ones and are waited
    for by later ones; chunks end before, at and behind the steps at which lists are made anew."""
    radii, _, start = gm.heap(6, 18, 0.005, speed=0.05)
    monkeypatch.setattr(contact_tables, "LAYERS", 2)  # so that each thread has several strips
    assert contact_tables.strips_of(radii.size).size > 2 * threads
    start.velocities[:, 2] += SPEED
    model = gm.moving(start, radii)
    monkeypatch.setattr(grain_driver.numba, "get_num_threads", lambda: 1)
    expected = gm.bits_in_chunks(model, (24,))
    monkeypatch.setattr(grain_driver.numba, "get_num_threads", lambda: threads)
    assert gm.bits_in_chunks(model, (24,)) == expected
    assert gm.bits_in_chunks(model, (7, 1, 1, 1, 1, 1, 12)) == expected


def test_contacts_far_behind_in_a_strip_have_rows_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one strip of more places than a ring has rows, sums are those of several strips, in another order."""
    across = 24
    monkeypatch.setattr(contact_engine, "RING", 880)  # so that a slab of cells has eight layers
    radii, masses, start = gm.heap(8, across, 0.005)
    model = gm.moving(start, radii)
    found = gm.run(model, STEP, 40)
    monkeypatch.setattr(contact_tables, "strips_of", lambda n: np.array([0, contact_tables.blocks_of(n)]))
    moves, state = gm.moved_by(model)
    moves.advance(state, 1e9, 40)
    candidates = moves.contacts.system.candidates
    used = candidates.into[: candidates.counts[COUNTS.listed]]
    far = candidates.root[: used.size] - candidates.first[: used.size] >= contact_tables.RING
    assert far.sum() > 100
    assert np.all(used[far] >= across**3)
    assert np.array_equal(state.contacts.pairs, found.state.contacts.pairs)
    for one, two in ((found.state.u.reshape(-1, 6), state.u.reshape(-1, 6)), (found.state.work, state.work)):
        assert np.all(np.abs(one - two).max(axis=0) <= 1e-10 * np.abs(one).max(axis=0))
    before, after = start.velocities, state.u.reshape(-1, 6)[:, :3]
    assert np.abs(masses @ (after - before)).max() <= 1e-13 * np.sum(masses[:, None] * np.abs(before))
