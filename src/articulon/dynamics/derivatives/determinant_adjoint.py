"""The adjoint of forces c E ∂ ln det M: derivatives of λ·g, with g the gradient of ln det M along the speeds, in O(n).

λ·g is the derivative of ln det M when the joints move at the speeds λ. Since second derivatives commute, its derivative
with respect to any variable is the change, along λ, of ∂ ln det M with respect to that variable. With the symbols of
``mass_determinant.py``,

    ∂/∂I:  G, the compliance J M⁻¹ Jᵀ of a link, ln det M changing by tr(G dI),
    ∂/∂s:  −2 tr(G⁺ Iᵃ [s×]), s the motion of all that a joint carries when its frame slides or rotates.

So two sweeps are enough, which find the changes δ of Iᴬ, Iᵃ and G. They are real, and reuse what the sweeps for g have
left. Each δ is taken in axes that move with the link, where its own inertia and the columns S that are fixed in it do
not change. With Σ = S D⁻¹ Sᵀ and ψ = 1 − Σ Iᴬ,

    δIᵃ = ψᵀ δIᴬ ψ,    δG = ψ δG⁺ ψᵀ − Σ δIᴬ G − G δIᴬ Σ + Σ δIᴬ Σ.

The link moves in the axes of its parent with the motion t = S λ. A quantity that changes by δ in its axes changes there
by δ plus

    [t×]* I − I [t×] for inertias,    [t×] G + G [t×]ᵀ for compliances.

A motion s of all that a joint carries is fixed in the parent's axes. The change of −2 tr(G⁺ Iᵃ [s×]) there is therefore
the derivative with respect to the joint's frame and, for a column s = S, with respect to a displacement before the
displacement λ, as the order of rotations demands.

A joint with columns of both kinds, fixed in the joint frame and in the link, acts as two joints with a massless link
between them: first, from the parent, the columns fixed in the joint frame, then those fixed in the link.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import force_of, moment_of
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    matrix_add,
    scale,
    store_from,
    sub,
    symmetric_add,
    symmetric_rotate,
    symmetric_rows,
    transpose,
)
from articulon.dynamics import joints
from articulon.dynamics.articulated import gather, store_inertia
from articulon.dynamics.kinematics import frames
from articulon.dynamics.mass_determinant import (
    carried_parts,
    congruent,
    less_products,
    load_inertia,
    pass_inertia,
    product_trace,
    release,
)
from articulon.dynamics.momentum_sampling import MOST
from articulon.kernels import jit
from articulon.passes import pass_of


class DeterminantChanges(NamedTuple):
    """Changes of what the sweeps for ln det M compute, and scratch; no part of the state."""

    whole: np.ndarray
    """Changes of Iᴬ in the link's axes, shape (links, 21)."""
    passed: np.ndarray
    """Changes of Iᵃ in the parent's axes, shape (links, 21)."""
    compliance: np.ndarray
    """Changes of G in the link's axes, shape (links, 21)."""
    carried: np.ndarray
    """Changes of (φ, χ) in the parent's axes, where tr(G⁺ Iᵃ [s×]) = φ·w + χ·v for s = (w, v), shape (links, 6)."""
    motion: np.ndarray
    """Motions of the joints that are orthonormal in the inertia, angular then linear, shape (nu, 6)."""
    momentum: np.ndarray
    """Momenta of these motions, moment then force, shape (nu, 6)."""
    moved: np.ndarray
    """Scratch for a joint, angular then linear, shape (6, 6)."""


def determinant_changes(links: int, nu: int) -> DeterminantChanges:
    """Allocate the arrays for a number of links and of speeds."""
    whole, passed, compliance = np.zeros((3, links, 21))
    motion, momentum = np.zeros((2, nu, 6))
    return DeterminantChanges(whole, passed, compliance, np.zeros((links, 6)), motion, momentum, np.zeros((MOST, 6)))


@jit
def split(kind):
    """Number of columns of a joint that are fixed in its frame and not in the link; they come first."""
    count = 0
    if joints.framed(kind):
        while not joints.fixed_in_body(kind, count):
            count += 1
    return count


