"""ln det M of the joint-space mass matrix and its gradient, in O(n), by the articulated recursion.

The mass matrix is a product of triangular factors of determinant one and of a block-diagonal matrix. Its blocks are Dᵢ
= Sᵢᵀ Iᴬᵢ Sᵢ, with the articulated inertias Iᴬ of the links (Jain, J. Comput. Phys. 136, 289, 1997). So ln det M = Σ ln
det Dᵢ, found inward.

Its gradient is the reverse derivative of that sweep, found outward. Let Iᵃ = Iᴬ − Iᴬ S D⁻¹ Sᵀ Iᴬ be the inertia that a
link passes on to its parent, and ψ = 1 − S D⁻¹ Sᵀ Iᴬ. Let G be the derivative of ln det M with respect to the Iᴬ of a
link, and G⁺ that of its parent, taken about the link's origin. Then G follows from G⁺, and so does the slope along a
speed with the column s:

    G = S D⁻¹ Sᵀ + ψ G⁺ ψᵀ,    ∂ ln det M = −2 tr(G⁺ Iᵃ [s×]),

since moving a joint rotates Iᵃ with the link and leaves D unchanged (Jain, Kandel, Wagner, Larsen and Vaidehi, J. Chem.
Phys. 139, 244103, 2013, have the same trace). G = J M⁻¹ Jᵀ is also the covariance of a link's twist at kT = 1, and the
slope is twice the mean ∂T/∂q of thermal motion. Columns that stay fixed in the joint frame when the link rotates, such
as one column of a universal joint, add a term that contains dS.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import force_of, moment_of, shift, skew
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    dot,
    isotropic,
    load,
    load_from,
    load_symmetric,
    scale,
    store_from,
    sub,
    symmetric_apply,
    symmetric_rotate,
    symmetric_rows,
    transpose,
)
from articulon.dynamics import joints
from articulon.dynamics.articulated import gather, store_inertia
from articulon.dynamics.kinematics import frames, place
from articulon.dynamics.momentum_sampling import MOST, factorise_in_place, joint_inertia
from articulon.kernels import jit, kernel


class Determinant(NamedTuple):
    """Scratch of the two sweeps; it is not part of the state."""

    whole: np.ndarray
    """Articulated inertia Iᴬ of each link about its origin, before its joint is eliminated, shape (links, 21)."""
    passed: np.ndarray
    """Inertia Iᵃ that each link passes on to its parent, after its joint is eliminated, shape (links, 21)."""
    compliance: np.ndarray
    """J M⁻¹ Jᵀ of each link about its origin: linear, linear by angular, angular, shape (links, 21)."""
    D: np.ndarray
    """D of a joint, then its lower triangular root L, shape (6, 6)."""
    motion: np.ndarray
    """Rows of L⁻¹ Sᵀ, angular then linear: motions of the joint that are orthonormal in the inertia, shape (6, 6)."""
    momentum: np.ndarray
    """Momenta of these motions, moment then force, shape (6, 6)."""
    dual: np.ndarray
    """A column of L⁻¹, shape (6,)."""
    torque: np.ndarray
    """Zeros, shape (nu,)."""
    gradient: np.ndarray
    """Slope of ln det M along each speed, shape (nu,)."""


def determinant_arrays(links: int, nu: int) -> Determinant:
    """Zeroed arrays for a model."""
    inertias = np.zeros((3, links, 21))
    joint = np.zeros((3, MOST, MOST))
    return Determinant(
        inertias[0], inertias[1], inertias[2], joint[0], joint[1], joint[2], np.zeros(MOST), np.zeros(nu), np.zeros(nu)
    )


@jit
def load_inertia(a, i):
    """Inertia (A, H, M) of row i."""
    M = (a[i, 15], a[i, 16], a[i, 17], a[i, 18], a[i, 19], a[i, 20])
    return load_symmetric(a, i), (load_from(a, i, 6), load_from(a, i, 9), load_from(a, i, 12)), M


@jit
def gathered_inertia(forest, ws, i, R):
    """Return the articulated inertia of link i: its own inertia and those that its children have passed on."""
    A, H = symmetric_rotate(R, load_symmetric(forest.inertia, i)), skew(apply(R, load(forest.moment, i)))
    M = isotropic(forest.mass[i])
    if forest.slot[i] >= 0:
        A, H, M, _, _ = gather(ws.gathered, forest.slot[i], A, H, M, ZERO, ZERO)
    return A, H, M


@jit
def pass_inertia(forest, ws, i, A, H, M, arrays):
    """Store the inertia that link i passes on to its parent, and add it to that of its siblings."""
    store_inertia(arrays.passed, i, A, H, M)
    A, H = shift(load(ws.reach, i), A, H, M)
    s = forest.slot[forest.parent[i]]
    if not forest.first[i]:  # a sibling has already stored its inertia
        A, H, M, _, _ = gather(ws.gathered, s, A, H, M, ZERO, ZERO)
    store_inertia(ws.gathered, s, A, H, M)


@jit
def articulate(forest, ws, arrays):
    """Inward sweep: the articulated inertia of every link with a known pose, and the part that reaches the parent."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    for i in range(parent.size - 1, -1, -1):
        kind = kinds[i]
        frame, R = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        A, H, M = gathered_inertia(forest, ws, i, R)
        store_inertia(arrays.whole, i, A, H, M)
        if parent[i] >= 0:
            A, H, M, _, _, _ = joints.eliminate(
                kind, load(axes, i), arrays.torque, u_start[i], frame, R, ZERO, ZERO, ZERO, A, H, M, ZERO, ZERO
            )
            pass_inertia(forest, ws, i, A, H, M, arrays)


