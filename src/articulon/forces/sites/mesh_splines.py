"""Cardinal B-splines, by which charges are spread over a mesh.

M_p is the density of the sum of p numbers that are even on [0, 1]. A charge at u, in units of the spacing, puts
M_p(w + p − 1 − k) of itself on the point ⌊u⌋ + k for k = 0 to p − 1, w being the fraction of u (Essmann et al., J.
Chem. Phys. 103, 8577, 1995, 4.1, but for a shift of all points, which changes nothing).
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np

LOWEST, HIGHEST = 4, 8
"""Orders p that there are; a vector of eight lanes takes all points of one direction."""
LANES = 8
"""Points along the third edge that are taken together; beyond the order their weights are zero."""


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

    Of odd orders that of m = N/2 is zero; the mean of its neighbours takes its place, as in OpenMM.
    """
    values = polynomials(order)[0, :order]
    found = np.abs(np.fft.fft(values, points)) ** 2 if points >= order else _short(values, points)
    if points > 2:
        for m in np.flatnonzero(found < 1e-7):
            found[m] = 0.5 * (found[m - 1] + found[(m + 1) % points])
    return found


def _short(values: np.ndarray, points: int) -> np.ndarray:
    """The same where a spline is longer than the mesh."""
    k, m = np.arange(values.size), np.arange(points)
    return np.abs(np.exp(2j * np.pi * np.outer(m, k) / points) @ values) ** 2
