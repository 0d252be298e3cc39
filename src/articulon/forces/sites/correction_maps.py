"""Correction maps: tabulated energies of two dihedral angles (CMAP)."""

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from articulon.algebra.vectors import add, dot, scale
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.errors import ModelError
from articulon.forces.sites.dihedrals import dihedral
from articulon.forces.sites.listed_members import add_virial, member_table
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.kernels import jit, kernel
from articulon.model import Model

Four = tuple[Whole, Whole, Whole, Whole]
SMALLEST = 4
"""Smallest number of angles of a map in each direction."""
# Coefficients of Σ a_kl t^k u^l on a cell of unit edges are H (values and derivatives at its corners) Hᵀ.
_HERMITE = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [-3, 3, -2, -1], [2, -2, 1, 1]], dtype=float)


class CorrectionMaps(Declaration):
    """U = M(φ, ψ) for pairs of dihedral angles, with M a map of energies on a grid (MacKerell, Feig and Brooks, J.
    Comput. Chem. 25, 1400, 2004): between the grid points it is bicubic, with the slopes of periodic cubic splines, as
    in CHARMM and OpenMM."""

    kind: Literal["correction-maps"] = "correction-maps"
    maps: Annotated[tuple[tuple[tuple[Quantity, ...], ...], ...], Field(min_length=1), Dimension("energy")]
    """Square tables of energies: row i and column j at φ = 2πi/n and ψ = 2πj/n [energy]."""
    first: Annotated[tuple[Four, ...], Field(min_length=1)]
    """Four sites of each φ, by index."""
    second: tuple[Four, ...]
    """Four sites of each ψ, by index."""
    map: tuple[Annotated[Whole, Field(ge=0)], ...]
    """Index of the map for each pair of angles, from 0."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites and maps that do not exist, maps that are not square, and lengths that differ."""
        self.table(model, where)

    def table(self, model: Model, where: str) -> SiteTable:
        """Return 16 coefficients for each cell of each map, one per row; two rows of members for each pair of angles;
        and the first row and the size of the map of each pair."""
        count = len(self.first)
        for key in ("second", "map"):
            if len(getattr(self, key)) != count:
                raise ModelError(f"{where}.{key}: give {count}, one for each of {where}.first")
        grids = []
        for k, given in enumerate(self.maps):
            size = len(given)
            if size < SMALLEST or any(len(row) != size for row in given):
                raise ModelError(f"{where}.maps[{k}]: a map is square, of at least {SMALLEST} angles each way")
            grids.append(np.array(given, dtype=np.float64))
        outside = [k for k, chosen in enumerate(self.map) if chosen >= len(grids)]
        if outside:
            raise ModelError(
                f"{where}.map[{outside[0]}]: there is no map {self.map[outside[0]]}; there are {len(grids)}"
            )
        first = member_table(model, f"{where}.first", self.first, none=0.0)
        second = member_table(model, f"{where}.second", self.second, none=0.0)
        members = np.stack([first.members, second.members], axis=1).reshape(-1, 4)
        starts = np.cumsum([0, *(len(grid) ** 2 for grid in grids)])
        constants = np.array([[starts[k], len(grids[k])] for k in self.map], dtype=np.float64)
        rows = np.concatenate([patches(grid) for grid in grids])
        return SiteTable(rows, np.ascontiguousarray(members), constants.ravel())

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the maps as terms of the site forces."""
        return [SumTerm(map_forces, map_measure, self.table(model, self.kind))]


def patches(grid: np.ndarray) -> np.ndarray:
    """Coefficients of the cells of a periodic map (n, n), shape (n², 16). The coefficient of t^k u^l is at 4k + l, with
    t and u from 0 to 1 across a cell."""
    from scipy.interpolate import CubicSpline

    def slope(values: np.ndarray, axis: int) -> np.ndarray:
        n = values.shape[axis]
        closed = np.concatenate([values, np.take(values, [0], axis=axis)], axis=axis)
        spline = CubicSpline(np.arange(n + 1), closed, axis=axis, bc_type="periodic")
        return np.asarray(spline(np.arange(n), 1))

    along, across = slope(grid, 0), slope(grid, 1)
    both, n = slope(along, 1), len(grid)
    corners = np.zeros((n, n, 4, 4))
    for a in (0, 1):
        for b in (0, 1):
            for k, values in enumerate((grid, across, along, both)):
                moved = np.roll(values, (-a, -b), axis=(0, 1))
                corners[:, :, a + 2 * (k // 2), b + 2 * (k % 2)] = moved
    return np.ascontiguousarray((_HERMITE @ corners @ _HERMITE.T).reshape(n * n, 16))


@jit
def cell_place(angle, size):
    """Cell of an angle, and position in the cell from 0 to 1; NaN propagates."""
    turn = angle * (0.5 / math.pi)
    turn = (turn - math.floor(turn)) * size
    inside = turn == turn
    k = int(turn) if inside else 0
    k = min(k, size - 1)
    return k, turn - k


@jit
def corrected(table, m, phi, psi):
    """Return U, its two slopes, and its three curvatures (φφ, ψψ, φψ)."""
    start, size, rows = int(table.constants[2 * m]), int(table.constants[2 * m + 1]), table.rows
    i, t = cell_place(phi, size)
    j, u = cell_place(psi, size)
    cell = start + i * size + j
    U, first, second, one, two, mixed = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3, -1, -1):
        a, b, c, d = rows[cell, 4 * k], rows[cell, 4 * k + 1], rows[cell, 4 * k + 2], rows[cell, 4 * k + 3]
        value, slope = ((d * u + c) * u + b) * u + a, (3.0 * d * u + 2.0 * c) * u + b
        one = one * t + 2.0 * first
        first = first * t + U
        U = U * t + value
        mixed = mixed * t + second
        second = second * t + slope
        two = two * t + (6.0 * d * u + 2.0 * c)
    per = size * (0.5 / math.pi)
    return U, per * first, per * second, per * per * one, per * per * two, per * per * mixed


@kernel(called="value")
def map_forces(table, cell, particles, neighbours):
    """Add −∇U of each pair of angles to its sites."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for m in range(table.members.shape[0] // 2):
        one, _, phi, by_phi = dihedral(table, cell, particles, 2 * m)
        two, _, psi, by_psi = dihedral(table, cell, particles, 2 * m + 1)
        _, first, second, _, _, _ = corrected(table, m, phi, psi)
        for s in range(4):
            p, g = one[s], by_phi[s]
            fx[p] -= first * g[0]
            fy[p] -= first * g[1]
            fz[p] -= first * g[2]
            p, g = two[s], by_psi[s]
            fx[p] -= second * g[0]
            fy[p] -= second * g[1]
            fz[p] -= second * g[2]


