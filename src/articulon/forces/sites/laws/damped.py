"""erfc(αr)/r without a library function, so that the loop over neighbours stays a vector loop.

erf(αr)/r is an entire function of t = α²r²: with Boys' functions F_m(t) = ∫₀¹ u^{2m} exp(−tu²) du,

    erf(αr)/r            =  (2α/√π)  F₀(t)
    its −(1/r) d/dr      =  (4α³/√π) F₁(t)
    its Laplacian        = −(4α³/√π) exp(−t).

Each is interpolated at Chebyshev's points of 0 ≤ r² ≤ r_c², and evaluated as a polynomial in y = 2r²/r_c² − 1. Its
coefficients alternate in sign, as the derivatives of these functions do, so that their sum is no more than the value at
r = 0, and rounding stays at some units in the last place of that: 1e-14 α for the energy, and likewise in α³ for the
others.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.laws.cutoffs import cut_rows
from articulon.kernels import jit

DEGREES = (16, 24, 32, 48)
"""Of the polynomials; the lowest that will do is taken, as its cost is the loop's."""
_REACH = {16: 4.0, 24: 10.0, 32: 18.0, 48: 52.0}
"""(α r_c)² up to which each keeps its error below 1e-15."""


def boys(order: int, t: np.ndarray) -> np.ndarray:
    """F_m(t) by its series exp(−t) Σ_i (2t)^i / ((2m + 1)(2m + 3) ... (2m + 2i + 1)), whose terms are all positive."""
    term = np.exp(-t) / (2 * order + 1)
    total = term.copy()
    for i in range(1, 400):
        term = term * (2.0 * t / (2 * order + 2 * i + 1))
        total += term
    return total


def degree(damping: float, cutoff: float, where: str) -> int:
    """Degree of the polynomials; raises ModelError where they would have too many terms, and nothing is left at r_c."""
    reach = (damping * cutoff) ** 2
    for choice in DEGREES:
        if reach <= _REACH[choice]:
            return choice
    raise ModelError(
        f"{where}.damping: {damping:g} times the cutoff {cutoff:g} is {damping * cutoff:.3g}, and beyond 7 nothing is "
        "left of the charges long before the cutoff; choose a smaller damping or a smaller cutoff"
    )


def damped_coulomb_rows(
    rows: int, damping: float, cutoff: float, factor: float, shift: float, slope: float, where: str
) -> tuple[Any, str, np.ndarray]:
    """Leaf, name and rows of U = factor charges [erfc(αr)/r − shift − slope r].

    Parameters
    ----------
    rows
        Ordered pairs of kinds.
    damping, cutoff
        α [1/length] and r_c [length].
    factor
        Of the charges, such as 1/ε_r.
    shift, slope
        [1/length] and [1/length²].
    where
        What the declaration is called in messages.
    """
    n = degree(damping, cutoff, where)
    points = np.polynomial.chebyshev.chebpts1(n + 1)
    t = 0.5 * (points + 1.0) * (damping * cutoff) ** 2
    scale = 2.0 * damping / math.sqrt(math.pi)
    values = (scale * boys(0, t), 2.0 * scale * damping**2 * boys(1, t), 2.0 * scale * damping**2 * np.exp(-t))
    coefficients = [_powers(value) for value in values]
    numbers = np.concatenate([[2.0 / cutoff**2, factor, slope, *np.ravel(coefficients)]])
    parameters = np.tile(numbers, (rows, 1))
    return damped_coulomb(n), f"coulomb-damped-{n}", cut_rows(parameters, cutoff, "shifted", None, shift, 0.0)


def _powers(values: np.ndarray) -> np.ndarray:
    """Coefficients, highest power first, of the polynomial through values at Chebyshev's points of the first kind."""
    n = values.size
    # Angles within one turn: the rounding of larger ones would be the largest error.
    steps = np.outer(np.arange(n), 2 * np.arange(n)[::-1] + 1) % (4 * n)
    series = 2.0 / n * (np.cos(np.pi / (2 * n) * steps) @ values)
    series[0] *= 0.5
    powers: np.ndarray = np.polynomial.chebyshev.cheb2poly(series)
    return powers[::-1]


@cache
def damped_coulomb(degree: int) -> Any:
    """The leaf of polynomials of a degree, which is a constant of it, so that its loops unroll."""
    terms = degree + 1

    @jit
    def law(r2, rows, k, charges):
        # All kinds have one row, so that the coefficients are no gathers.
        y = r2 * rows[0, 1] - 1.0
        q = charges * rows[0, 2]
        inverse2 = 1.0 / r2
        inverse = np.sqrt(inverse2)
        slope, shift = rows[0, 3], rows[0, 4 + 3 * terms]
        erf, force, gauss = 0.0, 0.0, 0.0
        for n in range(terms):
            erf = erf * y + rows[0, 4 + n]
        for n in range(terms):
            force = force * y + rows[0, 4 + terms + n]
        for n in range(terms):
            gauss = gauss * y + rows[0, 4 + 2 * terms + n]
        return (
            q * (inverse - erf - shift - slope * (r2 * inverse)),
            q * (inverse * inverse2 - force + slope * inverse),
            q * (gauss - 2.0 * slope * inverse),
        )

    return law
