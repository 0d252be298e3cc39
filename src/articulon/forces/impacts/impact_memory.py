"""The data that a run stores about its impacts: resting contacts, counters, and impacts in close succession.

The data are a flat array in ``State.rule.history``, so that checkpoints include them.
"""

from typing import NamedTuple

import numpy as np

from articulon.columns import Columns
from articulon.forces.impacts.impact_tables import MOST_PRESSED, ImpactTable, most_resting


class MemoryPlaces(Columns):
    """Entries of the flat array."""

    settled: int = 0
    """1 if the contacts have been resolved since the latest step; 0 requests that they are resolved again."""
    impacts: int = 1
    """Number of impacts since the start."""
    rests: int = 2
    """Number of contacts that have come to rest."""
    lifted: int = 3
    """Number of resting contacts that have come apart."""
    short_steps: int = 4
    """Number of successive steps that were each shortened to a small fraction of the longest."""
    latest: int = 5
    """Time of the latest impact [time]."""
    largest: int = 6
    """Largest normal impulse [mass velocity]; for the stop of a revolute joint, the angular impulse."""
    largest_at: int = 7
    """Time of that impulse [time]."""
    largest_of: int = 8
    """Contact of that impulse, two numbers."""
    energy: int = 10
    """Total change of the kinetic energy by impacts, at most 0 [energy]."""
    longest: int = 11
    """Longest step so far [time]."""
    level: int = 12
    """For steps of fixed length: how many times the latest step was halved."""
    reduced: int = 13
    """Number of contacts that rebounded, in simultaneous impacts, with less than their coefficient of restitution."""
    reduced_of: int = 14
    """The latest of these contacts, two numbers."""
    resting: int = 16
    """Number of resting contacts, followed by their data."""
    contacts: int = 17
    """Start of the data of the resting contacts."""


MEMORY = MemoryPlaces()


WIDTH = 6
"""Number of values stored per resting contact: the contact (2), its tangential mode, and the direction of its slip."""


class Rests(NamedTuple):
    """Resting contacts."""

    contact: np.ndarray
    """The contacts, shape (n, 2)."""
    mode: np.ndarray
    """Sticking or sliding, see ``pressing.SLIDES``, shape (n,)."""
    along: np.ndarray
    """Direction of the slip, world frame, shape (n, 3)."""


def memory_size(table: ImpactTable) -> int:
    """Return the number of values that a run stores."""
    return MEMORY.contacts + WIDTH * min(most_resting(table), MOST_PRESSED)


def resting(memory: np.ndarray) -> Rests:
    """Return the resting contacts."""
    count = int(memory[MEMORY.resting])
    rows = memory[MEMORY.contacts : MEMORY.contacts + WIDTH * count].reshape(count, WIDTH)
    return Rests(rows[:, :2].astype(np.int64), rows[:, 2].astype(np.int64), rows[:, 3:].copy())


def set_resting(memory: np.ndarray, rests: Rests) -> bool:
    """Store the resting contacts; return whether the capacity suffices."""
    count = len(rests.contact)
    end = MEMORY.contacts + WIDTH * count
    if end > memory.size:
        return False
    memory[MEMORY.resting] = count
    memory[MEMORY.contacts :] = 0.0
    rows = np.concatenate([rests.contact, rests.mode[:, None], rests.along], axis=1)
    memory[MEMORY.contacts : end] = rows.ravel()
    return True


def no_rests() -> Rests:
    """An empty set of resting contacts."""
    return Rests(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 3)))
