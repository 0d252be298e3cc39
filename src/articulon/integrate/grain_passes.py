"""Free spheres in contact, in the order of cells, and how they come there from the order of the model and go back."""

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange, types

from articulon.forces.contact.carried_spheres import follow_images
from articulon.forces.contact.contact_columns import MOTION
from articulon.forces.contact.contact_tables import PLACES, SYSTEM, WORKS, aligned_zeros, blocks_of
from articulon.forces.sites.cells import IMAGES
from articulon.kernels import jit, prepare, specialised

PARALLEL_GRAINS = 2000
"""From this number of grains on, the threads share the passes over them."""
GROUP = 32
"""Grains that are kicked, and then drift; in ``Grains.row``, ``place`` and ``push`` the values of a column are one
behind the other in each group."""
TURN, INVERSE_INERTIA, HOME = 0, 4, 5
ROW = 8
"""Columns of ``Grains.row``: Euler parameters, inverse moment of inertia, and coordinates at the last list."""
PLACE, WRAP = 0, 3
PLACED = 6
"""Columns of ``Grains.place``: coordinates, unwrapped, and what brings them into the box."""
PUSH, TWIST = 0, 3
PUSHED = 6
"""Columns of ``Grains.push``: acceleration and angular acceleration in the world frame."""
POINT, FACING, SPEED, TURNING = 0, 3, 7, 10
LINE = 13
"""Columns of ``Grains.line``: coordinates, unwrapped, Euler parameters, velocity and angular velocity."""
DRAG, SPIN_DRAG, FLOW = 0, 1, 2
DRAGS_ROW = 5
"""Columns of ``Grains.drag``: drag of translation and of rotation, and flow."""
WAY, FINITE, DONE = 0, 1, 2
"""Columns of ``Grains.partial``; powers in the half kick that is done begin here, those in the next at ``DUE``."""
FALLS, DRAGS = WORKS, WORKS + 1
LINES = WORKS + 2
"""Lines of the ledger: those of contacts, gravity and drag."""
DUE = DONE + LINES
LOW = DUE + LINES
HIGH = LOW + 3
"""Behind the powers, how far grains have gone at least and at most, along each axis."""
TOUCHES, TIME, LASTS, RECORDS, KICKS, DONE_TIME, DUE_TIME, DRIFTS, THREADS = range(9)
"""Places in ``Grains.ask``."""


class Grains(NamedTuple):
    """Free spheres, in the order of cells; scratch but for what it takes from the state."""

    row: np.ndarray
    """Shape (groups × 8 × 32,); see ``at``."""
    place: np.ndarray
    """Shape (groups × 6 × 32,); or (0,) where no direction is periodic: then coordinates are those in
    ``Spheres.motion``."""
    push: np.ndarray
    """Accelerations where a sweep ended with a kick, shape (groups × 6 × 32,)."""
    drag: np.ndarray
    """Shape (grains, 5), or (0, 5) where there is none."""
    line: np.ndarray
    """In the order of the model, shape (grains, 13)."""
    inverse_inertia: np.ndarray
    """Inverse moments of inertia in the order of the model, shape (grains,)."""
    drags: np.ndarray
    """``drag`` in the order of the model."""
    partial: np.ndarray
    """Of blocks of grains: the square of the longest way since the last list, ``middle`` taken off; a sum that is
    finite where all accelerations are; powers by line in the half kick that is done and in the next one; and the least
    and the most that any has gone along each axis; shape (blocks, 22)."""
    ask: np.ndarray
    """What a sweep is to do: whether to evaluate contacts, at what time, how long after the last time, whether to write
    whole records; whether to kick, for how long, for how long the next time; how long to drift; and the number of
    threads, on which no bit depends; shape (9,)."""
    gravity: np.ndarray
    """Shape (3,)."""
    middle: np.ndarray
    """Half of the least and the most that grains had gone along each axis since the last list, a step ago: those that
    fall together do not come nearer to each other; shape (3,)."""
    works: np.ndarray
    """As in ``State.contacts.work``, shape (2, 7)."""


