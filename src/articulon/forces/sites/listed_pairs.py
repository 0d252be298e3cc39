"""Pairs of sites with parameters of their own."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from articulon.declaration import Declaration, Dimension, Number, Quantity, Whole
from articulon.forces.sites import bonds
from articulon.forces.sites.bonded_derivatives import bond_passes
from articulon.forces.sites.laws.lennard_jones import lennard_jones
from articulon.forces.sites.listed_members import member_table, refuse_twins
from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.kernel_variants import specialised
from articulon.kernels import jit
from articulon.model import Model


class ListedPairs(Declaration):
    """U = 4ε[(σ/r)¹² − (σ/r)⁶] + C q/r of each listed pair, without a cutoff, with C Coulomb's constant and q a product
    of charges: the terms that force fields define for pairs three bonds apart.

    The pairs also take part in the forces between all sites, unless exclusions remove them.
    """

    positional: ClassVar[tuple[str, ...]] = ("pairs",)
    kind: Literal["listed-pairs"] = "listed-pairs"
    curved: ClassVar[tuple[str, ...]] = ("sigma",)
    pairs: Annotated[tuple[tuple[Whole, Whole], ...], Field(min_length=1)]
    """Pairs of sites, by index."""
    epsilon: Annotated[Quantity | tuple[Quantity, ...], Dimension("energy", minimum=0)] = 0.0
    """ε, one for all or one each [energy]."""
    sigma: Annotated[Quantity | tuple[Quantity, ...], Dimension("length", minimum=0)] = 0.0
    """σ, one for all or one each [length]."""
    charges: Number | tuple[Number, ...] = 0.0
    """Product of the two charges in the units of the model, one for all or one each [charge²]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, parameters that do not match, and pairs listed twice."""
        self.table(model, where)
        for part in ("epsilon", "charges"):
            refuse_twins(model, where, self, "pairs", acting=part)

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (infinity, 4εσ¹², 4εσ⁶, 0, C q) for each pair: the row of the Lennard-Jones law, and C q."""
        given = {"epsilon": self.epsilon, "sigma": self.sigma, "charges": self.charges}
        table = member_table(model, f"{where}.pairs", self.pairs, **given)
        epsilon, sigma, charges = table.rows.T
        nothing = np.zeros(len(epsilon))
        columns = (
            nothing + np.inf,
            4.0 * epsilon * sigma**12,
            4.0 * epsilon * sigma**6,
            nothing,
            model.units.coulomb * charges,
        )
        return table._replace(rows=np.ascontiguousarray(np.stack(columns, axis=1)))

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the pairs as terms of the site forces."""
        return [SumTerm(pair_forces, pair_measure, self.table(model, self.kind), derivatives=LISTED)]


@jit
def pair(r2, rows, m):
    """Return U, −U'/r and U'' + 2U'/r of pair m."""
    U, g, laplacian = lennard_jones(r2, rows, m, 0.0)
    coulomb = rows[m, 4] / np.sqrt(r2)
    return U + coulomb, g + coulomb / r2, laplacian


pair_forces = specialised(bonds.bond_forces, "listed_pair_forces", called="value", BOND=pair)
pair_measure = specialised(bonds.bond_measure, "listed_pair_measure", called="value", BOND=pair)
LISTED = bond_passes("listed", pair, 1, 2, 4)
