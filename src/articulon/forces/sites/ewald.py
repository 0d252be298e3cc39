"""Charges in a periodic box with all their images, by Ewald summation."""

import math
from functools import cache
from typing import Annotated, Any, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity, Whole
from articulon.errors import ModelError
from articulon.forces.sites.error_function import SMOOTH_PARTS, coefficients, number_of_terms
from articulon.forces.sites.ewald_estimate import Charges, EwaldParameters, choose
from articulon.forces.sites.ewald_exclusions import exclusion_terms
from articulon.forces.sites.ewald_waves import (
    reciprocal_forces,
    reciprocal_forces_parallel,
    reciprocal_measure,
    reciprocal_table,
    wave_table,
    waves_within,
)
from articulon.forces.sites.lattice_sums import (
    LatticeSum,
    check_damping,
    check_lattice_sum,
    own_energy,
    surface_constant,
)
from articulon.forces.sites.laws.cutoffs import check_cutoff
from articulon.forces.sites.quotients import inverse_root
from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.site_terms import PairTerm, SumTerm
from articulon.kernels import jit
from articulon.model import Model
from articulon.model.box import volume_of

PARALLEL_WORK = 2_000_000
"""Number of charges times number of waves above which several threads share the reciprocal part."""
SPARE = 1e6
"""Factor by which the errors of the polynomials are smaller than that of the sum."""
MOST_COLUMNS = 1e6
"""Largest number of columns of waves; a column is along the third reciprocal edge."""


