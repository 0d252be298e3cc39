"""erf(αr)/r without the error function, for loops that the compiler vectorises.

As a function of s = r² it is entire, so on [0, cutoff²] a polynomial approximates it to double precision; erfc(αr)/r is
1/r minus this polynomial. With Boys' functions F_n(x) = ∫₀¹ u²ⁿ exp(−xu²) du (Boys 1950) and x = α²s:

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
"""Numbers of terms for which laws are compiled."""
LARGEST = 6.5
"""Largest product of damping α and cutoff for which ``TERMS`` are enough; erfc(6.5) is 4e-20."""
_TOLERANCE = 1e-14
"""Tolerance of the polynomials, relative to the function at r = 0."""
_NODES = np.polynomial.legendre.leggauss(80)
SCALE, HALF_WIDTH, FIRST = range(3)
"""Positions in a row of 2/cutoff², 1/(2α²) and the first coefficient: the coefficients are those of G, then those of H,
lowest power first."""


def coefficients(damping: float, cutoff: float, where: str, tolerance: float = _TOLERANCE) -> np.ndarray:
    """Return the numbers that the function from ``smooth_part`` reads, shape (2 + 2 terms,), for the smallest
    sufficient number of terms.

    Parameters
    ----------
    damping
        α [1/length].
    cutoff
        Largest distance at which the functions are evaluated [length].
    where
        Name of the caller in messages.
    tolerance
        Tolerance of the polynomials, relative to the functions at r = 0.

    Raises
    ------
    ModelError
        If the product of damping and cutoff is above ``LARGEST``.
    """
    product = damping * cutoff
    if not 0.0 < product <= LARGEST:
        raise ModelError(
            f"{where}: damping times cutoff is {product:.4g}; it must lie between 0 and {LARGEST}, beyond which "
            "a pair's force vanishes long before the cutoff: lower the damping or the cutoff"
        )
    front = 4.0 * damping**3 / math.sqrt(math.pi)
    return np.concatenate(
        [[2.0 / cutoff**2, 0.5 / damping**2], front * _polynomials(0.5 * product**2, max(tolerance, _TOLERANCE))]
    )


def smooth_part(terms: int) -> Any:
    """Return the compiled function ``(r2, rows) -> (erf(αr)/r, G, H)`` for a number of terms.

    It reads the last ``2 + 2 terms`` numbers of the first row, for any kinds of the pair, so that the loop over
    neighbours keeps them in registers or broadcasts them.
    """

    @jit
    def smooth(r2, rows):
        start = rows.shape[1] - 2 * terms - FIRST
        t = r2 * rows[0, start + SCALE] - 1.0
        G, H = 0.0, 0.0
        # Two loops, because the compiler does not unroll longer ones, and the loop over neighbours would not vectorise.
        for k in range(terms - 1, terms // 2 - 1, -1):
            G = G * t + rows[0, start + FIRST + k]
            H = H * t + rows[0, start + FIRST + terms + k]
        for k in range(terms // 2 - 1, -1, -1):
            G = G * t + rows[0, start + FIRST + k]
            H = H * t + rows[0, start + FIRST + terms + k]
        return r2 * G + H * rows[0, start + HALF_WIDTH], G, H

    return smooth


SMOOTH_PARTS = {terms: smooth_part(terms) for terms in TERMS}
"""The compiled function for each number of terms."""


def number_of_terms(row: np.ndarray) -> int:
    """Number of terms in a result of ``coefficients``."""
    return (row.size - FIRST) // 2


@cache
def _polynomials(half: float, tolerance: float) -> np.ndarray:
    """F₁ and the exponential on [0, 2 half], with the smallest sufficient number of terms, one after the other."""
    for terms in TERMS:
        first, left = _boys(half, terms)
        gauss, left_of_gauss = _gaussian(half, terms)
        if max(3.0 * left, left_of_gauss) < tolerance:
            break
    return np.concatenate([first, gauss])


def _gaussian(half: float, terms: int) -> tuple[np.ndarray, float]:
    """exp(−half (1 + t)) on [−1, 1] as a polynomial in t, and the largest of the omitted coefficients."""
    from scipy.special import ive

    series = 2.0 * ive(np.arange(terms + 8), half)
    return _powers(series, terms)


def _boys(half: float, terms: int) -> tuple[np.ndarray, float]:
    """F₁(half (1 + t)) as a polynomial in t, from its integral over exponentials, and the largest of the omitted
    coefficients."""
    from scipy.special import ive

    u, weight = 0.5 * (_NODES[0] + 1.0), 0.5 * _NODES[1]
    series = 2.0 * (weight * u**2 * ive(np.arange(terms + 8)[:, None], half * u**2)).sum(axis=1)
    return _powers(series, terms)


def _powers(series: np.ndarray, terms: int) -> tuple[np.ndarray, float]:
    """Convert a series Σ (−1)ⁿ c_n T_n(t), with its first term halved, to powers of t.

    The terms of the sums over n cancel by orders of magnitude, so the sums are computed in exact arithmetic.
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
