"""Grains that are looked at between the steps of a chunk move as if nobody looked, and are seen where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate.glances import Glances, Poses
from articulon.model.state import STEPS
from tests.support import grain_models as gm

STEPS_SEEN, CHUNK = 5, 60
"""Steps between two glances, and of the chunk."""


def model_of(periodic: bool) -> Any:
    """Some grains that meet, and turn, above a floor or in a periodic box."""
    radii, _, start = gm.heap(5, 5, 0.005, speed=0.5)
    start.spins[:] = np.random.default_rng(5).normal(0.0, 100.0, start.spins.shape)
    if periodic:
        extent = np.ptp(start.positions, axis=0) + 4.0 * radii.max()
        return gm.moving(start, radii, lengths=extent.tolist())
    low = float(start.positions[:, 2].min() - radii.max())
    return gm.moving(start, radii, ar.forces.Plane(point=(0.0, 0.0, low), normal=(0.0, 0.0, 1.0), kind="grain"))


class Every(Glances):
    """Glances after equal numbers of steps."""

    def part(self, left: int) -> int:
        return min(left, STEPS_SEEN)


@pytest.mark.parametrize("periodic", [False, True], ids=["floor", "periodic"])
def test_glances_change_nothing_and_see_what_is_there(periodic: bool) -> None:
    model = model_of(periodic)
    seen: list[tuple[float, int, np.ndarray, np.ndarray]] = []
    moved, state = gm.moved_by(model)

    def look(time: float, steps: int, poses: Poses) -> None:
        places, turns = np.full((model.bodies, 3), np.inf), np.full((model.bodies, 4), np.inf)
        poses(places, turns)
        seen.append((time, steps, places, turns))

    moved.glances = Every(look)
    moved.advance(state, 1e9, CHUNK)
    bits = [array.tobytes() for array in state.arrays().values()]
    assert bits == gm.bits_in_chunks(model, (CHUNK,))
    assert [steps for _, steps, _, _ in seen] == list(range(STEPS_SEEN, CHUNK, STEPS_SEEN))
    moved, state = gm.moved_by(model)
    for time, _, places, turns in seen:
        moved.advance(state, 1e9, STEPS_SEEN)
        q = state.q.reshape(-1, 7)
        assert time == state.time[0]
        assert np.array_equal(places, q[:, :3]) and np.array_equal(turns, q[:, 3:])
    single = np.empty((model.bodies, 3), dtype=np.float32), np.empty((model.bodies, 4), dtype=np.float32)
    moved.poses(*single)
    assert np.array_equal(single[0], q[:, :3].astype(np.float32))
    assert np.array_equal(single[1], q[:, 3:].astype(np.float32))
    assert state.counters[STEPS] == CHUNK - STEPS_SEEN
    assert len(state.contacts.pairs) > 10


def test_the_interval_follows_the_speed_of_the_steps() -> None:
    glances = Glances(lambda time, steps, poses: None)
    glances.seconds = 0.05
    for _ in range(5):
        steps = glances.part(10_000)
        glances.took(steps, 1e-3 * steps)
    assert glances.part(10_000) == 50 and glances.part(7) == 7
    glances.took(50, 5.0)
    assert glances.part(10_000) == 1
