"""Sums of one or two laws over pairs of sites: one loop, compiled for each combination of laws.

The loops below are templates. ``LAW`` and ``CHARGED_LAW`` are replaced by leaves. ``ONE_KIND`` tells whether all sites
are of one kind, so that parameters stay in registers. ``EVERYTHING`` tells whether there is neither cutoff nor image:
then nothing is listed, and excluded partners are gaps in the row of all sites.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import prange

from articulon.forces.sites.neighbours import padded
from articulon.forces.sites.packed_sums import far_neighbour, fetch_row, no_law, packed_kernel
from articulon.forces.sites.prefetching import prefetch
from articulon.forces.sites.site_tables import (
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
from articulon.kernel_variants import specialised
from articulon.kernels import jit, prepare

LIMIT = 1e150
"""Square of a cutoff that replaces an infinite one, so that the padding place lies beyond it."""
LANES_OF = {"gather": 0, "packed-4": 4, "packed-8": 8}
"""Loops over listed pairs, and the number of neighbours that each evaluates together; 0 if each coordinate is
gathered."""
PARALLEL_SITES = 2000
"""Smallest number of sites that are distributed over threads."""
PARALLEL_ALL = 400
"""Smallest number of sites that are distributed over threads if all pairs interact."""


LAW = CHARGED_LAW = no_law
ONE_KIND = CHARGED = EVERYTHING = False


@jit
def near(r2, rows, t, i, j):
    """Whether a pair is within the cutoff."""
    return r2 < rows[t, 0]


@jit
def other(r2, rows, t, i, j):
    """Whether two sites form a pair, if nothing is listed."""
    return np.int64(i) != np.int64(j)


WITHIN = near


@jit
def gaps(neighbours, i, everything):
    """Return the first excluded partner of a site, and their number, if nothing is listed."""
    if not everything:
        return 0, 0
    first = neighbours.excluded_start[i]
    return first, neighbours.excluded_start[i + 1] - first


@jit
def run_end(neighbours, i, everything, first, gap, count, n):
    """Return the end of a run of partners: the next excluded one, or the last partner."""
    if not everything:
        return padded(neighbours, i)
    return neighbours.excluded[first + gap] if gap < count else n


@jit
def fetch_ahead(particles, neighbours, i):
    """Prefetch the data that the loop will read for a site some places ahead."""
    fetch_row(neighbours, i)
    for k in range(2):
        j = far_neighbour(neighbours, i, k)
        prefetch(particles.x, j)
        prefetch(particles.y, j)
        prefetch(particles.z, j)


def pair_forces(table, cell, particles, neighbours):
    """Add −Σ_j ∇U(r_ij) over the neighbours, or over all other sites if nothing is listed."""
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    rows, second = table.rows, table.rows[:, int(table.constants[0]) :]
    kinds, coulomb = int(table.constants[1]), table.constants[2]
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    n = fx.size
    for i in prange(n):
        ax, ay, az = 0.0, 0.0, 0.0
        xi, yi, zi, first, q = x[i], y[i], z[i], kinds * np.int64(kind[i]), coulomb * charge[i]
        row = neighbours.places[0 if EVERYTHING else i]
        if not EVERYTHING:
            fetch_ahead(particles, neighbours, np.int64(i))
        begin, (start, count) = 0, gaps(neighbours, np.int64(i), EVERYTHING)
        for gap in range(count + 1):
            end = run_end(neighbours, np.int64(i), EVERYTHING, start, gap, count, n)
            for k in range(begin, end):  # a vector loop
                j = np.uint64(k) if EVERYTHING else row[k]  # unsigned, because it is never negative
                dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
                r2 = dx * dx + dy * dy + dz * dz
                t = 0 if ONE_KIND else first + np.int64(kind[j])
                qq = q * charge[j] if CHARGED else 0.0
                g = LAW(r2, rows, t, qq)[1]
                g = g if WITHIN(r2, rows, t, i, j) else 0.0
                if CHARGED:
                    h = CHARGED_LAW(r2, second, t, qq)[1]
                    g += h if WITHIN(r2, second, t, i, j) else 0.0
                ax += g * dx
                ay += g * dy
                az += g * dz
            begin = end + 1
        fx[i] += ax
        fy[i] += ay
        fz[i] += az


def pair_measure(table, cell, particles, neighbours, result):
    """Add the measures of the pairs of :func:`pair_forces`; each pair is visited twice."""
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    rows, second = table.rows, table.rows[:, int(table.constants[0]) :]
    kinds, coulomb = int(table.constants[1]), table.constants[2]
    n = particles.fx.size
    for i in range(n):
        e, xx, yy, zz, xy, xz, yz, lap = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        xi, yi, zi, first, q = x[i], y[i], z[i], kinds * np.int64(kind[i]), coulomb * charge[i]
        row = neighbours.places[0 if EVERYTHING else i]
        begin, (start, count) = 0, gaps(neighbours, i, EVERYTHING)
        for gap in range(count + 1):
            end = run_end(neighbours, i, EVERYTHING, start, gap, count, n)
            for k in range(begin, end):
                j = np.uint64(k) if EVERYTHING else row[k]  # unsigned, because it is never negative
                dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
                r2 = dx * dx + dy * dy + dz * dz
                t = 0 if ONE_KIND else first + np.int64(kind[j])
                qq = q * charge[j] if CHARGED else 0.0
                u, g, v = LAW(r2, rows, t, qq)
                cut = WITHIN(r2, rows, t, i, j)
                u, g, v = u if cut else 0.0, g if cut else 0.0, v if cut else 0.0
                if CHARGED:
                    u2, g2, v2 = CHARGED_LAW(r2, second, t, qq)
                    cut = WITHIN(r2, second, t, i, j)
                    u, g, v = u + (u2 if cut else 0.0), g + (g2 if cut else 0.0), v + (v2 if cut else 0.0)
                e += u
                lap += v
                xx += g * dx * dx
                yy += g * dy * dy
                zz += g * dz * dz
                xy += g * dx * dy
                xz += g * dx * dz
                yz += g * dy * dz
            begin = end + 1
        result[ENERGY] += 0.5 * e
        result[W_XX] += 0.5 * xx
        result[W_YY] += 0.5 * yy
        result[W_ZZ] += 0.5 * zz
        result[W_XY] += 0.5 * xy
        result[W_XZ] += 0.5 * xz
        result[W_YZ] += 0.5 * yz
        result[LAPLACIAN] += lap


class Combination(NamedTuple):
    """Laws that share a loop, and properties that hold for all pairs."""

    names: tuple[str, ...]
    """Names of the two laws, the second one of charges; ``"none"`` for an absent one."""
    laws: tuple[Any, ...]
    """Leaves of the laws, or None."""
    one_kind: bool
    """Whether all sites are of one kind."""
    everything: bool
    """Whether nothing is listed."""
    by_kind: bool = False
    """Whether lists are by kind; only loops over several neighbours at a time support this."""

    @property
    def label(self) -> str:
        """Label that identifies its kernels."""
        one_kind = "_one_kind" if self.one_kind else ""
        return f"{'all' if self.everything else 'list'}_{self.names[0]}_{self.names[1]}{one_kind}"

    @property
    def cached(self) -> bool:
        """Whether the compiled code is cached: not for a user's law."""
        return not any(name.startswith("user-pair") for name in self.names)

    @property
    def stand_ins(self) -> dict[str, Any]:
        """Values of the names in the templates."""
        return {
            "LAW": self.laws[0] or no_law,
            "CHARGED_LAW": self.laws[1] or no_law,
            "CHARGED": self.laws[1] is not None,
            "ONE_KIND": self.one_kind,
            "EVERYTHING": self.everything,
            "WITHIN": other if self.everything else near,
            "cached": self.cached,
        }


