"""The generalised Born model over all pairs of sites without a cutoff, visiting each pair once.

The formulas are those of ``born_pairs.py``, and the order of the pairs is that of ``pairs_once.py``: one site is
evaluated with groups of other sites. If the sphere of any site of a group overlaps that of the one site, the slower
formulas are used for the whole group.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.sites.born_pairs import (
    BORN,
    CHARGE,
    COUPLING,
    ENERGY_SLOPE,
    INTEGRAL,
    INTEGRAL_SLOPE,
    INVERSE,
    OFFSET,
    ROWS,
    SCREENING_RADIUS,
    SLOPE,
    descreening,
    descreening_slope,
    inverse_root,
    polynomial,
    screened,
)
from articulon.forces.sites.born_sums import arrange, set_radius
from articulon.forces.sites.pairs_once import (
    BLOCK,
    EVERY,
    MOST_SHARES,
    block_of,
    blocks_of,
    groups_to_meet,
    later,
    push_apart,
    shares_of,
)
from articulon.kernel_variants import leaf_variant, specialised
from articulon.kernels import jit
from articulon.lane_registers import folded, in_all, lanes_of, some_lanes
from articulon.lanes import WIDTH, any_of, both, choose

X, Y, Z, SUMS = range(ROWS, ROWS + 4)
"""Further rows of the table: positions, and the sums of the first share of the pairs."""
SUM, OF_X, OF_Y, OF_Z, KINDS_OF_SUMS = range(5)
"""Sums that each share accumulates over its pairs: Σ 2 I, later Σ −2 B dU/dB, and forces."""
OUTSIDE = 1e15
"""Coordinate of padding sites that fill up groups [length]: far away, but its square is still within the range of
single precision."""


def rows_for(sites: int) -> np.ndarray:
    """Rows for a number of sites, padded to whole groups. Padding sites do not screen others and have no charge."""
    shares = min(-(-sites // BLOCK), MOST_SHARES)
    rows = np.zeros((SUMS + KINDS_OF_SUMS * shares, -(-(sites + 1) // WIDTH) * WIDTH))
    rows[[OFFSET, BORN, INVERSE]] = 1.0
    rows[X : Z + 1] = OUTSIDE
    return rows


@jit
def descreen_site(i, first, last, own, at, table):
    """Compute the descreening of a site by each sphere of some groups, and of each of these spheres by the site."""
    rows, constants, groups = table.rows, table.constants, table.rows.shape[1] // WIDTH
    kept = lanes_of(rows.reshape(-1), 0, rows.shape[0], groups)
    x, y, z, o, s = rows[X, i], rows[Y, i], rows[Z, i], rows[OFFSET, i], rows[SCREENING_RADIUS, i]
    total = in_all(0.0, WIDTH)
    for g in range(first, last):
        mask = some_lanes(later(i) if own and g == first else EVERY)
        dx, dy, dz = x - kept[X, g], y - kept[Y, g], z - kept[Z, g]
        r2 = dx * dx + dy * dy + dz * dz
        r1, oj, sj = inverse_root(r2), kept[OFFSET, g], kept[SCREENING_RADIUS, g]
        least = choose(o + sj > oj + s, o + sj, oj + s)
        far = r2 > least * least
        one, two = sj * r1, s * r1
        y1, y2 = one * one, two * two
        on_site = choose(far, r1 * one * y1 * polynomial(y1, INTEGRAL, constants), 0.0)
        on_group = choose(far, r1 * two * y2 * polynomial(y2, INTEGRAL, constants), 0.0)
        near = both(mask, r2 <= least * least)
        if any_of(near):
            on_site = choose(near, descreening(r2 * r1, r1, o, sj, constants), on_site)
            on_group = choose(near, descreening(r2 * r1, r1, oj, s, constants), on_group)
        total += choose(mask, on_site, 0.0)
        kept[at + SUM, g] += choose(mask, on_group, 0.0)
    rows[at + SUM, i] += folded(total)


@jit
def coulomb_of_site(i, first, last, own, at, table):
    """Compute the forces between the charges of a site and of groups at constant Born radii, and −2 B dU/dB of both."""
    rows, constants, groups = table.rows, table.constants, table.rows.shape[1] // WIDTH
    kept = lanes_of(rows.reshape(-1), 0, rows.shape[0], groups)
    x, y, z, b, b1 = rows[X, i], rows[Y, i], rows[Z, i], rows[BORN, i], rows[INVERSE, i]
    q = -constants[COUPLING] * rows[CHARGE, i]
    energy_slope, fx, fy, fz = in_all(0.0, WIDTH), in_all(0.0, WIDTH), in_all(0.0, WIDTH), in_all(0.0, WIDTH)
    for g in range(first, last):
        dx, dy, dz = x - kept[X, g], y - kept[Y, g], z - kept[Z, g]
        r2 = dx * dx + dy * dy + dz * dz
        qq = q * kept[CHARGE, g]
        if own and g == first:
            qq = choose(some_lanes(later(i)), qq, 0.0)
        _, f, v = screened(r2, b * kept[BORN, g], b1 * kept[INVERSE, g], qq, constants)
        energy_slope += v
        kept[at + SUM, g] += v
        ax, ay, az = push_apart(f, dx, dy, dz, kept, at + OF_X, g)
        fx, fy, fz = fx + ax, fy + ay, fz + az
    rows[at + SUM, i] += folded(energy_slope)
    rows[at + OF_X, i] += folded(fx)
    rows[at + OF_Y, i] += folded(fy)
    rows[at + OF_Z, i] += folded(fz)


@jit
def radius_forces_of_site(i, first, last, own, at, table):
    """Compute the forces between a site and groups due to the change of the Born radii with their positions."""
    rows, constants, groups = table.rows, table.constants, table.rows.shape[1] // WIDTH
    kept = lanes_of(rows.reshape(-1), 0, rows.shape[0], groups)
    x, y, z, o, s, c = (
        rows[X, i],
        rows[Y, i],
        rows[Z, i],
        rows[OFFSET, i],
        rows[SCREENING_RADIUS, i],
        0.5 * rows[ENERGY_SLOPE, i],
    )
    fx, fy, fz = in_all(0.0, WIDTH), in_all(0.0, WIDTH), in_all(0.0, WIDTH)
    for g in range(first, last):
        mask = some_lanes(later(i) if own and g == first else EVERY)
        dx, dy, dz = x - kept[X, g], y - kept[Y, g], z - kept[Z, g]
        r2 = dx * dx + dy * dy + dz * dz
        r1, oj, sj, cj = inverse_root(r2), kept[OFFSET, g], kept[SCREENING_RADIUS, g], 0.5 * kept[ENERGY_SLOPE, g]
        least = choose(o + sj > oj + s, o + sj, oj + s)
        one, two = sj * r1, s * r1
        y1, y2 = one * one, two * two
        f = c * one * y1 * polynomial(y1, INTEGRAL_SLOPE, constants) + cj * two * y2 * polynomial(
            y2, INTEGRAL_SLOPE, constants
        )
        f = choose(r2 > least * least, f * r1 * r1 * r1, 0.0)
        near = both(mask, r2 <= least * least)
        if any_of(near):
            r = r2 * r1
            slope = c * descreening_slope(r, r1, o, sj, constants) + cj * descreening_slope(r, r1, oj, s, constants)
            f = choose(near, -slope * r1, f)
        f = choose(mask, f, 0.0)
        ax, ay, az = push_apart(f, dx, dy, dz, kept, at + OF_X, g)
        fx, fy, fz = fx + ax, fy + ay, fz + az
    rows[at + OF_X, i] += folded(fx)
    rows[at + OF_Y, i] += folded(fy)
    rows[at + OF_Z, i] += folded(fz)


ON_SITE: Any = descreen_site


@jit
def take_share(share, n, table):
    """Evaluate the pairs of a share; ``ON_SITE`` adds the result to the share's sums, in rows from ``at`` on."""
    blocks, shares, at = blocks_of(n), shares_of(n), SUMS + KINDS_OF_SUMS * share
    for turn in range((blocks + shares - 1) // shares):
        a = block_of(turn, share, shares)
        for b in range(a, blocks):
            for i in range(a * BLOCK, min((a + 1) * BLOCK, n)):
                first, last = groups_to_meet(i, a, b, n)
                ON_SITE(i, first, last, a == b, at, table)


SHARE_DESCREENING, SHARE_COULOMB, SHARE_RADIUS_FORCES = (
    leaf_variant(take_share, f"share_{name}", ON_SITE=one)
    for name, one in (
        ("descreening", descreen_site),
        ("coulomb", coulomb_of_site),
        ("radius_forces", radius_forces_of_site),
    )
)


@jit
def keep_sites(n, table, particles):
    """Store parameters, charges and positions in the order of places, and reset the sums. Return NaN if a position is
    not finite."""
    rows = table.rows
    lost = arrange(table, particles)
    for i in range(n):
        rows[X, i], rows[Y, i], rows[Z, i] = particles.x[i], particles.y[i], particles.z[i]
    for k in range(SUMS, rows.shape[0]):
        for i in range(rows.shape[1]):
            rows[k, i] = 0.0
    return lost


@jit
def sum_of_shares(which, n, rows):
    """Add the sums of all shares to those of the first."""
    for share in range(1, shares_of(n)):
        at = SUMS + KINDS_OF_SUMS * share + which
        for i in range(n):
            rows[SUMS + which, i] += rows[at, i]


@jit
def take_radii(n, table):
    """Compute Born radii, and the quantities that follow from them, from the sums of descreening."""
    rows = table.rows
    sum_of_shares(SUM, n, rows)
    for i in range(n):
        set_radius(rows, table.constants, i, 0.5 * rows[SUMS + SUM, i], True)
    for share in range(shares_of(n)):
        for i in range(rows.shape[1]):
            rows[SUMS + KINDS_OF_SUMS * share + SUM, i] = 0.0


@jit
def take_energy_slopes(n, table):
    """Compute dU/dΣI of all sites."""
    rows = table.rows
    sum_of_shares(SUM, n, rows)
    for i in range(n):
        rows[ENERGY_SLOPE, i] = (rows[ENERGY_SLOPE, i] - 0.5 * rows[SUMS + SUM, i]) * rows[INVERSE, i] * rows[SLOPE, i]


def forces_of_spheres(table, cell, particles, neighbours):
    """Add the forces."""
    n, rows = particles.fx.size, table.rows
    shares = shares_of(n)
    lost = keep_sites(n, table, particles)
    for share in prange(shares):
        SHARE_DESCREENING(np.int64(share), n, table)
    take_radii(n, table)
    for share in prange(shares):
        SHARE_COULOMB(np.int64(share), n, table)
    take_energy_slopes(n, table)
    for share in prange(shares):
        SHARE_RADIUS_FORCES(np.int64(share), n, table)
    for k in range(OF_X, KINDS_OF_SUMS):
        sum_of_shares(k, n, rows)
    for i in range(n):
        particles.fx[i] += rows[SUMS + OF_X, i] + lost
        particles.fy[i] += rows[SUMS + OF_Y, i] + lost
        particles.fz[i] += rows[SUMS + OF_Z, i] + lost


@cache
def once_kernel(parallel: bool) -> Any:
    """Return the kernel of the forces."""
    how = "parallel" if parallel else "serial"
    return specialised(forces_of_spheres, f"forces_of_spheres_{how}", parallel=parallel, called="value")
