"""What the kernels of contacts read and write."""

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from articulon.forces.contact.contact_columns import (
    COUNTS,
    KEPT,
    LAW,
    LOAD,
    MEMORY,
    MOTION,
    PAST,
    RECORD,
    RESISTANCE,
    SEEN,
)
from articulon.forces.contact.wall_tables import WallLists, Walls, empty_lists, wall_tables
from articulon.forces.sites.cells import grid
from articulon.forces.sites.prefetching import LINE
from articulon.forces.sites.site_tables import Cell, Grid, Neighbours, Particles, empty_neighbours, empty_particles

BEYOND = 8
"""Places beyond the last sphere and image, and beyond the last slot of what is read for some slots at a time."""
FREE, STICKS, SLIDES = 0, 1, 2
"""What a pair within reach does."""
PARTS = 4
"""Added to that while a pass goes through the pairs of a block, where the two no longer touch."""
LEFT, PASSED, OVERRUN = 1, 2, 3
"""What: a sphere has left the box, has gone through a mesh, or overlaps more triangles than there is room for."""
NORMAL_WORK, SPRING_WORK, VISCOUS_WORK, FRICTION_WORK, WALL_WORK = range(5)
WORKS = 5
"""Lines of the ledger: elastic normal forces, tangential springs, viscous forces, friction and what resists rolling, by
the relative velocity of the two surfaces; and what walls that move do. Of pairs of spheres, springs, viscous forces and
friction are summed contact by contact (``batches.book``), and what is left of the work of all is of elastic forces."""


class Spheres(NamedTuple):
    """The spheres in the order of cells, as the particles beside them are."""

    motion: np.ndarray
    """See ``MOTION``, the images of periodic faces behind; shape (spheres + images, 12)."""
    radius: np.ndarray
    """In the order of the model [length], shape (spheres,)."""
    inverse_mass: np.ndarray
    """Inverse mass of what carries each, in the order of the model [1/mass], shape (spheres,)."""
    owner: np.ndarray
    """What carries each, in the order of the model: those of one owner never touch, shape (spheres,); or (0,), where
    each has its own."""
    load: np.ndarray
    """See ``LOAD``: what contacts do to each; behind, what contacts from afar in the order do, a row for each of these
    candidates; and at the end rings, in which each thread of a sweep has the rows of the places that it is at. Zero
    once it has been taken; shape (spheres + rows + strips × 4096, 8)."""


class Candidates(NamedTuple):
    """Pairs of spheres within reach, each once: in the row of the one with the lower place."""

    start: np.ndarray
    """First slot of each place, shape (spheres + 1,)."""
    first: np.ndarray
    """Place of the sphere in whose row a slot is, shape (capacity + 8,)."""
    second: np.ndarray
    """Place of the other sphere, or of its image, shape (capacity + 8,)."""
    root: np.ndarray
    """Place of the other sphere itself, shape (capacity,)."""
    into: np.ndarray
    """Row of ``Spheres.load`` for what a slot's contact does to the other sphere: that sphere's own if it is of the
    same strip and near in the order, otherwise one of this slot's, shape (capacity,)."""
    across: np.ndarray
    """First of those rows whose other sphere is in each place, shape (spheres + 1,)."""
    source: np.ndarray
    """Slot that each of those rows is of, shape (capacity,)."""
    strip: np.ndarray
    """First block of places of each strip, which one thread goes through in order, shape (strips + 1,)."""
    belongs: np.ndarray
    """Strip of each block, shape (blocks,)."""
    earliest: np.ndarray
    """Of each block, the earliest strip whose contacts have rows for its places, or the number of strips where there is
    none, shape (blocks,)."""
    done: np.ndarray
    """Marks: whether all contacts in the rows of a strip have been gone through, shape (strips,)."""
    late: np.ndarray
    """Whether the places of a block could not move with their contacts, shape (blocks,)."""
    touches: np.ndarray
    """Whether the two are free of each other, stick or slide, shape (capacity + 8,)."""
    since: np.ndarray
    """When the two touched [time], shape (capacity,); of no meaning where they do not, as the record."""
    memory: np.ndarray
    """See ``MEMORY``, shape (capacity, 4)."""
    record: np.ndarray
    """See ``RECORD``; written where whole records are asked for, shape (capacity, 16)."""
    resistance: np.ndarray
    """See ``RESISTANCE``, shape (capacity, 7), or (0, 7) where nothing resists rolling and twisting."""
    counts: np.ndarray
    """See ``COUNTS``, shape (2,)."""
    block: np.ndarray
    """See ``SEEN``, shape (blocks, 14)."""