class Ewald(LatticeSum):
    """U = ½ Σ_ij Σ'_n q_i q_j/(4πε₀ε_r |r_ij + n|) over all images n of a neutral periodic box, by Ewald's sum.

    The sum is split into erfc(αr)/r, summed over neighbours up to a cutoff, and the smooth rest, summed over waves of
    the reciprocal lattice (Ewald 1921; Frenkel and Smit, Understanding Molecular Simulation, 2nd ed., 12.1.5).
    ``parameters(model)`` returns the α, cutoff and waves that are chosen for a precision, and the expected errors.

    For pairs that are excluded or on the same body, the nearest images do not interact; their other images do.
    """

    kind: Literal["ewald"] = "ewald"
    precision: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1e-6
    """Expected rms error of the forces, relative to the force between two charges of rms magnitude at their mean
    distance (volume/number)^⅓."""
    waves: tuple[Whole, Whole, Whole] | None = None
    """Largest index of a wave along each reciprocal edge; by default all waves up to the length that the precision
    requires."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for a box that is not periodic or not neutral, a cutoff that does not fit, and a second
        declaration."""
        check_lattice_sum(model, where)
        if not float(self.precision) < 1.0:
            raise ModelError(f"{where}.precision: must be less than 1, which is an error as large as the forces")
        if self.waves is not None and min(self.waves) < 1:
            raise ModelError(f"{where}.waves: each must be at least 1, got {self.waves}")
        if self.cutoff is not None:
            check_cutoff(model, self.cutoff, f"{where}.cutoff")
        found = self.parameters(model, where)
        check_damping(found.damping, found.cutoff, where)

    def parameters(self, model: Model, where: str = "ewald") -> EwaldParameters:
        """Parameters of the sum in a model, chosen by the estimate of Kolafa and Perram (1992) unless given.

        Raises
        ------
        ModelError
            If the given parameters leave no cutoff that fits the box.
        """
        return self._chosen(model, where)[0]

    def _chosen(self, model: Model, where: str) -> tuple[EwaldParameters, list[tuple[int, int, int]]]:
        assert model.box is not None
        charge = model.sites.charge
        vectors = model.box.vectors
        charges = Charges(int((charge != 0.0).sum()), float(charge @ charge), vectors)
        cutoff, damping = (None if value is None else float(value) for value in (self.cutoff, self.damping))
        damping, cutoff, longest = choose(charges, float(self.precision), cutoff, damping, self.waves, where)
        limits = charges.indices(longest) if self.waves is None else self.waves
        columns_of_waves = math.prod(2.0 * limit + 1.0 for limit in limits[:2])
        if not columns_of_waves <= MOST_COLUMNS:
            raise ModelError(
                f"{where}: the sum needs waves of the indices {tuple(limits)}, which are too many; "
                "choose a larger precision, a larger cutoff, or fewer waves"
            )
        inverse = np.linalg.inv(vectors)
        columns = waves_within(inverse, limits, longest)
        found = EwaldParameters(
            damping=damping,
            cutoff=cutoff,
            longest=longest,
            waves=limits,
            count=sum(2 * top + 1 if a or b else top for a, b, top in columns),
            real_error=charges.real_error(damping, cutoff),
            reciprocal_error=charges.reciprocal_error(
                damping, charges.complete(limits) if self.waves is not None else longest
            ),
        )
        return found, columns

    def site_terms(self, model: Model) -> list[PairTerm | SumTerm]:
        """Return the real part, the reciprocal part, and the terms that subtract the excluded pairs from the reciprocal
        part."""
        assert model.box is not None
        found, columns = self._chosen(model, self.kind)
        constant = model.units.coulomb / float(self.relative_permittivity)
        sites = np.flatnonzero(model.sites.charge)
        real = real_part(model, found.damping, found.cutoff, float(self.relative_permittivity), self.skin)
        surface, volume = surface_constant(model, self.surface_permittivity, constant), model.box.volume
        front = constant * 4.0 * math.pi / volume
        waves = wave_table(np.linalg.inv(model.box.vectors), columns, found.damping, front)

        def in_box(edges: np.ndarray) -> tuple[SiteTable, tuple[float, float]]:
            """Return the same waves, by their indices, for another box."""
            s = volume / volume_of(edges)
            anew = wave_table(np.linalg.inv(edges), columns, found.damping, s * front)
            return reciprocal_table(sites, anew, found.damping, s * surface), (0.0, 0.0)

        parallel = sites.size * waves.number >= PARALLEL_WORK
        reciprocal = SumTerm(
            reciprocal_forces_parallel if parallel else reciprocal_forces,
            reciprocal_measure,
            reciprocal_table(sites, waves, found.damping, surface),
            level="long",
            alone=(reciprocal_forces, reciprocal_measure),
            in_box=in_box,
        )
        factor = 1.0 / float(self.relative_permittivity)
        return [real, reciprocal, *exclusion_terms(model, found.damping, factor)]


def real_part(
    model: Model,
    damping: float,
    cutoff: float,
    relative_permittivity: float,
    skin: float | str | None,
    precision: float = 0.0,
) -> PairTerm:
    """Return the sum of erfc(αr)/r over neighbours, with the charges' self-energy. The polynomials that replace erf are
    ``SPARE`` times as precise as the sum."""
    factor = 1.0 / relative_permittivity
    polynomials = coefficients(damping, cutoff, "ewald", precision / SPARE)
    rows = np.tile(np.concatenate([[cutoff**2, factor], polynomials]), (len(model.sites.kinds) ** 2, 1))
    terms = number_of_terms(polynomials)
    return PairTerm(
        ewald_law(terms),
        f"ewald-{terms}",
        rows,
        cutoff,
        charged=True,
        constant=(own_energy(model, damping, factor * model.units.coulomb), 0.0),
        skin=None if skin is None else float(skin),
        side_by_side=True,
    )


@cache
def ewald_law(terms: int) -> Any:
    """Return the compiled law U = q_i q_j erfc(αr)/(ε_r r), with polynomials of a number of terms."""
    smooth = SMOOTH_PARTS[terms]

    @jit
    def law(r2, rows, k, charges):
        q = charges * rows[0, 1]
        E, G, H = smooth(r2, rows)
        inverse = inverse_root(r2)
        return q * (inverse - E), q * (inverse * inverse * inverse - G), q * H

    return law
