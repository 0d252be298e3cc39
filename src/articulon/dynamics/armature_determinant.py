"""Gradient of ln det (M + diag(a)), with armatures a, by the recursion of ``mass_determinant.py``, which defines the
symbols.

An armature changes only the block D = Sᵀ Iᴬ S + diag(a) of its own joint. Let D = L Lᵀ, let s be the columns of S L⁻ᵀ,
and p = Iᴬ s. Then

    Iᵃ = Iᴬ − Σ p pᵀ,    ψ = 1 − Σ s pᵀ,    G = Σ s sᵀ + ψ G⁺ ψᵀ.

The slope along a speed of column s is −2 tr(G⁺ Iᵃ [s×]) as without armatures, because a is constant. The term from
columns that stay with the joint frame, 2 tr(D⁻¹ Sᵀ Iᴬ (1 − G⁺ Iᵃ) dS), does not change either. Without armatures pᵀ s =
1 within a joint, so that Iᵃ has no inertia along the speeds of the joint. With armatures a part of this inertia
remains, and the parent carries it.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import force_of, moment_of
from articulon.algebra.vectors import dot, load, load_from, matrix_add, scale, store_from, sub, symmetric_less_outer
from articulon.dynamics import joints
from articulon.dynamics.articulated import store_inertia
from articulon.dynamics.kinematics import frames, place
from articulon.dynamics.mass_determinant import (
    carried_parts,
    gathered_inertia,
    less_products,
    load_inertia,
    motions_of_factor,
    pass_inertia,
    slope_along_speeds,
)
from articulon.dynamics.momentum_sampling import MOST, factorise_in_place, joint_inertia
from articulon.kernels import jit, kernel


class Armatures(NamedTuple):
    """Armatures, and scratch for joints of several speeds."""

    diagonal: np.ndarray
    """Armatures a, shape (nu,)."""
    moved: np.ndarray
    """Vector g of each motion of a joint (:func:`release_together`), linear then angular, shape (6, 6)."""


def armatures_of(armature: np.ndarray) -> Armatures:
    """Armatures (nu,) with their scratch."""
    return Armatures(armature.copy(), np.zeros((MOST, MOST)))


@jit
def motions_with_armature(kind, axis, frame, R, A, H, M, diagonal, first, arrays):
    """Compute the motions s of a joint with armatures, and their momenta p. Return ln det D."""
    n = joints.degrees_of_freedom(kind)
    joint_inertia(kind, axis, frame, R, A, H, M, arrays.D)
    for k in range(n):
        arrays.D[k, k] += diagonal[first + k]
    factorise_in_place(arrays.D, n)
    return motions_of_factor(kind, axis, frame, R, A, H, M, arrays)


@jit
def articulate_with_armatures(forest, ws, diagonal, arrays):
    """Inward sweep: compute the articulated inertia of every placed link, and the part of it that reaches the
    parent."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    momentum = arrays.momentum
    for i in range(parent.size - 1, -1, -1):
        kind = kinds[i]
        frame, R = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        A, H, M = gathered_inertia(forest, ws, i, R)
        store_inertia(arrays.whole, i, A, H, M)
        if parent[i] >= 0:
            motions_with_armature(kind, load(axes, i), frame, R, A, H, M, diagonal, u_start[i], arrays)
            for k in range(joints.degrees_of_freedom(kind)):
                n, f = load_from(momentum, k, 0), load_from(momentum, k, 3)
                A, M = symmetric_less_outer(A, 1.0, n), symmetric_less_outer(M, 1.0, f)
                H = matrix_add(H, (scale(-n[0], f), scale(-n[1], f), scale(-n[2], f)))
            pass_inertia(forest, ws, i, A, H, M, arrays)


@jit
def release_together(n, motion, momentum, moved, V, X, W):
    """Compute G ← ψ G ψᵀ + Σ s sᵀ, the compliance of a link whose joint moves freely along its n motions."""
    # G ← G − Σ (s gᵀ + g sᵀ), with g = G p − ½ s − ½ Σ s' (p'ᵀ G p).
    for k in range(n):
        moment, force = load_from(momentum, k, 0), load_from(momentum, k, 3)
        gv, gw = moment_of(V, X, force, moment), force_of(X, W, force, moment)
        left_v, left_w = gv, gw
        for j in range(n):
            c = 0.5 * (dot(load_from(momentum, j, 0), gw) + dot(load_from(momentum, j, 3), gv))
            if j == k:
                c += 0.5
            left_v = sub(left_v, scale(c, load_from(motion, j, 3)))
            left_w = sub(left_w, scale(c, load_from(motion, j, 0)))
        store_from(moved, k, 0, left_v)
        store_from(moved, k, 3, left_w)
    for k in range(n):
        w, v = load_from(motion, k, 0), load_from(motion, k, 3)
        gv, gw = load_from(moved, k, 0), load_from(moved, k, 3)
        V, X, W = less_products(V, X, W, w, v, gw, gv)
    return V, X, W


@jit
def gradient_with_armatures(forest, ws, armatures, arrays):
    """Write d ln det (M + diag(a)) along every speed to ``arrays.gradient``, for placed links. Return ln det (M +
    diag(a))."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    diagonal, motion, momentum = armatures.diagonal, arrays.motion, arrays.momentum
    articulate_with_armatures(forest, ws, diagonal, arrays)
    total = 0.0
    for i in range(parent.size):
        kind, axis = kinds[i], load(axes, i)
        frame, R = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        A, H, M = load_inertia(arrays.whole, i)
        total += motions_with_armature(kind, axis, frame, R, A, H, M, diagonal, u_start[i], arrays)
        V, X, W, A, H, M = carried_parts(forest, ws, arrays, i)
        slope_along_speeds(kind, axis, frame, R, u_start[i], V, X, W, A, H, M, arrays)
        if forest.slot[i] >= 0:
            n = joints.degrees_of_freedom(kind)
            V, X, W = release_together(n, motion, momentum, armatures.moved, V, X, W)
            store_inertia(arrays.compliance, i, V, X, W)
    return total


@kernel
def log_determinant_with_armatures(forest, q, ws, armatures, arrays):
    """Return ln det (M + diag(a)) at q, and write its gradient to ``arrays.gradient``."""
    place(forest, q, ws, 0, forest.kind.size)
    return gradient_with_armatures(forest, ws, armatures, arrays)
