"""The law A/r¹² − B/r⁶ + C/r between two sites, and the derivatives of pair forces.

With d from one site to another, g = −U'/r and L = U'' + 2U'/r, the force of a pair is g d. Its derivative with respect
to d is K = g 1 − s d dᵀ with s = (U'' + g)/r² = (L + 3g)/r². So a law with a known Laplacian L also has a known second
derivative.
"""

import math

from articulon.algebra.vectors import dot, scale, sub
from articulon.kernels import jit


@jit
def site_law(r2, A, B, C):
    """U(r) = A/r¹² − B/r⁶ + C/r, of `site-pairs` and of the truncated law `twelve-six`; returns U, −U'(r)/r and ∇²U."""
    inverse2 = 1.0 / r2
    inverse6 = inverse2 * inverse2 * inverse2
    coulomb = C * math.sqrt(inverse2)
    repulsion, attraction = A * inverse6 * inverse6, B * inverse6
    return (
        repulsion - attraction + coulomb,
        (12.0 * repulsion - 6.0 * attraction + coulomb) * inverse2,
        (132.0 * repulsion - 30.0 * attraction) * inverse2,
    )


@jit
def site_law_by_parameters(r2):
    """Derivatives of −U'(r)/r with respect to A, B and C."""
    inverse2 = 1.0 / r2
    inverse6 = inverse2 * inverse2 * inverse2
    return 12.0 * inverse6 * inverse6 * inverse2, -6.0 * inverse6 * inverse2, inverse2 * math.sqrt(inverse2)


@jit
def pair_change(g, L, d, change):
    """Return K times a change of d: the change of the force g d."""
    along = (L + 3.0 * g) / dot(d, d) * dot(d, change)
    return sub(scale(g, change), scale(along, d))
