"""Prefetching of the memory that coming events will read, some days of the calendar before them.

In a gas of many spheres consecutive events lie far apart in memory. Without prefetching, each event would wait for the
data that it reads: the sphere, then its partner and the cells around it, then the spheres in them.
"""

import numpy as np

from articulon.forces.sites.prefetching import prefetch
from articulon.integrate.hard_sphere_tables import LINK, MOTION, NOBODY
from articulon.kernels import jit, routine

SPHERE_AHEAD, CELLS_AHEAD, NEIGHBOURS_AHEAD = 12, 8, 4
"""Days before an event at which each kind of memory is prefetched."""


@routine
def prefetch_events(spheres, day):
    """Prefetch memory when a day begins."""
    days, links = spheres.days, spheres.links
    last = days.size - 1
    i = days[(day + SPHERE_AHEAD) & last]
    if i != NOBODY:  # its record holds the next sphere on that day
        _ask_for_sphere(spheres, np.int64(i))
    i = days[(day + CELLS_AHEAD) & last]
    while i != NOBODY:
        _ask_for_cells(spheres, np.int64(i))
        i = links[i, LINK.later]
    i = days[(day + NEIGHBOURS_AHEAD) & last]
    while i != NOBODY:
        _ask_for_neighbours(spheres, np.int64(i))
        i = links[i, LINK.later]


@jit
def _ask_for_sphere(spheres, i):
    prefetch(spheres.motion, i * MOTION.width)
    prefetch(spheres.links, i * LINK.width)


@jit
def _ask_for_cells(spheres, i):
    grid, partner = spheres.grid, np.int64(spheres.links[i, LINK.partner])
    _ask_for_sphere(spheres, i)
    if partner != NOBODY:
        _ask_for_sphere(spheres, partner)
    width, cell = grid.slots.shape[1], np.int64(spheres.links[i, LINK.cell])
    plane, row = grid.cells[1] * grid.cells[2], grid.cells[2]
    for x in range(-1, 2):
        for y in range(-1, 2):
            near = cell + x * plane + y * row  # prefetching beyond the ends has no effect
            prefetch(grid.filled, near)
            prefetch(grid.slots, (near - 1) * width)
            prefetch(grid.slots, (near + 2) * width - 1)


@jit
def _ask_for_neighbours(spheres, i):
    grid, cell = spheres.grid, np.int64(spheres.links[i, LINK.cell])
    plane, row, last = grid.cells[1] * grid.cells[2], grid.cells[2], grid.slots.shape[0] - 1
    for x in range(-1, 2):
        for y in range(-1, 2):
            for z in range(-1, 2):
                near = min(max(cell + x * plane + y * row + z, 0), last)
                prefetch(spheres.motion, np.int64(grid.slots[near, 0]) * MOTION.width)
