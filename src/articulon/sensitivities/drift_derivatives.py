"""Derivatives of the drift at steady speeds of a friction-implicit step (``integrate/steady_drift.py``).

During a time t, links on joints that leave all rotations free keep their angular velocities in the world frame, and
turn by Q = exp(φ), φ = t ω. Let primes mark quantities at the end of the drift step. Rotations θ of the links and
changes δω of their angular velocities (``turning_derivatives.py``) become

    θ' = Q θ + t J(φ) δω,   δω' = δω,   J(φ) = 1 + a [φ×] + b [φ×]²,   a = (1 − cos φ)/φ²,   b = (φ − sin φ)/φ³,

Let R be the orientation of the link, and Δ = ω' − ω'_p, where p is the parent. The changes of the joint are
δq' = R'ᵀ (θ' − θ'_f) and δu' = R'ᵀ (δω' − δω'_p − θ' × Δ). Here θ_f is the rotation of the joint frame: the rotation of
the parent, plus the rotation of the frame in the parent. All other coordinates have δq' = δq + t δu at steady speeds,
and the changes of their links follow from the changes of the coordinates.

Euler parameters have unit length at the end of every drift step, so changes in the tangent space are complete.
"""

import math

from articulon.algebra.rotations import exponential, matrix
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    dot,
    load_at,
    load_from,
    load_matrix,
    scale,
    store_at,
    store_from,
    sub,
)
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import add_from
from articulon.kernels import jit
from articulon.model.joints import FREE, SPHERICAL
from articulon.passes import pass_of
from articulon.sensitivities.turning_derivatives import (
    SPEED,
    TURN,
    add_frame_turn,
    frame_turn,
    parent_row,
    turned_by_joint,
    weigh_joint,
)


@pass_of
def keep_links(ws, rotation, twist):
    """Store the orientations (links, 9) and velocities (links, 6) of links."""
    for i in range(rotation.shape[0]):
        for k in range(9):
            rotation[i, k] = ws.rotation[i, k]
        for k in range(6):
            twist[i, k] = ws.twist[i, k]


@jit
def left_jacobian(phi, x):
    """Return J(φ) x; J(−φ) is the transpose of J(φ)."""
    y = dot(phi, phi)
    a = 0.5 + y * (-1.0 / 24.0 + y * (1.0 / 720.0 + y * (-1.0 / 40320.0 + y / 3628800.0)))
    b = 1.0 / 6.0 + y * (-1.0 / 120.0 + y * (1.0 / 5040.0 + y * (-1.0 / 362880.0 + y / 39916800.0)))
    if y > 0.0625:
        angle = math.sqrt(y)
        half = math.sin(0.5 * angle)
        a, b = 2.0 * half * half / y, (angle - math.sin(angle)) / (y * angle)
    once = cross(phi, x)
    return add(x, add(scale(a, once), scale(b, cross(phi, once))))


@jit
def turns_freely(kind):
    """Whether a joint leaves all rotations free."""
    return kind == SPHERICAL or kind == FREE


@pass_of
def drift_tangent(forest, u, time, before, after, turn, turned, drifted, shift, u_change):
    """Advance changes over a drift step of a time (1,), in place. These are changes of the coordinates in their tangent
    space and of the speeds (nu,), with rotations of joint frames (links, 3). ``before`` and ``after`` are orientations
    (links, 9) and velocities (links, 6) of the links, and u are the speeds before the step; ``turned`` and ``drifted``
    (links, 6) are scratch arrays."""
    t = time[0]
    for i in range(forest.kind.size):
        turned_by_joint(forest, before[0], turn, i, shift, u, u_change, turned)
    for i in range(forest.kind.size):
        kind, j = forest.kind[i], forest.u_start[i]
        plain = joints.degrees_of_freedom(kind)
        if turns_freely(kind):
            plain -= 3
        for k in range(j, j + plain):
            shift[k] += t * u_change[k]
        if turns_freely(kind):
            phi, R = scale(t, load_from(before[1], i, 3)), load_matrix(after[0], i)
            changed = load_from(turned, i, SPEED)
            theta = apply(matrix(exponential(phi)), load_from(turned, i, TURN))
            theta = add(theta, scale(t, left_jacobian(phi, changed)))
            relative = sub(load_from(after[1], i, 3), parent_row(forest, after[1], i, 3))
            on = sub(sub(changed, parent_row(forest, drifted, i, SPEED)), cross(theta, relative))
            frame = add(parent_row(forest, drifted, i, TURN), frame_turn(forest, after[0], turn, i))
            store_at(shift, j + plain, apply_t(R, sub(theta, frame)))
            store_at(u_change, j + plain, apply_t(R, on))
            store_from(drifted, i, TURN, theta)
            store_from(drifted, i, SPEED, changed)
        else:
            turned_by_joint(forest, after[0], turn, i, shift, u, u_change, drifted)


@pass_of
def drift_adjoint(forest, u, time, before, after, weights, drifted, by_shift, by_speed, by_frame):
    """Convert weights of the changes at the end of a drift step of a time (1,) into weights at its start (nu,), in
    place. Weights of rotations of joint frames (links, 3) are added; ``weights`` and ``drifted`` (links, 6) are scratch
    arrays."""
    t = time[0]
    for i in range(forest.kind.size):
        store_from(weights, i, 0, ZERO)
        store_from(weights, i, 3, ZERO)
        store_from(drifted, i, 0, ZERO)
        store_from(drifted, i, 3, ZERO)
    for i in range(forest.kind.size - 1, -1, -1):
        kind, j, p = forest.kind[i], forest.u_start[i], forest.parent[i]
        plain = joints.degrees_of_freedom(kind)
        if turns_freely(kind):
            plain -= 3
            phi, R, k = scale(t, load_from(before[1], i, 3)), load_matrix(after[0], i), j + plain
            by_turn, by_speed_of = apply(R, load_at(by_shift, k)), apply(R, load_at(by_speed, k))
            relative = sub(load_from(after[1], i, 3), parent_row(forest, after[1], i, 3))
            theta = add(load_from(drifted, i, TURN), sub(by_turn, cross(relative, by_speed_of)))
            changed = add(load_from(drifted, i, SPEED), by_speed_of)
            changed = add(changed, scale(t, left_jacobian(scale(-1.0, phi), theta)))
            store_from(weights, i, TURN, apply_t(matrix(exponential(phi)), theta))
            store_from(weights, i, SPEED, changed)
            store_at(by_shift, k, ZERO)
            store_at(by_speed, k, ZERO)
            add_frame_turn(forest, after[0], i, scale(-1.0, by_turn), by_frame)
            if p >= 0:
                add_from(drifted, p, TURN, scale(-1.0, by_turn))
                add_from(drifted, p, SPEED, scale(-1.0, by_speed_of))
        else:
            weigh_joint(forest, after[0], i, u, drifted, by_shift, by_speed, by_frame)
        for k in range(j, j + plain):
            by_speed[k] += t * by_shift[k]
    for i in range(forest.kind.size - 1, -1, -1):
        weigh_joint(forest, before[0], i, u, weights, by_shift, by_speed, by_frame)
