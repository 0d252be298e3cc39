"""Sums over all pairs of sites, each visited once, for models without neighbour lists.

A pair is evaluated once for both sites: the force on one stays in registers, and the force on the other is added in
memory that stays in the cache. The law is evaluated for one site with a group of other sites, one for each lane of a
register.

Sites are in blocks, and the pairs of a block with the blocks after it belong to one of several *shares* of equal work.
Each share has its own forces, which are summed at the end. The order of every sum, and with it the result to the last
bit, does not depend on the number of threads.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.sites.cells import FAR
from articulon.forces.sites.packed_sums import no_law
from articulon.forces.sites.pair_sums import Combination
from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.site_terms import PairTerm
from articulon.kernel_variants import leaf_variant, specialised
from articulon.kernels import jit
from articulon.lane_registers import folded, in_all, lanes_of, some_lanes
from articulon.lanes import WIDTH, choose

BLOCK = 64
"""Number of sites in a block, a multiple of the lanes of every processor."""
GROUPS = BLOCK // WIDTH
"""Number of groups in a block."""
EVERY = (1 << WIDTH) - 1
"""Bit mask of all lanes."""
MOST_SHARES = 32
"""Largest number of shares, and so of threads with work."""
MOST_NUMBERS = 4_000_000
"""Largest number of entries in the rows of parameters for all pairs of a kind with a site: 32 MB."""
X, Y, Z, CHARGE, KEPT = range(5)
"""Rows of the stored site data."""
WIDTH_OF_LAW, KINDS, COULOMB, SITES_AT, FORCES_AT, ROWS_AT = range(6)
"""Entries of ``constants``: length of a row of the law without charges, number of kinds, Coulomb's constant, and the
starts of the data after these: the stored sites, the forces of each share, and the rows for a kind with a site."""
HEADER = 8
"""Start of the data after the constants."""


@jit
def blocks_of(n):
    """Number of blocks of n sites."""
    return (n + BLOCK - 1) // BLOCK


@jit
def groups_of(n):
    """Number of groups of n sites."""
    return (n + WIDTH - 1) // WIDTH


@jit
def shares_of(n):
    """Number of shares of the work."""
    return min(blocks_of(n), MOST_SHARES)


@jit
def block_of(turn, share, shares):
    """Block of a share in a turn: blocks are dealt out in alternating order, because the first ones have most pairs."""
    return turn * shares + (share if turn % 2 == 0 else shares - 1 - share)


@jit
def groups_to_meet(i, a, b, n):
    """Groups of block ``b`` that site i of block ``a`` interacts with; in its own block, they start with its own
    group."""
    first = i // WIDTH if a == b else b * GROUPS
    return first, min((b + 1) * GROUPS, groups_of(n))


@jit
def later(i):
    """Bits of the lanes after the lane of a site, in its own group."""
    return EVERY & ~((2 << (i % WIDTH)) - 1)


@jit
def push_apart(f, dx, dy, dz, found, first, g):
    """Return the force f (dx, dy, dz) on a site, and subtract it from the forces of group g in three rows of
    ``found``."""
    fx, fy, fz = f * dx, f * dy, f * dz
    found[first, g] -= fx
    found[first + 1, g] -= fy
    found[first + 2, g] -= fz
    return fx, fy, fz


LAW = CHARGED_LAW = no_law
CHARGED = ONE_KIND = False


@jit
def force_of_group(g, mask, masked, one, rows, table, kept, found):
    """Return the force of a group on a site, from the pairs that the mask selects; the group gets the opposite force.
    ``one`` holds x, y, z and the charge times Coulomb's constant of the site."""
    x, y, z, q = one
    dx, dy, dz = x - kept[X, g], y - kept[Y, g], z - kept[Z, g]
    r2 = dx * dx + dy * dy + dz * dz
    qq = q * kept[CHARGE, g] if CHARGED else 0.0
    f = LAW(r2, rows, 0 if ONE_KIND else g, qq)[1]
    if CHARGED:
        f += CHARGED_LAW(r2, table.rows[:, int(table.constants[WIDTH_OF_LAW]) :], 0, qq)[1]
    if masked:
        f = choose(mask, f, 0.0)
    return push_apart(f, dx, dy, dz, found, 0, g)