def grains_of(count: int, dragged: bool, wraps: bool) -> Grains:
    """Scratch for a number of grains, which drag acts on or not, in a box with periodic directions or not."""
    groups = (count + GROUP - 1) // GROUP
    return Grains(
        aligned_zeros(groups, ROW * GROUP).reshape(-1),
        aligned_zeros(groups if wraps else 0, PLACED * GROUP).reshape(-1),
        aligned_zeros(groups, PUSHED * GROUP).reshape(-1),
        np.zeros((count if dragged else 0, DRAGS_ROW)),
        np.zeros((count, LINE)),
        np.zeros(count),
        np.zeros((count if dragged else 0, DRAGS_ROW)),
        np.zeros((blocks_of(count), HIGH + 3)),
        np.zeros(9),
        np.zeros(3),
        np.zeros(3),
        np.zeros((2, LINES)),
    )


@jit
def at(columns, p, column):
    """Where a column of the grain in a place is, in groups of some columns."""
    return (p // GROUP * columns + column) * GROUP + p % GROUP


@jit
def collect_block(particles, spheres, grains, first, last):
    """Writes some grains in the order of the model."""
    order, motion, row, line, site = particles.order, spheres.motion, grains.row, grains.line, particles.site
    place, wraps = grains.place, grains.place.shape[0] > 0
    for p in range(first, last):
        s = order[p]
        for a in range(4):
            line[s, FACING + a] = row[at(ROW, p, TURN + a)]
        for a in range(3):
            x = place[at(PLACED, p, PLACE + a)] if wraps else motion[p, MOTION.position + a]
            line[s, POINT + a], site[a, s] = x, x
            line[s, SPEED + a], line[s, TURNING + a] = motion[p, MOTION.velocity + a], motion[p, MOTION.spin + a]


def collect_all(particles, spheres, grains):
    """Writes all of them in the order of the model."""
    n = grains.line.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        collect_block(particles, spheres, grains, first, min(first + PLACES, n))


@jit
def distribute_block(particles, spheres, numbers, grains, first, last):
    """Reads some grains into the order of cells."""
    order, motion, row, line = particles.order, spheres.motion, grains.row, grains.line
    wrap, reference, place, wraps = particles.wrap, particles.reference, grains.place, grains.place.shape[0] > 0
    for p in range(first, last):
        s = order[p]
        for a in range(4):
            row[at(ROW, p, TURN + a)] = line[s, FACING + a]
        row[at(ROW, p, INVERSE_INERTIA)] = grains.inverse_inertia[s]
        for a in range(3):
            row[at(ROW, p, HOME + a)] = reference[a, s]
            if wraps:
                place[at(PLACED, p, PLACE + a)], place[at(PLACED, p, WRAP + a)] = line[s, POINT + a], wrap[a, p]
            motion[p, MOTION.position + a] = line[s, POINT + a] + wrap[a, p]
            motion[p, MOTION.velocity + a], motion[p, MOTION.spin + a] = line[s, SPEED + a], line[s, TURNING + a]
        for a in range(DRAGS_ROW if grains.drag.shape[0] > 0 else 0):
            grains.drag[p, a] = grains.drags[s, a]
        motion[p, MOTION.radius] = spheres.radius[s]
        motion[p, MOTION.inverse_mass] = spheres.inverse_mass[s]
        motion[p, MOTION.kind] = numbers[s]


def distribute_all(particles, spheres, numbers, grains):
    """Reads all of them into the order of cells."""
    n = grains.line.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        distribute_block(particles, spheres, numbers, grains, first, min(first + PLACES, n))
    images = particles.counts[IMAGES]
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_images(particles, spheres.motion, first, min(first + PLACES, images))


SHARE: Any = None
"""Stands for one of these, compiled."""


def collect(system, grains):
    """Writes the grains in the order of the model."""
    SHARE(system.particles, system.spheres, grains)


def distribute(system, grains):
    """Reads the grains into the order of cells."""
    SHARE(system.particles, system.spheres, system.numbers, grains)


GRAINS = numba.typeof(grains_of(1, False, False))
"""Numba's type of ``Grains``."""
PASS = types.void(SYSTEM, GRAINS)
"""Signature of the passes over grains."""


@cache
def passes(parallel: bool) -> tuple[Any, ...]:
    """``collect`` and ``distribute``, shared among threads or not, ready to be handed to others."""
    how = "parallel" if parallel else "serial"
    result = []
    for outer, inner in ((collect, collect_all), (distribute, distribute_all)):
        name = f"{outer.__name__}_grains_{how}"
        share = specialised(inner, f"share_{name}", parallel=parallel, allocates=True)
        result.append(prepare(specialised(outer, name, allocates=True, SHARE=share), PASS))
    return tuple(result)
