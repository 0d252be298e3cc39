"""The reciprocal part of an Ewald sum: structure factors, their energy, forces, virial and Laplacian.

With the waves k of the reciprocal lattice and S(k) = Σ_j q_j exp(i k·r_j),

    U = Σ_k u(k) |S(k)|²,  u(k) = C (4π/V) exp(−k²/4α²)/k²  over one of k and −k

(Frenkel and Smit, Understanding Molecular Simulation, 2nd ed., 12.1.15; C is Coulomb's constant). A column holds the
waves k = 2π (a a* + b b* + c c*) of one a and b. A wave is stored beside its partner with −c, so that the same four
sums of cosines and sines give both. Phases follow from those of c = 1 by recurrence. Particles are divided into blocks
of a fixed size for vector instructions, and blocks into groups for threads, so that the order of the sums does not
depend on the number of threads.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import prange

from articulon.forces.sites.lattice_sums import add_surface
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, W_XX, W_XY, W_XZ, W_YY, W_YZ, W_ZZ, SiteTable
from articulon.kernels import jit, kernel, routine

BLOCK = 64
"""Number of particles in a block."""
GROUPS = 16
"""Number of groups of blocks."""
UNROLLED = 4
"""Number of waves that the loop over forces processes at once; columns are padded to a multiple of it."""
SURFACE, GAUSSIAN, FIRST, SECOND, THIRD, COLUMNS, WAVES, HEADER = range(8)
"""Constants: C 4π/((2ε' + 1) V), 1/(4α²), largest a, b and c (padded), numbers of columns and waves; then the columns
and the weights."""
COLUMN = 4
"""Numbers stored per column: a, b, its first wave and its number of waves."""


class Waves(NamedTuple):
    """The waves of an Ewald sum, in columns."""

    columns: np.ndarray
    """a, b, first wave and number of waves, shape (columns, 4)."""
    weights: np.ndarray
    """u(k) of each wave with +c and of its partner with −c, 0 if there is no such wave [energy/charge²], shape (waves,
    2)."""
    number: int
    """Number of waves, counting one of each k and −k."""


def waves_within(inverse: np.ndarray, limits: tuple[int, int, int], longest: float) -> list[tuple[int, int, int]]:
    """Return the columns (a, b, largest c) of the waves up to a wave number. They hold only one of k and −k.

    Parameters
    ----------
    inverse
        Inverse of the matrix of edges [1/length], shape (3, 3).
    limits
        Largest a, b and c to consider.
    longest
        Largest |k|; infinity takes all waves within the limits.
    """
    na, nb, nc = limits
    a, b, c = np.arange(na + 1), np.arange(-nb, nb + 1), np.arange(-nc, nc + 1)
    reciprocal = 2.0 * np.pi * inverse.T
    k = a[:, None, None, None] * reciprocal[0] + b[:, None, None] * reciprocal[1] + c[:, None] * reciprocal[2]
    inside = np.einsum("abcx,abcx->abc", k, k) <= longest**2
    top = np.where(inside, np.abs(c), -1).max(axis=2)
    half = (a[:, None] > 0) | (b > 0) | ((a[:, None] == 0) & (b == 0) & (top > 0))
    i, j = np.nonzero((top >= 0) & half)
    return [(int(a[m]), int(b[n]), int(top[m, n])) for m, n in zip(i, j, strict=True)]


def wave_table(inverse: np.ndarray, columns: list[tuple[int, int, int]], damping: float, front: float) -> Waves:
    """Return the weights of the waves; ``front`` is C 4π/V."""
    a, b, top = np.array(columns, dtype=np.int64).T
    size = -(-(top + 1) // UNROLLED) * UNROLLED
    start = np.cumsum(size) - size
    a, b, c = np.repeat(a, size), np.repeat(b, size), np.arange(size.sum()) - np.repeat(start, size)
    weights = np.zeros((c.size, 2))
    # Only one of k and −k has a weight: for a = b = 0 the one with +c, and for c = 0 one of the two.
    within, alone = c <= np.repeat(top, size), (a == 0) & (b == 0)
    for side, there in ((0, within & ~(alone & (c == 0))), (1, within & ~alone & (c > 0))):
        m = np.stack([a, b, c if side == 0 else -c])[:, there]
        k2 = ((2.0 * np.pi * inverse @ m) ** 2).sum(axis=0)
        weights[there, side] = front * np.exp(-0.25 * k2 / damping**2) / k2
    a, b, top = np.array(columns, dtype=np.int64).T
    return Waves(np.stack([a, b, start, top + 1], axis=1), weights, int((weights > 0.0).sum()))


def reciprocal_table(sites: np.ndarray, waves: Waves, damping: float, surface: float) -> SiteTable:
    """Return the table of the kernels below: charged sites as members, constants, and scratch with one row per
    group."""
    n = waves.weights.shape[0]
    largest = [int(np.abs(waves.columns[:, i]).max(initial=0)) for i in (0, 1)]
    third = int((-(-waves.columns[:, 3] // UNROLLED) * UNROLLED).max(initial=0))
    header = np.array([surface, 0.25 / damping**2, *largest, third, len(waves.columns), n], dtype=float)
    constants = np.concatenate([header, waves.columns.ravel().astype(float), waves.weights.ravel()])
    blocks = -(-sites.size // BLOCK)
    width = 4 + 4 * n + BLOCK * (2 * (largest[0] + 1 + largest[1] + 1 + third) + 10)
    members = np.full((sites.size, 4), -1, dtype=np.int64)
    members[:, 0] = sites
    # In addition to its group, the first row holds the total sums and the force coefficients.
    return SiteTable(np.zeros((1 + min(GROUPS, blocks), max(width, 4 + 8 * n))), members, constants)


@jit
def _layout(constants):
    """Where the parts of a group's row start: the tables of a, of b and of c, and the block's waves, forces and
    charges."""
    n = int(constants[WAVES])
    first = 4 + 4 * n
    second = first + 2 * BLOCK * (int(constants[FIRST]) + 1)
    third = second + 2 * BLOCK * (int(constants[SECOND]) + 1)
    block = third + 2 * BLOCK * int(constants[THIRD])
    return first, second, third, block


@jit
def _recur(row, start, count):
    """Compute cos mθ and sin mθ for m < ``count`` from those of m = 1, by recurrence."""
    row[start : start + BLOCK] = 1.0
    row[start + BLOCK : start + 2 * BLOCK] = 0.0
    one = row[start + 2 * BLOCK : start + 4 * BLOCK]
    for m in range(2, count):
        last = row[start + 2 * BLOCK * (m - 1) : start + 2 * BLOCK * m]
        here = row[start + 2 * BLOCK * m : start + 2 * BLOCK * (m + 1)]
        for p in range(BLOCK):
            here[p] = last[p] * one[p] - last[BLOCK + p] * one[BLOCK + p]
            here[BLOCK + p] = last[BLOCK + p] * one[p] + last[p] * one[BLOCK + p]


@routine
def _fill_block(table, cell, particles, row, block):
    """Compute charges and phases of the particles of a block; add their dipole moment, at unwrapped positions, to that
    of the row."""
    constants, members, inverse = table.constants, table.members, cell.inverse
    first, second, third, scratch = _layout(constants)
    charges = scratch + 9 * BLOCK
    starts = (first, second, third)
    counts = (int(constants[FIRST]) + 1, int(constants[SECOND]) + 1, int(constants[THIRD]))
    for p in range(BLOCK):
        i = block * BLOCK + p
        x, y, z, q = 0.0, 0.0, 0.0, 0.0
        if i < members.shape[0]:
            place = particles.place[members[i, 0]]
            x, y, z, q = particles.x[place], particles.y[place], particles.z[place], particles.charge[place]
            row[0] += q * (x - particles.wrap[0, place])
            row[1] += q * (y - particles.wrap[1, place])
            row[2] += q * (z - particles.wrap[2, place])
        row[charges + p] = q
        for d in range(3):
            s = x * inverse[0, d] + y * inverse[1, d] + z * inverse[2, d]
            if counts[d] > 1:
                angle = 2.0 * math.pi * (s - np.rint(s))
                row[starts[d] + 2 * BLOCK + p] = math.cos(angle)
                row[starts[d] + 3 * BLOCK + p] = math.sin(angle)
    for d in range(3):
        _recur(row, starts[d], counts[d])


@jit
def _column_waves(row, charges, first, second, a, b, out):
    """Compute q exp(2πi (a s_a + b s_b)) of the particles of a block."""
    sign = 1.0 if b >= 0 else -1.0
    u, v = first + 2 * BLOCK * a, second + 2 * BLOCK * abs(b)
    along, across, q = row[u : u + 2 * BLOCK], row[v : v + 2 * BLOCK], row[charges : charges + BLOCK]
    z = row[out : out + 2 * BLOCK]
    for p in range(BLOCK):
        ca, sa, cb, sb = along[p], along[BLOCK + p], across[p], sign * across[BLOCK + p]
        z[p] = q[p] * (ca * cb - sa * sb)
        z[BLOCK + p] = q[p] * (sa * cb + ca * sb)


@routine
def _add_structure(constants, row):
    """Add the structure factors of a block to those of its group, real and imaginary parts for +c, then for −c."""
    first, second, third, scratch = _layout(constants)
    for column in range(int(constants[COLUMNS])):
        entry = HEADER + COLUMN * column
        a, b = int(constants[entry]), int(constants[entry + 1])
        start, count = int(constants[entry + 2]), int(constants[entry + 3])
        _column_waves(row, scratch + 9 * BLOCK, first, second, a, b, scratch)
        z = row[scratch : scratch + 2 * BLOCK]
        for c in range(count):
            phase = row[third + 2 * BLOCK * c : third + 2 * BLOCK * (c + 1)]
            rc, is_, rs, ic = 0.0, 0.0, 0.0, 0.0
            for p in range(BLOCK):  # a vector loop
                rc += z[p] * phase[p]
                is_ += z[BLOCK + p] * phase[BLOCK + p]
                rs += z[p] * phase[BLOCK + p]
                ic += z[BLOCK + p] * phase[p]
            to = 4 + 4 * (start + c)
            row[to] += rc - is_
            row[to + 1] += rs + ic
            row[to + 2] += rc + is_
            row[to + 3] += ic - rs


@routine
def _group_structure(table, cell, particles, group):
    """Compute the structure factors and dipole moment of a group of blocks."""
    row = table.rows[1 + group]
    row[: 4 + 4 * int(table.constants[WAVES])] = 0.0
    blocks, groups = (table.members.shape[0] + BLOCK - 1) // BLOCK, table.rows.shape[0] - 1
    for block in range(group * blocks // groups, (group + 1) * blocks // groups):
        _fill_block(table, cell, particles, row, block)
        _add_structure(table.constants, row)


@routine
def _total(table):
    """Write the sums over all groups to the first row."""
    rows = table.rows
    for k in range(4 + 4 * int(table.constants[WAVES])):
        total = 0.0
        for group in range(1, rows.shape[0]):
            total += rows[group, k]
        rows[0, k] = total


@routine
def _force_coefficients(constants, row):
    """Convert the structure factors to the force coefficients of each wave.

    With W = 2 u S* for +c and for −c, and the phase θ = 2π c s_c of a coordinate s_c along the edge c: W₊ e^{iθ} + W₋
    e^{−iθ} = (W₊ + W₋) cos θ + i (W₊ − W₋) sin θ, and correspondingly for the derivative with respect to s_c, which is
    c (W₊ e^{iθ} − W₋ e^{−iθ}).
    """
    n = int(constants[WAVES])
    weights = HEADER + COLUMN * int(constants[COLUMNS])
    # The loop goes from the last wave to the first, because eight numbers replace four in place.
    for column in range(int(constants[COLUMNS]) - 1, -1, -1):
        start = int(constants[HEADER + COLUMN * column + 2])
        last = n if column == int(constants[COLUMNS]) - 1 else int(constants[HEADER + COLUMN * (column + 1) + 2])
        for wave in range(last - 1, start - 1, -1):
            c = float(wave - start)
            plus, minus = 2.0 * constants[weights + 2 * wave], 2.0 * constants[weights + 2 * wave + 1]
            s = 4 + 4 * wave
            ar, ai = plus * row[s], -plus * row[s + 1]
            br, bi = minus * row[s + 2], -minus * row[s + 3]
            to = 4 + 8 * wave
            row[to], row[to + 1] = ar + br, bi - ai
            row[to + 2], row[to + 3] = ai + bi, ar - br
            row[to + 4], row[to + 5] = c * (ar - br), -c * (ai + bi)
            row[to + 6], row[to + 7] = c * (ai - bi), c * (ar + br)


@routine
def _block_forces(constants, row, coefficients):
    """Compute the forces with respect to the coordinates along the edges, Σ_k 2 u (a, b, c) q_j Im(S* exp(i k·r_j)), of
    the particles of a block."""
    first, second, third, scratch = _layout(constants)
    force = row[scratch + 6 * BLOCK : scratch + 9 * BLOCK]
    force[:] = 0.0
    for column in range(int(constants[COLUMNS])):
        entry = HEADER + COLUMN * column
        a, b = int(constants[entry]), int(constants[entry + 1])
        start, count = int(constants[entry + 2]), int(constants[entry + 3])
        _column_waves(row, scratch + 9 * BLOCK, first, second, a, b, scratch)
        sums = row[scratch + 2 * BLOCK : scratch + 6 * BLOCK]
        sums[:] = 0.0
        for c in range(0, count, UNROLLED):
            k = 4 + 8 * (start + c)
            w = coefficients[k : k + 8 * UNROLLED]
            t = row[third + 2 * BLOCK * c : third + 2 * BLOCK * (c + UNROLLED)]
            for part in range(2):
                total = sums[2 * part * BLOCK : 2 * (part + 1) * BLOCK]
                v = w[4 * part : 4 * part + 8 * UNROLLED - 4]
                w0, w1, w2, w3, w4, w5, w6, w7 = v[0], v[1], v[8], v[9], v[16], v[17], v[24], v[25]
                v0, v1, v2, v3, v4, v5, v6, v7 = v[2], v[3], v[10], v[11], v[18], v[19], v[26], v[27]
                for p in range(BLOCK):  # a vector loop
                    c0, s0, c1, s1 = t[p], t[BLOCK + p], t[2 * BLOCK + p], t[3 * BLOCK + p]
                    c2, s2, c3, s3 = t[4 * BLOCK + p], t[5 * BLOCK + p], t[6 * BLOCK + p], t[7 * BLOCK + p]
                    total[p] += w0 * c0 + w1 * s0 + w2 * c1 + w3 * s1 + w4 * c2 + w5 * s2 + w6 * c3 + w7 * s3
                    total[BLOCK + p] += v0 * c0 + v1 * s0 + v2 * c1 + v3 * s1 + v4 * c2 + v5 * s2 + v6 * c3 + v7 * s3
        fa, fb, z = float(a), float(b), row[scratch : scratch + 2 * BLOCK]
        for p in range(BLOCK):
            re, im = z[p], z[BLOCK + p]
            across = re * sums[BLOCK + p] + im * sums[p]
            force[p] += fa * across
            force[BLOCK + p] += fb * across
            force[2 * BLOCK + p] += re * sums[3 * BLOCK + p] + im * sums[2 * BLOCK + p]


@routine
def _group_forces(table, cell, particles, group):
    """Add the forces on the particles of a group."""
    row, coefficients, members, inverse = table.rows[1 + group], table.rows[0], table.members, cell.inverse
    surface = table.constants[SURFACE]
    mx, my, mz = surface * coefficients[0], surface * coefficients[1], surface * coefficients[2]
    _, _, _, scratch = _layout(table.constants)
    result, charges = scratch + 6 * BLOCK, scratch + 9 * BLOCK
    blocks, groups = (members.shape[0] + BLOCK - 1) // BLOCK, table.rows.shape[0] - 1
    low, high = group * blocks // groups, (group + 1) * blocks // groups
    for block in range(low, high):
        if high - low > 1:
            _fill_block(table, cell, particles, row, block)
        _block_forces(table.constants, row, coefficients)
        for p in range(min(BLOCK, members.shape[0] - block * BLOCK)):
            place = particles.place[members[block * BLOCK + p, 0]]
            q = row[charges + p]
            a, b, c = row[result + p], row[result + BLOCK + p], row[result + 2 * BLOCK + p]
            a, b, c = 2.0 * math.pi * a, 2.0 * math.pi * b, 2.0 * math.pi * c
            particles.fx[place] += a * inverse[0, 0] + b * inverse[0, 1] + c * inverse[0, 2] - q * mx
            particles.fy[place] += a * inverse[1, 0] + b * inverse[1, 1] + c * inverse[1, 2] - q * my
            particles.fz[place] += a * inverse[2, 0] + b * inverse[2, 1] + c * inverse[2, 2] - q * mz


@kernel(called="either")
def reciprocal_forces(table, cell, particles, neighbours):
    """Add −∇U of the reciprocal part and of the surface term."""
    groups = table.rows.shape[0] - 1
    for group in range(groups):
        _group_structure(table, cell, particles, group)
    _total(table)
    _force_coefficients(table.constants, table.rows[0])
    for group in range(groups):
        _group_forces(table, cell, particles, group)


@kernel(parallel=True, called="either")
def reciprocal_forces_parallel(table, cell, particles, neighbours):
    """Add −∇U of the reciprocal part and of the surface term, in parallel."""
    groups = table.rows.shape[0] - 1
    for group in prange(groups):
        _group_structure(table, cell, particles, group)
    _total(table)
    _force_coefficients(table.constants, table.rows[0])
    for group in prange(groups):
        _group_forces(table, cell, particles, group)


@kernel(called="either")
def reciprocal_measure(table, cell, particles, neighbours, result):
    """Add energy, virial and Laplacian of the reciprocal part and of the surface term.

    The virial of a wave is its energy times δ − 2 (1/k² + 1/4α²) k k (Frenkel and Smit, 12.1.27 is its trace). In the
    Laplacian, −2 Σ_k u k² (|S|² − Σq²), self-terms are excluded: the lattice of a particle's own images moves with it.
    """
    for group in range(table.rows.shape[0] - 1):
        _group_structure(table, cell, particles, group)
    _total(table)
    _add_measure(table, cell, particles, result)


@routine
def _add_measure(table, cell, particles, result):
    constants, row, inverse = table.constants, table.rows[0], cell.inverse
    weights = HEADER + COLUMN * int(constants[COLUMNS])
    squares = 0.0
    for i in range(table.members.shape[0]):
        q = particles.charge[particles.place[table.members[i, 0]]]
        squares += q * q
    for column in range(int(constants[COLUMNS])):
        entry = HEADER + COLUMN * column
        a, b = constants[entry], constants[entry + 1]
        start, count = int(constants[entry + 2]), int(constants[entry + 3])
        for side in range(2):
            for c in range(count):
                u = constants[weights + 2 * (start + c) + side]
                if u == 0.0:
                    continue
                m = float(c) if side == 0 else -float(c)
                kx = 2.0 * math.pi * (inverse[0, 0] * a + inverse[0, 1] * b + inverse[0, 2] * m)
                ky = 2.0 * math.pi * (inverse[1, 0] * a + inverse[1, 1] * b + inverse[1, 2] * m)
                kz = 2.0 * math.pi * (inverse[2, 0] * a + inverse[2, 1] * b + inverse[2, 2] * m)
                k2 = kx * kx + ky * ky + kz * kz
                s = 4 + 4 * (start + c) + 2 * side
                square = row[s] * row[s] + row[s + 1] * row[s + 1]
                energy = u * square
                f = -2.0 * energy * (1.0 / k2 + constants[GAUSSIAN])
                result[ENERGY] += energy
                result[W_XX] += energy + f * kx * kx
                result[W_YY] += energy + f * ky * ky
                result[W_ZZ] += energy + f * kz * kz
                result[W_XY] += f * kx * ky
                result[W_XZ] += f * kx * kz
                result[W_YZ] += f * ky * kz
                result[LAPLACIAN] -= 2.0 * u * k2 * (square - squares)
    add_surface(result, constants[SURFACE], row[0], row[1], row[2], squares)
