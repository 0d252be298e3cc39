"""The articulated-body algorithm with damping of joints taken implicitly, in world axes, for rigid bodies.

Damping of joints is a diagonal of joint space: in (M + diag(d)) u' = f it is added to what a joint's elimination
divides by, SᵀIS, and to nothing else. A damped joint of several speeds is eliminated speed by speed, the last first,
as if massless bodies were between them: with s the column of a speed, U = I s and D = s·U + d,

    u' = (τ − s·p − U·a)/D,  I ← I − U Uᵀ/D,  p ← p + U (τ − s·p)/D.

Every joint takes that, whatever its columns. Joints without damping are eliminated as always.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import force_of, moment_of, shift, skew
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    dot,
    isotropic,
    load,
    load_from,
    load_symmetric,
    matrix_add,
    scale,
    store6,
    store_from,
    sub,
    symmetric_apply,
    symmetric_less_outer,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.articulated import gather, store_inertia
from articulon.dynamics.kinematics import frames
from articulon.dynamics.loops.constrained_articulated import whiten_rows
from articulon.dynamics.loops.semidefinite import factorise_semidefinite
from articulon.kernels import jit, kernel


class JointDampings(NamedTuple):
    """Damping that a solution takes implicitly, and what the recursion keeps of damped joints."""

    diagonal: np.ndarray
    """d, added to the diagonal of the mass matrix, shape (nu,)."""
    record: np.ndarray
    """U/D (6) and (τ − s·p)/D of every speed, shape (nu, 7)."""


def joint_dampings(nu: int) -> JointDampings:
    """Zeroed arrays for a model of so many speeds."""
    return JointDampings(np.zeros(nu), np.zeros((nu, 7)))


@jit
def is_damped(kind, diagonal, first):
    """Whether a joint whose speeds begin with the one given has damping."""
    most = 0.0
    for k in range(joints.degrees_of_freedom(kind)):
        most = max(most, diagonal[first + k])
    return most > 0.0


@jit
def eliminate_speeds(kind, axis, frame, body, tau, diagonal, first, record, A, H, M, n, f):
    """Eliminates the speeds of a damped joint, the last first; inertia and bias force are about the body's origin."""
    for k in range(joints.degrees_of_freedom(kind) - 1, -1, -1):
        sw, sv = joints.column(kind, axis, k, frame, body)
        uw, uv = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
        d = 1.0 / (dot(sw, uw) + dot(sv, uv) + diagonal[first + k])
        g = d * (tau[first + k] - dot(sw, n) - dot(sv, f))
        store_from(record, first + k, 0, scale(d, uw))
        store_from(record, first + k, 3, scale(d, uv))
        record[first + k, 6] = g
        n, f = add(n, scale(g, uw)), add(f, scale(g, uv))
        dw = scale(-d, uw)
        H = matrix_add(H, (scale(dw[0], uv), scale(dw[1], uv), scale(dw[2], uv)))
        A, M = symmetric_less_outer(A, d, uw), symmetric_less_outer(M, d, uv)
    return A, H, M, n, f


@jit
def eliminate_damped(forest, tau, wrench, ws, damping, kept):
    """Inward: as ``articulated.eliminate_and_keep``, with the damping of joints."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    slot, first = forest.slot, forest.first
    quaternion, rotations, twist = ws.quaternion, ws.rotation, ws.twist
    reach, bias, gathered, record = ws.reach, ws.bias, ws.gathered, ws.record
    for i in range(kinds.size - 1, -1, -1):
        kind, p = kinds[i], parent[i]
        frame, R = frames(kind, parent, rotation, quaternion, rotations, i)
        w, h = load_from(twist, i, 3), apply(R, load(forest.moment, i))
        A, H, M = symmetric_rotate(R, load_symmetric(forest.inertia, i)), skew(h), isotropic(forest.mass[i])
        n = sub(cross(w, symmetric_apply(A, w)), load_from(wrench, i, 3))
        f = sub(cross(w, cross(w, h)), load_from(wrench, i, 0))
        if slot[i] >= 0:
            A, H, M, n, f = gather(gathered, slot[i], A, H, M, n, f)
        if kept.shape[0] > 0:
            store_inertia(kept, i, A, H, M)
        r, cw, cv = load(reach, i), load_from(bias, i, 0), load_from(bias, i, 3)
        if is_damped(kind, damping.diagonal, u_start[i]):
            n, f = add(n, moment_of(A, H, cw, cv)), add(f, force_of(H, M, cw, cv))
            A, H, M, n, f = eliminate_speeds(
                kind, load(axes, i), frame, R, tau, damping.diagonal, u_start[i], damping.record, A, H, M, n, f
            )
            A, H = shift(r, A, H, M)
            n = add(n, cross(r, f))
        else:
            A, H, M, n, f, left = joints.eliminate(
                kind, load(axes, i), tau, u_start[i], frame, R, r, cw, cv, A, H, M, n, f
            )
            store6(record, i, 0, left)
            store6(record, i, 6, left[6:])
        if p >= 0:
            s = slot[p]
            if not first[i]:  # siblings have been here
                A, H, M, n, f = gather(gathered, s, A, H, M, n, f)
            store_inertia(gathered, s, A, H, M)
            store_from(gathered, s, 21, n)
            store_from(gathered, s, 24, f)


@jit
def accelerate_damped(forest, gravity, ws, damping, udot):
    """Outward: as ``articulated.accelerate``, with the damping of joints."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations = ws.quaternion, ws.rotation
    reach, bias, acceleration, record = ws.reach, ws.bias, ws.acceleration, damping.record
    ground = (-gravity[0], -gravity[1], -gravity[2])
    for i in range(kinds.size):
        p, kind, first = parent[i], kinds[i], u_start[i]
        aw, av = ZERO, ground
        if p >= 0:
            aw = load_from(acceleration, p, 0)
            av = add(load_from(acceleration, p, 3), cross(aw, load(reach, i)))
        aw, av = add(aw, load_from(bias, i, 0)), add(av, load_from(bias, i, 3))
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        if is_damped(kind, damping.diagonal, first):
            for k in range(joints.degrees_of_freedom(kind)):
                sw, sv = joints.column(kind, load(axes, i), k, frame, body)
                s = record[first + k, 6] - dot(load_from(record, first + k, 0), aw)
                s -= dot(load_from(record, first + k, 3), av)
                udot[first + k] = s
                aw, av = add(aw, scale(s, sw)), add(av, scale(s, sv))
        else:
            aw, av = joints.accelerate(kind, load(axes, i), frame, body, ws.record, i, aw, av, udot, first)
        store_from(acceleration, i, 0, aw)
        store_from(acceleration, i, 3, av)