@jit
def force_on_site(i, first, last, own, share, n, table, particles, neighbours):
    """Return the force on a site, in a share, from groups ``first`` to ``last``; ``first`` may be the site's own
    group."""
    constants, groups, width = table.constants, groups_of(n), int(table.constants[WIDTH_OF_LAW])
    at = int(constants[FORCES_AT]) + share * 3 * groups * WIDTH
    kept, found = lanes_of(constants, int(constants[SITES_AT]), KEPT, groups), lanes_of(constants, at, 3, groups)
    if ONE_KIND:
        rows = table.rows
    else:
        start = int(constants[ROWS_AT]) + np.int64(particles.kind[i]) * groups * width * WIDTH
        rows = lanes_of(constants, start, groups, width)
    one = particles.x[i], particles.y[i], particles.z[i], constants[COULOMB] * particles.charge[i]
    excluded, e, end = neighbours.excluded, neighbours.excluded_start[i], neighbours.excluded_start[i + 1]
    fx, fy, fz = in_all(0.0, WIDTH), in_all(0.0, WIDTH), in_all(0.0, WIDTH)
    every = some_lanes(EVERY)
    g = first
    while g < last:
        while e < end and excluded[e] < g * WIDTH:
            e += 1
        stop = min(last, excluded[e] // WIDTH) if e < end else last
        if own and g == first:
            stop = first
        for free in range(g, stop):
            ax, ay, az = force_of_group(free, every, False, one, rows, table, kept, found)
            fx, fy, fz = fx + ax, fy + ay, fz + az
        if stop < last:
            bits = later(i) if own and stop == first else EVERY
            while e < end and excluded[e] < (stop + 1) * WIDTH:
                bits &= ~(1 << (excluded[e] - stop * WIDTH))
                e += 1
            ax, ay, az = force_of_group(stop, some_lanes(bits), True, one, rows, table, kept, found)
            fx, fy, fz = fx + ax, fy + ay, fz + az
        g = stop + 1
    constants[at + i] += folded(fx)
    constants[at + i + groups * WIDTH] += folded(fy)
    constants[at + i + 2 * groups * WIDTH] += folded(fz)


FORCE_ON_SITE: Any = force_on_site


@jit
def keep_sites(n, table, particles):
    """Copy positions and charges; padding of the last group is far away and uncharged."""
    constants, size = table.constants, groups_of(n) * WIDTH
    at = int(constants[SITES_AT])
    for i in range(size):
        there = i < n
        constants[at + X * size + i] = particles.x[i] if there else FAR
        constants[at + Y * size + i] = particles.y[i] if there else FAR
        constants[at + Z * size + i] = particles.z[i] if there else FAR
        constants[at + CHARGE * size + i] = particles.charge[i] if there else 0.0


@jit
def take_share(share, n, table, particles, neighbours):
    """Compute the forces between the pairs of a share; all other forces of the share are zero."""
    blocks, shares, size = blocks_of(n), shares_of(n), groups_of(n) * WIDTH
    at = int(table.constants[FORCES_AT]) + share * 3 * size
    for k in range(at, at + 3 * size):
        table.constants[k] = 0.0
    for turn in range((blocks + shares - 1) // shares):
        a = block_of(turn, share, shares)
        for b in range(a, blocks):
            for i in range(a * BLOCK, min((a + 1) * BLOCK, n)):
                first, last = groups_to_meet(i, a, b, n)
                FORCE_ON_SITE(i, first, last, a == b, share, n, table, particles, neighbours)


TAKE_SHARE: Any = take_share


def forces_of_pairs(table, cell, particles, neighbours):
    """Add −∇U of all pairs except the excluded ones to the forces on both their sites."""
    n, fx, fy, fz = particles.fx.size, particles.fx, particles.fy, particles.fz
    shares, size, at = shares_of(n), groups_of(n) * WIDTH, int(table.constants[FORCES_AT])
    keep_sites(n, table, particles)
    for share in prange(shares):
        TAKE_SHARE(np.int64(share), n, table, particles, neighbours)
    for share in range(shares):
        for i in range(n):
            fx[i] += table.constants[at + i]
            fy[i] += table.constants[at + size + i]
            fz[i] += table.constants[at + 2 * size + i]
        at += 3 * size


@cache
def once_kernel(laws: Combination, parallel: bool) -> Any:
    """Return the kernel of a combination of laws."""
    label, one_kind = laws.label, laws.one_kind
    chosen = {name: laws.stand_ins[name] for name in ("LAW", "CHARGED_LAW", "CHARGED", "ONE_KIND")}
    group = leaf_variant(force_of_group, f"force_of_group_{label}", **chosen)
    site = leaf_variant(force_on_site, f"force_on_site_{label}", force_of_group=group, ONE_KIND=one_kind)
    taking = leaf_variant(take_share, f"take_share_{label}", FORCE_ON_SITE=site)
    name = f"forces_of_pairs_{'parallel' if parallel else 'serial'}_{label}"
    return specialised(forces_of_pairs, name, parallel=parallel, called="value", cached=laws.cached, TAKE_SHARE=taking)


def visits_pairs_once(
    laws: tuple[PairTerm | None, ...], rows: np.ndarray, charged_rows: np.ndarray, sites: int
) -> bool:
    """Whether pairs under one or two laws are visited once: if the laws support lanes, the law of charges has equal
    rows for all kinds, and the rows of the other law (kinds², width) are not too many when stored for each kind and
    site."""
    numbers = round(len(rows) ** 0.5) * sites * rows.shape[1]
    one = bool((charged_rows == charged_rows[:1]).all())
    return all(law is None or law.side_by_side for law in laws) and one and numbers <= MOST_NUMBERS


def once_table(table: SiteTable, kinds: np.ndarray) -> SiteTable:
    """Extend the table of ``pair_sums.py`` to that of this loop, with the kinds of all sites."""
    width, count = int(table.constants[WIDTH_OF_LAW]), int(table.constants[KINDS])
    plain = table.rows[:, :width]
    size = -(-kinds.size // WIDTH) * WIDTH
    of_kinds = np.zeros((count if count > 1 else 0, size, width))
    if count > 1:
        of_kinds[:, : kinds.size] = plain.reshape(count, count, width)[:, kinds]
    # Groups side by side: (kinds, groups, width, lanes).
    rows = of_kinds.reshape(-1, size // WIDTH, WIDTH, width).swapaxes(2, 3)
    shares = min(-(-kinds.size // BLOCK), MOST_SHARES)
    forces_at = HEADER + KEPT * size
    rows_at = forces_at + 3 * shares * size
    constants = np.zeros(rows_at + rows.size)
    constants[: ROWS_AT + 1] = *table.constants, HEADER, forces_at, rows_at
    constants[rows_at:] = rows.reshape(-1)
    return table._replace(constants=constants)
