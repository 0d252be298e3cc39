"""Spreading of charges over a mesh by B-splines, and the forces from the mesh potential on them.

A charge is spread over a block of order³ points. Along the third edge, the points of a block fill one register of eight
lanes, with zero weights beyond the order. Rows of the mesh therefore extend eight points beyond their end, and these
points are added to the first ones afterwards. Charges are divided into shares by the plane of their first point. A
share has planes of its own and extra planes after these, which are added to those of the next share: the order of every
sum is the same for any number of threads.
"""

import math

import numpy as np

from articulon.forces.sites.mesh_splines import LANES, moduli, polynomials
from articulon.forces.sites.site_tables import SiteTable
from articulon.kernels import jit, routine
from articulon.lane_registers import in_all, load_run, store_run, total

MOST_SHARES = 16
"""Largest number of shares of the charges."""
BLOCK = 256
"""Number of charges that a thread locates, or whose forces it computes, at a time."""
FRONT, GAUSSIAN, SURFACE, ORDER, SHARES, NX, NY, NZ, SITES, SPLINES = range(10)
"""Constants: C 4π/V, 1/4α², C 4π/((2ε' + 1) V), order, shares, points along each edge and sites; then the polynomials
of the weights, and then the influence of each wave (NX, NY, NZ/2 + 1)."""
DIPOLE, MEASURED = 3, 8
"""Number of values of the dipole moment, and of each column's contribution to the measures."""
FIRST_X, FIRST_Y, FIRST_Z, SORTED = range(4)
"""Columns of the members: the first points of each place's charge, and the places sorted by share; rows after those of
the sites hold the starts of the shares."""


@jit
def padded_row(nz):
    """Length of a row of points along the third edge: the number of points plus eight, rounded up to whole
    registers."""
    return (nz + 2 * LANES - 1) // LANES * LANES