@jit
def motion_along(kind, axis, frame, R, first, last, weight, at):
    """The motion t of the columns from ``first`` to ``last`` of a joint whose speeds are ``weight`` from ``at`` on."""
    w, v = ZERO, ZERO
    for k in range(first, last):
        sw, sv = joints.column(kind, axis, k, frame, R)
        w, v = add(w, scale(weight[at + k], sw)), add(v, scale(weight[at + k], sv))
    return w, v


@jit
def orthonormal_columns(kind, axis, frame, R, first, last, at, A, H, M, changes):
    """Make the columns from ``first`` to ``last`` of a joint, whose first speed is ``at``, orthonormal in an
    inertia."""
    motion, momentum = changes.motion, changes.momentum
    for k in range(first, last):
        w, v = joints.column(kind, axis, k, frame, R)
        for j in range(at + first, at + k):
            c = dot(load_from(momentum, j, 0), w) + dot(load_from(momentum, j, 3), v)
            w, v = sub(w, scale(c, load_from(motion, j, 0))), sub(v, scale(c, load_from(motion, j, 3)))
        n, f = moment_of(A, H, w, v), force_of(H, M, w, v)
        c = 1.0 / math.sqrt(dot(n, w) + dot(f, v))
        store_from(motion, at + k, 0, scale(c, w))
        store_from(motion, at + k, 3, scale(c, v))
        store_from(momentum, at + k, 0, scale(c, n))
        store_from(momentum, at + k, 3, scale(c, f))


@jit
def turned(w, v, A, H, M):
    """The change [t×]* I − I [t×] of an inertia that moves by t = (w, v); of a compliance (V, X, W), which has the same
    form, it is [t×] G + G [t×]ᵀ."""
    a, m, B = symmetric_rows(A), symmetric_rows(M), transpose(H)
    a0, a1, a2 = (
        add(cross(w, a[0]), cross(v, H[0])),
        add(cross(w, a[1]), cross(v, H[1])),
        add(cross(w, a[2]), cross(v, H[2])),
    )
    b0, b1, b2 = (
        add(cross(w, B[0]), cross(v, m[0])),
        add(cross(w, B[1]), cross(v, m[1])),
        add(cross(w, B[2]), cross(v, m[2])),
    )
    m0, m1, m2 = cross(w, m[0]), cross(w, m[1]), cross(w, m[2])
    rows = cross(w, H[0]), cross(w, H[1]), cross(w, H[2])
    return symmetrised(a0, a1, a2), matrix_add(rows, transpose((b0, b1, b2))), symmetrised(m0, m1, m2)


@jit
def symmetrised(a, b, c):
    """B + Bᵀ of the matrix with these rows."""
    return (2.0 * a[0], a[1] + b[0], a[2] + c[0], 2.0 * b[1], b[2] + c[1], 2.0 * c[2])


@jit
def added(A, H, M, B, K, N):
    return symmetric_add(A, B), matrix_add(H, K), symmetric_add(M, N)


@jit
def eliminated(first, last, A, H, M, changes):
    """δIᵃ = ψᵀ δIᴬ ψ for the motions from ``first`` to ``last``."""
    for k in range(first, last):
        w, v = load_from(changes.motion, k, 0), load_from(changes.motion, k, 3)
        n, f = load_from(changes.momentum, k, 0), load_from(changes.momentum, k, 3)
        A, H, M = congruent(0.0, f, n, v, w, A, H, M)
    return A, H, M


@jit
def less_momenta(first, last, A, H, M, changes):
    """Iᵃ = Iᴬ − Σ p pᵀ for the motions from ``first`` to ``last``."""
    for k in range(first, last):
        n, f = load_from(changes.momentum, k, 0), load_from(changes.momentum, k, 3)
        A, H, M = less_products(A, H, M, f, n, scale(0.5, f), scale(0.5, n))
    return A, H, M


