"""What a run remembers of its impacts: which contacts rest, what has been counted, and how many came close together.

It lies in ``State.rule.history``, as a flat array, so that a checkpoint holds it.
"""

import numpy as np

from articulon.columns import Columns
from articulon.forces.impacts.impact_tables import ImpactTable


class MemoryPlaces(Columns):
    """Places of the flat array."""

    begun: int = 0
    """1 from the first step on."""
    impacts: int = 1
    """Impacts since the start."""
    rests: int = 2
    """Contacts that have come to rest."""
    lifted: int = 3
    """Resting contacts that have come apart."""
    hasty: int = 4
    """Impacts in a row that came each within a small part of a step after the one before."""
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
    resting: int = 11
    """How many contacts rest, and behind it who they are."""
    contacts: int = 12
    """Where these begin."""


MEMORY = MemoryPlaces()


def memory_size(table: ImpactTable) -> int:
    """Numbers that a run remembers."""
    return MEMORY.contacts + 2 * most_resting(table)


def most_resting(table: ImpactTable) -> int:
    """Contacts that may rest at a time."""
    spheres = table.link.size
    every = len(table.pair) + spheres * table.wall_of.size
    return min(every, 9 * spheres) + table.stop_speed.size


def resting(memory: np.ndarray) -> np.ndarray:
    """Contacts that rest, shape (n, 2)."""
    count = int(memory[MEMORY.resting])
    return memory[MEMORY.contacts : MEMORY.contacts + 2 * count].astype(np.int64).reshape(-1, 2)


def set_resting(memory: np.ndarray, contacts: np.ndarray) -> bool:
    """Remembers which contacts (n, 2) rest; whether there is room for them."""
    if MEMORY.contacts + 2 * len(contacts) > memory.size:
        return False
    memory[MEMORY.resting] = len(contacts)
    memory[MEMORY.contacts :] = 0.0
    memory[MEMORY.contacts : MEMORY.contacts + 2 * len(contacts)] = contacts.ravel()
    return True
