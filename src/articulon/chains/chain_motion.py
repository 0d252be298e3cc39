"""Mean-square displacements of the beads and centres of chains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.chains.chain_table import Chains
from articulon.chains.lag_replicates import lag_curves, over_columns
from articulon.chains.replicates import Estimate, Replicate
from articulon.conformations.time_correlation import square_displacement

INNER = 5
"""Number of inner beads in the middle of a linear chain; a chain with an even number of beads has four."""
DIFFUSIVE = (0.1, 0.2)
"""Start and end of the range of lags in which the slope of g3 gives the diffusion coefficient, as fractions of the
run."""
EARLY = 0.1
"""Fraction of the lags used for the exponent of g1."""


class ChainMotion(NamedTuple):
    """Mean-square displacements, averaged over all time origins. Long lags have few origins."""

    times: np.ndarray
    """Lags, from one frame to half of the run [time], shape (lags,)."""
    inner: Estimate | None
    """g1 of inner beads [length²], shape (lags,); None if all molecules are branched."""
    inner_about_centre: Estimate | None
    """g2 of inner beads about the centre of mass of their chain [length²], shape (lags,)."""
    centres: Estimate
    """g3 of centres of mass [length²], shape (lags,)."""
    diffusion_coefficient: Estimate
    """Slope (g3(t₂) − g3(t₁))/6(t₂ − t₁) of centres of mass, between a tenth and a fifth of the run [length²/time]. It
    is the diffusion coefficient if ``centre_exponent`` is one."""
    centre_exponent: Estimate
    """Exponent d ln g3/d ln t between the same two lags."""
    inner_exponent: Estimate | None
    """Exponent d ln g1/d ln t over the first tenth of the lags."""


def inner_beads(beads: int, kind: str) -> np.ndarray:
    """Return the indices of the inner beads along a backbone of ``beads`` beads.

    For a linear chain they are the middle five, or the middle four if the number of beads is even (Kremer and Grest, J.
    Chem. Phys. 92, 5057, 1990). For a ring, or a chain of fewer beads, they are all beads.
    """
    count = beads if kind == "ring" else min(beads, INNER - (beads % 2 == 0))
    start = (beads - count) // 2
    return np.arange(start, start + count)


def drift_of(positions: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Return the displacement of the centre of mass of all beads since the first frame [length], shape (frames, 3)."""
    weights = masses / masses.sum()
    found = np.einsum("fbk,b->fk", positions, weights)
    return np.asarray(found - found[0])


def chain_motion(
    times: np.ndarray, positions: np.ndarray, chains: Chains, centres: np.ndarray, drift: np.ndarray
) -> ChainMotion:
    """Compute the mean-square displacements g1, g2 and g3 (Kremer and Grest, J. Chem. Phys. 92, 5057, 1990).

        g1(t) = ⟨|r_i(t) − r_i(0)|²⟩,  g2(t) = ⟨|r_i(t) − r_c(t) − r_i(0) + r_c(0)|²⟩,  g3(t) = ⟨|r_c(t) − r_c(0)|²⟩

    where i are inner beads and r_c is the centre of mass of their chain. All chains have equal weights. The drift of
    the system is subtracted; for M independent molecules of equal mass this removes the fraction 1/M of g3. Errors come
    from groups of chains. For fewer than four chains they come from blocks of frames, for lags within a block.

    Parameters
    ----------
    times
        Equally spaced times, at least four [time], shape (frames,).
    positions
        Unwrapped positions [length], shape (frames, beads, 3).
    chains
        Chains; branched ones contribute to g3 only.
    centres
        Centres of mass [length], shape (frames, chains, 3).
    """
    frames = len(times)
    lags = frames // 2 + 1
    moved = centres - drift[:, None]

    def of_centres(part: Replicate) -> np.ndarray:
        return _displacement(moved[part.frames][:, part.chains])

    def of_inner(part: Replicate, about: np.ndarray) -> np.ndarray:
        found = np.zeros(part.frames.stop - part.frames.start)
        for group in chains.equal_groups(part.chains):
            bead = group.bead[:, inner_beads(group.bead.shape[1], group.kind)]
            x = positions[part.frames, bead] - about[part.frames][:, group.chain if about.shape[1] > 1 else [0], None]
            found += _displacement(x) / bead.shape[1]
        return found

    g3 = lag_curves(np.arange(len(chains)), frames, lags, of_centres)
    g1 = g2 = None
    if chains.ordered.size:
        g1 = lag_curves(chains.ordered, frames, lags, lambda part: of_inner(part, drift[:, None]))
        g2 = lag_curves(chains.ordered, frames, lags, lambda part: of_inner(part, centres))
    interval = float(times[1] - times[0])
    near, far = max(1, int(DIFFUSIVE[0] * frames)), max(2, int(DIFFUSIVE[1] * frames))
    early = max(2, int(EARLY * lags))

    def slope(g: np.ndarray) -> float:
        return float(g[far] - g[near]) / (6.0 * interval * (far - near))

    def exponent(g: np.ndarray, a: int, b: int) -> float:
        return float(np.log(g[b] / g[a]) / np.log(b / a))

    return ChainMotion(
        times[1:lags] - times[0],
        None if g1 is None else g1.estimate(first=1),
        None if g2 is None else g2.estimate(first=1),
        g3.estimate(first=1),
        g3.estimate(slope),
        g3.estimate(lambda g: exponent(g, near, far)),
        None if g1 is None else g1.estimate(lambda g: exponent(g, 1, early)),
    )


def _displacement(x: np.ndarray) -> np.ndarray:
    """Return the mean-square displacements of x (frames, ..., 3) over all time origins, summed over all axes except the
    first."""
    return over_columns(square_displacement, x - x[0])
