"""What takes excluded pairs out of the reciprocal part of an Ewald sum."""

import math

import numpy as np

from articulon.forces.sites.exclusions import exclusion_table as partners_of
from articulon.forces.sites.images import minimum_image
from articulon.forces.sites.tables import ENERGY, LAPLACIAN, W_XX, W_XY, W_XZ, W_YY, W_YZ, W_ZZ, SiteTable
from articulon.kernels import jit, kernel
from articulon.model import Model

_NEAR = 0.5
"""αr below which the series is used."""


def exclusion_table(model: Model, damping: float, constant: float) -> SiteTable:
    """Pairs of charges that do not interact, with −C/ε_r and α."""
    charge = model.sites.charge
    pairs = excluded_pairs(model)
    pairs = pairs[(charge[pairs[:, 0]] != 0.0) & (charge[pairs[:, 1]] != 0.0)]
    members = np.full((len(pairs), 4), -1, dtype=np.int64)
    members[:, :2] = pairs
    return SiteTable(np.zeros((0, 1)), members, np.array([-constant, damping]))


def excluded_pairs(model: Model) -> np.ndarray:
    """Pairs of sites that do not interact, smaller first, shape (pairs, 2)."""
    start, partners = partners_of(model)
    first = np.repeat(np.arange(start.size - 1), np.diff(start))
    once = first < partners
    return np.stack([first[once], partners[once]], axis=1)


@jit
def smooth_coulomb(r2, alpha):
    """erf(αr)/r; returns (U, −U'(r)/r, U'' + 2U'/r), to the last digits at any distance."""
    x2 = alpha * alpha * r2
    gauss = 2.0 * alpha / math.sqrt(math.pi) * math.exp(-x2)
    if x2 < _NEAR * _NEAR:
        # Series of Boys' functions exp(−x²) Σ (2x²)^i / ((2m + 1)(2m + 3) ... (2m + 2i + 1)) for m = 0 and 1.
        zeroth, first = 1.0, 1.0 / 3.0
        term0, term1 = 1.0, 1.0 / 3.0
        for i in range(1, 14):
            term0 *= 2.0 * x2 / (2 * i + 1)
            term1 *= 2.0 * x2 / (2 * i + 3)
            zeroth += term0
            first += term1
        return gauss * zeroth, 2.0 * alpha * alpha * gauss * first, -2.0 * alpha * alpha * gauss
    r = math.sqrt(r2)
    U = math.erf(alpha * r) / r
    return U, (U - gauss) / r2, -2.0 * alpha * alpha * gauss


@jit
def _pair(table, cell, particles, k):
    i, j = particles.place[table.members[k, 0]], particles.place[table.members[k, 1]]
    dx, dy, dz = particles.x[i] - particles.x[j], particles.y[i] - particles.y[j], particles.z[i] - particles.z[j]
    dx, dy, dz = minimum_image(cell, dx, dy, dz)
    q = table.constants[0] * particles.charge[i] * particles.charge[j]
    return i, j, q, dx, dy, dz


@kernel
def exclusion_forces(table, cell, particles, neighbours):
    """Adds the forces of −q_i q_j erf(αr)/r to both sites of each pair."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for k in range(table.members.shape[0]):
        i, j, q, dx, dy, dz = _pair(table, cell, particles, k)
        g = q * smooth_coulomb(dx * dx + dy * dy + dz * dz, table.constants[1])[1]
        fx[i] += g * dx
        fy[i] += g * dy
        fz[i] += g * dz
        fx[j] -= g * dx
        fy[j] -= g * dy
        fz[j] -= g * dz


@kernel
def exclusion_measure(table, cell, particles, neighbours, result):
    """Adds their measures."""
    for k in range(table.members.shape[0]):
        _, _, q, dx, dy, dz = _pair(table, cell, particles, k)
        U, g, lap = smooth_coulomb(dx * dx + dy * dy + dz * dz, table.constants[1])
        result[ENERGY] += q * U
        result[W_XX] += q * g * dx * dx
        result[W_YY] += q * g * dy * dy
        result[W_ZZ] += q * g * dz * dz
        result[W_XY] += q * g * dx * dy
        result[W_XZ] += q * g * dx * dz
        result[W_YZ] += q * g * dy * dz
        result[LAPLACIAN] += 2.0 * q * lap
