"""Arrays that the contact kernels read and write.

Spheres are sorted by cells. A *place* is an index in this order, and the images follow the spheres. A *slot* is an
index in the table of candidates, or of spheres near walls. The slots of a place are its *row*. Places are grouped into
*blocks*, and one thread processes the blocks of a *strip* in order.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from articulon.forces.contact.contact_columns import (
    COUNTS,
    HISTORY,
    KEPT,
    LAW,
    LOAD,
    MEMORY,
    MOTION,
    RECORD,
    RESISTANCE,
    STATISTICS,
)
from articulon.forces.contact.wall_tables import WallLists, Walls, empty_lists, wall_tables
from articulon.forces.sites.cells import grid
from articulon.forces.sites.prefetching import LINE
from articulon.forces.sites.site_tables import Cell, Grid, Neighbours, Particles, empty_neighbours, empty_particles

BEYOND = 8
"""Padding behind the last sphere and image, and behind the last slot, for arrays that are read several slots at a
time."""
FREE, STICKS, SLIDES = 0, 1, 2
"""Contact states of a pair within reach."""
PARTS = 4
"""Offset that is added to the state of pairs that no longer touch, while a pass processes their block."""
LEFT, PASSED, OVERRUN = 1, 2, 3
"""Fault codes: a sphere has left the box, has gone through a mesh, or overlaps more triangles than the capacity."""
NORMAL_WORK, SPRING_WORK, VISCOUS_WORK, FRICTION_WORK, WALL_WORK = range(5)
WORKS = 5
"""Ledger lines: elastic normal forces, tangential springs, viscous forces, friction and rolling resistance, each from
the relative velocity of the two surfaces; and the work of moving walls. For pairs of spheres, springs, viscous forces
and friction are summed contact by contact (``batches.book``), and the remainder of the total work belongs to elastic
forces."""


class Spheres(NamedTuple):
    """Spheres in the order of cells, like the particles."""

    motion: np.ndarray
    """Motion of the spheres, then of their periodic images, see ``MOTION``; shape (spheres + images, 12)."""
    radius: np.ndarray
    """Radii in the order of the model [length], shape (spheres,)."""
    inverse_mass: np.ndarray
    """Inverse mass of the body that carries each sphere, in the order of the model [1/mass], shape (spheres,)."""
    owner: np.ndarray
    """Owner of each sphere, in the order of the model: spheres of one owner never touch, shape (spheres,); or (0,) if
    each sphere has its own."""
    load: np.ndarray
    """Contact loads, see ``LOAD``. First comes one row per sphere, then one row for each candidate whose spheres are
    far apart in the order. Then come the rings, which hold the rows of the places that each thread processes at the
    moment. Reset to zero when read; shape (spheres + rows + strips × 4096, 8)."""


class Candidates(NamedTuple):
    """Pairs of spheres within reach, each once: in the row of the sphere at the lower place."""

    start: np.ndarray
    """First slot of each place, shape (spheres + 1,)."""
    first: np.ndarray
    """Place of the sphere in whose row a slot is, shape (capacity + 8,)."""
    second: np.ndarray
    """Place of the other sphere, or of its image, shape (capacity + 8,)."""
    root: np.ndarray
    """Place of the other sphere itself, shape (capacity,)."""
    into: np.ndarray
    """Row of ``Spheres.load`` for the load on the other sphere: the row of that sphere if it is in the same strip and
    near in the order, otherwise a separate row of this slot, shape (capacity,)."""
    across: np.ndarray
    """First of the separate rows whose other sphere is at each place, shape (spheres + 1,)."""
    source: np.ndarray
    """Slot of each separate row, shape (capacity,)."""
    strip: np.ndarray
    """First block of places of each strip, which one thread processes in order, shape (strips + 1,)."""
    belongs: np.ndarray
    """Strip of each block, shape (blocks,)."""
    earliest: np.ndarray
    """For each block, the earliest strip whose contacts have separate rows for its places, or the number of strips if
    there is none, shape (blocks,)."""
    done: np.ndarray
    """Flags: whether all contacts in the rows of a strip are evaluated, shape (strips,)."""
    late: np.ndarray
    """Whether the places of a block could not be moved together with their contacts, shape (blocks,)."""
    touches: np.ndarray
    """Contact state: apart, sticking or sliding, shape (capacity + 8,)."""
    since: np.ndarray
    """Time at which the contact began [time], shape (capacity,); undefined, like the record, for pairs that do not
    touch."""
    memory: np.ndarray
    """Contact history, see ``MEMORY``, shape (capacity, 4)."""
    record: np.ndarray
    """Records, see ``RECORD``; written if whole records are requested, shape (capacity, 16)."""
    resistance: np.ndarray
    """Rolling and twisting resistance, see ``RESISTANCE``, shape (capacity, 7), or (0, 7) without it."""
    counts: np.ndarray
    """See ``COUNTS``, shape (2,)."""
    block: np.ndarray
    """What the last pass recorded by block, see ``STATISTICS``, shape (blocks, 14)."""


class WallSlots(NamedTuple):
    """Pairs of a sphere and a wall feature within reach. The sphere is the first of the two."""

    start: np.ndarray
    """First slot of each place, shape (spheres + 1,)."""
    place: np.ndarray
    """Place of the sphere, shape (capacity,)."""
    feature: np.ndarray
    """Feature that the sphere touches, shape (capacity,)."""
    wall: np.ndarray
    """Wall of the feature, shape (capacity,)."""
    touches: np.ndarray
    """Contact state as in ``Candidates``; active contacts occupy the first slots of a place, in the order of features;
    shape (capacity,)."""
    velocity: np.ndarray
    """Velocity of the wall's material at the contact [length/time], and the wall's angular velocity, shape (capacity,
    6)."""
    since: np.ndarray
    """Time at which the contact began [time], shape (capacity,)."""
    record: np.ndarray
    """Whole contact history, written at every evaluation, see ``RECORD``, shape (capacity, 16)."""
    resistance: np.ndarray
    """Rolling and twisting resistance, see ``RESISTANCE``, shape (capacity, 7), or (0, 7) without it."""
    counts: np.ndarray
    """See ``COUNTS``, shape (6,)."""
    block: np.ndarray
    """What the last pass recorded by block, see ``STATISTICS``, shape (blocks, 14)."""


class Kept(NamedTuple):
    """Contacts by pair, as kept when a list is rebuilt and as stored in a state."""

    start: np.ndarray
    """First of the contacts in the row of each sphere, those with walls last; shape (spheres,)."""
    stop: np.ndarray
    """One past the index of the last of these contacts, shape (spheres,)."""
    first: np.ndarray
    """Sphere in whose row the contact was, in the order of the model, shape (capacity,)."""
    other: np.ndarray
    """The other sphere, or the number of spheres and the feature of a wall, shape (capacity,)."""
    history: np.ndarray
    """History of contacts between spheres, see ``HISTORY``, as seen from the sphere of the lower number; not written if
    whole records are kept for a state, shape (capacity, 8)."""
    column: np.ndarray
    """Records as in a state, see ``KEPT``, as seen from the sphere of the lower number; for contacts between spheres a
    list writes only the rolling and twisting resistance, shape (capacity, 25)."""
    block: np.ndarray
    """First contact in the rows of each block of places, shape (blocks + 1,)."""
    counts: np.ndarray
    """See ``COUNTS``, shape (1,)."""


class ContactTable(NamedTuple):
    """The law of each pair of kinds."""

    rows: np.ndarray
    """Law of each ordered pair of kinds (first * kinds + second), see ``LAW``, shape (kinds², 12)."""
    kinds: np.ndarray
    """Number of kinds, shape (1,)."""


class ContactSystem(NamedTuple):
    """All arrays of contacts that kernels read and write."""

    cell: Cell
    particles: Particles
    neighbours: Neighbours
    grid: Grid
    spheres: Spheres
    candidates: Candidates
    walls: WallSlots
    shapes: Walls
    near_walls: WallLists
    kept: Kept
    table: ContactTable
    numbers: np.ndarray
    """Kind of each sphere in the order of the model, shape (spheres,)."""
    skin: np.ndarray
    """Skin [length], shape (1,)."""


PLACES = 512
"""Number of places whose contacts a thread processes together, and of contacts that it loads from or stores in a state
together."""
RING = 4096
"""Rows of a ring, a power of two: those of a block of places and of the neighbours behind it. They fit into the
second-level cache."""
LAYERS = 6
"""Number of layers of spheres in a strip, if all spheres fill a cube. Then most contacts are within one strip, and
there are enough strips for many threads."""


def blocks_of(spheres: int) -> int:
    """Return the number of blocks of places."""
    return (spheres + PLACES - 1) // PLACES


def strips_of(spheres: int) -> np.ndarray:
    """Return the first block of each strip. Sums are taken strip by strip for any number of threads."""
    blocks, wanted = blocks_of(spheres), spheres ** (1.0 / 3.0) / LAYERS
    # Numbers that can be divided by most numbers of threads.
    strips = max(k for k in (1, 2, 4, 6, *(m << e for e in range(40) for m in (8, 12))) if k <= max(wanted, 1.0))
    return np.arange(strips + 1) * blocks // strips


def aligned_zeros(rows: int, columns: int) -> np.ndarray:
    """Return zeros aligned to a cache line, shape (rows, columns)."""
    size = rows * columns
    raw = np.zeros(size + LINE // 8)
    skipped = -raw.ctypes.data % LINE // 8
    return raw[skipped : skipped + size].reshape(rows, columns)


def empty_candidates(spheres: int, capacity: int, resists: bool) -> Candidates:
    """Allocate a given capacity of candidates."""
    strips = strips_of(spheres)
    return Candidates(
        np.zeros(spheres + 1, dtype=np.int64),
        np.zeros(capacity + BEYOND, dtype=np.int32),
        np.zeros(capacity + BEYOND, dtype=np.int32),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(spheres + 1, dtype=np.int64),
        np.zeros(capacity, dtype=np.int32),
        strips,
        np.repeat(np.arange(len(strips) - 1), np.diff(strips)),
        np.zeros(blocks_of(spheres), dtype=np.int64),
        np.zeros(len(strips) - 1, dtype=np.int64),
        np.zeros(blocks_of(spheres), dtype=np.int8),
        np.zeros(capacity + BEYOND, dtype=np.int8),
        np.zeros(capacity),
        aligned_zeros(capacity, MEMORY.width),
        aligned_zeros(capacity, RECORD.width),
        np.zeros((capacity if resists else 0, RESISTANCE.width)),
        np.zeros(2, dtype=np.int64),
        np.zeros((blocks_of(spheres), STATISTICS.width)),
    )


def empty_wall_slots(spheres: int, capacity: int, resists: bool) -> WallSlots:
    """Allocate a given capacity of spheres near walls."""
    return WallSlots(
        np.zeros(spheres + 1, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int8),
        np.zeros((capacity, 6)),
        np.zeros(capacity),
        aligned_zeros(capacity, RECORD.width),
        np.zeros((capacity if resists else 0, RESISTANCE.width)),
        np.zeros(COUNTS.width, dtype=np.int64),
        np.zeros((blocks_of(spheres), STATISTICS.width)),
    )


def empty_spheres(spheres: int, images: int, candidates: int) -> Spheres:
    """Allocate for given numbers of spheres, images and candidates."""
    radius, inverse_mass, owner = np.zeros(spheres), np.zeros(spheres), np.zeros(spheres, dtype=np.int64)
    rings = RING * (len(strips_of(spheres)) - 1)
    return Spheres(
        aligned_zeros(spheres + images, MOTION.width),
        radius,
        inverse_mass,
        owner,
        aligned_zeros(spheres + candidates + rings, LOAD.width),
    )


def empty_kept(spheres: int, capacity: int) -> Kept:
    """Allocate a given capacity of contacts."""
    return Kept(
        np.zeros(spheres, dtype=np.int64),
        np.zeros(spheres, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        aligned_zeros(capacity, HISTORY.width),
        np.zeros((capacity, KEPT.width)),
        np.zeros(blocks_of(spheres) + 1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


def empty_system(
    spheres: int,
    images: int = 0,
    near: int = 8,
    candidates: int = 0,
    walls: int = 0,
    contacts: int = 0,
    rows: int = 0,
    resists: bool = False,
) -> ContactSystem:
    """Allocate all arrays for given numbers of spheres, images, places in a row of the neighbour list, candidates,
    spheres near walls, contacts, and candidates whose spheres are far apart in the order."""
    return ContactSystem(
        Cell(np.eye(3), np.eye(3), np.zeros(3), np.zeros(3, dtype=np.int64)),
        empty_particles(spheres, images, BEYOND),
        empty_neighbours(spheres, near),
        grid(max(spheres, 1), max(images, 1), 1.0, 1.0),
        empty_spheres(spheres, images, rows),
        empty_candidates(spheres, candidates, resists),
        empty_wall_slots(spheres, walls, resists),
        wall_tables(),
        empty_lists(0, spheres, blocks_of(spheres), 0, 0),
        empty_kept(spheres, contacts),
        ContactTable(np.zeros((1, LAW.width)), np.ones(1, dtype=np.int64)),
        np.zeros(spheres, dtype=np.int64),
        np.zeros(1),
    )


SYSTEM, KEPT_TYPE = numba.typeof(empty_system(1)), numba.typeof(empty_kept(1, 1))
"""Numba types of the system and of the kept contacts."""
PASS = types.void(SYSTEM, types.float64, types.float64)
"""Signature of a pass over all contacts at a time, with the time since the last one."""
