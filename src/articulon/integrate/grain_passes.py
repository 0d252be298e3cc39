"""Tables of free spheres in contact, sorted by cells, and passes between that order and the order of the model."""

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange, types

from articulon.forces.contact.carried_spheres import follow_images
from articulon.forces.contact.contact_columns import MOTION
from articulon.forces.contact.contact_tables import PLACES, SYSTEM, aligned_zeros, blocks_of
from articulon.forces.sites.cells import IMAGES
from articulon.integrate.grain_columns import (
    GRAIN_ACCELERATION,
    GRAIN_DRAG,
    GRAIN_LINE,
    GRAIN_PARTIAL,
    GRAIN_PLACE,
    GRAIN_REQUEST,
    GRAIN_ROW,
    GROUP,
    LINES,
)
from articulon.kernel_variants import part, specialised
from articulon.kernels import jit, prepare

PARALLEL_GRAINS = 2000
"""Smallest number of grains for which threads share the passes."""


class Grains(NamedTuple):
    """Free spheres, sorted by cells. All arrays that are not loaded from the state are scratch."""

    row: np.ndarray
    """See ``GRAIN_ROW`` and ``at``, shape (groups × 8 × 32,)."""
    place: np.ndarray
    """See ``GRAIN_PLACE``, shape (groups × 6 × 32,); or (0,) without periodic directions; coordinates are then those in
    ``Spheres.motion``."""
    acceleration: np.ndarray
    """See ``GRAIN_ACCELERATION``; used if a sweep ends with a kick, shape (groups × 6 × 32,)."""
    drag: np.ndarray
    """See ``GRAIN_DRAG``, shape (grains, 5), or (0, 5) without drag."""
    line: np.ndarray
    """See ``GRAIN_LINE``; in the order of the model, shape (grains, 13)."""
    inverse_inertia: np.ndarray
    """Inverse moments of inertia in the order of the model, shape (grains,)."""
    drags: np.ndarray
    """``drag`` in the order of the model, of the same shape."""
    partial: np.ndarray
    """See ``GRAIN_PARTIAL``; a row for each block of grains, shape (blocks, 22)."""
    request: np.ndarray
    """See ``GRAIN_REQUEST``, shape (9,)."""
    gravity: np.ndarray
    """Gravitational acceleration [length/time²], shape (3,)."""
    middle: np.ndarray
    """Middle between the least and the largest displacement of the grains along each axis since the last list, from the
    previous step, shape (3,). Displacements are taken relative to it, because grains that fall together do not approach
    each other."""
    works: np.ndarray
    """Works of contacts, as in ``State.contacts.work``, shape (2, 7)."""


def grains_of(count: int, dragged: bool, wraps: bool) -> Grains:
    """Scratch arrays for a number of grains, with drag or without, in a box with periodic directions or without."""
    groups = (count + GROUP - 1) // GROUP
    return Grains(
        aligned_zeros(groups, GRAIN_ROW.width * GROUP).reshape(-1),
        aligned_zeros(groups if wraps else 0, GRAIN_PLACE.width * GROUP).reshape(-1),
        aligned_zeros(groups, GRAIN_ACCELERATION.width * GROUP).reshape(-1),
        np.zeros((count if dragged else 0, GRAIN_DRAG.width)),
        np.zeros((count, GRAIN_LINE.width)),
        np.zeros(count),
        np.zeros((count if dragged else 0, GRAIN_DRAG.width)),
        np.zeros((blocks_of(count), GRAIN_PARTIAL.width)),
        np.zeros(GRAIN_REQUEST.width),
        np.zeros(3),
        np.zeros(3),
        np.zeros((2, LINES)),
    )


