"""Choice of the speeds of released axes, among all speeds that momentum and energy allow (after Poursina 2012, section
3).

Conservation of momentum gives the speeds of the fine model as u_c + W x. Here u_c are the speeds of the coarse model, x
(m,) are the relative speeds of the released axes, and W (m, nu) is the response of all speeds to x. The kinetic energy
is T_c + bᵀx + ½ xᵀS x, where T_c is the energy of the coarse model, S is the Schur complement of the mass matrix, and b
is zero without driven joints. For a given energy, x therefore lies on an ellipsoid. With S = L Lᵀ, the ellipsoid is
mapped to a sphere: x = −S⁻¹b + ρ L⁻ᵀz with |z| = 1. Every choice is made on the sphere, so that it does not depend on
the units of x.
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
"""Relative difference between an eigenvalue and the smallest eigenvalue, below which the two count as equal."""
ZERO_COMPONENT = 1e-13
"""Relative size of a component of the reference below which it counts as zero, because it is a rounding error."""
ZERO_MOMENTUM = 1e-8
"""Momentum of a direction at a released speed, as a fraction of the speed's own momentum, below which the momentum
counts as zero."""
ON_SPHERE = 4 * sys.float_info.epsilon
"""Relative error of the length of a point's vector up to which the point counts as lying on the sphere."""
MOST_TURNS = 100
ENERGY_ROUNDING = 1e-12
"""Amount, relative to the kinetic energy, by which an energy may be below the minimum because of rounding errors."""


@dataclass(frozen=True)
class Ellipsoid:
    """Ellipsoid of all x (m,) for which bᵀx + ½ xᵀS x equals a given energy."""

    schur: np.ndarray
    """Schur complement S, shape (m, m)."""
    root: np.ndarray
    """Cholesky factor L with S = L Lᵀ, lower triangular, shape (m, m)."""
    centre: np.ndarray
    """Point −S⁻¹ b of minimum energy, shape (m,)."""
    radius: float
    """Radius ρ = √(2 (energy − minimum energy))."""

    def point(self, z: np.ndarray) -> np.ndarray:
        """Return the point x (m,) of the ellipsoid in a direction z (m,) of any nonzero length. Its energy is exact up
        to rounding."""
        y = solve_transposed(self.root, z / np.linalg.norm(z))
        return self.centre + (self.radius / math.sqrt(float(y @ self.schur @ y))) * y

    def whitened(self, x: np.ndarray) -> np.ndarray:
        """Return the coordinates Lᵀ (x − centre), in which the ellipsoid is a sphere, shape (m,)."""
        return self.root.T @ (x - self.centre)


