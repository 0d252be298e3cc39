"""The generalised Born model over all sites: Born radii, energies, forces and quantities derived from the radii.

Each place first gets its Born radius from its descreening, then its energy and the force at constant radii, then the
force due to the change of the radii (formulas in :mod:`articulon.forces.sites.born_pairs`).
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.sites.born_pairs import (
    ALPHA,
    BETA,
    BORN,
    CHARGE,
    COUPLING,
    ENERGY_SLOPE,
    FX,
    FY,
    FZ,
    GAMMA,
    INVERSE,
    OFFSET,
    OWN,
    PROBE,
    RADIUS,
    SCREENING_RADIUS,
    SITE_OFFSET,
    SITE_RADIUS,
    SITE_SCREENING_RADIUS,
    SLOPE,
    SURFACE,
    distant_descreening,
    distant_radius_forces,
    near_descreening,
    near_radius_forces,
    screened_coulomb,
)
from articulon.forces.sites.neighbours import padded
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, W_XX, W_XY, W_XZ, W_YY, W_YZ, W_ZZ
from articulon.kernel_variants import specialised
from articulon.kernels import jit

BLOCK = 64
"""Number of partners evaluated together; the slower formulas are used only for a batch that contains a near partner."""


@jit
def arrange(table, particles):
    """Store parameters and charges in the order of places, followed by those of the padding place.

    Return zero, or NaN if a position is not finite, so that it propagates into the sums; comparisons alone would hide
    it."""
    rows, n, x, y, z = table.rows, particles.fx.size, particles.x, particles.y, particles.z
    lost = 0.0
    for p in range(n):
        s = particles.order[p]
        lost += 0.0 * (x[p] + y[p] + z[p])
        rows[OFFSET, p], rows[SCREENING_RADIUS, p] = rows[SITE_OFFSET, s], rows[SITE_SCREENING_RADIUS, s]
        rows[RADIUS, p], rows[CHARGE, p] = rows[SITE_RADIUS, s], particles.charge[p]
    rows[OFFSET, n], rows[SCREENING_RADIUS, n] = 1.0, 0.0
    return lost


@jit
def pad_for_coulomb(rows, n):
    """Set the values of the padding place for the next loop. A call between two parallel loops also prevents Numba from
    fusing them."""
    rows[CHARGE, n], rows[BORN, n], rows[INVERSE, n] = 0.0, 1.0, 1.0


@jit
def pad_for_radius_forces(rows, n):
    """Set the values of the padding place for the next loop, between two parallel loops."""
    rows[ENERGY_SLOPE, n] = 0.0


@jit
def set_radius(rows, constants, i, integral, listed):
    """Compute Born radius, its inverse, dB/dΣI, and a site's self-energy with B dU/dB, from Σ I. If the site is in its
    own row of pairs (not ``listed``), the pair sum contains the self-energy of its charge."""
    o, rho, q = rows[OFFSET, i], rows[RADIUS, i], rows[CHARGE, i]
    a, b, c = constants[ALPHA], constants[BETA], constants[GAMMA]
    psi = o * integral
    bend = math.tanh(((c * psi - b) * psi + a) * psi)
    one = 1.0 / o - bend / rho
    B = 1.0 / one
    rows[BORN, i], rows[INVERSE, i] = B, one
    rows[SLOPE, i] = B * B * (1.0 - bend * bend) / rho * ((3.0 * c * psi - 2.0 * b) * psi + a) * o
    wide, ratio = rho + constants[PROBE], rho * one
    own = -0.5 * constants[COUPLING] * q * q * one if listed else 0.0
    cube = ratio * ratio * ratio
    surface = constants[SURFACE] * wide * wide * cube * cube
    rows[OWN, i] = own + surface
    rows[ENERGY_SLOPE, i] = -own - 6.0 * surface


@jit
def extent(i, listed, particles, neighbours):
    """Number of partners of a place in the lists, or of all sites, and the start and end of its excluded partners."""
    if not listed:
        return particles.fx.size, 0, 0
    site = particles.order[i]
    return padded(neighbours, i), neighbours.excluded_start[site], neighbours.excluded_start[site + 1]


@jit
def descreen_place(i, listed, table, particles, neighbours):
    """Compute Σ I of a place, and the quantities that follow from it."""
    count, low, high = extent(i, listed, particles, neighbours)
    places, total = neighbours.places[i if listed else 0], 0.0
    for begin in range(0, count, BLOCK):
        end = min(begin + BLOCK, count)
        found, near = distant_descreening(i, begin, end, listed, places, table, particles)
        total += found
        if near > 0.0:
            total += near_descreening(i, begin, end, listed, places, table, particles)
    for k in range(low, high):
        j = particles.place[neighbours.excluded[k]]
        total += distant_descreening(i, j, j + 1, False, places, table, particles)[0]
        total += near_descreening(i, j, j + 1, False, places, table, particles)
    set_radius(table.rows, table.constants, i, 0.5 * total, listed)


@jit
def coulomb_of_place(i, listed, table, particles, neighbours):
    """Compute a place's energy and force at constant radii, and dU/dΣI."""
    rows = table.rows
    count, low, high = extent(i, listed, particles, neighbours)
    places = neighbours.places[i if listed else 0]
    energy, energy_slope, fx, fy, fz = screened_coulomb(i, 0, count, listed, places, table, particles)
    for k in range(low, high):
        j = particles.place[neighbours.excluded[k]]
        e, v, gx, gy, gz = screened_coulomb(i, j, j + 1, False, places, table, particles)
        energy, energy_slope, fx, fy, fz = energy + e, energy_slope + v, fx + gx, fy + gy, fz + gz
    rows[OWN, i] += 0.5 * energy
    rows[ENERGY_SLOPE, i] = (rows[ENERGY_SLOPE, i] + energy_slope) * rows[INVERSE, i] * rows[SLOPE, i]
    rows[FX, i], rows[FY, i], rows[FZ, i] = fx, fy, fz


