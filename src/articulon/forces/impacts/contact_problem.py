"""Forces or impulses of several contacts at once, as one linear complementarity problem.

With A = J M⁻¹ Jᵀ, contact forces λ along and across the normals give the accelerations, or velocities, A λ + b. For
normals 0 ≤ (A λ + b)_n ⊥ λ_n ≥ 0. The force of a contact that already slips in the direction s is along n − μ s. For
any other contact the force across the normal is a sum of components β ≥ 0 in eight directions. One of these is opposite
to the motion that would occur without this force. The slip speed σ obeys 0 ≤ μ λ_n − Σ β ⊥ σ ≥ 0 (D. E. Stewart and J.
C. Trinkle, Int. J. Numer. Meth. Eng. 39, 2673, 1996).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.forces.impacts.linear_complementarity import lemke

SIDES = 8
"""Number of directions of a force across a normal."""


class Solved(NamedTuple):
    """Solved forces of contacts."""

    force: np.ndarray
    """Force along the normal and two directions across it, shape (n, 3)."""
    slips: np.ndarray
    """Whether each contact slips under these forces, shape (n,)."""


def directions(across: np.ndarray) -> np.ndarray:
    """Directions of the friction of a contact with a motion (2,) across its normal, shape (2, sides)."""
    angles = np.arctan2(-across[1], -across[0]) + 2.0 * np.pi * np.arange(SIDES) / SIDES
    return np.stack([np.cos(angles), np.sin(angles)])


def solve_contacts(
    A: np.ndarray, b: np.ndarray, friction: np.ndarray, slip: np.ndarray, given: np.ndarray | None = None
) -> Solved | None:
    """Return the forces of n contacts.

    Parameters
    ----------
    A, b
        Matrix and vector for the normal and two directions across it for each contact, shapes (3 n, 3 n) and (3 n,).
    friction
        μ, shape (n,).
    slip
        Unit vector of the slip across the normal, zero if there is no slip, shape (n, 2).
    given
        Given normal forces, shape (n,), which are part of the result.

    Returns
    -------
    Solved or None
        None if Lemke's method finds no solution; with friction there may be none.
    """
    n = friction.size
    rubs = (friction > 0.0) & ~slip.any(axis=1)
    size = n + int(rubs.sum()) * (SIDES + 1)
    pushes, felt = np.zeros((3 * n, size)), np.zeros((size, 3 * n))
    extra = np.zeros((size, size))
    at, first = n, {}
    for k in range(n):
        pushes[3 * k, k] = felt[k, 3 * k] = 1.0
        if not rubs[k]:
            pushes[3 * k + 1 : 3 * k + 3, k] = -friction[k] * slip[k]
            continue
        ways = directions(b[3 * k + 1 : 3 * k + 3])
        first[k] = at
        pushes[3 * k + 1 : 3 * k + 3, at : at + SIDES] = ways
        felt[at : at + SIDES, 3 * k + 1 : 3 * k + 3] = ways.T
        sigma = at + SIDES
        extra[at:sigma, sigma] = 1.0
        extra[sigma, k], extra[sigma, at:sigma] = friction[k], -1.0
        at = sigma + 1
    base = np.zeros(size)
    if given is not None:
        base[:n] = given
    # Given normal forces act like the unknown ones, and widen the friction cones.
    matrix = felt @ A @ pushes + extra
    z = lemke(matrix, felt @ b + matrix @ base)
    if z is None:
        return None
    z += base
    force = (pushes @ z).reshape(n, 3)
    slips = np.array(slip.any(axis=1), dtype=bool)
    for k, begin in first.items():
        slips[k] = z[begin + SIDES] > 1e-9 * max(float(np.abs(b[3 * k + 1 : 3 * k + 3]).max()), 1e-300)
    return Solved(force, slips)