@jit
def orthonormal_motions(kind, axis, frame, R, A, H, M, arrays):
    """Motions of a joint that are orthonormal in the inertia, with their momenta; returns ln det D."""
    joint_inertia(kind, axis, frame, R, A, H, M, arrays.D)
    factorise_in_place(arrays.D, joints.degrees_of_freedom(kind))
    return motions_of_factor(kind, axis, frame, R, A, H, M, arrays)


@jit
def motions_of_factor(kind, axis, frame, R, A, H, M, arrays):
    """Motions L⁻¹ Sᵀ of a joint with the factor L in ``arrays.D``, with their momenta; returns ln det D."""
    D, motion, momentum, total = arrays.D, arrays.motion, arrays.momentum, 0.0
    for k in range(joints.degrees_of_freedom(kind)):
        w, v = joints.column(kind, axis, k, frame, R)
        for j in range(k):
            w = sub(w, scale(D[k, j], load_from(motion, j, 0)))
            v = sub(v, scale(D[k, j], load_from(motion, j, 3)))
        w, v = scale(1.0 / D[k, k], w), scale(1.0 / D[k, k], v)
        store_from(motion, k, 0, w)
        store_from(motion, k, 3, v)
        store_from(momentum, k, 0, moment_of(A, H, w, v))
        store_from(momentum, k, 3, force_of(H, M, w, v))
        total += 2.0 * math.log(D[k, k])
    return total


@jit
def symmetric_less_product(S, a, b):
    """The symmetric matrix S − a bᵀ − b aᵀ."""
    return (
        S[0] - 2.0 * a[0] * b[0],
        S[1] - (a[0] * b[1] + b[0] * a[1]),
        S[2] - (a[0] * b[2] + b[0] * a[2]),
        S[3] - 2.0 * a[1] * b[1],
        S[4] - (a[1] * b[2] + b[1] * a[2]),
        S[5] - 2.0 * a[2] * b[2],
    )


@jit
def less_products(V, X, W, w, v, gw, gv):
    """The compliance G − s gᵀ − g sᵀ, with s = (w, v) and g = (gw, gv)."""
    V, W = symmetric_less_product(V, v, gv), symmetric_less_product(W, w, gw)
    X = (
        sub(X[0], add(scale(v[0], gw), scale(gv[0], w))),
        sub(X[1], add(scale(v[1], gw), scale(gv[1], w))),
        sub(X[2], add(scale(v[2], gw), scale(gv[2], w))),
    )
    return V, X, W


@jit
def congruent(own, w, v, n, f, V, X, W):
    """(1 − s pᵀ) G (1 − p sᵀ) + c s sᵀ with s = (w, v), p = (n, f), p·s = 1 and the number c in ``own``."""
    gv, gw = moment_of(V, X, f, n), force_of(X, W, f, n)
    half = 0.5 * (own + dot(n, gw) + dot(f, gv))
    gv, gw = sub(gv, scale(half, v)), sub(gw, scale(half, w))
    return less_products(V, X, W, w, v, gw, gv)


@jit
def release(w, v, n, f, V, X, W):
    """G ← (1 − s pᵀ) G (1 − p sᵀ) + s sᵀ: the compliance when the joint moves freely along s = (w, v) with momentum p =
    (n, f)."""
    return congruent(1.0, w, v, n, f, V, X, W)


@jit
def product_trace(V, X, W, A, H, M):
    """Vectors (φ, χ) with tr(G I [s×]) = φ·w + χ·v for a motion s = (w, v), from a compliance G and an inertia I."""
    turning, moving, Y = symmetric_rows(W), symmetric_rows(V), transpose(X)
    # The sum of the angular and the linear block of G I; then the angular by linear block.
    p0, r0 = product_row(turning[0], moving[0], Y[0], X[0], A, H, M)
    p1, r1 = product_row(turning[1], moving[1], Y[1], X[1], A, H, M)
    p2, r2 = product_row(turning[2], moving[2], Y[2], X[2], A, H, M)
    return (p1[2] - p2[1], p2[0] - p0[2], p0[1] - p1[0]), (r1[2] - r2[1], r2[0] - r0[2], r0[1] - r1[0])


@jit
def product_row(w, v, y, x, A, H, M):
    p = add(add(symmetric_apply(A, w), apply(H, y)), add(apply_t(H, x), symmetric_apply(M, v)))
    return p, add(apply_t(H, w), symmetric_apply(M, y))


