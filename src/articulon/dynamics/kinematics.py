"""Positions and velocities of the links, outward from the ground, in world axes (Guy 2018, A.2).

A pass reads its arrays from the tables once, before its loop: reference counts inside a loop cost more than the
arithmetic.
"""

from articulon.algebra.rotations import load_quaternion, matrix, product, store_quaternion
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    load,
    load_from,
    load_matrix,
    scale,
    store,
    store_from,
    store_matrix,
)
from articulon.dynamics import joints
from articulon.dynamics.by_forest import by_forest
from articulon.kernels import jit


@jit
def joint_frame(parent, rotation, quaternion, i):
    """Rotation of link i's joint frame in the world."""
    p = parent[i]
    e = load_quaternion(rotation, i)
    if p < 0:
        return e
    return product(load_quaternion(quaternion, p), e)


@jit
def frames(kind, parent, rotation, quaternion, R, i):
    """Rotation matrices of link i's joint frame and of the link; unless the joint needs its frame, the first one is
    also that of the link."""
    body = load_matrix(R, i)
    if joints.framed(kind):
        return matrix(joint_frame(parent, rotation, quaternion, i)), body
    return body, body


@by_forest
def place(forest, q, ws, start, end):
    """Positions and rotations of the links from ``start`` to ``end``."""
    parent, kinds, q_start, axes = forest.parent, forest.kind, forest.q_start, forest.axis
    offset, rotation = forest.position, forest.rotation
    quaternion, R, reach, position = ws.quaternion, ws.rotation, ws.reach, ws.position
    for i in range(start, end):
        p, kind, r, origin = parent[i], kinds[i], load(offset, i), ZERO
        frame = joint_frame(parent, rotation, quaternion, i)
        e, d = joints.place(kind, load(axes, i), q, q_start[i], frame)
        body = matrix(e)
        if p >= 0:
            r, origin = apply(load_matrix(R, p), r), load(position, p)
        if joints.translates(kind):  # a joint that does not rotate has the joint frame's axes
            r = add(r, apply(matrix(frame) if joints.framed(kind) else body, d))
        store_quaternion(quaternion, i, e)
        store_matrix(R, i, body)
        store(reach, i, r)
        store(position, i, add(origin, r))


@jit
def _about_body_axes(kind, axis, u, k, frame, body):
    """Angular velocity of a joint about those of its axes that are fixed in the body."""
    w = ZERO
    for j in range(joints.degrees_of_freedom(kind)):
        if joints.fixed_in_body(kind, j):
            w = add(w, scale(u[k + j], joints.column(kind, axis, j, frame, body)[0]))
    return w


@jit
def joint_motion(kind, axis, u, k, frame, body, r, pw, pv):
    """Angular velocity of a link and velocity of its origin, from those of its parent; then the joint's
    velocity-product acceleration, angular and linear (see ``move``)."""
    jw, jv = joints.velocity(kind, axis, u, k, frame, body)
    swept, cw = cross(pw, r), cross(pw, jw)
    if joints.mixed(kind):
        cw = add(cw, cross(jw, _about_body_axes(kind, axis, u, k, frame, body)))
    return add(pw, jw), add(add(pv, swept), jv), cw, cross(pw, add(swept, scale(2.0, jv)))


@by_forest
def move(forest, u, ws, start, end):
    """Velocities of links with known poses, and the velocity-product accelerations of their joints,
    c = (ω_p × ω_J + ω_J × ω_B, ω_p × (ω_p × r) + 2 ω_p × v_J).

    Here ω_B is the part of the joint's angular velocity ω_J about axes fixed in the body. It is all of ω_J or none,
    unless one rotation of the joint rotates the axis of another.
    """
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, R, reach, bias, twist = ws.quaternion, ws.rotation, ws.reach, ws.bias, ws.twist
    for i in range(start, end):
        p, kind = parent[i], kinds[i]
        frame, body = frames(kind, parent, rotation, quaternion, R, i)
        pw, pv = ZERO, ZERO
        if p >= 0:
            pw, pv = load_from(twist, p, 3), load_from(twist, p, 0)
        w, v, cw, cv = joint_motion(kind, load(axes, i), u, u_start[i], frame, body, load(reach, i), pw, pv)
        store_from(twist, i, 3, w)
        store_from(twist, i, 0, v)
        store_from(bias, i, 0, cw)
        store_from(bias, i, 3, cv)


@jit
def accelerate_at_constant_speeds(forest, ws):
    """Accelerations J' u of links with known poses and velocities at constant joint speeds."""
    parent, reach, bias, acceleration = forest.parent, ws.reach, ws.bias, ws.acceleration
    for i in range(parent.size):
        p = parent[i]
        aw, av = load_from(bias, i, 0), load_from(bias, i, 3)
        if p >= 0:
            pw = load_from(acceleration, p, 0)
            aw, av = add(aw, pw), add(av, add(load_from(acceleration, p, 3), cross(pw, load(reach, i))))
        store_from(acceleration, i, 0, aw)
        store_from(acceleration, i, 3, av)


@by_forest
def coordinate_rates(forest, q, u, qdot):
    """Coordinate rates q' from q and u."""
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for i in range(kinds.size):
        joints.rates(kinds[i], q, q_start[i], u, u_start[i], qdot)


@by_forest
def drift(forest, q, u, time):
    """Moves the coordinates q for ``time`` at constant joint speeds."""
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for i in range(kinds.size):
        joints.drift(kinds[i], q, q_start[i], u, u_start[i], time)
