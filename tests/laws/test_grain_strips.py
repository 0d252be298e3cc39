"""Grains that several threads share: strips of places, and contacts between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from articulon.forces.contact import contact_engine, contact_tables
from articulon.integrate.grain_passes import PARALLEL_GRAINS
from tests.support import grain_models as gm
from tests.support.threads import on_one_and_two

ACROSS = 13
"""Grains along an edge of the heap, so that there are enough of them for the threads to share."""
STEPS = 60


@pytest.fixture(scope="module", params=[False, True], ids=["open", "periodic"])
def crowd(request: pytest.FixtureRequest) -> tuple[Any, Any, np.ndarray]:
    """A model of many grains that touch, how it moves, and masses."""
    radii, masses, start = gm.heap(8, ACROSS, 0.005)
    assert radii.size >= PARALLEL_GRAINS
    extent = np.ptp(start.positions, axis=0).max() + 2.05 * radii.max()
    model = gm.moving(start, radii, lengths=(extent,) * 3 if request.param else None)
    one, two = on_one_and_two(lambda: gm.run(model, 1e-5, STEPS))
    assert [a.tobytes() for a in one.state.arrays().values()] == [a.tobytes() for a in two.state.arrays().values()]
    return model, one, masses


def test_there_are_several_strips() -> None:
    strips = contact_tables.strips_of(ACROSS**3)
    assert strips.size > 2
    assert strips[-1] == contact_tables.blocks_of(ACROSS**3)
    assert np.all(np.diff(strips) > 0)


def test_strips_change_but_the_order_of_sums(crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contacts between strips are those that they would be within one."""
    model, found, _ = crowd
    monkeypatch.setattr(contact_tables, "strips_of", lambda n: np.array([0, contact_tables.blocks_of(n)]))
    other = gm.run(model, 1e-5, STEPS)
    assert len(found.state.contacts.pairs) > 1000
    assert np.array_equal(other.state.contacts.pairs, found.state.contacts.pairs)
    # Rounding, which collisions let grow in 60 steps, in each kind of number by itself.
    for one, two in (
        (found.state.u.reshape(-1, 6), other.state.u.reshape(-1, 6)),
        (found.state.contacts.memory, other.state.contacts.memory),
        (found.state.contacts.work, other.state.contacts.work),
    ):
        assert np.all(np.abs(one - two).max(axis=0) <= 1e-10 * np.abs(one).max(axis=0))
    assert found.state.u.tobytes() != other.state.u.tobytes()


def test_momentum_is_kept_across_strips(crowd) -> None:
    _, found, masses = crowd
    before, after = gm.motion(found, 0).velocities, gm.motion(found).velocities
    scale = np.sum(masses[:, None] * np.abs(before))
    assert np.abs(masses @ after - masses @ before).max() <= 1e-13 * scale


def test_too_few_rows_for_contacts_between_strips_become_more(crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    model, found, _ = crowd
    guess = contact_engine.Contacts._guess
    monkeypatch.setattr(contact_engine.Contacts, "_guess", lambda self: (*guess(self)[:4], 3))
    again = gm.run(model, 1e-5, STEPS)
    assert [a.tobytes() for a in again.state.arrays().values()] == [a.tobytes() for a in found.state.arrays().values()]


ROLLING = {"rolling_stiffness": 0.05, "rolling_friction": 0.2, "rolling_damping": 0.3}


@pytest.mark.slow
@pytest.mark.parametrize("rolling", [False, True], ids=["sliding", "rolling"])
def test_chunks_change_no_bit(rolling: bool) -> None:
    """A chunk ends with a kick and the next one begins with the drift, which otherwise follows at once; where rolling
    is resisted, the couples of pairs in several strips come between."""
    radii, _, start = gm.heap(9, ACROSS, 0.005)
    options = {"rolling": "spring", "material": {**gm.GRAIN, **ROLLING}} if rolling else {}
    model = gm.moving(start, radii, **options)
    assert gm.bits_in_chunks(model, (STEPS,)) == gm.bits_in_chunks(model, (1, 29, STEPS - 30))
    if rolling:
        one, two = on_one_and_two(lambda: gm.run(model, 1e-5, STEPS))
        assert [a.tobytes() for a in one.state.arrays().values()] == [a.tobytes() for a in two.state.arrays().values()]