class WallSlots(NamedTuple):
    """Pairs of a sphere and a feature of a wall within reach. The sphere is the first of the two."""

    start: np.ndarray
    """First slot of each place, shape (spheres + 1,)."""
    place: np.ndarray
    """Place of the sphere, shape (capacity,)."""
    feature: np.ndarray
    """What the sphere touches, shape (capacity,)."""
    wall: np.ndarray
    """The wall that has it, shape (capacity,)."""
    touches: np.ndarray
    """As of pairs: the first slots of a place, in the order of features; shape (capacity,)."""
    velocity: np.ndarray
    """Of the wall's material where they touch [length/time], and the wall's angular velocity, shape (capacity, 6)."""
    since: np.ndarray
    """As of pairs, shape (capacity,)."""
    record: np.ndarray
    """See ``RECORD``; all that is remembered, written at every evaluation, shape (capacity, 16)."""
    resistance: np.ndarray
    """As of pairs, shape (capacity, 7), or (0, 7)."""
    counts: np.ndarray
    """See ``COUNTS``, shape (6,)."""
    block: np.ndarray
    """As of pairs, shape (blocks, 14)."""


class Kept(NamedTuple):
    """Contacts by pair: what outlives a list, and what a state holds."""

    start: np.ndarray
    """First of those that were in the row of each sphere, with its walls behind; shape (spheres,)."""
    stop: np.ndarray
    """Behind the last of them, shape (spheres,)."""
    first: np.ndarray
    """Sphere in whose row it was, in the order of the model, shape (capacity,)."""
    other: np.ndarray
    """The other sphere, or the number of spheres and the feature of a wall, shape (capacity,)."""
    past: np.ndarray
    """See ``PAST``, of contacts between spheres, as the sphere of the lower number has it; not written where whole
    records are kept for a state, shape (capacity, 8)."""
    column: np.ndarray
    """See ``KEPT``, likewise; of contacts between spheres a list writes but what resists rolling and twisting, shape
    (capacity, 25)."""
    block: np.ndarray
    """First of those in the rows of each block of places, shape (blocks + 1,)."""
    counts: np.ndarray
    """See ``COUNTS``, shape (1,)."""


class ContactTable(NamedTuple):
    """The law of each pair of kinds."""

    rows: np.ndarray
    """See ``LAW``: a row for each ordered pair of kinds (first * kinds + second), shape (kinds², 12)."""
    kinds: np.ndarray
    """Number of kinds, shape (1,)."""


class ContactSystem(NamedTuple):
    """Contacts as kernels see them."""

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
"""Places whose contacts a thread takes together, and contacts that it takes from a state or gives to it."""
RING = 4096
"""Rows of a ring, a power of two: those of a block of places and of the neighbours behind it. They stay in a second
cache."""
LAYERS = 6
"""Of a cube of spheres that make a strip: most contacts are then within one, and many threads have some to do."""


def blocks_of(spheres: int) -> int:
    """Number of blocks of places."""
    return (spheres + PLACES - 1) // PLACES


def strips_of(spheres: int) -> np.ndarray:
    """First block of each strip, and their number. Whatever the number of threads, sums are taken strip by strip."""
    blocks, wanted = blocks_of(spheres), spheres ** (1.0 / 3.0) / LAYERS
    # Numbers that most numbers of threads divide.
    strips = max(k for k in (1, 2, 4, 6, *(m << e for e in range(40) for m in (8, 12))) if k <= max(wanted, 1.0))
    return np.arange(strips + 1) * blocks // strips


def aligned_zeros(rows: int, columns: int) -> np.ndarray:
    """Zeros whose first row begins with a line of the cache, shape (rows, columns)."""
    size = rows * columns
    raw = np.zeros(size + LINE // 8)
    skipped = -raw.ctypes.data % LINE // 8
    return raw[skipped : skipped + size].reshape(rows, columns)


def empty_candidates(spheres: int, capacity: int, resists: bool) -> Candidates:
    """Room for a number of candidates."""
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
        np.zeros((blocks_of(spheres), SEEN.width)),
    )


def empty_wall_slots(spheres: int, capacity: int, resists: bool) -> WallSlots:
    """Room for a number of spheres near walls."""
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
        np.zeros((blocks_of(spheres), SEEN.width)),
    )


def empty_spheres(spheres: int, images: int, candidates: int) -> Spheres:
    """Room for a number of spheres, of their images and of candidates."""
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
    """Room for a number of contacts."""
    return Kept(
        np.zeros(spheres, dtype=np.int64),
        np.zeros(spheres, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        aligned_zeros(capacity, PAST.width),
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
    """Arrays for a number of spheres, images, places in a row of the list of neighbours, candidates, spheres near
    walls, contacts, and candidates that are far from each other in the order."""
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
"""Numba's types of it and of the contacts that are kept."""
PASS = types.void(SYSTEM, types.float64, types.float64)
"""Signature of a pass over all contacts at a time and with the time since the last one."""
