"""What a run remembers of its impacts: which contacts rest, what has been counted, and how many came close together.

It lies in ``State.rule.history``, as a flat array, so that a checkpoint holds it.
"""

from typing import NamedTuple

import numpy as np

from articulon.columns import Columns
from articulon.forces.impacts.impact_tables import MOST_PRESSED, ImpactTable, most_resting


class MemoryPlaces(Columns):
    """Places of the flat array."""

    settled: int = 0
    """1 where what touches has been settled since the latest step; 0 asks for it once more."""
    impacts: int = 1
    """Impacts since the start."""
    rests: int = 2
    """Contacts that have come to rest."""
    lifted: int = 3
    """Resting contacts that have come apart."""
    hasty: int = 4
    """Steps in a row of which each was cut to a small part of the longest."""
    latest: int = 5
    """When the latest impact was [time]."""
    largest: int = 6
    """The largest normal impulse [mass velocity], or, of a stop of a hinge, impulse of torque."""
    largest_at: int = 7
    """When that was [time]."""
    largest_of: int = 8
    """The contact that it was of (2)."""
    energy: int = 10
    """What impacts have done to the kinetic energy, at most 0 [energy]."""
    longest: int = 11
    """The longest step that has been taken [time]."""
    level: int = 12
    """Of steps of one length: how often the latest has been halved."""
    resting: int = 13
    """How many contacts rest, and behind it who they are."""
    contacts: int = 14
    """Where these begin."""


MEMORY = MemoryPlaces()


WIDTH = 6
"""Numbers of a contact that rests: who it is of (2), what it does across its normal, and the direction of its slip."""


class Rests(NamedTuple):
    """Contacts that rest."""

    contact: np.ndarray
    """Shape (n, 2)."""
    mode: np.ndarray
    """See ``pressing.SLIDES``, shape (n,)."""
    along: np.ndarray
    """Direction of the slip, world frame, shape (n, 3)."""


def memory_size(table: ImpactTable) -> int:
    """Numbers that a run remembers."""
    return MEMORY.contacts + WIDTH * min(most_resting(table), MOST_PRESSED)


def resting(memory: np.ndarray) -> Rests:
    """Contacts that rest."""
    count = int(memory[MEMORY.resting])
    rows = memory[MEMORY.contacts : MEMORY.contacts + WIDTH * count].reshape(count, WIDTH)
    return Rests(rows[:, :2].astype(np.int64), rows[:, 2].astype(np.int64), rows[:, 3:].copy())


def set_resting(memory: np.ndarray, rests: Rests) -> bool:
    """Remembers which contacts rest; whether there is room for them."""
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
    """No contact that rests."""
    return Rests(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 3)))
