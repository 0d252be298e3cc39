"""A view of an array of a state stays good, whatever becomes of the state."""

from __future__ import annotations

import gc
import inspect
import pickle
from operator import attrgetter

import numba
import numpy as np
import pytest
from numba import prange

import articulon as ar
from articulon.model import State
from articulon.model.state import ARRAYS, ContactArrays, ContactMemory, initial_state
from tests.support import grain_models as gm
from tests.support.remembering import assert_same_state


def falling() -> tuple:
    """Grains that fall onto a floor and onto each other, so that contacts begin and end."""
    radii, _, start = gm.heap(3, 4, 0.05)
    floor = ar.forces.Plane(point=(0.0, 0.0, -1.05 * radii.mean()), normal=(0.0, 0.0, 1.0), kind="grain")
    model = gm.moving(start, radii, floor, gravity=(0.0, 0.0, -9.81))
    return gm.moved_by(model)


@pytest.mark.slow
def test_kept_views_of_contacts_do_not_dangle() -> None:
    """What has been kept when the number of contacts changes stays as it is; memory that had been given back would be
    taken by what is allocated next."""
    moves, state = falling()
    kept: list[tuple[np.ndarray, bytes]] = []
    for _ in range(60):
        views = state.contacts.pairs[:], state.contacts.memory[:]
        contents = [view.tobytes() for view in views]
        moves.advance(state, 1e9, 40)
        if len(state.contacts.pairs) != len(views[0]):
            kept.extend(zip(views, contents, strict=True))
    assert len(kept) > 20, "contacts begin and end"
    gc.collect()
    noise = [np.full((n, 25), 1e300) for n in range(1, 60)]
    assert all(view.tobytes() == content for view, content in kept)
    now = state.contacts.memory.copy()
    for view, _ in kept:
        view[...] = 0
    assert np.array_equal(state.contacts.memory, now)
    assert len(noise) == 59


def test_a_state_takes_another_whatever_its_contacts() -> None:
    moves, state = falling()
    before = state.copy()
    view = state.contacts.pairs[:]
    moves.advance(state, 1e9, 1500)
    after = state.copy()
    assert len(after.contacts.pairs) != len(before.contacts.pairs)
    state.take(before)
    assert [a.tobytes() for a in state.arrays().values()] == [a.tobytes() for a in before.arrays().values()]
    state.take(after)
    assert [a.tobytes() for a in state.arrays().values()] == [a.tobytes() for a in after.arrays().values()]
    assert state.contacts.pairs is not after.contacts.pairs
    after.contacts.memory[...] = 0.0
    assert state.contacts.memory.any()
    assert view.shape == (0, 2)


def test_what_a_state_is_made_of() -> None:
    """By name, in order, as a table, and through copies."""
    state = initial_state(np.arange(3.0), np.arange(2.0), contact_columns=25)
    state.contacts.hold(np.array([[0, 1], [1, 2]]), np.ones((2, 25)))
    assert state.contacts.pairs.shape == (2, 2) and state.contacts.memory.shape == (2, 25)
    assert tuple(state.arrays()) == ARRAYS
    assert all(array is attrgetter(name)(state) for name, array in state.arrays().items())
    contacts = state.contacts
    for made in (contacts, ContactMemory(*contacts), contacts._replace(work=np.ones((2, 7)))):
        assert made.pairs is contacts.pairs and made.memory is contacts.memory
    for made in (state.copy(), pickle.loads(pickle.dumps(state)), State(*state), State.of(state.arrays())):
        assert isinstance(made, State)
        assert_same_state(made, state)
    other = state.copy()
    other.contacts.hold(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 25)))
    assert len(state.contacts.pairs) == 2 and len(other.contacts.pairs) == 0


@numba.njit
def age(q, contacts, k, by):
    q[k] += by * contacts.times[0]


@numba.njit(parallel=True)
def aged(q, contacts, by):
    for k in prange(q.size):
        age(q, contacts, k, by)


def test_threads_of_a_kernel_take_a_slice_of_a_state() -> None:
    """The compiler takes its arrays apart and puts the slice together again for each of them."""
    state = initial_state(np.arange(100.0), np.zeros(2), contact_columns=25)
    state.contacts.hold(np.ones((2, 2), dtype=np.int64), np.ones((2, 25)))
    state.contacts.times[0] = 2.0
    aged(state.q, state.contacts, 0.5)
    assert np.array_equal(state.q, np.arange(1.0, 101.0))
    assert state.contacts.memory.shape == (2, 25)
    assert inspect.signature(ContactMemory) == inspect.signature(ContactArrays)
