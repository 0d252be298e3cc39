"""Free spheres in contact, in the order of cells, and how they come there from the order of the model and go back."""

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
    GRAIN_ASK,
    GRAIN_DRAG,
    GRAIN_LINE,
    GRAIN_PARTIAL,
    GRAIN_PLACE,
    GRAIN_PUSH,
    GRAIN_ROW,
    GROUP,
    LINES,
)
from articulon.kernel_variants import part, specialised
from articulon.kernels import jit, prepare

PARALLEL_GRAINS = 2000
"""From this number of grains on, the threads share the passes over them."""


class Grains(NamedTuple):
    """Free spheres, in the order of cells; scratch but for what it takes from the state."""

    row: np.ndarray
    """See ``GRAIN_ROW`` and ``at``, shape (groups × 8 × 32,)."""
    place: np.ndarray
    """See ``GRAIN_PLACE``, shape (groups × 6 × 32,); or (0,) where no direction is periodic: then coordinates are those
    in ``Spheres.motion``."""
    push: np.ndarray
    """See ``GRAIN_PUSH``, where a sweep ended with a kick, shape (groups × 6 × 32,)."""
    drag: np.ndarray
    """See ``GRAIN_DRAG``, shape (grains, 5), or (0, 5) where there is none."""
    line: np.ndarray
    """See ``GRAIN_LINE``, in the order of the model, shape (grains, 13)."""
    inverse_inertia: np.ndarray
    """Inverse moments of inertia in the order of the model, shape (grains,)."""
    drags: np.ndarray
    """``drag`` in the order of the model."""
    partial: np.ndarray
    """See ``GRAIN_PARTIAL``, of blocks of grains, shape (blocks, 22)."""
    ask: np.ndarray
    """See ``GRAIN_ASK``, shape (9,)."""
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
        aligned_zeros(groups, GRAIN_ROW.width * GROUP).reshape(-1),
        aligned_zeros(groups if wraps else 0, GRAIN_PLACE.width * GROUP).reshape(-1),
        aligned_zeros(groups, GRAIN_PUSH.width * GROUP).reshape(-1),
        np.zeros((count if dragged else 0, GRAIN_DRAG.width)),
        np.zeros((count, GRAIN_LINE.width)),
        np.zeros(count),
        np.zeros((count if dragged else 0, GRAIN_DRAG.width)),
        np.zeros((blocks_of(count), GRAIN_PARTIAL.width)),
        np.zeros(GRAIN_ASK.width),
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
            line[s, GRAIN_LINE.turn + a] = row[at(GRAIN_ROW.width, p, GRAIN_ROW.turn + a)]
        for a in range(3):
            x = place[at(GRAIN_PLACE.width, p, GRAIN_PLACE.place + a)] if wraps else motion[p, MOTION.position + a]
            line[s, GRAIN_LINE.place + a], site[a, s] = x, x
            line[s, GRAIN_LINE.velocity + a] = motion[p, MOTION.velocity + a]
            line[s, GRAIN_LINE.spin + a] = motion[p, MOTION.spin + a]


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
            row[at(GRAIN_ROW.width, p, GRAIN_ROW.turn + a)] = line[s, GRAIN_LINE.turn + a]
        row[at(GRAIN_ROW.width, p, GRAIN_ROW.inverse_inertia)] = grains.inverse_inertia[s]
        for a in range(3):
            row[at(GRAIN_ROW.width, p, GRAIN_ROW.home + a)] = reference[a, s]
            if wraps:
                place[at(GRAIN_PLACE.width, p, GRAIN_PLACE.place + a)] = line[s, GRAIN_LINE.place + a]
                place[at(GRAIN_PLACE.width, p, GRAIN_PLACE.wrap + a)] = wrap[a, p]
            motion[p, MOTION.position + a] = line[s, GRAIN_LINE.place + a] + wrap[a, p]
            motion[p, MOTION.velocity + a] = line[s, GRAIN_LINE.velocity + a]
            motion[p, MOTION.spin + a] = line[s, GRAIN_LINE.spin + a]
        for a in range(GRAIN_DRAG.width if grains.drag.shape[0] > 0 else 0):
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
        share = part(inner, f"share_{name}", parallel)
        result.append(prepare(specialised(outer, name, allocates=True, called="value", SHARE=share), PASS))
    return tuple(result)
