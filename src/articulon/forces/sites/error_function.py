"""erf(αr)/r without the error function: for loops that the compiler turns into vector instructions.

As a function of s = r² it is entire, so on [0, cutoff²] a polynomial replaces it to the last digits of double
precision; erfc(αr)/r is 1/r less it. With Boys' functions F_n(x) = ∫₀¹ u²ⁿ exp(−xu²) du (Boys 1950) and x = α²s:

    erf(αr)/r = (2α/√π) F₀(x) = s G + H/(2α²),    G = (4α³/√π) F₁(x),    H = (4α³/√π) exp(−x),

where G = −2 d(erf(αr)/r)/ds is −U'(r)/r and −H is the Laplacian of erf(αr)/r.
"""

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.kernels import jit

TERMS = (8, 12, 16, 24, 32, 40)
"""Numbers of terms that laws are compiled for."""
LARGEST = 6.5
"""The largest damping times cutoff that ``TERMS`` suffice for; erfc(6.5) is 4e-20."""
_TOLERANCE = 1e-14
"""Of the polynomials, relative to the function at r = 0."""
_NODES = np.polynomial.legendre.leggauss(80)
SCALE, HALF_WIDTH, FIRST = range(3)
"""Where a row has 2/cutoff², 1/(2α²) and the first coefficient: those of G, then those of H, lowest power first."""


def coefficients(damping: float, cutoff: float, where: str, tolerance: float = _TOLERANCE) -> np.ndarray:
    """What the leaf of ``smooth_part`` reads, shape (2 + 2 terms,) for the fewest terms that suffice.

    Parameters
    ----------
    damping
        α [1/length].
    cutoff
        The largest distance at which the functions are taken [length].
    where
        What they are for, in messages.
    tolerance
        Of the polynomials, relative to the functions at r = 0.

    Raises
    ------
    ModelError
        Where the product of the two is above ``LARGEST``.
    """
    product = damping * cutoff
    if not 0.0 < product <= LARGEST:
        raise ModelError(
            f"{where}: damping times cutoff is {product:.4g}; it must lie between 0 and {LARGEST}, beyond which "
            "nothing is left of a pair's force long before the cutoff: lower the damping or the cutoff"
        )
    front = 4.0 * damping**3 / math.sqrt(math.pi)
    return np.concatenate(
        [[2.0 / cutoff**2, 0.5 / damping**2], front * _polynomials(0.5 * product**2, max(tolerance, _TOLERANCE))]
    )


def smooth_part(terms: int) -> Any:
    """The leaf ``(r2, rows) -> (erf(αr)/r, G, H)`` for a number of terms.

    It reads the last ``2 + 2 terms`` numbers of the first row, whatever the kinds of the pair are, so that the loop
    over neighbours holds them in registers or broadcasts them.
    """

    @jit
    def smooth(r2, rows):
        start = rows.shape[1] - 2 * terms - FIRST
        t = r2 * rows[0, start + SCALE] - 1.0
        G, H = 0.0, 0.0
        # Two loops, as the compiler unrolls no longer ones, and the loop over neighbours would be no vector loop.
        for k in range(terms - 1, terms // 2 - 1, -1):
            G = G * t + rows[0, start + FIRST + k]
            H = H * t + rows[0, start + FIRST + terms + k]
        for k in range(terms // 2 - 1, -1, -1):
            G = G * t + rows[0, start + FIRST + k]
            H = H * t + rows[0, start + FIRST + terms + k]
        return r2 * G + H * rows[0, start + HALF_WIDTH], G, H

    return smooth


SMOOTH_PARTS = {terms: smooth_part(terms) for terms in TERMS}
"""The leaf for each number of terms."""


def number_of_terms(row: np.ndarray) -> int:
    """Of what ``coefficients`` has returned."""
    return (row.size - FIRST) // 2


@cache
def _polynomials(half: float, tolerance: float) -> np.ndarray:
    """F₁ and the exponential on [0, 2 half], by the fewest terms that suffice, one after the other."""
    for terms in TERMS:
        first, left = _boys(half, terms)
        gauss, left_of_gauss = _gaussian(half, terms)
        if max(3.0 * left, left_of_gauss) < tolerance:
            break
    return np.concatenate([first, gauss])


def _gaussian(half: float, terms: int) -> tuple[np.ndarray, float]:
    """exp(−half (1 + t)) on [−1, 1]: polynomial in t, and the largest of the coefficients left out."""
    from scipy.special import ive

    series = 2.0 * ive(np.arange(terms + 8), half)
    return _powers(series, terms)


def _boys(half: float, terms: int) -> tuple[np.ndarray, float]:
    """F₁(half (1 + t)) likewise, by its integral over exponentials."""
    from scipy.special import ive

    u, weight = 0.5 * (_NODES[0] + 1.0), 0.5 * _NODES[1]
    series = 2.0 * (weight * u**2 * ive(np.arange(terms + 8)[:, None], half * u**2)).sum(axis=1)
    return _powers(series, terms)


def _powers(series: np.ndarray, terms: int) -> tuple[np.ndarray, float]:
    """From a series Σ (−1)ⁿ c_n T_n(t), its first term halved, to powers of t.

    The sums over n cancel by orders of magnitude, so they are done in exact arithmetic.
    """
    total = [Fraction(0)] * terms
    before, chebyshev = [0] * terms, [1] + [0] * (terms - 1)
    for n in range(terms):
        c = Fraction(float(series[n])) * (-1) ** n / (2 if n == 0 else 1)
        for k, power in enumerate(chebyshev):
            if power:
                total[k] += c * power
        doubled = [(1 if n == 0 else 2) * p for p in [0, *chebyshev[:-1]]]
        before, chebyshev = chebyshev, [a - (b if n else 0) for a, b in zip(doubled, before, strict=True)]
    return np.array([float(value) for value in total]), float(np.abs(series[terms:]).sum())
