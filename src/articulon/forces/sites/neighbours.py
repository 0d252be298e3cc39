"""Neighbour lists: for each site the sites within reach, which is the largest cutoff plus a skin.

Lists are full: a site sums its own forces in a fixed order. This needs no atomic additions, lets the loop vectorise,
and gives results that do not depend on the number of threads, to the last bit (M. P. Allen and D. J. Tildesley,
Computer Simulation of Liquids, 2nd ed., 5.3, describe the half list and the cells).
"""

from typing import Any

import numba
import numpy as np
from numba import prange, types

from articulon.forces.sites.cells import (
    IMAGES,
    LOST,
    OVERFLOW,
    REBUILDS,
    cell_of_row,
    count_images,
    grid,
    make_images,
    number_images,
    number_sites,
    permute_sites,
    place_images,
    row_of_cells,
    sort_sites,
    wrap_sites,
)
from articulon.forces.sites.site_tables import EXAMPLE_TYPES, pack
from articulon.forces.sites.vector_appending import append_near
from articulon.kernel_variants import part, specialised
from articulon.kernels import jit, kernel

SKIN = 0.12
"""Default skin as a fraction of the largest cutoff. A wider skin makes the forces more expensive, but lists are built
less often; for a Lennard-Jones liquid, this value minimises the total cost."""
FIXED = 7
"""Number of entries in ``Grid.size`` that every grid has."""
VECTOR = 8
"""Lists are padded to multiples of this number with a distant padding place."""


@jit
def padded(neighbours, i):
    """Number of neighbours of a site, padded to whole vectors with the padding place."""
    return (neighbours.number[i] + VECTOR - 1) // VECTOR * VECTOR


