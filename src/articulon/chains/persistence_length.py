"""Persistence lengths: the distance along a backbone over which its direction is lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from articulon.chains.chain_sizes import batches, bond_vectors
from articulon.chains.chain_table import Chains
from articulon.chains.replicates import Estimate, Replicate, jackknife
from articulon.conformations.time_correlation import autocorrelation

FITTED = float(np.exp(-2.0))
"""Smallest correlation to which the exponential is fitted. Below it, the correlation of chains in a melt decays by a
power law."""


class PersistenceLength(NamedTuple):
    """Correlation of the directions of bonds along linear chains, and two persistence lengths."""

    bonds: np.ndarray
    """Separations n = 0, 1, ... in bonds, shape (separations,)."""
    correlation: Estimate
    """C(n) = ⟨t_i · t_{i+n}⟩ of unit vectors t along bonds, shape (separations,)."""
    exponential_fit: Estimate
    """Length l of the least-squares fit C(n) = exp(−n b/l) down to C = e⁻² [length]. It is zero if C(1) is not
    positive, and infinite for straight chains."""
    projection: Estimate
    """⟨t_1 · R⟩, the projection of the end-to-end vector onto the first bond, averaged with its projection onto the
    last bond [length]."""


def persistence_length(positions: np.ndarray, chains: Chains, parts: tuple[Replicate, ...]) -> PersistenceLength | None:
    """Compute the bond correlation and the persistence lengths of linear chains; None without a chain of two bonds.

    The exponential fit is that of the worm-like chain (Kratky and Porod, Rec. Trav. Chim. 68, 1106, 1949). The
    projection is Flory's (Statistical Mechanics of Chain Molecules, 1969, chapter IV), which assumes no form of C(n).
    For a freely rotating chain of N bonds of length b with the mean cosine c between neighbouring bonds, the two
    lengths are −b/ln c and b (1 − c^N)/(1 − c). They agree for stiff chains. Rings and branched molecules are omitted:
    the bonds of a ring sum to zero, so that C(n) is negative at large n.
    """
    bonds = int(chains.length[chains.kind == "linear"].max(initial=1)) - 1
    if bonds < 2:
        return None
    # The last two columns, after those of C(n), are the sums of the projections and of the lengths of all bonds.
    sums, counts = np.zeros((len(parts), bonds + 2)), np.zeros((len(parts), bonds + 2))
    for k, part in enumerate(parts):
        for group in chains.equal_groups(part.chains):
            own = group.bead.shape[1] - 1
            if group.kind != "linear" or own < 1:
                continue
            for x in batches(positions, part.frames, group.bead):
                vectors = bond_vectors(x, group.kind)
                lengths = np.linalg.norm(vectors, axis=2)
                # A bond of zero length has no direction and counts as perpendicular to all others.
                with np.errstate(invalid="ignore"):
                    units = np.nan_to_num(vectors / lengths[:, :, None])
                pairs = np.arange(own, 0, -1)
                sums[k, :own] += pairs * autocorrelation(units.transpose(1, 0, 2).reshape(own, -1))
                counts[k, :own] += pairs * len(x)
                reach = x[:, -1] - x[:, 0]
                sums[k, bonds] += ((units[:, 0] + units[:, -1]) * reach).sum()
                sums[k, bonds + 1] += lengths.sum()
                counts[k, bonds:] += 2 * len(x), lengths.size
    return PersistenceLength(
        np.arange(bonds),
        jackknife(sums[:, :bonds], counts[:, :bonds]),
        jackknife(sums, counts, lambda means: exponential_fit(means[:bonds], float(means[-1]))),
        jackknife(sums[:, bonds], counts[:, bonds]),
    )


def exponential_fit(correlation: np.ndarray, bond: float) -> float:
    """Return the length l for which exp(−n b/l) fits C(n), n = 0, 1, ..., by least squares down to the first C(n) below
    e⁻²; NaN if C is NaN."""
    below = np.flatnonzero(correlation < FITTED)
    end = min(int(below[0]) + 1 if below.size else correlation.size, correlation.size)
    n, values = np.arange(1, end), correlation[1:end]
    if not n.size or not np.isfinite(values).all():
        return float("nan")
    if values[0] <= 0.0:
        return 0.0
    if (values >= 1.0 - 1e-12).all():
        return float("inf")

    def slope(c: float) -> float:
        return float((n * c ** (n - 1.0) * (c**n - values)).sum())

    c = scipy.optimize.brentq(slope, 0.0, 1.0, xtol=1e-15, rtol=4 * np.finfo(float).eps)
    return float(-bond / np.log(c)) if 0.0 < c < 1.0 else float("nan")
