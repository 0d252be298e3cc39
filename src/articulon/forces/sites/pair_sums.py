"""Sums of a law, or of two, over pairs of sites: one loop, compiled for each combination of laws.

The loops below are templates: ``LAW`` and ``CHARGED_LAW`` stand for leaves, ``ONE_KIND`` for whether all sites are of
one kind, so that parameters stay in registers.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.sites.neighbours import VECTOR
from articulon.forces.sites.tables import (
    ENERGY,
    FORCES,
    LAPLACIAN,
    MEASURE,
    W_XX,
    W_XY,
    W_XZ,
    W_YY,
    W_YZ,
    W_ZZ,
    SiteTable,
)
from articulon.kernels import jit, prepare, specialised

LIMIT = 1e150
"""What stands for the square of an infinite cutoff, so that the place far away lies beyond it."""
PARALLEL_SITES = 2000
"""From this number of sites on, the threads share them."""


@jit
def no_law(r2, rows, k, charges):
    """Nothing."""
    return 0.0, 0.0, 0.0


LAW = CHARGED_LAW = no_law
ONE_KIND = CHARGED = False


def list_forces(table, cell, particles, neighbours):
    """Adds −Σ_j ∇U(r_ij) over the listed neighbours."""
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    rows, second = table.rows, table.rows[:, int(table.constants[0]) :]
    kinds, coulomb = int(table.constants[1]), table.constants[2]
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for i in prange(fx.size):
        ax, ay, az = 0.0, 0.0, 0.0
        xi, yi, zi, first, q = x[i], y[i], z[i], kinds * np.int64(kind[i]), coulomb * charge[i]
        row = neighbours.places[i]
        for k in range((neighbours.number[i] + VECTOR - 1) // VECTOR * VECTOR):  # a vector loop
            j = row[k]
            dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
            r2 = dx * dx + dy * dy + dz * dz
            t = 0 if ONE_KIND else first + np.int64(kind[j])
            qq = q * charge[j] if CHARGED else 0.0
            g = LAW(r2, rows, t, qq)[1]
            g = g if r2 < rows[t, 0] else 0.0
            if CHARGED:
                h = CHARGED_LAW(r2, second, t, qq)[1]
                g += h if r2 < second[t, 0] else 0.0
            ax += g * dx
            ay += g * dy
            az += g * dz
        fx[i] += ax
        fy[i] += ay
        fz[i] += az


def list_measure(table, cell, particles, neighbours, result):
    """Adds the measures of the listed pairs, each of which stands in two lists."""
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    rows, second = table.rows, table.rows[:, int(table.constants[0]) :]
    kinds, coulomb = int(table.constants[1]), table.constants[2]
    for i in range(particles.fx.size):
        e, xx, yy, zz, xy, xz, yz, lap = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        xi, yi, zi, first, q = x[i], y[i], z[i], kinds * np.int64(kind[i]), coulomb * charge[i]
        row = neighbours.places[i]
        for k in range((neighbours.number[i] + VECTOR - 1) // VECTOR * VECTOR):
            j = row[k]
            dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
            r2 = dx * dx + dy * dy + dz * dz
            t = 0 if ONE_KIND else first + np.int64(kind[j])
            qq = q * charge[j] if CHARGED else 0.0
            u, g, v = LAW(r2, rows, t, qq)
            inside = r2 < rows[t, 0]
            u, g, v = u if inside else 0.0, g if inside else 0.0, v if inside else 0.0
            if CHARGED:
                u2, g2, v2 = CHARGED_LAW(r2, second, t, qq)
                inside = r2 < second[t, 0]
                u += u2 if inside else 0.0
                g += g2 if inside else 0.0
                v += v2 if inside else 0.0
            e += u
            lap += v
            xx += g * dx * dx
            yy += g * dy * dy
            zz += g * dz * dz
            xy += g * dx * dy
            xz += g * dx * dz
            yz += g * dy * dz
        result[ENERGY] += 0.5 * e
        result[W_XX] += 0.5 * xx
        result[W_YY] += 0.5 * yy
        result[W_ZZ] += 0.5 * zz
        result[W_XY] += 0.5 * xy
        result[W_XZ] += 0.5 * xz
        result[W_YZ] += 0.5 * yz
        result[LAPLACIAN] += lap


def all_forces(table, cell, particles, neighbours):
    """The same over all other sites, where there is no cutoff, no image and nothing is excluded."""
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    rows, second = table.rows, table.rows[:, int(table.constants[0]) :]
    kinds, coulomb = int(table.constants[1]), table.constants[2]
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    n = fx.size
    for i in prange(n):
        ax, ay, az = 0.0, 0.0, 0.0
        xi, yi, zi, first, q = x[i], y[i], z[i], kinds * np.int64(kind[i]), coulomb * charge[i]
        for j in range(n):  # a vector loop
            dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
            r2 = dx * dx + dy * dy + dz * dz
            t = 0 if ONE_KIND else first + np.int64(kind[j])
            qq = q * charge[j] if CHARGED else 0.0
            g = LAW(r2, rows, t, qq)[1]
            if CHARGED:
                g += CHARGED_LAW(r2, second, t, qq)[1]
            g = g if i != j else 0.0
            ax += g * dx
            ay += g * dy
            az += g * dz
        fx[i] += ax
        fy[i] += ay
        fz[i] += az


def all_measure(table, cell, particles, neighbours, result):
    """Likewise."""
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    rows, second = table.rows, table.rows[:, int(table.constants[0]) :]
    kinds, coulomb = int(table.constants[1]), table.constants[2]
    n = particles.fx.size
    for i in range(n):
        e, xx, yy, zz, xy, xz, yz, lap = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        xi, yi, zi, first, q = x[i], y[i], z[i], kinds * np.int64(kind[i]), coulomb * charge[i]
        for j in range(n):
            dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
            r2 = dx * dx + dy * dy + dz * dz
            t = 0 if ONE_KIND else first + np.int64(kind[j])
            qq = q * charge[j] if CHARGED else 0.0
            u, g, v = LAW(r2, rows, t, qq)
            if CHARGED:
                u2, g2, v2 = CHARGED_LAW(r2, second, t, qq)
                u, g, v = u + u2, g + g2, v + v2
            other = i != j
            u, g, v = u if other else 0.0, g if other else 0.0, v if other else 0.0
            e += u
            lap += v
            xx += g * dx * dx
            yy += g * dy * dy
            zz += g * dz * dz
            xy += g * dx * dy
            xz += g * dx * dz
            yz += g * dy * dz
        result[ENERGY] += 0.5 * e
        result[W_XX] += 0.5 * xx
        result[W_YY] += 0.5 * yy
        result[W_ZZ] += 0.5 * zz
        result[W_XY] += 0.5 * xy
        result[W_XZ] += 0.5 * xz
        result[W_YZ] += 0.5 * yz
        result[LAPLACIAN] += lap


@cache
def compiled(names: tuple[str, str], laws: tuple[Any, Any], one_kind: bool, everything: bool, parallel: bool) -> Any:
    """The two kernels of a combination of laws, ready to be handed to others: forces, and measures."""
    charged = laws[1] is not None
    label = f"{'all' if everything else 'list'}_{names[0]}_{names[1]}{'_one_kind' if one_kind else ''}"
    stand_ins = {
        "LAW": laws[0] or no_law,
        "CHARGED_LAW": laws[1] or no_law,
        "CHARGED": charged,
        "ONE_KIND": one_kind,
        "cached": not any(name.startswith("user-pair") for name in names),
    }
    forces, measure = (all_forces, all_measure) if everything else (list_forces, list_measure)
    how = "parallel" if parallel else "serial"
    return (
        prepare(specialised(forces, f"forces_{how}_{label}", parallel=parallel, **stand_ins), FORCES),
        prepare(specialised(measure, f"measure_{label}", **stand_ins), MEASURE),
    )


def pair_table(plain: np.ndarray, charged: np.ndarray, coulomb: float) -> SiteTable:
    """The table of a loop over two laws, from the rows of each (kinds², width)."""
    both = np.concatenate([plain, charged], axis=1)
    for column in (0, plain.shape[1]):
        both[:, column] = np.minimum(both[:, column], LIMIT)
    kinds = float(round(both.shape[0] ** 0.5))
    constants = np.array([float(plain.shape[1]), kinds, coulomb])
    return SiteTable(np.ascontiguousarray(both), np.zeros((0, 4), dtype=np.int64), constants)


def no_rows(kinds: int) -> np.ndarray:
    """Rows of no law."""
    return np.full((kinds * kinds, 1), -1.0)
