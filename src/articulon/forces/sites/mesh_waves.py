"""The reciprocal part of a particle-mesh Ewald sum: from charges on a mesh to their potential there.

    U = ½ C (4π/V) Σ_k exp(−k²/4α²)/k² |S(k)|²,    |S(k)|² = |Q(k)|²/|Σ M|²

with Q the discrete transform of the charges on the mesh (Essmann et al., J. Chem. Phys. 103, 8577, 1995, 4.7). The
transforms are those of DUCC, through rocket-fft. They are computed plane by plane along two edges, then column by
column along the first, where the potential is computed as well. Each transform is the same on any thread, so that
results do not depend on the number of threads, to the last bit.
"""

import math

import numpy as np
from numba import prange
from rocket_fft.lowlevel import c2c, c2r, r2c

from articulon.forces.sites.lattice_sums import add_surface
from articulon.forces.sites.mesh_charges import (
    BLOCK,
    FRONT,
    GAUSSIAN,
    MEASURED,
    NX,
    NY,
    NZ,
    ORDER,
    SHARES,
    SITES,
    SPLINES,
    SURFACE,
    extend_plane,
    field_forces_of_block,
    join_plane,
    layout,
    locate_block,
    padded_row,
    share_out,
    spread_share,
)
from articulon.forces.sites.mesh_splines import LANES
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, W_XX, W_XY, W_XZ, W_YY, W_YZ, W_ZZ
from articulon.kernels import kernel, routine_that_allocates

_LAST_TWO, _FIRST = np.array([0, 1]), np.array([0])


@routine_that_allocates
def _transform_plane(table, x, forward):
    """Transform a plane of the mesh to its waves, or back, along the second and third edge."""
    constants, rows = table.constants, table.rows[0]
    ny, nz = int(constants[NY]), int(constants[NZ])
    _, waves, _, _, _, _ = layout(constants)
    along, half = padded_row(nz), nz // 2 + 1
    mesh = rows[x * ny * along : (x + 1) * ny * along].reshape((ny, along))[:, :nz]
    size = 2 * ny * half
    wave = rows[waves + x * size : waves + (x + 1) * size].view(np.complex128).reshape((ny, half))
    if forward:
        r2c(mesh, wave, _LAST_TWO, True, 1.0, 1)
    else:
        c2r(wave, mesh, _LAST_TWO, False, 1.0, 1)


@routine_that_allocates
def _transform_column(table, y, back):
    """For one wave along the second edge, transform the waves of the planes to waves of the mesh; if requested,
    transform the waves of the potential back to the planes."""
    constants, rows = table.constants, table.rows[0]
    nx, ny, nz, order = int(constants[NX]), int(constants[NY]), int(constants[NZ]), int(constants[ORDER])
    _, waves, _, _, _, _ = layout(constants)
    half = nz // 2 + 1
    every = rows[waves : waves + 2 * nx * ny * half].view(np.complex128).reshape((nx, ny, half))
    column = every[:, y]
    c2c(column, column, _FIRST, True, 1.0, 1)
    if back:
        weight = SPLINES + order * LANES + y * half
        for x in range(nx):
            for k in range(half):
                column[x, k] *= constants[weight + x * ny * half + k]
        c2c(column, column, _FIRST, False, 1.0, 1)


