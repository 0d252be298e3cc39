"""Rotations of links and changes of their angular velocities, due to changes of their joints, and the adjoint of this
map.

A link i rotates by θ_i = θ_f + Σ c δq, and its joint frame by θ_f = θ_p + R_p θ. Here c are the columns of its joint,
δq changes in the tangent space of the coordinates, θ_p and R_p the rotation and the orientation of the parent, and θ a
rotation of the joint frame in the parent. A column is fixed in the link or in the joint frame and rotates with it: by
θ_i or by θ_f, called θ in the next line. The angular velocity changes by

    δω_i = δω_p + Σ (θ × c u + c δu).
"""

from articulon.algebra.rotations import conjugate, load_quaternion, matrix, product, quaternion_at
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
    store_from,
)
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import add_from
from articulon.kernels import jit
from articulon.passes import pass_of

TURN, SPEED = 0, 3
"""Start of the rotation, and of the change of the angular velocity, in the row of a link (links, 6); also the start of
their weights."""


@jit
def joint_frame_of(forest, rotation, i):
    """Return the rotation matrix of link i's joint frame, given the matrices of the links (links, 9). It is the matrix
    of the link itself if the joint has no frame of its own."""
    if not joints.framed(forest.kind[i]):
        return load_matrix(rotation, i)
    frame, p = matrix(load_quaternion(forest.rotation, i)), forest.parent[i]
    if p < 0:
        return frame
    R = load_matrix(rotation, p)
    x = apply(R, (frame[0][0], frame[1][0], frame[2][0]))
    y = apply(R, (frame[0][1], frame[1][1], frame[2][1]))
    z = apply(R, (frame[0][2], frame[1][2], frame[2][2]))
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))


@jit
def parent_row(forest, rows, i, k):
    """Return three numbers of the row of link i's parent, from column k on; zeros if the parent is the ground."""
    p = forest.parent[i]
    if p < 0:
        return ZERO
    return load_from(rows, p, k)


@jit
def frame_turn(forest, rotation, turn, i):
    """Return R_p θ of link i, given the matrices ``rotation`` of the links (links, 9)."""
    p, turned = forest.parent[i], load(turn, i)
    return turned if p < 0 else apply(load_matrix(rotation, p), turned)


@jit
def add_frame_turn(forest, rotation, i, by_turn, by_frame):
    """Adjoint of :func:`frame_turn`: add the weights of R_p θ of link i to the weights of θ, which are row i of
    ``by_frame`` (links, 3)."""
    p = forest.parent[i]
    add_from(by_frame, i, 0, by_turn if p < 0 else apply_t(load_matrix(rotation, p), by_turn))


@jit
def turned_by_joint(forest, rotation, turn, i, shift, u, u_change, turned):
    """Write θ_i and δω_i of link i into its row of ``turned``. They follow from the row of its parent, from the
    rotations ``turn`` of joint frames (links, 3), and from the changes ``shift`` and ``u_change`` (nu,) of its joint at
    speeds u; ``rotation`` (links, 9) holds the matrices of the links."""
    kind, j = forest.kind[i], forest.u_start[i]
    frame, body = joint_frame_of(forest, rotation, i), load_matrix(rotation, i)
    theta, w = parent_row(forest, turned, i, TURN), parent_row(forest, turned, i, SPEED)
    theta = add(theta, frame_turn(forest, rotation, turn, i))
    carrying = theta
    for k in range(joints.degrees_of_freedom(kind)):
        c = joints.column(kind, load(forest.axis, i), k, frame, body)[0]
        theta, w = add(theta, scale(shift[j + k], c)), add(w, scale(u_change[j + k], c))
    for k in range(joints.degrees_of_freedom(kind)):
        c = scale(u[j + k], joints.column(kind, load(forest.axis, i), k, frame, body)[0])
        if joints.fixed_in_body(kind, k):
            w = add(w, cross(theta, c))
        else:
            w = add(w, cross(carrying, c))
    store_from(turned, i, TURN, theta)
    store_from(turned, i, SPEED, w)


@jit
def weigh_joint(forest, rotation, i, u, weights, by_shift, by_speed, by_frame):
    """Adjoint of :func:`turned_by_joint`. The row of link i in ``weights`` (links, 6) holds the weights of θ_i and
    δω_i, including the contributions of its outer links. Add them to the weights of the changes of its joint (nu,), of
    the rotation of its joint frame (links, 3), and to the row of its parent."""
    kind, j, p = forest.kind[i], forest.u_start[i], forest.parent[i]
    frame, body = joint_frame_of(forest, rotation, i), load_matrix(rotation, i)
    by_theta, by_w, carrying = load_from(weights, i, TURN), load_from(weights, i, SPEED), ZERO
    for k in range(joints.degrees_of_freedom(kind)):
        c = joints.column(kind, load(forest.axis, i), k, frame, body)[0]
        by_speed[j + k] += dot(c, by_w)
        turning = cross(scale(u[j + k], c), by_w)
        if joints.fixed_in_body(kind, k):
            by_theta = add(by_theta, turning)
        else:
            carrying = add(carrying, turning)
    for k in range(joints.degrees_of_freedom(kind)):
        c = joints.column(kind, load(forest.axis, i), k, frame, body)[0]
        by_shift[j + k] += dot(c, by_theta)
    carrying = add(by_theta, carrying)
    add_frame_turn(forest, rotation, i, carrying, by_frame)
    if p >= 0:
        add_from(weights, p, TURN, carrying)
        add_from(weights, p, SPEED, by_w)


@jit
def coordinates_of(forest, q, shift, factor, result):
    """Convert numbers in the tangent space (nu,) to coordinates (nq,). For Euler parameters e, three numbers t become
    ``factor`` times the quaternion product e t."""
    for i in range(forest.kind.size):
        kind, k, j = forest.kind[i], forest.q_start[i], forest.u_start[i]
        count, plain = joints.degrees_of_freedom(kind), joints.quaternion(kind)
        if plain < 0:
            plain = count
        for m in range(plain):
            result[k + m] = shift[j + m]
        if plain < count:
            t = load_at(shift, j + plain)
            turned = product(quaternion_at(q, k + plain), (0.0, t[0], t[1], t[2]))
            for m in range(4):
                result[k + plain + m] = factor * turned[m]


@jit
def tangents_of(forest, q, numbers, factor, result):
    """Convert numbers for coordinates (nq,) to the tangent space (nu,). For Euler parameters e, four numbers n become
    ``factor`` times the vector part of ē n."""
    for i in range(forest.kind.size):
        kind, k, j = forest.kind[i], forest.q_start[i], forest.u_start[i]
        count, plain = joints.degrees_of_freedom(kind), joints.quaternion(kind)
        if plain < 0:
            plain = count
        for m in range(plain):
            result[j + m] = numbers[k + m]
        if plain < count:
            found = product(conjugate(quaternion_at(q, k + plain)), quaternion_at(numbers, k + plain))
            for m in range(3):
                result[j + plain + m] = factor * found[1 + m]


@pass_of
def spread_shift(forest, q, shift, q_change):
    """Compute changes of coordinates (nq,) from changes in their tangent space (nu,). The four Euler parameters e of a
    rotation δ change by δe = ½ e δ."""
    coordinates_of(forest, q, shift, 0.5, q_change)
