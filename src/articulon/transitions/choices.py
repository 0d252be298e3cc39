"""Which of the speeds that momentum and energy allow a release takes: the ways to choose (physics after Poursina 2012,
section 3).

Momentum fixes the fine speeds as u_c + W x: x (m,) are the relative speeds of what is released, and W (m, nu) says
how all speeds follow them. Their energy is T_c + bᵀx + ½ xᵀS x, with S the Schur complement of the mass matrix and b
zero but for driven joints. So x lies on an ellipsoid, and with S = L Lᵀ on a sphere: x = −S⁻¹b + ρ L⁻ᵀz, |z| = 1. There
every choice is made, which makes them independent of the units of x.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import scipy
from numpy.linalg import cholesky

from articulon.errors import TransitionError

EQUAL = 1e-12
"""Eigenvalues that differ by less, relative to the smallest, are one."""
NOTHING = 1e-13
"""A component of the reference below this, relative to the whole, is the rounding of zero."""
ACROSS = 1e-8
"""A direction with less than this part of a released speed's own has none of its momentum."""
REACHED = 4 * sys.float_info.epsilon
"""A length that is off by no more than this is that of the sphere."""
MOST_TURNS = 100
SLACK = 1e-12
"""Energies this much below the least, relative to the kinetic energy, are the least but for rounding."""


@dataclass(frozen=True)
class Ellipsoid:
    """All x (m,) with bᵀx + ½ xᵀS x = a given energy."""

    schur: np.ndarray
    """S, shape (m, m)."""
    root: np.ndarray
    """L with S = L Lᵀ, lower triangular, shape (m, m)."""
    centre: np.ndarray
    """−S⁻¹ b, where the energy is least, shape (m,)."""
    radius: float
    """ρ = √(2 (energy − least energy))."""

    def point(self, z: np.ndarray) -> np.ndarray:
        """x (m,) of a direction z (m,) of any length but zero, with its energy to rounding."""
        y = solve_transposed(self.root, z / np.linalg.norm(z))
        return self.centre + (self.radius / math.sqrt(float(y @ self.schur @ y))) * y

    def whitened(self, x: np.ndarray) -> np.ndarray:
        """Lᵀ (x − centre), shape (m,)."""
        return self.root.T @ (x - self.centre)


def solve_lower(root: np.ndarray, b: np.ndarray) -> np.ndarray:
    """L⁻¹ b of a lower triangular matrix, without the checks that take longer than the work."""
    return scipy.linalg.lapack.dtrtrs(root, b, lower=1)[0]


def solve_transposed(root: np.ndarray, b: np.ndarray) -> np.ndarray:
    """L⁻ᵀ b of a lower triangular matrix."""
    return scipy.linalg.lapack.dtrtrs(root, b, lower=1, trans=1)[0]


def least_energy(schur: np.ndarray, linear: np.ndarray) -> float:
    """The least of bᵀx + ½ xᵀS x, −½ bᵀS⁻¹b."""
    y = solve_lower(cholesky(schur), linear)
    return -0.5 * float(y @ y)


def ellipsoid(schur: np.ndarray, linear: np.ndarray, energy: float) -> Ellipsoid:
    """The ellipsoid of an energy, which is not below the least."""
    root = cholesky(schur)
    y = solve_lower(root, linear)
    centre = -solve_transposed(root, y)
    return Ellipsoid(schur, root, centre, math.sqrt(max(0.0, 2.0 * energy + float(y @ y))))


def nearest(metric: np.ndarray, surface: Ellipsoid, reference: np.ndarray) -> np.ndarray:
    """The x of the ellipsoid that is nearest to a reference (m,): the least (x − reference)ᵀ G (x − reference).

    With G = R Rᵀ and the singular values σ of (R⁻¹ L)ᵀ the axes of either are the same, and the squares of distances
    along them are λ = 1/σ²: so the smallest, which decide, are the most exact. Along them the secular equation is
    solved.

    Where the reference has nothing along the axes of the smallest λ, two or more answers are equally near (the *hard
    case*). Of these that is taken whose momentum at the first released speed, (S x)₁, is largest; where all have none
    there, at the second, and so on.

    Parameters
    ----------
    metric
        G, positive definite (m, m).
    surface
        Where x has to be.
    reference
        Relative speeds (m,).
    """
    if surface.radius == 0.0:
        return surface.centre.copy()
    axes, sigma, _ = np.linalg.svd(solve_lower(cholesky(metric), surface.root).T)
    ratios = (sigma[0] / sigma) ** 2
    first = ratios <= 1.0 + EQUAL
    p = axes.T @ surface.whitened(reference)
    rule = _rule(axes[:, first], surface.root)
    return surface.point(axes @ nearest_on_sphere(ratios, first, p, surface.radius, rule))


def _rule(axes: np.ndarray, root: np.ndarray) -> np.ndarray:
    """The direction in the span of some axes (m, k) with most momentum at the first speed that has any, shape (k,)."""
    for j in range(len(root)):
        momentum = root[j]  # Lᵀ e_j: (S x)_j = ρ zᵀ Lᵀ e_j
        found = axes.T @ momentum
        size = float(np.linalg.norm(found))
        if size > ACROSS * float(np.linalg.norm(momentum)):
            return found / size
    raise AssertionError("a direction across all others")


