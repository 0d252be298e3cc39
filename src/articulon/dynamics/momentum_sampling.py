"""Speeds drawn from N(0, kT M⁻¹), in O(n), by the articulated recursion.

Let Iᴬ be the articulated inertia of a link, Sᵢ the columns of its joint, Uᵢ = Iᴬᵢ Sᵢ and Dᵢ = Sᵢᵀ Uᵢ (Featherstone
2008, 7.2). Elimination of u from the leaves inward gives twice the kinetic energy as a sum of squares, Σ zᵢᵀ Dᵢ zᵢ.
Here zᵢ = uᵢ + Dᵢ⁻¹ Uᵢᵀ V, with V the twist of the parent about the link's origin. So the zᵢ are independent, with
covariance kT Dᵢ⁻¹, and the outward pass finds the speeds from them. Both passes are those of forward dynamics. In the
inward pass each joint has a random force of covariance kT Dᵢ. This force is not passed on to the parent.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import force_of, moment_of, skew
from articulon.algebra.vectors import (
    ZERO,
    apply,
    dot,
    isotropic,
    load,
    load_symmetric,
    store6,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.articulated import accelerate, gather, store_inertia
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import frames
from articulon.kernels import jit
from articulon.rng import normal_pair

MOST = 6
"""Largest number of speeds of a joint."""


class Draw(NamedTuple):
    """Scratch of a draw; it is not part of the state."""

    normal: np.ndarray
    """Standard normal numbers, one for each speed, shape (nu,)."""
    torque: np.ndarray
    """Forces of the joints, shape (nu,)."""
    D: np.ndarray
    """D of a joint, then its lower triangular root, shape (6, 6)."""
    speeds: np.ndarray
    """The drawn speeds, shape (nu,)."""


def draw_arrays(nu: int) -> Draw:
    """Zeroed arrays for a model."""
    return Draw(np.zeros(nu), np.zeros(nu), np.zeros((MOST, MOST)), np.zeros(nu))


@jit
def draw_normals(seed, stream, count, normals):
    """Standard normal numbers of step ``count``, with indices 0 to nu − 1."""
    for k in range(normals.shape[0]):
        normals[k], _ = normal_pair(seed, stream, count, k)


@jit
def joint_inertia(kind, axis, frame, R, A, H, M, D):
    """Lower triangle of Sᵀ Iᴬ S of a joint."""
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = joints.column(kind, axis, k, frame, R)
        n, f = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
        for m in range(k, joints.degrees_of_freedom(kind)):
            tw, tv = joints.column(kind, axis, m, frame, R)
            D[m, k] = dot(tw, n) + dot(tv, f)


@jit
def factorise_in_place(D, n):
    """Factorises the leading n × n block, D = L Lᵀ; L replaces the lower triangle."""
    for k in range(n):
        s = D[k, k]
        for j in range(k):
            s -= D[k, j] * D[k, j]
        D[k, k] = math.sqrt(s)
        for i in range(k + 1, n):
            s = D[i, k]
            for j in range(k):
                s -= D[i, j] * D[k, j]
            D[i, k] = s / D[k, k]


@jit
def draw_speeds(forest, seed, stream, count, kT, ws, draw):
    """Draws speeds from N(0, kT M⁻¹) into ``draw.speeds``, for links with known poses; ``ws`` is the workspace of links
    at rest.

    The random numbers are those of step ``count``, with indices 0 to nu − 1.
    """
    draw_normals(seed, stream, count, draw.normal)
    find_random_speeds(forest, kT, ws, draw)


@jit
def find_random_speeds(forest, kT, ws, draw):
    """Speeds drawn from N(0, kT M⁻¹), from the random numbers ``draw.normal``; ``ws`` is the workspace of links at
    rest."""
    apply_random_forces(forest, forest.moment, forest.inertia, math.sqrt(kT), ws, draw, 0, forest.parent.size)
    accelerate(forest, ZERO, ws, draw.speeds, 0, forest.parent.size)


@by_forest
def apply_random_forces(forest, moment, inertia, root, ws, draw, start, end):
    """Inward pass over the links from ``start`` to ``end``: applies a random force at each joint, which is not passed
    on. ``root`` is √(kT), the standard deviation of its numbers."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    slot, first, torque, D = forest.slot, forest.first, draw.torque, draw.D
    gathered = ws.gathered
    for i in range(end - 1, start - 1, -1):
        kind, p, j = kinds[i], parent[i], u_start[i]
        frame, R = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        A, H = symmetric_rotate(R, load_symmetric(inertia, i)), skew(apply(R, load(moment, i)))
        M, axis = isotropic(forest.mass[i]), load(axes, i)
        if slot[i] >= 0:
            A, H, M, _, _ = gather(gathered, slot[i], A, H, M, ZERO, ZERO)
        n = joints.degrees_of_freedom(kind)
        joint_inertia(kind, axis, frame, R, A, H, M, D)
        factorise_in_place(D, n)
        for k in range(n):
            torque[j + k] = 0.0
        for k in range(n):
            for m in range(k, n):
                torque[j + m] += root * D[m, k] * draw.normal[j + k]
        A, H, M, _, _, left = joints.eliminate(
            kind, axis, torque, j, frame, R, load(ws.reach, i), ZERO, ZERO, A, H, M, ZERO, ZERO
        )
        store6(ws.record, i, 0, left)
        store6(ws.record, i, 6, left[6:])
        if p >= 0:
            s = slot[p]
            if not first[i]:  # a sibling has already stored its inertia
                A, H, M, _, _ = gather(gathered, s, A, H, M, ZERO, ZERO)
            store_inertia(gathered, s, A, H, M)
            for k in range(21, 27):
                gathered[s, k] = 0.0