@cache
def forces_kernel(laws: Combination, parallel: bool, lanes: int) -> Any:
    """Return the kernel of the forces, ready to be passed to other kernels. It evaluates ``lanes`` neighbours together
    (``packed_sums.py``); with ``lanes`` 0 it gathers the coordinates of each neighbour."""
    if lanes:
        label = f"{laws.label}{'_by_kind' if laws.by_kind else ''}"
        kernel = packed_kernel(label, laws.laws, lanes, parallel, laws.cached, laws.one_kind, laws.by_kind)
    else:
        name = f"forces_{'parallel' if parallel else 'serial'}_{laws.label}"
        kernel = specialised(pair_forces, name, parallel=parallel, called="value", **laws.stand_ins)
    return prepare(kernel, FORCES)


@cache
def measure_kernel(laws: Combination) -> Any:
    """Return the kernel of the measures, ready to be passed to other kernels."""
    return prepare(specialised(pair_measure, f"measure_{laws.label}", called="value", **laws.stand_ins), MEASURE)


def pair_table(plain: np.ndarray, charged: np.ndarray, coulomb: float) -> SiteTable:
    """Return the table of a loop over two laws, from the rows of each (kinds², width)."""
    both = np.concatenate([plain, charged], axis=1)
    for column in (0, plain.shape[1]):
        both[:, column] = np.minimum(both[:, column], LIMIT)
    kinds = float(round(both.shape[0] ** 0.5))
    constants = np.array([float(plain.shape[1]), kinds, coulomb])
    return SiteTable(np.ascontiguousarray(both), np.zeros((0, 4), dtype=np.int64), constants)


def no_rows(kinds: int) -> np.ndarray:
    """Rows of an absent law."""
    return np.full((kinds * kinds, 1), -1.0)
