"""Neighbour lists that depend on the kinds of two sites: the listing distance, and the order of the neighbours.

Laws act between some kinds only, each up to its own cutoff: the hydrogens of water have charges only, and the real part
of an Ewald sum may end before the forces between oxygens do. Kinds that are treated alike form one *sort*. Each pair of
sorts has a reach, the longest cutoff of the laws between them plus the skin, and a flag whether any law other than that
of charges acts. Neighbours with such a law come first in a list, padded to a whole number of vectors, so that a loop
over the other neighbours computes the law of charges without a check.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from articulon.forces.sites.between import Classes, class_rows
from articulon.forces.sites.cells import row_of_cells
from articulon.forces.sites.neighbours import FIXED, VECTOR, exclude, refresh_variant
from articulon.forces.sites.site_tables import Grid
from articulon.forces.sites.site_terms import PairTerm, SumTerm, Term
from articulon.forces.sites.vector_appending import append_sorted
from articulon.kernels import jit
from articulon.model import Model

MOST_SORTS = 16
"""Largest number of sorts; with more, everything within the longest reach is listed."""


class Sorts(NamedTuple):
    """Listing distances of sites by sort."""

    of_class: np.ndarray
    """Sort of each class of sites, shape (classes,)."""
    cutoff: np.ndarray
    """Longest cutoff of the laws between two sorts [length], negative if only the law of charges acts, 0 if no law
    does, shape (sorts, sorts)."""


def sorts_of(model: Model, terms: Sequence[Term], classes: Classes) -> Sorts | None:
    """Return the sorts of a model's sites for some terms; None if all are treated alike, or no law has a cutoff."""
    count = classes.kind.size
    plain, charged, summed = np.zeros((count, count)), np.zeros((count, count)), 0.0
    charges = np.zeros(count, dtype=bool)
    np.logical_or.at(charges, classes.of_site, model.sites.charge != 0.0)
    for term in terms:
        if isinstance(term, PairTerm):
            squares = class_rows(model, term, classes)[:, 0].reshape(count, count)
            reach = np.sqrt(np.maximum(squares, 0.0))
            if term.charged:
                np.maximum(charged, np.where(charges[:, None] & charges, reach, 0.0), out=charged)
            else:
                np.maximum(plain, reach, out=plain)
        elif isinstance(term, SumTerm):
            summed = max(summed, term.reach)
    longest = np.maximum(np.maximum(plain, charged), summed)
    if not np.isfinite(longest).all():
        return None
    cutoff = np.where((plain > 0.0) | (summed > 0.0), longest, -longest)
    if (cutoff == cutoff[:1, :1]).all() and cutoff[0, 0] > 0.0:
        return None
    _, first, of_class = np.unique(cutoff, axis=0, return_index=True, return_inverse=True)
    of_class = of_class.reshape(-1)
    if first.size > MOST_SORTS:
        return None
    return Sorts(of_class.astype(np.int64), cutoff[np.ix_(first, first)])


def with_sorts(grid: Grid, sorts: Sorts, skin: float, capacity: int) -> Grid:
    """Return a grid with the sorts of sites, and limits for the given number of places."""
    count = len(sorts.cutoff)
    reach = np.where(sorts.cutoff != 0.0, np.abs(sorts.cutoff) + skin, 0.0)
    signed = np.copysign(reach**2, sorts.cutoff)
    return grid._replace(
        size=np.concatenate([grid.size[:FIXED], [count], sorts.of_class]),
        reach=np.concatenate([grid.reach[:2], signed.ravel()]),
        limits=np.zeros((count, capacity)),
    )


@jit
def set_limits(particles, grid):
    """Compute, for each place, the distance within which sites of each sort are listed."""
    kind, limits, reach, size = particles.kind, grid.limits, grid.reach, grid.size
    count = size[FIXED]
    for p in range(particles.order.size + particles.counts[0]):
        sort = size[FIXED + 1 + np.int64(kind[p])]
        for t in range(count):
            limits[t, p] = reach[2 + count * t + sort]


@jit
def longest_of(grid, sort):
    """Largest distance within which sites of a sort have neighbours, plus a margin for rounding."""
    count, most = grid.size[FIXED], 0.0
    for t in range(count):
        most = max(most, abs(grid.reach[2 + count * sort + t]))
    return (1.0 + 1e-9) * math.sqrt(most)


@jit
def beside(x, cell, grid, axis):
    """Distance of a coordinate from a layer of cells, 0 inside it."""
    low = grid.corner[axis] + cell * grid.edge[0]
    return max(low - x, x - low - grid.edge[0], 0.0)


@jit
def layers(x, reach, grid, axis):
    """First and last layer of cells within reach of a coordinate."""
    scale, corner, most = 1.0 / grid.edge[0], grid.corner[axis], grid.size[axis] - 1
    return max(int((x - reach - corner) * scale), 0), min(max(int((x + reach - corner) * scale), 0), most)


@jit
def list_site(particles, neighbours, grid, p, other, room):
    """Write the sites within reach of a place into its row or, if only charges act, into ``other``; return the number
    in each. In each row of cells, only the cells that intersect the sphere of the site's longest reach are visited."""
    x, y, z, row = particles.x, particles.y, particles.z, neighbours.places[p]
    sort, size = grid.size[FIXED + 1 + np.int64(particles.kind[p])], grid.size
    limits, reach = grid.limits[sort], longest_of(grid, sort)
    n, k = 0, 0
    first_x, last_x = layers(x[p], reach, grid, 0)
    for ax in range(first_x, last_x + 1):
        dx = beside(x[p], ax, grid, 0)
        across = reach * reach - dx * dx
        if across < 0.0:
            continue
        first_y, last_y = layers(y[p], math.sqrt(across), grid, 1)
        for ay in range(first_y, last_y + 1):
            dy = beside(y[p], ay, grid, 1)
            along = across - dy * dy
            if along < 0.0:
                continue
            first_z, last_z = layers(z[p], math.sqrt(along), grid, 2)
            cells = row_of_cells(size, ax, ay) * size[2]
            for images in range(2):
                start = grid.image_start if images else grid.start
                begin, end = start[cells + first_z], start[cells + last_z + 1]
                if begin < end:
                    n, k = append_sorted(x, y, z, limits, begin, end, x[p], y[p], z[p], p, row, n, other, k, room)
    return n, k


@jit
def list_cell_by_kind(particles, neighbours, grid, c, ranges, other):
    """List the neighbours of the sites of one cell; return whether the capacity suffices."""
    far, room = particles.x.size - 1, neighbours.places.shape[1] - 3 * VECTOR
    for p in range(grid.start[c], grid.start[c + 1]):
        row = neighbours.places[p]
        n, k = list_site(particles, neighbours, grid, p, other, room)
        if n + k > room:
            return False
        n = exclude(particles, neighbours, row, p, n)
        k = exclude(particles, neighbours, other, p, k)
        first = (n + VECTOR - 1) // VECTOR * VECTOR
        for place in range(n, first):
            row[place] = far
        for place in range(k):
            row[first + place] = other[place]
        for place in range(first + k, first + k + VECTOR):
            row[place] = far
        neighbours.first[p] = first
        neighbours.number[p] = first + k
    return True


@cache
def refresh_by_kind(parallel: bool) -> Any:
    """Return the function ``refresh`` for lists by kind, with a grid from :func:`with_sorts`."""
    return refresh_variant(parallel, "by_kind_", LIST_CELL=list_cell_by_kind, MAKE_READY=set_limits)