@jit
def released(first, last, V, X, W, dV, dX, dW, dA, dH, dM, changes):
    """δG from δG⁺, all in the link's axes, for the motions from ``first`` to ``last``, with G and δIᴬ."""
    motion, momentum, moved = changes.motion, changes.momentum, changes.moved
    # δG⁺ − Σ (s hᵀ + h sᵀ), with h = δG⁺ p + G δIᴬ s − ½ Σ s' (p'·δG⁺ p + s'·δIᴬ s).
    for k in range(first, last):
        w, v = load_from(motion, k, 0), load_from(motion, k, 3)
        n, f = load_from(momentum, k, 0), load_from(momentum, k, 3)
        bn, bf = moment_of(dA, dH, w, v), force_of(dH, dM, w, v)
        gv, gw = moment_of(dV, dX, f, n), force_of(dX, dW, f, n)
        hv, hw = add(gv, moment_of(V, X, bf, bn)), add(gw, force_of(X, W, bf, bn))
        for j in range(first, last):
            sw, sv = load_from(motion, j, 0), load_from(motion, j, 3)
            c = dot(load_from(momentum, j, 0), gw) + dot(load_from(momentum, j, 3), gv)
            c = 0.5 * (c + dot(sw, bn) + dot(sv, bf))
            hw, hv = sub(hw, scale(c, sw)), sub(hv, scale(c, sv))
        store_from(moved, k - first, 0, hw)
        store_from(moved, k - first, 3, hv)
    for k in range(first, last):
        w, v = load_from(motion, k, 0), load_from(motion, k, 3)
        dV, dX, dW = less_products(dV, dX, dW, w, v, load_from(moved, k - first, 0), load_from(moved, k - first, 3))
    return dV, dX, dW


@jit
def changes_inward(forest, ws, weight, arrays, changes):
    """Inward sweep: the changes of Iᴬ and Iᵃ."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(parent.size - 1, -1, -1):
        A, H, M = nothing, (ZERO, ZERO, ZERO), nothing
        if forest.slot[i] >= 0:
            A, H, M, _, _ = gather(ws.gathered, forest.slot[i], A, H, M, ZERO, ZERO)
        store_inertia(changes.whole, i, A, H, M)
        kind, axis, at = kinds[i], load(axes, i), u_start[i]
        frame, R = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        first, last = split(kind), joints.degrees_of_freedom(kind)
        B, K, N = load_inertia(arrays.whole, i)
        orthonormal_columns(kind, axis, frame, R, first, last, at, B, K, N, changes)
        A, H, M = eliminated(at + first, at + last, A, H, M, changes)
        if first > 0:
            B, K, N = less_momenta(at + first, at + last, B, K, N, changes)
            w, v = motion_along(kind, axis, frame, R, first, last, weight, at)
            A, H, M = added(A, H, M, *turned(w, v, B, K, N))
            orthonormal_columns(kind, axis, frame, R, 0, first, at, B, K, N, changes)
            A, H, M = eliminated(at, at + first, A, H, M, changes)
            first, last = 0, first
        if parent[i] >= 0:
            w, v = motion_along(kind, axis, frame, R, first, last, weight, at)
            B, K, N = load_inertia(arrays.passed, i)
            A, H, M = added(A, H, M, *turned(w, v, B, K, N))
            pass_inertia(forest, ws, i, A, H, M, changes)


@jit
def changes_outward(forest, ws, weight, factor, arrays, changes, by_coordinate):
    """Outward sweep: the changes of G; add the changes of the slopes g, times a factor, to ``by_coordinate`` (nu,)."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    for i in range(parent.size):
        kind, axis, at = kinds[i], load(axes, i), u_start[i]
        frame, R = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        first, last = split(kind), joints.degrees_of_freedom(kind)
        V, X, W, A, H, M = carried_parts(forest, ws, arrays, i)
        dV, dX, dW, dA, dH, dM = carried_parts(forest, ws, changes, i)
        n, f = trace_change(V, X, W, A, H, M, dV, dX, dW, dA, dH, dM)
        store_from(changes.carried, i, 0, n)
        store_from(changes.carried, i, 3, f)
        B, K, N = load_inertia(arrays.whole, i)
        dB, dK, dN = load_inertia(changes.whole, i)
        if first > 0:
            add_slopes(kind, axis, frame, R, 0, first, n, f, factor, at, by_coordinate)
            A, H, M = less_momenta(at + first, at + last, B, K, N, changes)
            dA, dH, dM = eliminated(at + first, at + last, dB, dK, dN, changes)
            w, v = motion_along(kind, axis, frame, R, first, last, weight, at)
            dA, dH, dM = added(dA, dH, dM, *turned(w, v, A, H, M))
            w, v = motion_along(kind, axis, frame, R, 0, first, weight, at)
            dV, dX, dW = added(dV, dX, dW, *turned(scale(-1.0, w), scale(-1.0, v), V, X, W))
            for k in range(at, at + first):
                w, v = load_from(changes.motion, k, 0), load_from(changes.motion, k, 3)
                V, X, W = release(w, v, load_from(changes.momentum, k, 0), load_from(changes.momentum, k, 3), V, X, W)
            dV, dX, dW = released(at, at + first, V, X, W, dV, dX, dW, dA, dH, dM, changes)
            n, f = trace_change(V, X, W, A, H, M, dV, dX, dW, dA, dH, dM)
        add_slopes(kind, axis, frame, R, first, last, n, f, factor, at, by_coordinate)
        w, v = motion_along(kind, axis, frame, R, first, last, weight, at)
        dV, dX, dW = added(dV, dX, dW, *turned(scale(-1.0, w), scale(-1.0, v), V, X, W))
        V, X, W = load_inertia(arrays.compliance, i)  # not computed for links without children, whose δIᴬ is zero
        dV, dX, dW = released(at + first, at + last, V, X, W, dV, dX, dW, dB, dK, dN, changes)
        store_inertia(changes.compliance, i, dV, dX, dW)


