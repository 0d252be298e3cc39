"""The generalised Born model of a solvent: charges in a cavity of low permittivity that the sites' spheres form."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites import born_pairs, born_sums, born_without_cutoff
from articulon.forces.sites.laws.coulomb import Permittivity
from articulon.forces.sites.nearest_images import widths
from articulon.forces.sites.pair_sums import LIMIT
from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.model import Model

PARALLEL = 400
"""Smallest number of sites that are distributed over threads."""
ACCURACY = 1e-12
"""Relative tolerance of the polynomials that approximate the functions in the sums for Born radii."""


TAYLOR = 400
"""Number of powers in the Taylor series from which the polynomials are computed."""


class GeneralizedBorn(Declaration):
    """An implicit solvent by the generalised Born model of Onufriev, Bashford and Case, OBC2 (Proteins 55, 383, 2004),
    with a surface term (Schaefer, Bartels and Karplus, J. Mol. Biol. 284, 835, 1998).

    U = −C (1/ε_in − 1/ε_out) [Σ_{i<j} q_i q_j/f_ij + ½ Σ q_i²/B_i] + 4π Σ a (ρ_i + p)² (ρ_i/B_i)⁶ with
    f² = r² + B_i B_j exp(−r²/4B_iB_j), C Coulomb's constant and B_i the Born radius, which every other site increases.
    With a cutoff r_c, the term is 1/f_ij − 1/r_c for pairs within r_c, and only such pairs increase the Born radii:
    energy and forces are discontinuous at r_c, as in OpenMM's GBSAOBCForce, which has the same parameters. Every pair
    acts, including sites on one body and bonded ones. The Laplacian of U is unknown, so that configurational
    temperatures cannot be computed.
    """

    laplacian: ClassVar[str] = "not known"
    """The Laplacian, which the configurational temperature needs, is not known."""
    kind: Literal["generalized-born"] = "generalized-born"
    radii: Annotated[Quantity | tuple[Quantity, ...], Dimension("length", minimum=0, exclusive=True)]
    """ρ of each site, or one value for all [length]."""
    scales: Annotated[Quantity | tuple[Quantity, ...], Dimension("dimensionless", minimum=0)]
    """Factor that scales the radius of each site's sphere, ρ minus the offset, where it screens other sites; or one
    value for all."""
    solute_permittivity: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1.0
    """ε_in."""
    solvent_permittivity: Permittivity = 78.5
    """ε_out."""
    surface_tension: Annotated[Quantity, Dimension("stiffness", minimum=0)] = "2.25936 kJ/mol/nm^2"
    """a, surface tension; 0 omits the surface term [energy/length²]."""
    probe: Annotated[Quantity, Dimension("length", minimum=0)] = "0.14 nm"
    """p, radius of a solvent molecule [length]."""
    offset: Annotated[Quantity, Dimension("length", minimum=0)] = "0.009 nm"
    """Offset subtracted from radii in the sums for Born radii [length]."""
    cutoff: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """r_c [length]; without it all pairs act."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for a second declaration, numbers of values that do not match the sites, a radius that does
        not exceed the offset, and a periodic box."""
        if sum(isinstance(force, GeneralizedBorn) for force in model.forces) > 1:
            raise ModelError(f"{where}: a generalised Born model is declared twice; one holds every site")
        if np.isfinite(widths(model)).any():
            raise ModelError(
                f"{where}: the solvent fills all space outside the molecules and has no periodic images; leave "
                "out the periodic box"
            )
        self.spheres(model, where)

    def spheres(self, model: Model, where: str) -> np.ndarray:
        """Radii of the sites minus the offset, the same times their scale factors, and the radii ρ [length], shape (3,
        sites)."""
        count = model.sites.body.size
        if not count:
            raise ModelError(f"{where}: the model has no sites; add them with add_particles or add_site")
        values = []
        for key in ("radii", "scales"):
            given = np.array(getattr(self, key), dtype=np.float64)
            if given.ndim and given.size != count:
                raise ModelError(f"{where}.{key}: give one for all or {count}, one for each site, not {given.size}")
            values.append(np.broadcast_to(given, count))
        radii, scales = values
        small = np.flatnonzero(radii <= float(self.offset))
        if small.size:
            raise ModelError(
                f"{where}.radii[{small[0]}]: {radii[small[0]]:g} is no more than the offset {float(self.offset):g}, "
                "which is subtracted; give a larger radius"
            )
        own = radii - float(self.offset)
        return np.stack([own, scales * own, radii])

    def coupling(self, model: Model) -> float:
        """K = C (1/ε_in − 1/ε_out) [energy length]."""
        outside = 0.0 if self.solvent_permittivity == "infinite" else 1.0 / float(self.solvent_permittivity)
        return model.units.coulomb * (1.0 / float(self.solute_permittivity) - outside)

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the model as terms of the site forces."""
        spheres = self.spheres(model, self.kind)
        count = spheres.shape[1]
        rows = born_without_cutoff.rows_for(count)
        rows[:3, :count] = spheres
        cutoff = np.inf if self.cutoff is None else float(self.cutoff)
        ratio = spheres[1].max() / (spheres[1].max() + spheres[0].min())
        constants = [
            min(cutoff**2, LIMIT),
            self.coupling(model),
            1.0 / cutoff,
            4.0 * np.pi * float(self.surface_tension),
            float(self.probe),
            1.0,
            0.8,
            4.85,
            *polynomials(ratio),
        ]
        listed = self.cutoff is not None
        forces, measure = born_sums.compiled(listed, count >= PARALLEL)
        alone = born_sums.compiled(listed, False)
        if not listed:
            forces, alone = (
                born_without_cutoff.once_kernel(count >= PARALLEL),
                (born_without_cutoff.once_kernel(False), alone[1]),
            )
        table = SiteTable(rows, np.zeros((0, 4), dtype=np.int64), np.array(constants))
        reach = 0.0 if self.cutoff is None else cutoff
        return [SumTerm(forces, measure, table, level="long", reach=reach, alone=alone)]


def polynomials(largest: float) -> np.ndarray:
    """Return the polynomials in w = 2y/t² − 1 with y up to t², the square of the largest argument t = ``largest``.

    The array holds 2/t², and then the coefficients of three functions of y = x²: 2 artanh(x)/x, [x/(1 − x²) − artanh
    x]/x³, and the second function plus 2/(1 − x²)².
    """
    bound = largest * largest
    k = np.arange(TAYLOR)
    shade = 2.0 * (k + 1.0) / (2.0 * k + 3.0)
    found = [np.array([2.0 / bound])]
    for powers in (2.0 / (2.0 * k + 1.0), shade, shade + 2.0 * (k + 1.0)):

        def function(w: np.ndarray, powers: np.ndarray = powers) -> np.ndarray:
            return np.polynomial.polynomial.polyval(0.5 * bound * (w + 1.0), powers)

        series = np.polynomial.Chebyshev.interpolate(function, born_pairs.TERMS + 9).coef
        left = float(np.abs(series[born_pairs.TERMS :]).sum() / series[0])
        if bound >= 0.9 or left > ACCURACY:
            raise ModelError(
                "generalized-born: the scaled sphere of one site is too large compared with the smallest radius: its "
                f"share of the sum of both is {largest:.3g}; give larger radii, or smaller scales"
            )
        short = np.polynomial.Chebyshev(series[: born_pairs.TERMS])
        coefficients = short.convert(kind=np.polynomial.Polynomial).coef
        found.append(np.concatenate([coefficients, np.zeros(born_pairs.TERMS - coefficients.size)]))
    return np.concatenate(found)