@jit
def at(columns, p, column):
    """Index of a value of the grain at a place, in groups of some columns."""
    return (p // GROUP * columns + column) * GROUP + p % GROUP


@jit
def collect_block(particles, spheres, grains, first, last):
    """Write some grains in the order of the model."""
    order, motion, row, line, site = particles.order, spheres.motion, grains.row, grains.line, particles.site
    place, wraps = grains.place, grains.place.shape[0] > 0
    for p in range(first, last):
        s = order[p]
        for a in range(4):
            line[s, GRAIN_LINE.turn + a] = row[at(GRAIN_ROW.width, p, GRAIN_ROW.turn + a)]
        for a in range(3):
            x = place[at(GRAIN_PLACE.width, p, GRAIN_PLACE.place + a)] if wraps else motion[p, MOTION.position + a]
            line[s, GRAIN_LINE.place + a], site[a, s] = x, x
            line[s, GRAIN_LINE.velocity + a] = motion[p, MOTION.velocity + a]
            line[s, GRAIN_LINE.angular_velocity + a] = motion[p, MOTION.angular_velocity + a]


def collect_all(particles, spheres, grains):
    """Write all grains in the order of the model."""
    n = grains.line.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        collect_block(particles, spheres, grains, first, min(first + PLACES, n))


@jit
def distribute_block(particles, spheres, numbers, grains, first, last):
    """Read some grains into the order of cells."""
    order, motion, row, line = particles.order, spheres.motion, grains.row, grains.line
    wrap, reference, place, wraps = particles.wrap, particles.reference, grains.place, grains.place.shape[0] > 0
    for p in range(first, last):
        s = order[p]
        for a in range(4):
            row[at(GRAIN_ROW.width, p, GRAIN_ROW.turn + a)] = line[s, GRAIN_LINE.turn + a]
        row[at(GRAIN_ROW.width, p, GRAIN_ROW.inverse_inertia)] = grains.inverse_inertia[s]
        for a in range(3):
            row[at(GRAIN_ROW.width, p, GRAIN_ROW.home + a)] = reference[a, s]
            if wraps:
                place[at(GRAIN_PLACE.width, p, GRAIN_PLACE.place + a)] = line[s, GRAIN_LINE.place + a]
                place[at(GRAIN_PLACE.width, p, GRAIN_PLACE.wrap + a)] = wrap[a, p]
            motion[p, MOTION.position + a] = line[s, GRAIN_LINE.place + a] + wrap[a, p]
            motion[p, MOTION.velocity + a] = line[s, GRAIN_LINE.velocity + a]
            motion[p, MOTION.angular_velocity + a] = line[s, GRAIN_LINE.angular_velocity + a]
        for a in range(GRAIN_DRAG.width if grains.drag.shape[0] > 0 else 0):
            grains.drag[p, a] = grains.drags[s, a]
        motion[p, MOTION.radius] = spheres.radius[s]
        motion[p, MOTION.inverse_mass] = spheres.inverse_mass[s]
        motion[p, MOTION.kind] = numbers[s]


def distribute_all(particles, spheres, numbers, grains):
    """Read all grains into the order of cells."""
    n = grains.line.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        distribute_block(particles, spheres, numbers, grains, first, min(first + PLACES, n))
    images = particles.counts[IMAGES]
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_images(particles, spheres.motion, first, min(first + PLACES, images))


SHARE: Any = None
"""Placeholder for the compiled ``collect_all`` or ``distribute_all``."""


def collect(system, grains):
    """Write the grains in the order of the model."""
    SHARE(system.particles, system.spheres, grains)


def distribute(system, grains):
    """Read the grains into the order of cells."""
    SHARE(system.particles, system.spheres, system.numbers, grains)


GRAINS = numba.typeof(grains_of(1, False, False))
"""Numba's type of ``Grains``."""
PASS = types.void(SYSTEM, GRAINS)
"""Signature of the passes over grains."""


@cache
def passes(parallel: bool) -> tuple[Any, ...]:
    """The passes ``collect`` and ``distribute``, shared among threads or not, in the form for kernels."""
    how = "parallel" if parallel else "serial"
    result = []
    for outer, inner in ((collect, collect_all), (distribute, distribute_all)):
        name = f"{outer.__name__}_grains_{how}"
        share = part(inner, f"share_{name}", parallel)
        result.append(prepare(specialised(outer, name, allocates=True, called="value", SHARE=share), PASS))
    return tuple(result)
