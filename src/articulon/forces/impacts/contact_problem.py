"""The forces or impulses of several contacts at once, as one linear complementarity problem.

What contacts do along their normals and across them follows from A = J M⁻¹ Jᵀ: A λ + b is what becomes of
accelerations, or of velocities. Normals: 0 ≤ (A λ + b)_n ⊥ λ_n ≥ 0. One that slips already has its force along n − μ s.
Of any other the force across is a sum of pushes β ≥ 0 in eight directions, of which one is that against what would
happen without it, with 0 ≤ μ λ_n − Σ β ⊥ σ ≥ 0 (D. E. Stewart and J. C. Trinkle, Int. J. Numer. Meth. Eng. 39, 2673,
1996).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.forces.impacts.linear_complementarity import lemke

SIDES = 8
"""Directions of a force across a normal."""


class Solved(NamedTuple):
    """The forces of contacts."""

    force: np.ndarray
    """Along the normal and two directions across, shape (n, 3)."""
    slips: np.ndarray
    """Whether the two then slip, shape (n,)."""


def solve_contacts(
    A: np.ndarray, b: np.ndarray, friction: np.ndarray, slip: np.ndarray, given: np.ndarray | None = None
) -> Solved | None:
    """The forces of n contacts.

    Parameters
    ----------
    A, b
        Normal and two directions across for each, shapes (3 n, 3 n) and (3 n,).
    friction
        μ, shape (n,).
    slip
        Unit vector of the slip across the normal, zero where there is none, shape (n, 2).
    given
        Normal forces that act in any case, shape (n,); part of what is returned.

    Returns
    -------
    Solved or None
        None where there is no solution that Lemke's method finds: with friction there may be none.
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
        begin = np.arctan2(-b[3 * k + 2], -b[3 * k + 1])
        angles = begin + 2.0 * np.pi * np.arange(SIDES) / SIDES
        ways = np.stack([np.cos(angles), np.sin(angles)])
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
    # What is given pushes as the unknowns do, and widens the cones.
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
