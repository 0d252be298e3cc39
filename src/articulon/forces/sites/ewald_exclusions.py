"""Removal of excluded pairs from the reciprocal part of an Ewald sum."""

import math

import numpy as np

from articulon.forces.sites.exclusions import excluded_charges, listed_pairs
from articulon.forces.sites.site_terms import PairTerm, SumTerm
from articulon.kernels import jit
from articulon.model import Model

_NEAR = 0.5
"""αr below which the series is used."""


def exclusion_terms(model: Model, damping: float, factor: float) -> list[SumTerm]:
    """Return the terms −``factor`` q_i q_j erf(αr)/r of the excluded pairs of charges, at their nearest images."""
    pairs = excluded_charges(model)
    if not len(pairs):
        return []
    rows = np.tile([np.inf, factor, damping], (len(model.sites.kinds) ** 2, 1))
    law = PairTerm(smooth_coulomb, "coulomb-smooth", rows, np.inf, charged=True)
    return [listed_pairs(model, law, pairs, -1.0, level="long")]


@jit
def smooth_coulomb(r2, rows, k, charges):
    """U = C q_i q_j erf(αr)/r, to double precision at any distance; ``charges`` is q_i q_j."""
    q, alpha = charges * rows[0, 1], rows[0, 2]
    x2 = alpha * alpha * r2
    gauss = 2.0 * alpha / math.sqrt(math.pi) * math.exp(-x2)
    laplacian = -2.0 * alpha * alpha * gauss
    if x2 < _NEAR * _NEAR:
        # Series of Boys' functions exp(−x²) Σ (2x²)^i / ((2m + 1)(2m + 3) ... (2m + 2i + 1)) for m = 0 and 1.
        zeroth, first, term0, term1 = 1.0, 1.0 / 3.0, 1.0, 1.0 / 3.0
        for i in range(1, 14):
            term0 *= 2.0 * x2 / (2 * i + 1)
            term1 *= 2.0 * x2 / (2 * i + 3)
            zeroth += term0
            first += term1
        return q * gauss * zeroth, q * 2.0 * alpha * alpha * gauss * first, q * laplacian
    r = math.sqrt(r2)
    U = math.erf(alpha * r) / r
    return q * U, q * (U - gauss) / r2, q * laplacian
