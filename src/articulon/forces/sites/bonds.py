"""Bonds between two sites."""

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.errors import ModelError
from articulon.forces.sites.bonded_derivatives import bond_passes
from articulon.forces.sites.listed_members import add_virial, member_table, refuse_twins, separations
from articulon.forces.sites.nearest_images import minimum_image
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.kernel_variants import specialised
from articulon.kernels import jit
from articulon.model import Model

Bonds = Annotated[tuple[tuple[Whole, Whole], ...], Field(min_length=1)]


class HarmonicBonds(Declaration):
    """U = ½ k (r − r₀)² for each bond, with r the distance between two sites."""

    positional: ClassVar[tuple[str, ...]] = ("bonds",)
    kind: Literal["harmonic-bonds"] = "harmonic-bonds"
    bonds: Bonds
    """Pairs of sites, by index."""
    stiffness: Annotated[Quantity | tuple[Quantity, ...], Dimension("stiffness", minimum=0)]
    """k, one number for all bonds or one for each [energy/length²]."""
    length: Annotated[Quantity | tuple[Quantity, ...], Dimension("length", minimum=0)]
    """r₀, one number for all bonds or one for each [length]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, parameters that do not match, and bonds listed twice."""
        self.table(model, where)
        refuse_twins(model, where, self, "bonds")

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k, r₀) for each bond."""
        return member_table(model, f"{where}.bonds", self.bonds, stiffness=self.stiffness, length=self.length)

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the bonds as terms of the site forces."""
        return [SumTerm(harmonic_forces, harmonic_measure, self.table(model, self.kind), derivatives=HARMONIC)]