@jit
def trace_change(V, X, W, A, H, M, dV, dX, dW, dA, dH, dM):
    """The change of ``product_trace`` for changes of a compliance and an inertia."""
    n, f = product_trace(dV, dX, dW, A, H, M)
    m, g = product_trace(V, X, W, dA, dH, dM)
    return add(n, m), add(f, g)


@jit
def add_slopes(kind, axis, frame, R, first, last, n, f, factor, at, by_coordinate):
    for k in range(first, last):
        w, v = joints.column(kind, axis, k, frame, R)
        by_coordinate[at + k] -= 2.0 * factor * (dot(n, w) + dot(f, v))


@pass_of
def determinant_force_adjoint(forest, ws, weight, factor, energy, arrays, changes, by_coordinate, by_energy):
    """Add the derivatives of the power c E λ·g, with λ the ``weight`` (nu,), g the gradient of ln det M, the number c
    in ``factor`` and E in ``energy`` (1,), with respect to the coordinates in their tangent space (nu,) and to E (1,).
    ``arrays`` are those of g, computed last for the same places of the links; scratch of ``ws`` is changed."""
    changes_inward(forest, ws, weight, arrays, changes)
    changes_outward(forest, ws, weight, factor * energy[0], arrays, changes, by_coordinate)
    for k in range(weight.size):
        by_energy[0] += factor * weight[k] * arrays.gradient[k]


@pass_of
def determinant_force_by_links(forest, ws, factor, energy, changes, by_links):
    """Add to the arrays ``by_links`` the derivatives of c E λ·g with respect to masses, first moments and inertias of
    links, and positions and rotations of joint frames. Call it after :func:`determinant_force_adjoint`."""
    by_mass, by_moment, by_inertia, position, turn = by_links
    c = factor * energy[0]
    for i in range(forest.parent.size):
        R = load_matrix(ws.rotation, i)
        V, X, W = load_inertia(changes.compliance, i)
        by_mass[i] += c * (V[0] + V[3] + V[5])
        h = apply_t(R, (X[1][2] - X[2][1], X[2][0] - X[0][2], X[0][1] - X[1][0]))
        W = symmetric_rotate(transpose(R), W)
        for k in range(3):
            by_moment[i, k] += 2.0 * c * h[k]
        for k in range(6):
            by_inertia[i, k] += (1.0 if k == 0 or k == 3 or k == 5 else 2.0) * c * W[k]
        p = forest.parent[i]
        if p >= 0:
            parent = load_matrix(ws.rotation, p)
            # From the origin of the joint frame to that of the link, in the frame of the parent.
            arm = sub(apply_t(parent, load(ws.reach, i)), load(forest.position, i))
            f = apply_t(parent, load_from(changes.carried, i, 3))
            n = add(apply_t(parent, load_from(changes.carried, i, 0)), cross(arm, f))
            for k in range(3):
                turn[i, k] -= 2.0 * c * n[k]
                position[i, k] -= 2.0 * c * f[k]