def nearest_on_sphere(
    ratios: np.ndarray, first: np.ndarray, p: np.ndarray, radius: float, rule: np.ndarray
) -> np.ndarray:
    """ζ (m,) with |ζ| = radius and the least Σ λ_i (ζ_i − p_i)².

    ζ_i = λ_i p_i/(λ_i + μ), with the μ > −λ₁ that solves the secular equation Σ (λ_i p_i/(λ_i + μ))² = radius²
    (Moré and Sorensen, SIAM J. Sci. Stat. Comput. 4, 1983). The unknown is ν = 1 + μ/λ₁,
    so that an answer near the pole is as exact as any; 1/√ of the sum is concave in it, and Newton's method from the
    left climbs to the root without passing it.

    Parameters
    ----------
    ratios
        λ_i/λ₁, ascending (m,).
    first
        Which of them are 1 (m,).
    p
        The reference (m,).
    radius
        Above zero.
    rule
        Unit vector among the first, for the hard case (k,).
    """
    away = np.where(first, 0.0, ratios - 1.0)
    w = ratios * p
    if np.linalg.norm(p[first]) <= NOTHING * np.linalg.norm(p):
        result = np.zeros_like(p)
        result[~first] = w[~first] / away[~first]
        rest = float(np.linalg.norm(result)) / radius
        if rest <= 1.0:
            result[first] = radius * math.sqrt((1.0 - rest) * (1.0 + rest)) * rule
            return result
    # Each term alone bounds the root from below, all of them over the smallest distance from above.
    low, high = float((np.abs(w) / radius - away).max()), float(np.linalg.norm(w)) / radius
    nu = low = max(low, math.ulp(high))
    for _ in range(MOST_TURNS):
        terms = w / (away + nu)
        size = float(np.linalg.norm(terms))
        error = size / radius - 1.0
        if abs(error) <= REACHED:
            break
        if error > 0.0:
            low = max(low, nu)
        else:
            high = min(high, nu)
        slope = float(terms @ (terms / (away + nu))) / size**2
        new = nu + error / slope
        if not low <= new <= high:
            new = math.sqrt(low * high)
        if abs(new - nu) <= 2.0 * math.ulp(nu):
            break
        nu = new
    terms = w / (away + nu)
    return terms * (radius / np.linalg.norm(terms))


def nearest_by_mass(surface: Ellipsoid, reference: np.ndarray) -> np.ndarray:
    """The x nearest to a reference (m,) in the mass metric, G = S: the reference, scaled about the centre."""
    z = surface.whitened(reference)
    if not np.any(z):
        refuse_mass_without_reference()
    return surface.point(z) if surface.radius else surface.centre.copy()


def refuse_mass_without_reference() -> NoReturn:
    """All of the ellipsoid is equally far from its centre in the mass metric."""
    raise TransitionError(
        "release, metric 'mass': every change that the momentum and the energy allow is as large as any other in this "
        "metric, so that without a reference it chooses nothing; give a reference that is not zero (the relative "
        "speeds kept at locking), or take the metric 'euclidean' or the choice 'canonical'"
    )


def published(metric: np.ndarray, surface: Ellipsoid) -> np.ndarray:
    """The x with the least xᵀG x, as published (Poursina 2012, section 3: J = (u_f − u_c)ᵀ(u_f − u_c)).

    Without driven joints that is the eigenvector of G x = λ S x with the smallest λ, all energy in one mode, and −x is
    as good: of these, and of the span of equal λ, ``nearest`` says which is taken.
    """
    return nearest(metric, surface, np.zeros_like(surface.centre))


def on_sphere(surface: Ellipsoid, normals: np.ndarray) -> np.ndarray:
    """The x in the direction of independent standard normal numbers (m,): uniform on the sphere of z, which is how a
    canonical distribution lies on a surface of one energy."""
    return surface.point(normals) if surface.radius else surface.centre.copy()


def optimised(
    objective: Callable[[np.ndarray], float], surface: Ellipsoid, reference: np.ndarray, tolerance: float = 1e-12
) -> np.ndarray:
    """The x with the least of an objective of x (m,) that SciPy's SLSQP finds, from the reference (m,) if that is not
    zero and from both ends of every axis of the sphere."""
    if surface.radius == 0.0:
        return surface.centre.copy()
    from scipy.optimize import minimize  # a tenth of a second that only this choice needs

    m = len(reference)
    starts = [*np.eye(m), *-np.eye(m)]
    if np.any(reference):
        starts.insert(0, surface.whitened(reference))
    best, least = None, math.inf

    def value(z: np.ndarray) -> float:
        usable = np.all(np.isfinite(z)) and np.any(z)  # SLSQP itself leaves numbers where the objective has none
        return float(objective(surface.point(z))) if usable else math.inf

    for start in starts:
        size = float(np.linalg.norm(start))
        if size == 0.0:
            continue
        found = minimize(
            value,
            start / size,
            method="SLSQP",
            constraints={"type": "eq", "fun": lambda z: z @ z - 1.0, "jac": lambda z: 2.0 * z},
            options={"ftol": tolerance, "maxiter": 300},
        )
        reached = value(found.x)
        if reached < least:
            best, least = surface.point(found.x), reached
    if best is None:
        raise TransitionError("release: the objective has no finite value anywhere that the search has been")
    return best