@jit
def add_dihedral_virial(result, slope, bonds, gradients):
    """Add the virial of an angle with U' = ``slope``; the positions of three sites are relative to the second."""
    b1, b2, b3 = bonds
    first, _, third, last = gradients
    end = add(b2, b3)
    add_virial(result, *scale(slope, first), *b1)
    add_virial(result, *scale(-slope, third), *b2)
    add_virial(result, *scale(-slope, last), *end)


@kernel(called="value")
def map_measure(table, cell, particles, neighbours, result):
    """Add energy, virial and Laplacian of each pair of angles; sites that belong to both angles contribute to the mixed
    part."""
    for m in range(table.members.shape[0] // 2):
        one, bonds, phi, by_phi = dihedral(table, cell, particles, 2 * m)
        two, others, psi, by_psi = dihedral(table, cell, particles, 2 * m + 1)
        U, first, second, along, across, mixed = corrected(table, m, phi, psi)
        result[ENERGY] += U
        add_dihedral_virial(result, first, bonds, by_phi)
        add_dihedral_virial(result, second, others, by_psi)
        for s in range(4):
            result[LAPLACIAN] += along * dot(by_phi[s], by_phi[s]) + across * dot(by_psi[s], by_psi[s])
            for t in range(4):
                if one[s] == two[t]:
                    result[LAPLACIAN] += 2.0 * mixed * dot(by_phi[s], by_psi[t])
