"""A view of an array of a state stays good, whatever becomes of the state."""

from __future__ import annotations

import gc
import inspect
import pickle

import numba
import numpy as np
from numba import prange

import articulon as ar
from articulon.model import State
from articulon.model.state import StateArrays, initial_state
from tests.support import grain_models as gm


def falling() -> tuple:
    """Grains that fall onto a floor and onto each other, so that contacts begin and end."""
    radii, _, start = gm.heap(3, 4, 0.05)
    floor = ar.forces.Plane(point=(0.0, 0.0, -1.05 * radii.mean()), normal=(0.0, 0.0, 1.0), kind="grain")
    model = gm.moving(start, radii, floor, gravity=(0.0, 0.0, -9.81))
    return gm.moved_by(model)


def test_kept_views_of_contacts_do_not_dangle() -> None:
    """What has been kept when the number of contacts changes stays as it is; memory that had been given back would be
    taken by what is allocated next."""
    moves, state = falling()
    kept: list[tuple[np.ndarray, bytes]] = []
    for _ in range(60):
        views = state.contact_pairs[:], state.contact_memory[:]
        contents = [view.tobytes() for view in views]
        moves.advance(state, 1e9, 40)
        if len(state.contact_pairs) != len(views[0]):
            kept.extend(zip(views, contents, strict=True))
    assert len(kept) > 20, "contacts begin and end"
    gc.collect()
    noise = [np.full((n, 25), 1e300) for n in range(1, 60)]
    assert all(view.tobytes() == content for view, content in kept)
    now = state.contact_memory.copy()
    for view, _ in kept:
        view[...] = 0
    assert np.array_equal(state.contact_memory, now)
    assert len(noise) == 59


def test_a_state_takes_another_whatever_its_contacts() -> None:
    moves, state = falling()
    before = state.copy()
    view = state.contact_pairs[:]
    moves.advance(state, 1e9, 1500)
    after = state.copy()
    assert len(after.contact_pairs) != len(before.contact_pairs)
    state.take(before)
    assert [a.tobytes() for a in state] == [a.tobytes() for a in before]
    state.take(after)
    assert [a.tobytes() for a in state] == [a.tobytes() for a in after]
    assert state.contact_pairs is not after.contact_pairs
    after.contact_memory[...] = 0.0
    assert state.contact_memory.any()
    assert view.shape == (0, 2)


def test_what_a_state_is_made_of() -> None:
    """By name, in order, as a table, and through copies."""
    state = initial_state(np.arange(3.0), np.arange(2.0), contact_columns=25)
    state.hold_contacts(np.array([[0, 1], [1, 2]]), np.ones((2, 25)))
    assert state.contact_pairs.shape == (2, 2) and state.contact_memory.shape == (2, 25)
    assert list(state._asdict()) == list(State._fields)
    assert all(array is getattr(state, name) for name, array in zip(State._fields, state, strict=True))
    assert all(state._asdict()[name] is getattr(state, name) for name in State._fields)
    for made in (state.copy(), pickle.loads(pickle.dumps(state)), State(*state), state._replace(time=np.ones(1))):
        assert isinstance(made, State)
        assert np.array_equal(made.contact_pairs, state.contact_pairs)
        assert np.array_equal(made.contact_memory, state.contact_memory)
        assert np.array_equal(made.q, state.q)
    other = state.copy()
    other.hold_contacts(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 25)))
    assert len(state.contact_pairs) == 2 and len(other.contact_pairs) == 0


@numba.njit
def age(state, k, by):
    q = state.q
    q[k] += by * state.time[0]


@numba.njit(parallel=True)
def aged(state, by):
    for k in prange(state.q.size):
        age(state, k, by)


def test_threads_of_a_kernel_take_a_state() -> None:
    """The compiler takes its arrays apart and puts a state together again for each of them."""
    state = initial_state(np.arange(100.0), np.zeros(2), contact_columns=25)
    state.hold_contacts(np.ones((2, 2), dtype=np.int64), np.ones((2, 25)))
    state.time[0] = 2.0
    aged(state, 0.5)
    assert np.array_equal(state.q, np.arange(1.0, 101.0))
    assert state.contact_memory.shape == (2, 25)
    assert inspect.signature(State) == inspect.signature(StateArrays)
