"""The articulated-body algorithm with implicit damping of joints, in world axes.

Joint damping adds a diagonal to the mass matrix: (M + diag(d)) u' = f. In the elimination of a joint with the columns
S, it is added only to SᵀIS. A damped joint of several speeds is eliminated speed by speed, the last first, as if
massless bodies connected the speeds. For a speed with the column s and the joint force τ, let I be the articulated
inertia, p the bias force and a the acceleration before this speed is added. With U = I s and D = s·U + d,

    u' = (τ − s·p − U·a)/D,  I ← I − U Uᵀ/D,  p ← p + U (τ − s·p)/D.

These formulas hold for the columns of any joint. Joints without damping are eliminated as usual.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import force_of, moment_of, shift
from articulon.algebra.vectors import (
    add,
    cross,
    dot,
    load,
    load_from,
    matrix_add,
    scale,
    store6,
    store_from,
    symmetric_less_outer,
)
from articulon.dynamics import joints
from articulon.dynamics.articulated import add_to_parent, carried_outward, gathered_at
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import frames
from articulon.dynamics.loops.constrained_articulated import factor_paths, multiply_rows, whiten_rows
from articulon.dynamics.loops.semidefinite import factorise_semidefinite
from articulon.kernels import jit, kernel
from articulon.lanes import any_of, choose


class JointDampings(NamedTuple):
    """Implicit joint damping, and the quantities of damped joints that the inward pass stores for the outward pass."""

    diagonal: np.ndarray
    """Damping d, which is added to the diagonal of the mass matrix, shape (nu,)."""
    record: np.ndarray
    """U/D (6) and (τ − s·p)/D of each speed, shape (nu, 7)."""


def joint_dampings(nu: int) -> JointDampings:
    """Zeroed arrays for a model with ``nu`` speeds."""
    return JointDampings(np.zeros(nu), np.zeros((nu, 7)))


@jit
def is_damped(kind, diagonal, first):
    """Whether the joint whose first speed is ``first`` has damping."""
    most = 0.0 * diagonal[first]  # zero, as a float or as lanes
    for k in range(joints.degrees_of_freedom(kind)):
        most = choose(diagonal[first + k] > most, diagonal[first + k], most)
    return any_of(most > 0.0)


@jit
def eliminate_speeds(kind, axis, frame, body, tau, diagonal, first, record, A, H, M, n, f):
    """Eliminate the speeds of a damped joint, the last first. Inertia and bias force are about the body's origin."""
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


@by_forest
def eliminate_damped(forest, moment, inertia, tau, wrench, ws, damping, start, end, kept):
    """Inward pass: ``articulated.eliminate_and_keep`` with joint damping."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, bias, record = ws.quaternion, ws.rotation, ws.bias, ws.record
    for i in range(end - 1, start - 1, -1):
        kind = kinds[i]
        frame, R = frames(kind, parent, rotation, quaternion, rotations, i)
        A, H, M, n, f = gathered_at(forest, forest.mass, moment, inertia, R, wrench, ws, i, kept)
        r, cw, cv = load(ws.reach, i), load_from(bias, i, 0), load_from(bias, i, 3)
        if is_damped(kind, damping.diagonal, u_start[i]):
            A, H, M, n, f = eliminate_speeds(
                kind, load(axes, i), frame, R, tau, damping.diagonal, u_start[i], damping.record, A, H, M, n, f
            )
            # The acceleration of the joint at constant speeds acts on the inertia that remains after elimination.
            n, f = add(n, moment_of(A, H, cw, cv)), add(f, force_of(H, M, cw, cv))
            A, H = shift(r, A, H, M)
            n = add(n, cross(r, f))
        else:
            A, H, M, n, f, left = joints.eliminate(
                kind, load(axes, i), tau, u_start[i], frame, R, r, cw, cv, A, H, M, n, f
            )
            store6(record, i, 0, left)
            store6(record, i, 6, left[6:])
        add_to_parent(forest, ws.gathered, i, A, H, M, n, f)


@by_forest
def accelerate_damped(forest, gravity, ws, damping, udot, start, end):
    """Outward pass: ``articulated.accelerate`` with joint damping."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, acceleration, record = ws.quaternion, ws.rotation, ws.acceleration, damping.record
    for i in range(start, end):
        kind, first = kinds[i], u_start[i]
        aw, av = carried_outward(forest, gravity, ws, i)
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
    """Compute joint accelerations udot (nu,) = (M + diag(d))⁻¹ (τ + forces − velocity products) of placed and moved
    links."""
    links = forest.mass.size
    eliminate_damped(forest, forest.moment, forest.inertia, tau, wrench, ws, damping, 0, links, kept)
    accelerate_damped(forest, gravity, ws, damping, udot, 0, links)


@by_forest
def multiply_damped_rows(forest, loops, ws, damping, arrays):
    """Compute J (M + diag(d))⁻¹ Jᵀ from stored articulated inertias of the links, with the rows of J in the scratch."""
    factor_paths(forest, loops, ws, damping.diagonal, arrays)
    whiten_rows(forest, loops, ws, arrays)
    multiply_rows(arrays)


@kernel
def factor_damped(forest, loops, rigid, ws, damping, arrays):
    """Compute the factors of J (M + diag(d))⁻¹ Jᵀ + C from stored articulated inertias of the links, with the rows of J
    in ``arrays.wrench``. C is diagonal: 0 for the first ``rigid`` rows, which are exact conditions, and 1 for the
    following rows, which give way in proportion to their force."""
    multiply_damped_rows(forest, loops, ws, damping, arrays)
    for r in range(rigid, loops.kind.size):
        arrays.matrix[r, r] += 1.0
    arrays.rank[0] = factorise_semidefinite(arrays.matrix, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)