@kernel
def solve_damped(forest, tau, wrench, gravity, ws, damping, udot, kept):
    """(M + diag(d))⁻¹ (τ + forces − velocity products) of links that have been placed and moved: udot (nu,)."""
    eliminate_damped(forest, tau, wrench, ws, damping, kept)
    accelerate_damped(forest, gravity, ws, damping, udot)


@jit
def factor_damped_paths(forest, loops, ws, diagonal, arrays):
    """W = S L⁻ᵀ, V = I S L⁻ᵀ and L⁻¹ of the joints on paths, with Sᵀ I S + diag(d) = L Lᵀ: Gram and Schmidt's
    procedure in that product."""
    parent, kinds, axes, rotation = forest.parent, forest.kind, forest.axis, forest.rotation
    quaternion, rotations = ws.quaternion, ws.rotation
    columns, inverse, kept = arrays.columns, arrays.inverse, arrays.articulated
    for place_, i in enumerate(loops.path):
        kind, first = kinds[i], forest.u_start[i]
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        A = load_symmetric(kept, i)
        H = (load_from(kept, i, 6), load_from(kept, i, 9), load_from(kept, i, 12))
        M = (kept[i, 15], kept[i, 16], kept[i, 17], kept[i, 18], kept[i, 19], kept[i, 20])
        W, V, K = columns[place_, 0], columns[place_, 1], inverse[place_]
        count = joints.degrees_of_freedom(kind)
        for k in range(count):
            sw, sv = joints.column(kind, load(axes, i), k, frame, body)
            n, f = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
            for c in range(3):
                W[k, c], W[k, 3 + c] = sw[c], sv[c]
                V[k, c], V[k, 3 + c] = n[c], f[c]
            for c in range(6):
                K[k, c] = 1.0 if c == k else 0.0
            for j in range(k):
                shared = shared_by(W, V, K, diagonal, first, count, j, k)
                for c in range(6):
                    W[k, c] -= shared * W[j, c]
                    V[k, c] -= shared * V[j, c]
                    K[k, c] -= shared * K[j, c]
            size = 1.0 / math.sqrt(shared_by(W, V, K, diagonal, first, count, k, k))
            for c in range(6):
                W[k, c] *= size
                V[k, c] *= size
                K[k, c] *= size


@jit
def shared_by(W, V, K, diagonal, first, count, j, k):
    """The product of columns j and k in Sᵀ I S + diag(d)."""
    total = 0.0
    for c in range(6):
        total += W[j, c] * V[k, c]
    for c in range(count):
        total += K[j, c] * diagonal[first + c] * K[k, c]
    return total


@kernel
def factor_damped(forest, loops, rigid, ws, diagonal, arrays):
    """Factors of J (M + diag(d))⁻¹ Jᵀ + C at links whose articulated inertias have been kept, with the rows of J in
    ``arrays.wrench``. C is diagonal: zero for the first ``rigid`` rows, which are conditions, and 1 for those behind
    them, which give way by their force."""
    factor_damped_paths(forest, loops, ws, diagonal, arrays)
    whiten_rows(forest, loops, ws, arrays)
    E, A = arrays.whitened, arrays.matrix
    for r in range(E.shape[0]):
        for s in range(r + 1):
            total = 0.0
            for k in range(E.shape[1]):
                total += E[r, k] * E[s, k]
            A[r, s] = A[s, r] = total
    for r in range(rigid, E.shape[0]):
        A[r, r] += 1.0
    arrays.rank[0] = factorise_semidefinite(A, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)
