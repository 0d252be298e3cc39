"""Sums of laws over listed neighbours, several at a time.

The loop of ``pair_sums.py`` loads each coordinate of each neighbour from a separate address, which costs as much as the
law, and on some processors several times as much. Here the position and charge of a neighbour are loaded together, and
the laws are evaluated for four or eight neighbours at once. ``pair_loops.py`` chooses the loop for a machine.

If lists are by kind, neighbours with a law other than that of charges come first; the others go through the law of
charges alone (``kind_lists.py``).
"""

from typing import Any

import numpy as np
from numba import prange

from articulon.forces.sites.neighbours import padded
from articulon.forces.sites.prefetching import LINE, prefetch
from articulon.kernel_variants import leaf_variant, specialised
from articulon.kernels import jit
from articulon.lane_lookups import indices
from articulon.lane_registers import in_all, load_rows, total
from articulon.lanes import WIDTH, choose

ROWS_AHEAD, SITES_AHEAD = 16, 8
"""Number of sites by which the loop prefetches rows of the list ahead of their use, and positions of the last
neighbours."""


@jit
def no_law(r2, rows, k, charges):
    """Do nothing."""
    return 0.0, 0.0, 0.0


LAW = CHARGED_LAW = no_law
PLAIN = CHARGED = SORTED = False
ONE_KIND = True
LANES = WIDTH
"""Number of neighbours evaluated together; lists are padded to a multiple of it."""


@jit
def fetch_row(neighbours, i):
    """Prefetch the list of a site some places ahead."""
    places = neighbours.places
    row = min(i + ROWS_AHEAD, places.shape[0] - 1)
    for k in range(0, neighbours.number[row], LINE // 4):
        prefetch(places, row * places.shape[1] + k)


@jit
def far_neighbour(neighbours, i, k):
    """Of every fourth neighbour of a site some places ahead, return the k-th, counted from the end of its list. The
    last neighbours are in the farthest plane of cells, which no earlier row has read."""
    row = min(i + SITES_AHEAD, neighbours.places.shape[0] - 1)
    return np.int64(neighbours.places[row, max(neighbours.number[row] - 1 - 4 * k, 0)])


@jit
def row_of(like, first, kinds, row, k):
    """Return the rows of parameters for the kinds of some neighbours combined with the kind of a site."""
    return 0 if ONE_KIND else indices(like, first, kinds, row, k)


ROW_OF: Any = row_of


@jit
def force_on(table, particles, neighbours, i):
    """−Σ_j ∇U(r_ij) over the neighbours of a site."""
    rows, second, packed = table.rows, table.rows[:, int(table.constants[0]) :], particles.packed
    kinds, first = particles.kind, int(table.constants[1]) * np.int64(particles.kind[i])
    x, y, z, q = packed[i, 0], packed[i, 1], packed[i, 2], table.constants[2] * packed[i, 3]
    row, end = neighbours.places[i], padded(neighbours, i)
    middle = neighbours.first[i] if SORTED else end
    fx, fy, fz = in_all(0.0, LANES), in_all(0.0, LANES), in_all(0.0, LANES)
    for k in range(0, middle if PLAIN or not SORTED else 0, LANES):
        xj, yj, zj, qj = load_rows(fx, packed, row, k)
        dx, dy, dz = x - xj, y - yj, z - zj
        r2 = dx * dx + dy * dy + dz * dz
        qq = q * qj
        t = ROW_OF(fx, first, kinds, row, k)
        g = choose(r2 < rows[t, 0], LAW(r2, rows, t, qq)[1], 0.0)
        if CHARGED:
            g += choose(r2 < second[0, 0], CHARGED_LAW(r2, second, 0, qq)[1], 0.0)
        fx += g * dx
        fy += g * dy
        fz += g * dz
    for k in range(middle if PLAIN else 0, end if SORTED and CHARGED else 0, LANES):
        xj, yj, zj, qj = load_rows(fx, packed, row, k)
        dx, dy, dz = x - xj, y - yj, z - zj
        r2 = dx * dx + dy * dy + dz * dz
        g = choose(r2 < second[0, 0], CHARGED_LAW(r2, second, 0, q * qj)[1], 0.0)
        fx += g * dx
        fy += g * dy
        fz += g * dz
    return total(fx), total(fy), total(fz)


FORCE_ON: Any = force_on


def packed_forces(table, cell, particles, neighbours):
    """Add −Σ_j ∇U(r_ij) to the forces on all sites."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for i in prange(fx.size):
        at = np.int64(i)
        fetch_row(neighbours, at)
        for k in range(2):
            prefetch(particles.packed, 4 * far_neighbour(neighbours, at, k))
        x, y, z = FORCE_ON(table, particles, neighbours, at)
        fx[i] += x
        fy[i] += y
        fz[i] += z


def packed_kernel(
    label: str, laws: tuple[Any, ...], lanes: int, parallel: bool, cached: bool, one_kind: bool, by_kind: bool
) -> Any:
    """Return the kernel of a combination of laws, with a number of neighbours evaluated together. The sites are of one
    kind or of several, and lists are by kind or not."""
    plain, charged = laws[0] is not None, laws[1] is not None
    stand_ins = {"LAW": laws[0] or no_law, "CHARGED_LAW": laws[1] or no_law, "CHARGED": charged, "LANES": lanes}
    which = leaf_variant(row_of, f"row_of_{'one_kind' if one_kind else 'kinds'}", ONE_KIND=one_kind)
    stand_ins |= {"PLAIN": plain, "SORTED": by_kind, "ROW_OF": which}
    one = leaf_variant(force_on, f"force_on_{label}", **stand_ins)
    how = "parallel" if parallel else "serial"
    name = f"packed_{lanes}_forces_{how}_{label}"
    return specialised(packed_forces, name, parallel=parallel, called="value", cached=cached, FORCE_ON=one)