@jit
def ranges_around(grid, c, ranges):
    """Find the ranges of places in the cells around a cell, first and end of each; return their number. Cells along z
    are contiguous, and so are their sites and images."""
    size, around = grid.size, grid.size[3]
    cx, cy = cell_of_row(size, c // size[2])
    cz = c % size[2]
    first, last = max(cz - around, 0), min(cz + around, size[2] - 1)
    m = 0
    for ax in range(max(cx - around, 0), min(cx + around, size[0] - 1) + 1):
        for ay in range(max(cy - around, 0), min(cy + around, size[1] - 1) + 1):
            row = row_of_cells(size, ax, ay) * size[2]
            for images in range(2):
                start = grid.image_start if images else grid.start
                begin, end = start[row + first], start[row + last + 1]
                ranges[m, 0], ranges[m, 1] = begin, end
                m += begin < end
    return m


@jit
def exclude(particles, neighbours, row, p, count):
    """Remove the excluded partners of a place from its list, ``row``; return the number of remaining entries."""
    s = particles.order[p]
    first, last = neighbours.excluded_start[s], neighbours.excluded_start[s + 1]
    if first == last:
        return count
    kept, sites = 0, particles.order.size
    if last - first <= 2:
        # Partners of a site of water are given by place, which avoids a look-up for each neighbour.
        a = particles.place[neighbours.excluded[first]]
        b = particles.place[neighbours.excluded[last - 1]]
        for k in range(count):
            j = np.int64(row[k])
            root = j if j < sites else np.int64(particles.parent[j - sites])
            row[kept] = row[k]
            kept += root != a and root != b
        return kept
    for k in range(count):
        j = np.int64(row[k])
        other = particles.order[j if j < sites else particles.parent[j - sites]]
        low, high = first, last
        while low < high:
            middle = (low + high) // 2
            if neighbours.excluded[middle] < other:
                low = middle + 1
            else:
                high = middle
        row[kept] = row[k]
        kept += not (low < last and neighbours.excluded[low] == other)
    return kept


@jit
def list_cell(particles, neighbours, grid, c, ranges, other):
    """List the neighbours of the sites of one cell; return whether the capacity suffices. ``other`` is scratch memory
    of the length of a row."""
    x, y, z, far = particles.x, particles.y, particles.z, particles.x.size - 1
    room, reach2 = neighbours.places.shape[1] - 2 * VECTOR, grid.reach[0] * grid.reach[0]
    if grid.start[c] == grid.start[c + 1]:
        return True
    m = ranges_around(grid, c, ranges)
    for p in range(grid.start[c], grid.start[c + 1]):
        row, n, least = neighbours.places[p], 0, p + 1 if grid.size[4] != 0 else 0
        for k in range(m):
            begin = max(ranges[k, 0], least)
            n = append_near(x, y, z, begin, ranges[k, 1], x[p], y[p], z[p], reach2, p, row, n, room)
        if n > room:
            return False
        n = exclude(particles, neighbours, neighbours.places[p], p, n)
        neighbours.number[p] = n
        for k in range(n, n + VECTOR):
            row[k] = far
    return True


@jit
def nothing_more(particles, grid):
    pass


LIST_CELL, MAKE_READY = list_cell, nothing_more


def list_cells(particles, neighbours, grid):
    """List the neighbours of all sites, cell by cell."""
    cells, rows = grid.size[0] * grid.size[1] * grid.size[2], 2 * grid.size[3] + 1
    for block in prange((cells + 63) // 64):
        ranges = np.empty((2 * rows * rows + 1, 2), np.int64)
        other = np.empty(neighbours.places.shape[1], np.uint32)
        begin = 64 * np.int64(block)
        for c in range(begin, min(begin + 64, cells)):
            if not LIST_CELL(particles, neighbours, grid, c, ranges, other):
                particles.counts[OVERFLOW] = 1  # any thread may set it


@jit
def farthest(particles):
    """Square of the largest displacement of a site since its neighbours were listed; NaN before the first list."""
    site, reference = particles.site, particles.reference
    worst = 0.0
    for s in range(site.shape[1]):
        dx, dy, dz = site[0, s] - reference[0, s], site[1, s] - reference[1, s], site[2, s] - reference[2, s]
        d = dx * dx + dy * dy + dz * dz
        if not d < np.inf:  # the next comparison must not lose NaN
            return np.nan
        worst = max(worst, d)
    return worst


@jit
def move_images(particles):
    """Compute the positions of the images from those of their sites."""
    n = particles.order.size
    x, y, z, parent, shift = particles.x, particles.y, particles.z, particles.parent, particles.shift
    for m in range(particles.counts[IMAGES]):
        root = parent[m]
        x[n + m], y[n + m], z[n + m] = x[root] + shift[0, m], y[root] + shift[1, m], z[root] + shift[2, m]
        pack(particles, n + m)


@jit
def move_sites(particles):
    """Compute the positions of all sites in cell order, and of their images."""
    site, order, wrap = particles.site, particles.order, particles.wrap
    x, y, z = particles.x, particles.y, particles.z
    for p in range(order.size):
        s = order[p]
        x[p], y[p], z[p] = site[0, s] + wrap[0, p], site[1, s] + wrap[1, p], site[2, s] + wrap[2, p]
        pack(particles, p)
    move_images(particles)


SORT: Any = None
LIST: Any = None


def refresh(cell, particles, neighbours, grid, kinds, charges):
    """Bring places, images and lists up to date with ``particles.site``."""
    if farthest(particles) <= grid.reach[1]:
        particles.counts[LOST] = 0  # an earlier position may have been NaN
        move_sites(particles)
        return
    SORT(cell, particles, grid, kinds, charges)
    if particles.counts[OVERFLOW] == 0 and particles.counts[LOST] == 0:
        MAKE_READY(particles, grid)
        LIST(particles, neighbours, grid)
        particles.counts[REBUILDS] += 1


@kernel(called="value")
def refresh_places(cell, particles, neighbours, grid, kinds, charges):
    """Bring places up to date if nothing is listed: the sites stay in the model's order."""
    for a in range(3):
        for s in range(particles.order.size):  # displacements are measured from here
            particles.reference[a, s] = particles.site[a, s]
    move_sites(particles)


def refresh_variant(parallel: bool, how_listed: str = "", **listing: Any) -> Any:
    """Return ``refresh`` with serial or parallel passes; ``how_listed`` names another way to build lists, with its
    ``LIST_CELL`` and ``MAKE_READY`` in ``listing``."""
    how = "parallel" if parallel else "serial"

    def one(function: Any) -> Any:
        return part(function, f"{function.__name__}_{how}", parallel)

    over_all = (wrap_sites, number_sites, permute_sites, count_images, make_images, number_images, place_images)
    names = ("WRAP", "NUMBER", "PERMUTE", "COUNT_IMAGES", "MAKE_IMAGES", "NUMBER_IMAGES", "PLACE_IMAGES")
    sort = part(
        sort_sites, f"sort_{how}", **{name: one(function) for name, function in zip(names, over_all, strict=True)}
    )
    ready = {"MAKE_READY": listing.pop("MAKE_READY")} if listing else {}
    lists = part(list_cells, f"list_cells_{how_listed}{how}", parallel, **listing)
    name = f"refresh_{how_listed}{how}"
    return specialised(refresh, name, allocates=True, called="value", SORT=sort, LIST=lists, **ready)


refresh_serial, refresh_parallel = refresh_variant(False), refresh_variant(True)
_EXAMPLE = grid(1, 1, 1.0, 1.0)
REFRESH = types.void(*EXAMPLE_TYPES[1:], numba.typeof(_EXAMPLE), types.int64[::1], types.float64[::1])
"""Signature of the function that brings places, images and lists up to date."""
