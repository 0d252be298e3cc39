"""Mode shapes of a uniform beam, with ξ = x/L from 0 to 1, and their integrals."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

End = Literal["free", "clamped", "loaded"]
"""Boundary: both ends free; first end clamped and the other free; or first end clamped and the other loaded by a
body."""


class Shape(NamedTuple):
    """A mode shape at given values of ξ."""

    value: np.ndarray
    """Values φ, shape (nodes,)."""
    slope: np.ndarray
    """Slopes dφ/dξ, shape (nodes,)."""
    mass: float
    """Integral ∫φ²dξ."""
    strain: float
    """Integral of the squared strain: ∫φ''²dξ for bending, ∫φ'²dξ for torsion and stretch."""


def bending_shapes(end: End, count: int, xi: np.ndarray) -> list[Shape]:
    """Return the first ``count`` bending shapes, by frequency; for a loaded end, the two cubic shapes come first."""
    cubic = end == "loaded"
    static = [
        Shape(xi**2 * (3.0 - 2.0 * xi), 6.0 * xi * (1.0 - xi), 13.0 / 35.0, 12.0),
        Shape(xi**2 * (xi - 1.0), xi * (3.0 * xi - 2.0), 1.0 / 105.0, 4.0),
    ]
    found = static[: count if cubic else 0]
    for beta in roots(end, count - len(found)):
        found.append(Shape(*bending_shape(end, beta, xi), 0.25, 0.25 * float(beta) ** 4))
    return found


def bar_shapes(end: End, count: int, xi: np.ndarray) -> list[Shape]:
    """Return the first ``count`` shapes of torsion or stretch, by frequency; for a loaded end, the linear shape comes
    first."""
    found = [Shape(xi, np.ones_like(xi), 1.0 / 3.0, 1.0)][: count if end == "loaded" else 0]
    for k in range(1, count - len(found) + 1):
        wave = (k - 0.5) * np.pi if end == "clamped" else k * np.pi
        sine, cosine = np.sin(wave * xi), np.cos(wave * xi)
        value, slope = (cosine, -wave * sine) if end == "free" else (sine, wave * cosine)
        found.append(Shape(value, slope, 0.5, 0.5 * wave**2))
    return found


def strains(found: list[Shape], cubic: bool) -> np.ndarray:
    """Compute the integrals of all pairs of shapes, ∫φ''φ''dξ, or ∫φ'φ'dξ for torsion and stretch, shape (modes,
    modes).

    Only the two cubic shapes are coupled. All other shapes are orthogonal to each other and to the cubic and linear
    shapes, because they vanish at both ends; for bending, their slopes vanish there too.
    """
    matrix = np.diag([shape.strain for shape in found])
    if cubic and len(found) > 1:
        matrix[0, 1] = matrix[1, 0] = -6.0
    return matrix


def roots(end: End, count: int) -> np.ndarray:
    """Compute the first ``count`` non-zero solutions of cos β cosh β = −1 for one clamped and one free end, or = 1 for
    two equal ends, shape (count,)."""
    sign = 1.0 if end == "clamped" else -1.0
    k = np.arange(1, max(count, 0) + 1)
    beta = (k - 0.5) * np.pi if end == "clamped" else (k + 0.5) * np.pi
    # Newton's method on cos β ± 1/cosh β. The second term decays with β, so four steps from the limit of large β are
    # accurate to rounding.
    for _ in range(6):
        decayed = np.exp(-beta)
        sech = 2.0 * decayed / (1.0 + decayed**2)
        beta = beta + (np.cos(beta) + sign * sech) / (np.sin(beta) + sign * sech * np.tanh(beta))
    return beta


def bending_shape(end: End, beta: float, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute φ and dφ/dξ with ∫φ² = ¼, and |φ| = 1 at a free end. For "loaded", the second end is clamped here,
    because the cubic shapes describe its motion.

    With s = 1 for a clamped first end and −1 for a free first end, 2φ = cosh βξ − s cos βξ − σ (sinh βξ − s sin βξ).
    The factor σ is given by the second end. The growing part ½(1−σ)exp(βξ) is computed as a decay from the far end;
    otherwise high modes would lose all digits.
    """
    s = -1.0 if end == "free" else 1.0
    alike = 1.0 if end == "clamped" else -1.0
    decayed = np.exp(-beta)
    cosine, sine = np.cos(beta), np.sin(beta)
    below = 1.0 - decayed**2 + 2.0 * alike * sine * decayed
    far = (alike * (sine - cosine) - decayed) / below
    sigma = 1.0 - 2.0 * decayed * far
    growing = far * np.exp(-beta * (1.0 - xi))
    decaying = 0.5 * (1.0 + sigma) * np.exp(-beta * xi)
    value = growing + decaying - s * np.cos(beta * xi) + s * sigma * np.sin(beta * xi)
    slope = growing - decaying + s * np.sin(beta * xi) + s * sigma * np.cos(beta * xi)
    return 0.5 * value, 0.5 * beta * slope
