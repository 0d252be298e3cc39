"""Sites sorted into cells, with their images across periodic faces.

Images are copies of sites, so that forces need no search for the nearest image, and one loop is enough for open,
orthorhombic and triclinic boxes of any size.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.sites.site_tables import Grid, pack
from articulon.kernels import jit

BLOCK = 1024
"""Number of sites processed together."""
FAR = 1e100
"""Coordinates of the padding place."""
SPARE = 64
"""Number of cells allowed in addition to one for each site."""
THICKEST = 64
"""Largest number of cell layers in a slab."""
IMAGES, OVERFLOW, REBUILDS, LOST = range(4)
"""Entries of ``Particles.counts``: images, whether the capacity was exceeded, rebuilds, and whether a position is not
finite."""


def grid(sites: int, images: int, reach: float, skin: float, later: bool = False, way: int = 0) -> Grid:
    """Allocate scratch for a number of sites and images; ``later`` if each pair of sites is listed only once. If
    ``way`` is not zero, it is the desired largest distance between a site and its neighbours in the order of cells."""
    cells = sites + SPARE
    return Grid(
        np.array([reach, 0.25 * skin * skin]),
        np.zeros(3),
        np.zeros(1),
        np.array([0, 0, 0, 0, later, 1, way]),
        np.zeros(max(sites, images), dtype=np.int32),
        np.zeros(cells + 1, dtype=np.int32),
        np.zeros(cells + 1, dtype=np.int32),
        np.zeros((3, images)),
        np.zeros(images, dtype=np.int32),
        np.zeros((3, max(sites, images))),
        np.zeros(((sites + BLOCK - 1) // BLOCK, 7)),
        np.zeros((sites + images, 2), dtype=np.int32),
        np.zeros((sites + images) // BLOCK + 1, dtype=np.int64),
        np.zeros((0, 1)),
    )


@jit
def cell_number(grid, x, y, z):
    """Return the cell of a point."""
    corner, size, scale = grid.corner, grid.size, 1.0 / grid.edge[0]
    i = min(max(int((x - corner[0]) * scale), 0), size[0] - 1)
    j = min(max(int((y - corner[1]) * scale), 0), size[1] - 1)
    k = min(max(int((z - corner[2]) * scale), 0), size[2] - 1)
    return row_of_cells(size, i, j) * size[2] + k


@jit
def row_of_cells(size, i, j):
    """Number of a row of cells along z: slab by slab, and within a slab rows of equal j together."""
    first = i // size[5] * size[5]
    return first * size[1] + j * min(size[5], size[0] - first) + i - first


@jit
def cell_of_row(size, row):
    """Return i and j of a row of cells."""
    first = row // (size[5] * size[1]) * size[5]
    rest, wide = row - first * size[1], min(size[5], size[0] - first)
    return first + rest % wide, rest // wide


@jit
def fractions(cell, x, y, z):
    """Coordinates of a point along the edges of the box."""
    inverse, origin = cell.inverse, cell.origin
    dx, dy, dz = x - origin[0], y - origin[1], z - origin[2]
    return (
        dx * inverse[0, 0] + dy * inverse[1, 0] + dz * inverse[2, 0],
        dy * inverse[1, 1] + dz * inverse[2, 1],
        dz * inverse[2, 2],
    )


@jit
def lay_grid(grid, low, high, sites):
    """Define cells over the space from low to high. Their size is half the reach, or larger if there would be more
    cells than sites. The slabs of cells are so thin that neighbours are close in the order of cells. The result does
    not depend on the capacity, which may have grown."""
    edge, most = 0.5 * grid.reach[0], sites + SPARE
    while True:
        cells = 1.0
        for a in range(3):
            cells *= math.floor((high[a] - low[a]) / edge) + 1.0
        if cells <= most:
            break
        edge *= 1.26
    grid.edge[0] = edge
    for a in range(3):
        grid.corner[a] = low[a]
        grid.size[a] = int((high[a] - low[a]) / edge) + 1
    grid.size[3] = math.ceil(grid.reach[0] / edge * (1.0 - 1e-12))
    if grid.size[6] > 0:
        # A neighbour is at most size[3] rows of a slab away, and at most size[3] rows of cells.
        row = max(sites / (grid.size[0] * grid.size[1]), 1e-3) * grid.size[3]
        grid.size[5] = min(max(int(grid.size[6] / row) - 1, 1), THICKEST)


@jit
def wrap_block(cell, particles, wrap, first, last, extent):
    """Compute the shifts of some sites into the box; ``extent`` (7,) receives their lowest and highest coordinates
    there, and a sum that is finite if all of them are."""
    site, vectors, periodic = particles.site, cell.vectors, cell.periodic
    low0, low1, low2, high0, high1, high2 = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
    everything = 0.0
    for s in range(first, last):
        x, y, z = site[0, s], site[1, s], site[2, s]
        a, b, c = fractions(cell, x, y, z)
        w0, w1, w2 = 0.0, 0.0, 0.0
        if periodic[2] != 0:
            k = math.floor(c)
            w0, w1, w2 = w0 - k * vectors[2, 0], w1 - k * vectors[2, 1], w2 - k * vectors[2, 2]
        if periodic[1] != 0:
            k = math.floor(b)
            w0, w1 = w0 - k * vectors[1, 0], w1 - k * vectors[1, 1]
        if periodic[0] != 0:
            w0 -= math.floor(a) * vectors[0, 0]
        wrap[0, s], wrap[1, s], wrap[2, s] = w0, w1, w2
        x, y, z = x + w0, y + w1, z + w2
        low0, low1, low2 = min(low0, x), min(low1, y), min(low2, z)
        high0, high1, high2 = max(high0, x), max(high1, y), max(high2, z)
        everything += abs(x) + abs(y) + abs(z)
    extent[0], extent[1], extent[2], extent[3], extent[4], extent[5] = low0, low1, low2, high0, high1, high2
    extent[6] = everything


def wrap_sites(cell, particles, grid):
    """Compute the shifts of all sites into the box, and their extent there."""
    n = particles.order.size
    for b in prange(grid.extent.shape[0]):
        first = BLOCK * np.int64(b)
        wrap_block(cell, particles, grid.made_shift, first, min(first + BLOCK, n), grid.extent[b])


@jit
def number_block(particles, grid, first, last):
    """Compute the cells of some sites."""
    site, wrap = particles.site, grid.made_shift
    for s in range(first, last):
        x, y, z = site[0, s] + wrap[0, s], site[1, s] + wrap[1, s], site[2, s] + wrap[2, s]
        grid.cell[s] = cell_number(grid, x, y, z)


def number_sites(cell, particles, grid):
    """Compute the cells of all sites."""
    n = particles.order.size
    for b in prange(grid.extent.shape[0]):
        first = BLOCK * np.int64(b)
        number_block(particles, grid, first, min(first + BLOCK, n))


@jit
def permute_block(particles, wrap, kinds, charges, first, last):
    """Write some sites to their places in the order of cells."""
    site, order, reference = particles.site, particles.order, particles.reference
    for p in range(first, last):
        s = order[p]
        x, y, z, w0, w1, w2 = site[0, s], site[1, s], site[2, s], wrap[0, s], wrap[1, s], wrap[2, s]
        particles.wrap[0, p], particles.wrap[1, p], particles.wrap[2, p] = w0, w1, w2
        particles.x[p], particles.y[p], particles.z[p] = x + w0, y + w1, z + w2
        particles.kind[p], particles.charge[p] = kinds[s], charges[s]
        pack(particles, p)
        reference[0, s], reference[1, s], reference[2, s] = x, y, z


def permute_sites(particles, grid, kinds, charges):
    """Write all sites to their places in the order of cells."""
    n = particles.order.size
    for b in prange(grid.extent.shape[0]):
        first = BLOCK * np.int64(b)
        permute_block(particles, grid.made_shift, kinds, charges, first, min(first + BLOCK, n))


@jit
def count_block(cell, particles, grid, axis, block, end):
    """Count the images that the sites of a block, and of existing images, have across an axis, for each and in total.

    A site that is so far away that its position in the box has no significant digits has no images."""
    inverse, n, found = cell.inverse, particles.order.size, 0
    margin = grid.reach[0] * math.sqrt(inverse[0, axis] ** 2 + inverse[1, axis] ** 2 + inverse[2, axis] ** 2)
    for q in range(BLOCK * block, min(BLOCK * block + BLOCK, end)):
        if q < n:
            x, y, z = particles.x[q], particles.y[q], particles.z[q]
        else:
            x, y, z = grid.made[0, q - n], grid.made[1, q - n], grid.made[2, q - n]
        f = fractions(cell, x, y, z)
        along = f[0] if axis == 0 else f[1] if axis == 1 else f[2]
        below, above = 0, 0
        if along > -1.0 and along < 2.0:
            while along - (below + 1) >= -margin:
                below += 1
            while along + (above + 1) <= 1.0 + margin:
                above += 1
        grid.images[q, 0], grid.images[q, 1] = below, above
        found += below + above
    grid.blocks[block] = found


def count_images(cell, particles, grid, axis, before):
    """Count the images that all blocks of sites, and of existing images, have across an axis."""
    end = particles.order.size + before
    for b in prange((end + BLOCK - 1) // BLOCK):
        count_block(cell, particles, grid, axis, np.int64(b), end)


@jit
def make_block(cell, particles, grid, axis, block, end):
    """Write the images of the sites of a block, and of existing images, from the start given in ``blocks``."""
    n, made, parent, shift, vectors = particles.order.size, grid.made, grid.made_parent, grid.made_shift, cell.vectors
    at = int(grid.blocks[block])
    for q in range(BLOCK * block, min(BLOCK * block + BLOCK, end)):
        below, above = grid.images[q, 0], grid.images[q, 1]
        if below + above == 0:
            continue
        root, sx, sy, sz = q, 0.0, 0.0, 0.0
        if q >= n:
            m = q - n
            root, sx, sy, sz = int(parent[m]), shift[0, m], shift[1, m], shift[2, m]
        for k in range(-below, above + 1):
            if k != 0:
                tx, ty, tz = sx + k * vectors[axis, 0], sy + k * vectors[axis, 1], sz + k * vectors[axis, 2]
                # Computed directly from the site, as in every later step.
                made[0, at] = particles.x[root] + tx
                made[1, at] = particles.y[root] + ty
                made[2, at] = particles.z[root] + tz
                parent[at] = root
                shift[0, at], shift[1, at], shift[2, at] = tx, ty, tz
                at += 1


def make_images(cell, particles, grid, axis, before):
    """Write the images of all blocks."""
    end = particles.order.size + before
    for b in prange((end + BLOCK - 1) // BLOCK):
        make_block(cell, particles, grid, axis, np.int64(b), end)


@jit
def number_image_block(grid, first, last):
    """Compute the cells of some images."""
    for m in range(first, last):
        grid.cell[m] = cell_number(grid, grid.made[0, m], grid.made[1, m], grid.made[2, m])


def number_images(grid, total):
    """Compute the cells of all images."""
    for b in prange((total + BLOCK - 1) // BLOCK):
        first = BLOCK * np.int64(b)
        number_image_block(grid, first, min(first + BLOCK, total))


@jit
def place_image_block(particles, grid, first, last):
    """Write some images to their places, ``grid.cell``."""
    n = particles.order.size
    for m in range(first, last):
        p, root = np.int64(grid.cell[m]), np.int64(grid.made_parent[m])
        particles.x[p], particles.y[p], particles.z[p] = grid.made[0, m], grid.made[1, m], grid.made[2, m]
        particles.kind[p], particles.charge[p] = particles.kind[root], particles.charge[root]
        pack(particles, p)
        particles.parent[p - n] = root
        for a in range(3):
            particles.shift[a, p - n] = grid.made_shift[a, m]


def place_images(particles, grid, total):
    """Write all images to their places."""
    for b in prange((total + BLOCK - 1) // BLOCK):
        first = BLOCK * np.int64(b)
        place_image_block(particles, grid, first, min(first + BLOCK, total))


WRAP: Any = None
NUMBER: Any = None
PERMUTE: Any = None
COUNT_IMAGES: Any = None
MAKE_IMAGES: Any = None
NUMBER_IMAGES: Any = None
PLACE_IMAGES: Any = None
"""Placeholders for the passes over all sites and images, serial or parallel."""


def sort_sites(cell, particles, grid, kinds, charges):
    """Wrap the sites into the box, sort them by cells and create their images.

    The result depends on ``particles.site`` alone, not on any earlier order. If the images exceed the capacity, no
    lists can be built, and ``counts`` records it.
    """
    n, reach = particles.order.size, grid.reach[0]
    room, far = grid.made_parent.size, particles.x.size - 1
    periodic = cell.periodic
    counts, order, place, extent = particles.counts, particles.order, particles.place, grid.extent
    WRAP(cell, particles, grid)
    low0, low1, low2, high0, high1, high2 = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
    everything = 0.0
    for b in range(extent.shape[0]):
        low0, low1, low2 = min(low0, extent[b, 0]), min(low1, extent[b, 1]), min(low2, extent[b, 2])
        high0, high1, high2 = max(high0, extent[b, 3]), max(high1, extent[b, 4]), max(high2, extent[b, 5])
        everything += extent[b, 6]
    counts[LOST] = 0 if everything < np.inf else 1
    if counts[LOST] != 0:
        return
    margin = reach if periodic[0] + periodic[1] + periodic[2] > 0 else 0.0
    low, high = (low0 - margin, low1 - margin, low2 - margin), (high0 + margin, high1 + margin, high2 + margin)
    lay_grid(grid, low, high, n)
    NUMBER(cell, particles, grid)
    cells = grid.size[0] * grid.size[1] * grid.size[2]
    start = grid.start
    for c in range(cells + 1):
        start[c] = 0
    for s in range(n):
        start[grid.cell[s] + 1] += 1
    for c in range(cells):
        start[c + 1] += start[c]
    for s in range(n):  # each cell's start moves to its end, which is the start of the next cell
        k = grid.cell[s]
        place[s] = start[k]
        order[start[k]] = s
        start[k] += 1
    for c in range(cells, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0
    PERMUTE(particles, grid, kinds, charges)
    # Images of the sites across a, then of sites and images across b, then of all these across c, in the order of their
    # originals.
    total = 0
    for axis in range(3):
        if periodic[axis] == 0:
            continue
        before = total
        COUNT_IMAGES(cell, particles, grid, axis, before)
        for block in range((n + before + BLOCK - 1) // BLOCK):
            found = grid.blocks[block]
            grid.blocks[block] = total
            total += found
        if total > room:
            counts[OVERFLOW] = 1
            return
        MAKE_IMAGES(cell, particles, grid, axis, before)
    NUMBER_IMAGES(grid, total)
    start = grid.image_start
    for c in range(cells + 1):
        start[c] = 0
    for m in range(total):
        start[grid.cell[m] + 1] += 1
    start[0] = n
    for c in range(cells):
        start[c + 1] += start[c]
    for m in range(total):  # each cell's start moves to its end, as above
        k = grid.cell[m]
        grid.cell[m] = start[k]
        start[k] += 1
    PLACE_IMAGES(particles, grid, total)
    for c in range(cells, 0, -1):
        start[c] = start[c - 1]
    start[0] = n
    counts[IMAGES] = total
    particles.x[far], particles.y[far], particles.z[far] = FAR, FAR, FAR
    particles.kind[far], particles.charge[far] = 0, 0.0
    pack(particles, far)