class FeneBonds(Declaration):
    """U = −½ k R₀² ln(1 − (r/R₀)²) for each bond, whose length stays below R₀ (Kremer and Grest, J. Chem. Phys. 92,
    5057, 1990).

    With ``epsilon``, the two sites also repel each other by 4ε[(σ/r)¹² − (σ/r)⁶] + ε up to 2^{1/6}σ; then exclude the
    pair from the forces between all sites (``bonds_apart = 1`` of the exclusions).
    """

    positional: ClassVar[tuple[str, ...]] = ("bonds",)
    kind: Literal["fene-bonds"] = "fene-bonds"
    not_differentiated: ClassVar[tuple[str, ...]] = ("extent",)
    curved: ClassVar[tuple[str, ...]] = ("sigma",)
    bonds: Bonds
    """Pairs of sites, by index."""
    stiffness: Annotated[Quantity | tuple[Quantity, ...], Dimension("stiffness", minimum=0)]
    """k, one number for all bonds or one for each [energy/length²]."""
    extent: Annotated[Quantity | tuple[Quantity, ...], Dimension("length", minimum=0, exclusive=True)]
    """R₀, one number for all bonds or one for each [length]."""
    epsilon: Annotated[Quantity | tuple[Quantity, ...], Dimension("energy", minimum=0)] = 0.0
    """ε, one number for all bonds or one for each [energy]."""
    sigma: Annotated[Quantity | tuple[Quantity, ...] | None, Dimension("length", minimum=0, exclusive=True)] = None
    """σ, one number for all bonds or one for each [length]."""

    @model_validator(mode="after")
    def _both(self) -> Self:
        if self.epsilon != 0.0 and self.sigma is None:
            raise ValueError("epsilon needs sigma")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, parameters that do not match the bonds, bonds listed twice,
        and a bond that is longer than its extent at the start."""
        table = self.table(model, where)
        refuse_twins(model, where, self, "bonds")
        distance, extent = separations(model, table.members), np.sqrt(table.rows[:, 1])
        for k in np.flatnonzero(distance >= extent).tolist():
            raise ModelError(
                f"{where}.bonds[{k}]: sites {self.bonds[k][0]} and {self.bonds[k][1]} are {distance[k]:.6g} apart "
                f"at the start, beyond the extent {extent[k]:.6g} of their bond; move them closer, or choose a larger "
                "extent"
            )

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k, R₀², 4εσ¹², 4εσ⁶, ε, squared cutoff of the repulsion) for each bond."""
        sigma = 0.0 if self.sigma is None else self.sigma
        given = {"stiffness": self.stiffness, "extent": self.extent, "epsilon": self.epsilon, "sigma": sigma}
        table = member_table(model, f"{where}.bonds", self.bonds, **given)
        k, extent, epsilon, sigma = table.rows.T
        end = np.where(epsilon > 0.0, np.cbrt(2.0) * sigma**2, 0.0)
        columns = (k, extent**2, 4.0 * epsilon * sigma**12, 4.0 * epsilon * sigma**6, epsilon, end)
        return table._replace(rows=np.ascontiguousarray(np.stack(columns, axis=1)))

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the bonds as terms of the site forces."""
        return [SumTerm(fene_forces, fene_measure, self.table(model, self.kind), derivatives=FENE)]


@jit
def harmonic(r2, rows, m):
    """½ k (r − r₀)²: U, −U'/r and U'' + 2U'/r."""
    k, r = rows[m, 0], np.sqrt(r2)
    stretch = r - rows[m, 1]
    g = -k * stretch / r
    return 0.5 * k * stretch * stretch, g, k - 2.0 * g


@jit
def fene(r2, rows, m):
    """−½ k R₀² ln(1 − (r/R₀)²) and the repulsion; NaN for r ≥ R₀, where the energy is not defined."""
    k, x2 = rows[m, 0], r2 / rows[m, 1]
    rest = 1.0 - x2
    rest = np.nan if rest <= 0.0 else rest
    U, g = -0.5 * k * rows[m, 1] * np.log(rest), -k / rest
    laplacian = k * (1.0 + x2) / (rest * rest) - 2.0 * g
    if r2 < rows[m, 5]:
        A, B, inverse2 = rows[m, 2], rows[m, 3], 1.0 / r2
        inverse6 = inverse2 * inverse2 * inverse2
        U += (A * inverse6 - B) * inverse6 + rows[m, 4]
        g += (12.0 * A * inverse6 - 6.0 * B) * inverse6 * inverse2
        laplacian += (132.0 * A * inverse6 - 30.0 * B) * inverse6 * inverse2
    return U, g, laplacian


BOND = harmonic
"""Placeholder for the law of a bond in the loops below."""


def bond_forces(table, cell, particles, neighbours):
    """Add −∇U of each bond to its two sites."""
    x, y, z, place = particles.x, particles.y, particles.z, particles.place
    fx, fy, fz, rows, members = particles.fx, particles.fy, particles.fz, table.rows, table.members
    for m in range(members.shape[0]):
        i, j = place[members[m, 0]], place[members[m, 1]]
        dx, dy, dz = minimum_image(cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])
        g = BOND(dx * dx + dy * dy + dz * dz, rows, m)[1]
        fx[i] += g * dx
        fy[i] += g * dy
        fz[i] += g * dz
        fx[j] -= g * dx
        fy[j] -= g * dy
        fz[j] -= g * dz


def bond_measure(table, cell, particles, neighbours, result):
    """Add energy, virial and Laplacian of each bond."""
    x, y, z, place, rows, members = particles.x, particles.y, particles.z, particles.place, table.rows, table.members
    for m in range(members.shape[0]):
        i, j = place[members[m, 0]], place[members[m, 1]]
        dx, dy, dz = minimum_image(cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])
        U, g, laplacian = BOND(dx * dx + dy * dy + dz * dz, rows, m)
        result[ENERGY] += U
        result[LAPLACIAN] += 2.0 * laplacian
        add_virial(result, g * dx, g * dy, g * dz, dx, dy, dz)


harmonic_forces = specialised(bond_forces, "harmonic_bond_forces", called="value", BOND=harmonic)
harmonic_measure = specialised(bond_measure, "harmonic_bond_measure", called="value", BOND=harmonic)
fene_forces = specialised(bond_forces, "fene_bond_forces", called="value", BOND=fene)
fene_measure = specialised(bond_measure, "fene_bond_measure", called="value", BOND=fene)
HARMONIC = bond_passes("harmonic", harmonic, 0, 1)
FENE = bond_passes("fene", fene, 0, 2, 3)
