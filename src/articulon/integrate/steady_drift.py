"""The drift step of a friction-implicit step at constant speeds of joints and of the modes of flexible bodies."""

from articulon.algebra.rotations import (
    conjugate,
    load_quaternion,
    matrix,
    normalised,
    product,
    store_quaternion,
    turn_in_world,
)
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    load,
    load_at,
    load_from,
    load_matrix,
    scale,
    store,
    store_at,
    store_from,
    store_matrix,
    sub,
)
from articulon.dynamics import joints
from articulon.dynamics.by_forest import by_forest, for_flexible
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes, deform, place_follower
from articulon.kernels import jit
from articulon.model.joints import FREE, SPHERICAL, WELD
from articulon.passes import pass_of


@pass_of
def drift(forest, q, u, ws, span):
    """Drift step of links whose poses and velocities are known, for a time ``span`` (1,) at constant speeds;
    computes their new poses.

    On a joint that leaves all rotations free the link's angular velocity in the world is kept, not the joint's own
    speed. A light body that spins fast on a rotating parent then has no velocity-product acceleration from its spin.
    """
    drift_links(forest, q, u, ws, span[0], 0, forest.mass.size)


@by_forest
def drift_links(forest, q, u, ws, time, start, end):
    """Drift of the links from ``start`` to ``end``."""
    parent, kinds, q_start, u_start, axes = forest.parent, forest.kind, forest.q_start, forest.u_start, forest.axis
    offset, rotation = forest.position, forest.rotation
    quaternion, R, reach, position, twist = ws.quaternion, ws.rotation, ws.reach, ws.position, ws.twist
    for i in range(start, end):
        p, kind, k, j = parent[i], kinds[i], q_start[i], u_start[i]
        x, r, origin, pw = load(axes, i), load(offset, i), ZERO, ZERO
        frame = load_quaternion(rotation, i)
        if p >= 0:
            frame = product(load_quaternion(quaternion, p), frame)
            r, origin, pw = apply(load_matrix(R, p), r), load(position, p), load_from(twist, p, 3)
        if kind == SPHERICAL or kind == FREE:
            if kind == FREE:
                store_at(q, k, add(load_at(q, k), scale(time, load_at(u, j))))
                k, j = k + 3, j + 3
            w = load_from(twist, i, 3)
            e = turn_in_world(load_quaternion(quaternion, i), w, time)
            body = matrix(e)
            local = normalised(product(conjugate(frame), e))
            q[k], q[k + 1], q[k + 2], q[k + 3] = local[0], local[1], local[2], local[3]
            store_at(u, j, apply_t(body, sub(w, pw)))
        else:
            joints.drift(kind, q, k, u, j, time)
            e, _ = joints.place(kind, x, q, k, frame)
            body = matrix(e)
            w = add(pw, joints.velocity(kind, x, u, j, matrix(frame) if joints.framed(kind) else body, body)[0])
        if joints.translates(kind):
            d = joints.place(kind, x, q, q_start[i], frame)[1]
            r = add(r, apply(matrix(frame) if joints.framed(kind) else body, d))
        store_from(twist, i, 3, w)
        store_quaternion(quaternion, i, e)
        store_matrix(R, i, body)
        store(reach, i, r)
        store(position, i, add(origin, r))


drift_link = drift_links.rigid


@for_flexible(drift_links)
def drift_flexible_links(forest, q, u, ws, time, start, end):
    """Drift of links with flexible bodies: modes at constant speeds, and nodes that rotate with them."""
    tables = forest.flexible
    for i in range(start, end):
        if forest.kind[i] == WELD:
            place_follower(forest, q, ws, i)
            store_from(ws.twist, i, 3, turning_of(forest, u, ws, i))
        else:
            drift_link(forest, q, u, ws, time, i, i + 1)
        b = tables.body[i]
        if b >= 0:
            for j in range(tables.mode[b + 1] - tables.mode[b]):
                q[tables.q_start[b] + j] += time * u[tables.u_start[b] + j]
            deform(forest, q, ws, i)


@jit
def turning_of(forest, u, ws, i):
    """Angular velocity of a node, or of a flexible body that is welded to its parent, whose pose is known."""
    _, count, _, row, _, at = carrying_modes(forest, i)
    w = load_from(ws.twist, forest.parent[i], 3) if forest.parent[i] >= 0 else ZERO
    for j in range(count):
        w = add(w, scale(u[at + j], load_from(ws.modal.column, row + j, 0)))
    return w