@jit
def layout(constants):
    """Return where these data start in the rows, after the mesh: extra planes of the shares, waves, fractions, scratch
    memory, measures of the columns of waves, and dipole moment."""
    nx, ny, nz = int(constants[NX]), int(constants[NY]), int(constants[NZ])
    plane = ny * ((nz + 2 * LANES - 1) // LANES * LANES)
    beyond = nx * plane
    waves = beyond + int(constants[SHARES]) * (int(constants[ORDER]) - 1) * plane
    fractions = waves + 2 * nx * ny * (nz // 2 + 1)
    sites = int(constants[SITES])
    scratch = fractions + 3 * sites
    measured = scratch + 4 * LANES * ((sites + BLOCK - 1) // BLOCK + MOST_SHARES)
    return beyond, waves, fractions, scratch, measured, measured + MEASURED * ny


def mesh_table(
    sites: int,
    vectors: np.ndarray,
    mesh: tuple[int, int, int],
    order: int,
    damping: float,
    front: float,
    surface: float,
) -> SiteTable:
    """Return the table of the kernels: constants and scratch.

    Parameters
    ----------
    sites
        Number of sites of the model.
    vectors
        Edges of the box [length].
    mesh, order, damping
        See ``MeshEwaldParameters``.
    front, surface
        The constants C 4π/V and C 4π/((2ε' + 1) V).
    """
    shares = max(1, min(MOST_SHARES, mesh[0] // order))
    header = [front, 0.25 / damping**2, surface, order, shares, *mesh, sites]
    constants = np.concatenate([header, polynomials(order).ravel(), influence(vectors, mesh, order, damping).ravel()])
    constants[SPLINES + order * LANES :] *= front
    size = layout.py_func(constants)[-1] + DIPOLE
    return SiteTable(np.zeros((1, size)), np.zeros((sites + shares + 1, 4), dtype=np.int64), constants)


def influence(vectors: np.ndarray, mesh: tuple[int, int, int], order: int, damping: float) -> np.ndarray:
    """Weights exp(−k²/4α²)/(k² |Σ M|²) of |S|² in the energy for the waves of a mesh (Essmann et al. 1995, 4.7, without
    the prefactor), shape (NX, NY, NZ/2 + 1). Of k and −k, only the wave whose third index is not negative is
    included."""
    k2 = squares_of_waves(vectors, mesh)
    k2[0, 0, 0] = np.inf
    bx, by, bz = (moduli(order, n) for n in mesh)
    weights = bx[:, None, None] * by[:, None] * bz[: mesh[2] // 2 + 1]
    return np.exp(-0.25 * k2 / damping**2) / (k2 * weights)


def squares_of_waves(vectors: np.ndarray, mesh: tuple[int, int, int]) -> np.ndarray:
    """k² of the waves, shape (NX, NY, NZ/2 + 1)."""
    reciprocal = 2.0 * np.pi * np.linalg.inv(vectors).T
    a, b = (np.where(np.arange(n) < (n + 1) // 2, np.arange(n), np.arange(n) - n) for n in mesh[:2])
    c = np.arange(mesh[2] // 2 + 1)
    k = a[:, None, None, None] * reciprocal[0] + b[:, None, None] * reciprocal[1] + c[:, None] * reciprocal[2]
    return np.einsum("abcx,abcx->abc", k, k)


@jit
def on_mesh(s, n):
    """First point and fraction of a coordinate s in units of the edge with n points; NaN gives the first point of the
    mesh."""
    u = (s - math.floor(s)) * n
    if not (u >= 0.0 and u < n):
        u = 0.0
    first = int(u)
    return first, u - first


@routine
def locate_block(table, cell, particles, block):
    """Compute first points and fractions of a block of places."""
    constants, rows, members, inverse = table.constants, table.rows[0], table.members, cell.inverse
    nx, ny, nz, sites = constants[NX], constants[NY], constants[NZ], int(constants[SITES])
    _, _, fractions, _, _, _ = layout(constants)
    x, y, z = particles.x, particles.y, particles.z
    for p in range(block * BLOCK, min((block + 1) * BLOCK, sites)):
        a = x[p] * inverse[0, 0] + y[p] * inverse[1, 0] + z[p] * inverse[2, 0]
        b = y[p] * inverse[1, 1] + z[p] * inverse[2, 1]
        first, fraction = on_mesh(a, nx)
        members[p, FIRST_X], rows[fractions + 3 * p] = first, fraction
        first, fraction = on_mesh(b, ny)
        members[p, FIRST_Y], rows[fractions + 3 * p + 1] = first, fraction
        first, fraction = on_mesh(z[p] * inverse[2, 2], nz)
        members[p, FIRST_Z], rows[fractions + 3 * p + 2] = first, fraction


@jit
def share_of(first, shares, nx):
    """Share that contains the plane of a first point: the last share that begins at or before this plane."""
    return ((first + 1) * shares - 1) // nx


@routine
def share_out(table, particles):
    """Sort charged places by share, and sum the dipole moment in unwrapped positions."""
    constants, rows, members, charge = table.constants, table.rows[0], table.members, particles.charge
    shares, nx, sites = int(constants[SHARES]), int(constants[NX]), int(constants[SITES])
    _, _, _, _, _, dipole = layout(constants)
    for s in range(shares + 1):
        members[sites + s, 0] = 0
    mx, my, mz = 0.0, 0.0, 0.0
    for p in range(sites):
        q = charge[p]
        if q != 0.0:
            members[sites + 1 + share_of(members[p, FIRST_X], shares, nx), 0] += 1
            mx += q * (particles.x[p] - particles.wrap[0, p])
            my += q * (particles.y[p] - particles.wrap[1, p])
            mz += q * (particles.z[p] - particles.wrap[2, p])
    rows[dipole], rows[dipole + 1], rows[dipole + 2] = mx, my, mz
    for s in range(shares):
        members[sites + s + 1, 0] += members[sites + s, 0]
        members[sites + s, 1] = members[sites + s, 0]
    for p in range(sites):
        if charge[p] != 0.0:
            row = sites + share_of(members[p, FIRST_X], shares, nx)
            members[members[row, 1], SORTED] = p
            members[row, 1] += 1


@jit
def weights_at(constants, order, like, w):
    """Weights of the points in one direction, and their derivatives with respect to the fraction w, in lanes."""
    value, slope = load_run(like, constants, SPLINES + (order - 1) * LANES), in_all(0.0, LANES)
    for power in range(order - 2, -1, -1):
        slope = slope * w + value
        value = value * w + load_run(like, constants, SPLINES + power * LANES)
    return value, slope


@routine
def spread_share(table, particles, share):
    """Spread the charges of a share over its planes of the mesh, and the extra planes."""
    constants, rows, members = table.constants, table.rows[0], table.members
    nx, ny, nz, order = int(constants[NX]), int(constants[NY]), int(constants[NZ]), int(constants[ORDER])
    shares, sites = int(constants[SHARES]), int(constants[SITES])
    beyond, _, fractions, scratch, _, _ = layout(constants)
    along = padded_row(nz)
    plane = ny * along
    first, last = share * nx // shares, (share + 1) * nx // shares
    beyond += share * (order - 1) * plane
    scratch += 4 * LANES * ((sites + BLOCK - 1) // BLOCK + share)
    rows[first * plane : last * plane] = 0.0
    rows[beyond : beyond + (order - 1) * plane] = 0.0
    like = in_all(0.0, LANES)
    for m in range(members[sites + share, 0], members[sites + share + 1, 0]):
        p = members[m, SORTED]
        at = fractions + 3 * p
        wx, _ = weights_at(constants, order, like, rows[at])
        wy, _ = weights_at(constants, order, like, rows[at + 1])
        wz, _ = weights_at(constants, order, like, rows[at + 2])
        store_run(rows, scratch, wx * particles.charge[p])
        store_run(rows, scratch + LANES, wy)
        fx, fy, fz = members[p, FIRST_X], members[p, FIRST_Y], members[p, FIRST_Z]
        for a in range(order):
            start = (fx + a) * plane if fx + a < last else beyond + (fx + a - last) * plane
            start += fz
            for b in range(order):
                y = fy + b
                to = start + (y if y < ny else y - ny) * along
                store_run(rows, to, load_run(like, rows, to) + rows[scratch + a] * rows[scratch + LANES + b] * wz)


@routine
def join_plane(table, x):
    """Add the extra planes of the previous share to a plane, and the extensions of its rows to their beginnings."""
    constants, rows = table.constants, table.rows[0]
    nx, ny, nz, order = int(constants[NX]), int(constants[NY]), int(constants[NZ]), int(constants[ORDER])
    shares = int(constants[SHARES])
    beyond, _, _, _, _, _ = layout(constants)
    along = padded_row(nz)
    plane = ny * along
    share = share_of(x, shares, nx)
    behind = x - share * nx // shares
    if behind < order - 1:
        before = share - 1 if share > 0 else shares - 1
        other = beyond + (before * (order - 1) + behind) * plane
        for k in range(plane):
            rows[x * plane + k] += rows[other + k]
    for y in range(ny):
        row = x * plane + y * along
        for k in range(LANES):
            rows[row + k % nz] += rows[row + nz + k]


@routine
def extend_plane(table, x):
    """Copy the beginnings of rows to their extensions."""
    constants, rows = table.constants, table.rows[0]
    ny, nz = int(constants[NY]), int(constants[NZ])
    along = padded_row(nz)
    for y in range(ny):
        row = (x * ny + y) * along
        for k in range(LANES):
            rows[row + nz + k] = rows[row + k % nz]


@routine
def field_forces_of_block(table, cell, particles, block):
    """Add −q ∇φ to the forces on a block of places, with φ the potential on the mesh, and the surface term."""
    constants, rows, members, inverse = table.constants, table.rows[0], table.members, cell.inverse
    nx, ny, nz, order = int(constants[NX]), int(constants[NY]), int(constants[NZ]), int(constants[ORDER])
    sites, surface = int(constants[SITES]), constants[SURFACE]
    _, _, fractions, scratch, _, dipole = layout(constants)
    scratch += 4 * LANES * block
    along = padded_row(nz)
    plane = ny * along
    mx, my, mz = surface * rows[dipole], surface * rows[dipole + 1], surface * rows[dipole + 2]
    like = in_all(0.0, LANES)
    for p in range(block * BLOCK, min((block + 1) * BLOCK, sites)):
        q = particles.charge[p]
        if q == 0.0:
            continue
        at = fractions + 3 * p
        wx, sx = weights_at(constants, order, like, rows[at])
        wy, sy = weights_at(constants, order, like, rows[at + 1])
        wz, sz = weights_at(constants, order, like, rows[at + 2])
        store_run(rows, scratch, wx)
        store_run(rows, scratch + LANES, sx)
        store_run(rows, scratch + 2 * LANES, wy)
        store_run(rows, scratch + 3 * LANES, sy)
        fx, fy, fz = members[p, FIRST_X], members[p, FIRST_Y], members[p, FIRST_Z]
        tx, ty, tz = in_all(0.0, LANES), in_all(0.0, LANES), in_all(0.0, LANES)
        for a in range(order):
            x = fx + a
            start = (x if x < nx else x - nx) * plane + fz
            u, v = in_all(0.0, LANES), in_all(0.0, LANES)
            for b in range(order):
                y = fy + b
                potential = load_run(like, rows, start + (y if y < ny else y - ny) * along)
                u += rows[scratch + 2 * LANES + b] * potential
                v += rows[scratch + 3 * LANES + b] * potential
            tx += rows[scratch + LANES + a] * u
            ty += rows[scratch + a] * v
            tz += rows[scratch + a] * u
        ga, gb, gc = q * nx * total(tx * wz), q * ny * total(ty * wz), q * nz * total(tz * sz)
        particles.fx[p] -= ga * inverse[0, 0] + q * mx
        particles.fy[p] -= ga * inverse[1, 0] + gb * inverse[1, 1] + q * my
        particles.fz[p] -= ga * inverse[2, 0] + gb * inverse[2, 1] + gc * inverse[2, 2] + q * mz
