"""Charges in open space by the fast multipole method (POEMS, section 6), by the library FMM3D with its Python package
``fmm3dpy``."""

import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Annotated, Literal

import numpy as np

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.exclusions import excluded_charges, listed_pairs
from articulon.forces.sites.laws.coulomb import bare_coulomb, check_charges
from articulon.forces.sites.library_forces import library_term
from articulon.forces.sites.site_terms import PairTerm, SumTerm
from articulon.kernels import jit
from articulon.model import Model

FINEST, COARSEST = 1e-14, 0.1
"""Precisions that the library supports."""


class FastMultipole(Declaration):
    """U = ½ Σ_ij q_i q_j/(4πε₀ε_r r_ij) between all charges in open space, in a time proportional to their number.

    Distant charges act together, by expansions in an octree (Greengard and Rokhlin 1987). The library is FMM3D (Cheng,
    Greengard and Rokhlin 1999; Flatiron Institute), in ``pip install 'articulon[longrange]'``. Sums over all pairs are
    faster for small numbers of charges: ``articulon bench multipole`` finds the crossover.

    Excluded pairs are subtracted one by one.
    """

    kind: Literal["fast-multipole"] = "fast-multipole"
    relative_permittivity: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1.0
    """ε_r of the medium between the charges."""
    precision: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1e-9
    """Relative error ‖F − F₀‖/‖F₀‖ of the forces F on all charges, with exact forces F₀; from 1e-14 to 0.1."""

    def momentum_changes(self, model: Model) -> str | None:
        """See ``site_terms.py``."""
        return "has forces that sum to zero only to its precision"

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for periodic boxes, for a precision out of range and if the library is missing."""
        if model.box is not None and model.box.periodic.any():
            raise ModelError(
                f"{where}: the fast multipole method is for open space, and the box is periodic; use 'ewald' where all "
                "three directions are, or make all of them open or reflecting"
            )
        check_charges(model, where)
        if not FINEST <= float(self.precision) <= COARSEST:
            raise ModelError(
                f"{where}.precision: must lie between {FINEST:g} and {COARSEST:g}, got {float(self.precision):g}"
            )
        if sum(isinstance(force, FastMultipole) for force in model.forces) > 1:
            raise ModelError(f"{where}: fast multipole sums are declared twice; one holds every charge")
        if find_spec("fmm3dpy") is None:
            raise ModelError(
                f"{where}: the fast multipole method needs fmm3dpy, which is not installed: pip install "
                "'articulon[longrange]'"
            )

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the sum over all pairs, and the terms that subtract the excluded ones."""
        charge = model.sites.charge
        sites = np.flatnonzero(charge)
        constant = model.units.coulomb / float(self.relative_permittivity)
        call = multipole_sum(charge[sites], constant, float(self.precision))
        terms: list[SumTerm] = [library_term(self.kind, sites, call, call)]
        pairs = excluded_charges(model)
        if len(pairs):
            law = bare_coulomb(model, float(self.relative_permittivity))[0]
            law = PairTerm(coulomb_apart, "coulomb-apart", law.rows, law.cutoff, charged=True)
            terms.append(listed_pairs(model, law, pairs, -1.0, level="long"))
        return terms

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law without a cutoff, for scaled pairs."""
        return bare_coulomb(model, float(self.relative_permittivity))


def multipole_sum(charges: np.ndarray, constant: float, precision: float) -> Callable[..., None]:
    """Return a function that computes the energies and forces of charges at given positions.

    Returns
    -------
    function
        ``function(time, positions, result)`` with arrays (n, 3) and (3 n + 3,): three components of each force [force],
        then the total energy, and two unused numbers.
    """
    from fmm3dpy import lfmm3d
    from threadpoolctl import ThreadpoolController

    threads = ThreadpoolController()
    # The library's potential is q/(4πr).
    scale = 4.0 * math.pi * constant * charges

    def fast_multipole(time: float, positions: np.ndarray, result: np.ndarray) -> None:
        n = charges.size
        if n < 2 or not np.isfinite(positions).all():
            # The library can build no octree for NaN, nor for a single charge.
            result[:] = 0.0 if n < 2 else np.nan
            return
        # On one thread, because the order of the library's sums may depend on the number of threads.
        with threads.limit(limits=1, user_api="openmp"):
            found = lfmm3d(eps=precision, sources=positions.T, charges=charges, pg=2)
        if found.ier:
            raise MemoryError(f"lfmm3d of {n} charges ended with code {found.ier}")
        result[: 3 * n] = (-scale * found.grad).T.ravel()
        result[3 * n] = 0.5 * (scale @ found.pot)

    return fast_multipole


@jit
def coulomb_apart(r2, rows, k, charges):
    """U = charges/(ε_r r); zero between charges at the same position, which the fast multipole method omits too."""
    inverse = 1.0 / np.sqrt(r2) if r2 > 0.0 else 0.0
    U = charges * rows[0, 1] * inverse
    return U, U * inverse * inverse, 0.0
