"""Derivatives of the accelerations that a kick adds, in a friction-implicit step, to correct for the drift steps.

A drift step keeps the angular velocities of links on joints that leave all rotations free (``steady_drift.py``); the
kick supplies the remaining acceleration. Together, the two give the links the accelerations of the equations
of motion. The drift changes the speeds of such a joint at the rate −d. The rates that the kick gives to these speeds
are therefore larger than those of the equations of motion, by

    d = R_iᵀ (g_p + ω_p × ω_i),

where p is the parent of link i, and g are the angular accelerations of links during the drift step (``keep_spins`` in
``friction_implicit_passes.py``). g is zero for links that keep their angular velocity; for other links it is g_p + ω_p
× ω_J + ω_J × ω_B. Here ω_J = ω_i − ω_p. For joints in which one rotation turns the axis of another, ω_B is the part of
ω_J about the axes that are fixed in the body.
"""

from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_at,
    load_from,
    load_matrix,
    scale,
    store,
    store_from,
    sub,
)
from articulon.dynamics import joints
from articulon.kernels import jit
from articulon.passes import pass_of
from articulon.sensitivities.drift_derivatives import turns_freely
from articulon.sensitivities.turning_derivatives import (
    SPEED,
    TURN,
    joint_frame_of,
    parent_row,
    turned_by_joint,
    weigh_joint,
)


@jit
def parent_vector(forest, vectors, i):
    """Return the vector of link i's parent from ``vectors`` (links, 3); zero if the parent is the ground."""
    p = forest.parent[i]
    if p < 0:
        return ZERO
    return load(vectors, p)


@jit
def about_body_axes(forest, ws, u, i):
    """Return ω_B of link i's joint; zero if no rotation of the joint turns the axis of another."""
    kind, j, w = forest.kind[i], forest.u_start[i], ZERO
    if joints.mixed(kind):
        frame, body = joint_frame_of(forest, ws.rotation, i), load_matrix(ws.rotation, i)
        for k in range(joints.degrees_of_freedom(kind)):
            if joints.fixed_in_body(kind, k):
                w = add(w, scale(u[j + k], joints.column(kind, load(forest.axis, i), k, frame, body)[0]))
    return w


@jit
def find_turning(forest, ws, u, turning):
    """Compute g of all links (links, 3)."""
    for i in range(forest.kind.size):
        g = ZERO
        if not turns_freely(forest.kind[i]):
            pw, w = parent_row(forest, ws.twist, i, 3), load_from(ws.twist, i, 3)
            own = sub(w, pw)
            g = add(
                parent_vector(forest, turning, i), add(cross(pw, own), cross(own, about_body_axes(forest, ws, u, i)))
            )
        store(turning, i, g)


@jit
def kept_spin(forest, ws, turning, i):
    """Return g_p + ω_p × ω_i."""
    return add(parent_vector(forest, turning, i), cross(parent_row(forest, ws.twist, i, 3), load_from(ws.twist, i, 3)))


@pass_of
def spin_tangent(forest, ws, u, turn, shift, u_change, turning, turned, changes, rate):
    """Add the changes of d to the changes of u' (nu,), for links whose places and velocities are known. ``turn``
    (links, 3) are rotations of joint frames; ``turning`` and ``changes`` (links, 3) and ``turned`` (links, 6) are
    scratch."""
    find_turning(forest, ws, u, turning)
    for i in range(forest.kind.size):
        turned_by_joint(forest, ws.rotation, turn, i, shift, u, u_change, turned)
        kind, j = forest.kind[i], forest.u_start[i]
        pw, w = parent_row(forest, ws.twist, i, 3), load_from(ws.twist, i, 3)
        dp, dw = parent_row(forest, turned, i, SPEED), load_from(turned, i, SPEED)
        g = parent_vector(forest, changes, i)
        if turns_freely(kind):
            changed = add(g, add(cross(dp, w), cross(pw, dw)))
            changed = sub(changed, cross(load_from(turned, i, TURN), kept_spin(forest, ws, turning, i)))
            k = j + joints.degrees_of_freedom(kind) - 3
            d = apply_t(load_matrix(ws.rotation, i), changed)
            rate[k] += d[0]
            rate[k + 1] += d[1]
            rate[k + 2] += d[2]
            g = ZERO
        else:
            own, changed = sub(w, pw), sub(dw, dp)
            g = add(g, add(cross(dp, own), cross(pw, changed)))
            if joints.mixed(kind):
                frame, body, about = joint_frame_of(forest, ws.rotation, i), load_matrix(ws.rotation, i), ZERO
                for k in range(joints.degrees_of_freedom(kind)):
                    if joints.fixed_in_body(kind, k):
                        c = joints.column(kind, load(forest.axis, i), k, frame, body)[0]
                        c = add(scale(u_change[j + k], c), cross(load_from(turned, i, TURN), scale(u[j + k], c)))
                        about = add(about, c)
                g = add(g, add(cross(changed, about_body_axes(forest, ws, u, i)), cross(own, about)))
        store(changes, i, g)


@pass_of
def spin_adjoint(forest, ws, u, weight, turning, weights, by_turning, by_shift, by_speed, by_frame):
    """Add the derivatives of weight·d with respect to three quantities: coordinates in their tangent space (nu,),
    speeds (nu,), and rotations of joint frames (links, 3). The places and velocities of the links must be known.
    ``turning`` and
    ``by_turning`` (links, 3) and ``weights`` (links, 6) are scratch."""
    find_turning(forest, ws, u, turning)
    for i in range(forest.kind.size):
        store(by_turning, i, ZERO)
        store_from(weights, i, 0, ZERO)
        store_from(weights, i, 3, ZERO)
    for i in range(forest.kind.size - 1, -1, -1):
        kind, j, p = forest.kind[i], forest.u_start[i], forest.parent[i]
        pw, w = parent_row(forest, ws.twist, i, 3), load_from(ws.twist, i, 3)
        on_turn, on_speed, on_parent, on_turning = ZERO, ZERO, ZERO, ZERO
        if turns_freely(kind):
            k = j + joints.degrees_of_freedom(kind) - 3
            on_turning = apply(load_matrix(ws.rotation, i), load_at(weight, k))
            on_parent, on_speed = cross(w, on_turning), cross(on_turning, pw)
            on_turn = cross(on_turning, kept_spin(forest, ws, turning, i))
        else:
            on_turning, own = load(by_turning, i), sub(w, pw)
            on_own = cross(on_turning, pw)
            if joints.mixed(kind):
                on_own = add(on_own, cross(about_body_axes(forest, ws, u, i), on_turning))
                on_axes = cross(on_turning, own)
                frame, body = joint_frame_of(forest, ws.rotation, i), load_matrix(ws.rotation, i)
                for k in range(joints.degrees_of_freedom(kind)):
                    if joints.fixed_in_body(kind, k):
                        c = joints.column(kind, load(forest.axis, i), k, frame, body)[0]
                        by_speed[j + k] += dot(c, on_axes)
                        on_turn = add(on_turn, cross(scale(u[j + k], c), on_axes))
            on_parent, on_speed = sub(cross(own, on_turning), on_own), on_own
        store_from(weights, i, TURN, add(load_from(weights, i, TURN), on_turn))
        store_from(weights, i, SPEED, add(load_from(weights, i, SPEED), on_speed))
        if p >= 0:
            store(by_turning, p, add(load(by_turning, p), on_turning))
            store_from(weights, p, SPEED, add(load_from(weights, p, SPEED), on_parent))
        weigh_joint(forest, ws.rotation, i, u, weights, by_shift, by_speed, by_frame)
