"""Cardinal B-splines, by which charges are spread over a mesh.

M_p is the probability density of the sum of p numbers distributed uniformly on [0, 1]. A charge at u, in units of the
spacing, adds a fraction M_p(w + p − 1 − k) of itself to the point ⌊u⌋ + k for k = 0 to p − 1, with w the fractional
part of u (Essmann et al., J. Chem. Phys. 103, 8577, 1995, 4.1, up to a shift of all points, which has no effect).
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np

LOWEST, HIGHEST = 4, 8
"""Supported orders p; a vector of eight lanes holds all points of one direction."""
LANES = 8
"""Number of points along the third edge processed together; weights beyond the order are zero."""


@cache
def polynomials(order: int) -> np.ndarray:
    """Coefficients of the weights of all points as polynomials in w, lowest power first, shape (order, 8)."""
    found = [[Fraction(0)] * LANES for _ in range(order)]
    degree = order - 1
    for k in range(order):
        piece = order - 1 - k
        # M_p(x) = Σ_i (−1)^i C(p, i) (x − i)₊^(p−1)/(p − 1)!, with x = w + piece.
        for i in range(piece + 1):
            front = Fraction((-1) ** i * math.comb(order, i), math.factorial(degree))
            for power in range(order):
                found[power][k] += front * math.comb(degree, power) * (piece - i) ** (degree - power)
    return np.array([[float(value) for value in row] for row in found])


def moduli(order: int, points: int) -> np.ndarray:
    """|Σ_k M_p(k + 1) exp(2πi m k/N)|² of every wave m of N points, shape (N,).

    For odd orders the value at m = N/2 is zero; it is replaced by the mean of its neighbours, as in OpenMM.
    """
    values = polynomials(order)[0, :order]
    found = np.abs(np.fft.fft(values, points)) ** 2 if points >= order else _short(values, points)
    if points > 2:
        for m in np.flatnonzero(found < 1e-7):
            found[m] = 0.5 * (found[m - 1] + found[(m + 1) % points])
    return found


def _short(values: np.ndarray, points: int) -> np.ndarray:
    """Compute the moduli for a spline that is longer than the mesh."""
    k, m = np.arange(values.size), np.arange(points)
    return np.abs(np.exp(2j * np.pi * np.outer(m, k) / points) @ values) ** 2