def solve_lower(root: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve L y = b for a lower triangular matrix L. The input is not checked, because checks would take longer than
    the solution."""
    return scipy.linalg.lapack.dtrtrs(root, b, lower=1)[0]


def solve_transposed(root: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve Lᵀ y = b for a lower triangular matrix L."""
    return scipy.linalg.lapack.dtrtrs(root, b, lower=1, trans=1)[0]


def least_energy(schur: np.ndarray, linear: np.ndarray) -> float:
    """Return the minimum −½ bᵀS⁻¹b of bᵀx + ½ xᵀS x."""
    y = solve_lower(cholesky(schur), linear)
    return -0.5 * float(y @ y)


def ellipsoid(schur: np.ndarray, linear: np.ndarray, energy: float) -> Ellipsoid:
    """Return the ellipsoid of a given energy, which must not be below the minimum."""
    root = cholesky(schur)
    y = solve_lower(root, linear)
    centre = -solve_transposed(root, y)
    return Ellipsoid(schur, root, centre, math.sqrt(max(0.0, 2.0 * energy + float(y @ y))))


def nearest(metric: np.ndarray, surface: Ellipsoid, reference: np.ndarray) -> np.ndarray:
    """Return the point x of the ellipsoid nearest to a reference (m,): it minimises (x − reference)ᵀ G (x − reference).

    With the metric G = R Rᵀ, the singular vectors of (R⁻¹ L)ᵀ are axes along which both quadratic forms are diagonal.
    Along these axes, unit vectors of the sphere have the squared lengths λ = 1/σ² in the metric, with the singular
    values σ. The smallest λ decide the result, and they are the most accurate. The secular equation is solved in the
    coordinates along these axes.

    If the reference has no component along the axes of the smallest λ, two or more points are equally near (the *hard
    case*). The point with the largest momentum (S x)₁ at the first released speed is then chosen. If all these points
    have zero momentum at this speed, the second speed decides, and so on.

    Parameters
    ----------
    metric
        Metric G, positive definite (m, m).
    surface
        Ellipsoid that contains x.
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
    """Return the direction, shape (k,), in the span of some axes (m, k) that has the largest momentum at one released
    speed. This is the first speed at which a direction in the span has a momentum."""
    for j in range(len(root)):
        momentum = root[j]  # Lᵀ e_j: (S x)_j = ρ zᵀ Lᵀ e_j
        found = axes.T @ momentum
        size = float(np.linalg.norm(found))
        if size > ZERO_MOMENTUM * float(np.linalg.norm(momentum)):
            return found / size
    raise AssertionError("a direction across all others")


def nearest_on_sphere(
    ratios: np.ndarray, first: np.ndarray, p: np.ndarray, radius: float, rule: np.ndarray
) -> np.ndarray:
    """Return the point ζ (m,) with |ζ| = radius that minimises Σ λ_i (ζ_i − p_i)².

    The solution is ζ_i = λ_i p_i/(λ_i + μ), with the μ > −λ₁ that solves the secular equation Σ (λ_i p_i/(λ_i + μ))² =
    radius² (Moré and Sorensen, SIAM J. Sci. Stat. Comput. 4, 1983). The unknown is ν = 1 + μ/λ₁, so that solutions near
    the pole are as accurate as other solutions. The function 1/√Σ (λ_i p_i/(λ_i + μ))² is concave in ν. So Newton's
    method, started below the solution, converges to it without overshooting.

    Parameters
    ----------
    ratios
        Ratios λ_i/λ₁, ascending (m,).
    first
        Mask of the ratios that are 1 (m,).
    p
        Reference (m,).
    radius
        Radius, positive.
    rule
        Unit vector in the span of the first axes, for the hard case (k,).
    """
    away = np.where(first, 0.0, ratios - 1.0)
    w = ratios * p
    if np.linalg.norm(p[first]) <= ZERO_COMPONENT * np.linalg.norm(p):
        result = np.zeros_like(p)
        result[~first] = w[~first] / away[~first]
        rest = float(np.linalg.norm(result)) / radius
        if rest <= 1.0:
            result[first] = radius * math.sqrt((1.0 - rest) * (1.0 + rest)) * rule
            return result
    # Each term alone gives a lower bound of the solution. With every term's denominator replaced by ν, the sum gives an
    # upper bound.
    low, high = float((np.abs(w) / radius - away).max()), float(np.linalg.norm(w)) / radius
    nu = low = max(low, math.ulp(high))
    for _ in range(MOST_TURNS):
        terms = w / (away + nu)
        size = float(np.linalg.norm(terms))
        error = size / radius - 1.0
        if abs(error) <= ON_SPHERE:
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
    """Return the point x nearest to a reference (m,) in the mass metric, G = S. It is the reference, moved along the
    line through the centre to the ellipsoid."""
    z = surface.whitened(reference)
    if not np.any(z):
        refuse_mass_without_reference()
    return surface.point(z) if surface.radius else surface.centre.copy()


def refuse_mass_without_reference() -> NoReturn:
    """Raise the error for a missing reference. The mass metric needs a reference, because all points are equally far
    from the centre."""
    raise TransitionError(
        "release, metric 'mass': all changes that momentum and energy allow have the same size in this metric, so "
        "that a reference is needed; give a nonzero reference (the relative speeds kept at locking), or use the "
        "metric 'euclidean' or the choice 'canonical'"
    )


def published(metric: np.ndarray, surface: Ellipsoid) -> np.ndarray:
    """Return the point x that minimises xᵀG x, as published (Poursina 2012, section 3: J = (u_f − u_c)ᵀ(u_f − u_c)).

    Without driven joints, x is the eigenvector of G x = λ S x with the smallest λ, so that all energy is in one mode.
    The solution −x is equivalent. The choice between x and −x, and between eigenvectors with equal λ, is made as in the
    hard case of :func:`nearest`.
    """
    return nearest(metric, surface, np.zeros_like(surface.centre))


def on_sphere(surface: Ellipsoid, normals: np.ndarray) -> np.ndarray:
    """Return the point x in the direction of a vector of independent standard normal numbers (m,). This direction is
    uniformly distributed on the sphere, which is the canonical distribution on a surface of constant energy."""
    return surface.point(normals) if surface.radius else surface.centre.copy()


def optimised(
    objective: Callable[[np.ndarray], float], surface: Ellipsoid, reference: np.ndarray, tolerance: float = 1e-12
) -> np.ndarray:
    """Return the point x (m,) with the smallest value of an objective, among the results of several searches by SciPy's
    SLSQP. The searches start from the reference (m,) if it is nonzero, and from both ends of every axis of the
    sphere."""
    if surface.radius == 0.0:
        return surface.centre.copy()
    from scipy.optimize import minimize  # this import takes a tenth of a second, and only this choice needs it

    m = len(reference)
    starts = [*np.eye(m), *-np.eye(m)]
    if np.any(reference):
        starts.insert(0, surface.whitened(reference))
    best, least = None, math.inf

    def value(z: np.ndarray) -> float:
        usable = np.all(np.isfinite(z)) and np.any(z)  # SLSQP also tries points where the objective is undefined
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
        raise TransitionError("release: the objective has no finite value at any point of the search")
    return best