@jit
def radius_forces_of_place(i, listed, table, particles, neighbours):
    """Add the force due to the change of the radii."""
    rows = table.rows
    count, low, high = extent(i, listed, particles, neighbours)
    places, fx, fy, fz = neighbours.places[i if listed else 0], rows[FX, i], rows[FY, i], rows[FZ, i]
    for begin in range(0, count, BLOCK):
        end = min(begin + BLOCK, count)
        gx, gy, gz, near = distant_radius_forces(i, begin, end, listed, places, table, particles)
        fx, fy, fz = fx + gx, fy + gy, fz + gz
        if near > 0.0:
            gx, gy, gz = near_radius_forces(i, begin, end, listed, places, table, particles)
            fx, fy, fz = fx + gx, fy + gy, fz + gz
    for k in range(low, high):
        j = particles.place[neighbours.excluded[k]]
        gx, gy, gz, near = distant_radius_forces(i, j, j + 1, False, places, table, particles)
        hx, hy, hz = near_radius_forces(i, j, j + 1, False, places, table, particles)
        fx, fy, fz = fx + gx + hx, fy + gy + hy, fz + gz + hz
    rows[FX, i], rows[FY, i], rows[FZ, i] = fx, fy, fz


LISTED = False
"""Placeholder: whether there is a cutoff, so that partners are in lists."""


def born_forces(table, cell, particles, neighbours):
    """Add the forces."""
    n, rows = particles.fx.size, table.rows
    lost = arrange(table, particles)
    for i in prange(n):
        descreen_place(np.int64(i), LISTED, table, particles, neighbours)
    pad_for_coulomb(rows, n)
    for i in prange(n):
        coulomb_of_place(np.int64(i), LISTED, table, particles, neighbours)
    pad_for_radius_forces(rows, n)
    for i in prange(n):
        radius_forces_of_place(np.int64(i), LISTED, table, particles, neighbours)
    for i in range(n):
        particles.fx[i] += rows[FX, i] + lost
        particles.fy[i] += rows[FY, i] + lost
        particles.fz[i] += rows[FZ, i] + lost


def born_measure(table, cell, particles, neighbours, result):
    """Add energy and virial; the Laplacian is NaN because it is unknown."""
    n, rows, x, y, z = particles.fx.size, table.rows, particles.x, particles.y, particles.z
    lost = arrange(table, particles)
    for i in prange(n):
        descreen_place(np.int64(i), LISTED, table, particles, neighbours)
    pad_for_coulomb(rows, n)
    for i in prange(n):
        coulomb_of_place(np.int64(i), LISTED, table, particles, neighbours)
    pad_for_radius_forces(rows, n)
    for i in prange(n):
        radius_forces_of_place(np.int64(i), LISTED, table, particles, neighbours)
    result[LAPLACIAN] = np.nan
    # The forces sum to zero, so that the origin of the positions does not matter.
    for i in range(n):
        fx, fy, fz = rows[FX, i], rows[FY, i], rows[FZ, i]
        dx, dy, dz = x[i] - x[0], y[i] - y[0], z[i] - z[0]
        result[ENERGY] += rows[OWN, i] + lost
        result[W_XX] += fx * dx
        result[W_YY] += fy * dy
        result[W_ZZ] += fz * dz
        result[W_XY] += fx * dy
        result[W_XZ] += fx * dz
        result[W_YZ] += fy * dz


@cache
def compiled(listed: bool, parallel: bool) -> tuple[Any, Any]:
    """Return the two kernels: forces, and measures."""
    how = f"{'list' if listed else 'all'}_{'parallel' if parallel else 'serial'}"
    return (
        specialised(born_forces, f"born_forces_{how}", parallel=parallel, called="value", LISTED=listed),
        specialised(born_measure, f"born_measure_{how}", parallel=parallel, called="value", LISTED=listed),
    )