@routine_that_allocates
def _measure_column(table, cell, y, squares):
    """Compute the contribution of the waves of a column to energy, virial and Laplacian, stored at its place in the
    rows.

    The virial of a wave is its energy times δ − 2 (1/k² + 1/4α²) k k. The Laplacian excludes self-terms.
    """
    constants, rows, inverse = table.constants, table.rows[0], cell.inverse
    nx, ny, nz, order = int(constants[NX]), int(constants[NY]), int(constants[NZ]), int(constants[ORDER])
    _, waves, _, _, measured, _ = layout(constants)
    half = nz // 2 + 1
    to = measured + MEASURED * y
    rows[to : to + MEASURED] = 0.0
    b = float(y if y < (ny + 1) // 2 else y - ny)
    for x in range(nx):
        a = float(x if x < (nx + 1) // 2 else x - nx)
        at = waves + 2 * (x * ny + y) * half
        weight = SPLINES + order * LANES + (x * ny + y) * half
        for c in range(half):
            if x == 0 and y == 0 and c == 0:
                continue
            # Factor ½ if both k and −k occur here; of waves with a third index between 0 and N/2 only one occurs.
            both = 0.5 if c == 0 or 2 * c == nz else 1.0
            kx = 2.0 * math.pi * (inverse[0, 0] * a + inverse[0, 1] * b + inverse[0, 2] * c)
            ky = 2.0 * math.pi * (inverse[1, 0] * a + inverse[1, 1] * b + inverse[1, 2] * c)
            kz = 2.0 * math.pi * (inverse[2, 0] * a + inverse[2, 1] * b + inverse[2, 2] * c)
            k2 = kx * kx + ky * ky + kz * kz
            re, im = rows[at + 2 * c], rows[at + 2 * c + 1]
            energy = both * constants[weight + c] * (re * re + im * im)
            f = -2.0 * energy * (1.0 / k2 + constants[GAUSSIAN])
            rows[to + ENERGY] += energy
            rows[to + W_XX] += energy + f * kx * kx
            rows[to + W_YY] += energy + f * ky * ky
            rows[to + W_ZZ] += energy + f * kz * kz
            rows[to + W_XY] += f * kx * ky
            rows[to + W_XZ] += f * kx * kz
            rows[to + W_YZ] += f * ky * kz
            own = both * constants[FRONT] * math.exp(-constants[GAUSSIAN] * k2) * squares
            rows[to + LAPLACIAN] -= 2.0 * (energy * k2 - own)


@kernel(called="either", allocates=True)
def mesh_forces(table, cell, particles, neighbours):
    """Add −∇U of the reciprocal part and of the surface term."""
    constants = table.constants
    blocks = (int(constants[SITES]) + BLOCK - 1) // BLOCK
    nx, ny = int(constants[NX]), int(constants[NY])
    for block in range(blocks):
        locate_block(table, cell, particles, block)
    share_out(table, particles)
    for share in range(int(constants[SHARES])):
        spread_share(table, particles, share)
    for x in range(nx):
        join_plane(table, x)
        _transform_plane(table, x, True)
    for y in range(ny):
        _transform_column(table, y, True)
    for x in range(nx):
        _transform_plane(table, x, False)
        extend_plane(table, x)
    for block in range(blocks):
        field_forces_of_block(table, cell, particles, block)


@kernel(parallel=True, called="either")
def mesh_forces_parallel(table, cell, particles, neighbours):
    """Add −∇U of the reciprocal part and of the surface term, in parallel."""
    constants = table.constants
    blocks = (int(constants[SITES]) + BLOCK - 1) // BLOCK
    nx, ny = int(constants[NX]), int(constants[NY])
    for block in prange(blocks):
        locate_block(table, cell, particles, np.int64(block))
    share_out(table, particles)
    for share in prange(int(constants[SHARES])):
        spread_share(table, particles, np.int64(share))
    for x in prange(nx):
        join_plane(table, np.int64(x))
        _transform_plane(table, np.int64(x), True)
    for y in prange(ny):
        _transform_column(table, np.int64(y), True)
    for x in prange(nx):
        _transform_plane(table, np.int64(x), False)
        extend_plane(table, np.int64(x))
    for block in prange(blocks):
        field_forces_of_block(table, cell, particles, np.int64(block))


@kernel(called="either", allocates=True)
def mesh_measure(table, cell, particles, neighbours, result):
    """Add energy, virial and Laplacian of the reciprocal part and of the surface term."""
    constants, rows = table.constants, table.rows[0]
    sites, nx, ny = int(constants[SITES]), int(constants[NX]), int(constants[NY])
    _, _, _, _, measured, dipole = layout(constants)
    for block in range((sites + BLOCK - 1) // BLOCK):
        locate_block(table, cell, particles, block)
    share_out(table, particles)
    for share in range(int(constants[SHARES])):
        spread_share(table, particles, share)
    squares = 0.0
    for p in range(sites):
        squares += particles.charge[p] * particles.charge[p]
    for x in range(nx):
        join_plane(table, x)
        _transform_plane(table, x, True)
    for y in range(ny):
        _transform_column(table, y, False)
        _measure_column(table, cell, y, squares)
    for y in range(ny):
        for k in range(MEASURED):
            result[k] += rows[measured + MEASURED * y + k]
    add_surface(result, constants[SURFACE], rows[dipole], rows[dipole + 1], rows[dipole + 2], squares)