@jit
def from_still_columns(kind, axis, frame, R, w, v, V, X, W, A, H, M, arrays):
    """Return the term of the columns that stay fixed in the joint frame in the slope along (w, v): 2 tr(D⁻¹ Sᵀ Iᴬ (1 −
    G⁺ Iᵃ) dS). This is the derivative of ln det M with respect to S, times dS, the difference between these columns and
    columns that rotate with the link when the joint moves."""
    D, dual, momentum, n, total = arrays.D, arrays.dual, arrays.momentum, joints.degrees_of_freedom(kind), 0.0
    for j in range(n):
        if not joints.fixed_in_body(kind, j):
            tw, tv = joints.column(kind, axis, j, frame, R)
            dw, dv = cross(tw, w), add(cross(tv, w), cross(tw, v))
            moment, force = moment_of(A, H, dw, dv), force_of(H, M, dw, dv)
            dw, dv = sub(dw, force_of(X, W, force, moment)), sub(dv, moment_of(V, X, force, moment))
            for a in range(j, n):  # column j of L⁻¹
                c = 1.0 if a == j else 0.0
                for b in range(j, a):
                    c -= D[a, b] * dual[b]
                dual[a] = c / D[a, a]
                total += 2.0 * dual[a] * (dot(load_from(momentum, a, 0), dw) + dot(load_from(momentum, a, 3), dv))
    return total


@jit
def slope_along_speeds(kind, axis, frame, R, first, V, X, W, A, H, M, arrays):
    """Compute the slopes of ln det M along the speeds of a joint, from G⁺ (V, X, W) and Iᵃ (A, H, M), and write them to
    ``arrays.gradient``; ``first`` is the index of the joint's first speed."""
    turning, moving = product_trace(V, X, W, A, H, M)
    for k in range(joints.degrees_of_freedom(kind)):
        w, v = joints.column(kind, axis, k, frame, R)
        slope = -2.0 * (dot(turning, w) + dot(moving, v))
        if joints.framed(kind):
            slope += from_still_columns(kind, axis, frame, R, w, v, V, X, W, A, H, M, arrays)
        arrays.gradient[first + k] = slope


@jit
def log_determinant(forest, ws, arrays):
    """ln det M for links with known poses."""
    articulate(forest, ws, arrays)
    total = 0.0
    for i in range(forest.kind.size):
        kind = forest.kind[i]
        frame, R = frames(kind, forest.parent, forest.rotation, ws.quaternion, ws.rotation, i)
        A, H, M = load_inertia(arrays.whole, i)
        joint_inertia(kind, load(forest.axis, i), frame, R, A, H, M, arrays.D)
        factorise_in_place(arrays.D, joints.degrees_of_freedom(kind))
        for k in range(joints.degrees_of_freedom(kind)):
            total += 2.0 * math.log(arrays.D[k, k])
    return total


@jit
def carried_parts(forest, ws, arrays, i):
    """G⁺, the compliance of the parent about the origin of link i, and Iᵃ, the inertia that link i passes on to the
    parent; zeros without a parent."""
    nothing, p = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), forest.parent[i]
    V, X, W = nothing, (ZERO, ZERO, ZERO), nothing
    A, H, M = nothing, (ZERO, ZERO, ZERO), nothing
    if p >= 0:
        A, H, M = load_inertia(arrays.passed, i)
        V, X, W = load_inertia(arrays.compliance, p)
        V, X = shift(scale(-1.0, load(ws.reach, i)), V, X, W)
    return V, X, W, A, H, M


@jit
def log_determinant_gradient(forest, ws, arrays):
    """Writes d ln det M along every speed to ``arrays.gradient``, for links with known poses; returns ln det M."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    compliance, motion, momentum = arrays.compliance, arrays.motion, arrays.momentum
    articulate(forest, ws, arrays)
    total = 0.0
    for i in range(parent.size):
        kind, axis = kinds[i], load(axes, i)
        frame, R = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        A, H, M = load_inertia(arrays.whole, i)
        total += orthonormal_motions(kind, axis, frame, R, A, H, M, arrays)
        V, X, W, A, H, M = carried_parts(forest, ws, arrays, i)
        slope_along_speeds(kind, axis, frame, R, u_start[i], V, X, W, A, H, M, arrays)
        if forest.slot[i] >= 0:
            for k in range(joints.degrees_of_freedom(kind)):
                w, v = load_from(motion, k, 0), load_from(motion, k, 3)
                V, X, W = release(w, v, load_from(momentum, k, 0), load_from(momentum, k, 3), V, X, W)
            store_inertia(compliance, i, V, X, W)
    return total


@kernel
def log_determinant_at(forest, q, ws, arrays):
    """ln det M at q; its gradient is left in ``arrays.gradient``."""
    place(forest, q, ws, 0, forest.kind.size)
    return log_determinant_gradient(forest, ws, arrays)
