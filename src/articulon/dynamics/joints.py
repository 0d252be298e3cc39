"""Dispatch on the kind of joint. A new joint adds its line to each function."""

from articulon.algebra.rotations import quaternion_at, rate, turn
from articulon.algebra.vectors import add, load_at, scale, store_at
from articulon.kernels import jit
from articulon.model.joints import FREE, PRISMATIC, REVOLUTE, SPHERICAL, free, prismatic, revolute, spherical, xyz


@jit
def place(kind, axis, q, k, frame):
    if kind == REVOLUTE:
        return revolute.place(axis, q, k, frame)
    if kind == SPHERICAL:
        return spherical.place(axis, q, k, frame)
    if kind == PRISMATIC:
        return prismatic.place(axis, q, k, frame)
    if kind == FREE:
        return free.place(axis, q, k, frame)
    return xyz.place(axis, q, k, frame)


@jit
def velocity(kind, axis, u, k, frame, body):
    if kind == REVOLUTE:
        return revolute.velocity(axis, u, k, frame, body)
    if kind == SPHERICAL:
        return spherical.velocity(axis, u, k, frame, body)
    if kind == PRISMATIC:
        return prismatic.velocity(axis, u, k, frame, body)
    if kind == FREE:
        return free.velocity(axis, u, k, frame, body)
    return xyz.velocity(axis, u, k, frame, body)


@jit
def freedoms(kind):
    """Number of speeds of the joint."""
    if kind == REVOLUTE or kind == PRISMATIC:
        return 1
    if kind == FREE:
        return 6
    return 3


@jit
def column(kind, axis, k, frame, body):
    if kind == REVOLUTE:
        return revolute.column(axis, k, frame, body)
    if kind == SPHERICAL:
        return spherical.column(axis, k, frame, body)
    if kind == PRISMATIC:
        return prismatic.column(axis, k, frame, body)
    if kind == FREE:
        return free.column(axis, k, frame, body)
    return xyz.column(axis, k, frame, body)


@jit
def eliminate(kind, axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    if kind == REVOLUTE:
        return revolute.eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f)
    if kind == SPHERICAL:
        return spherical.eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f)
    if kind == PRISMATIC:
        return prismatic.eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f)
    if kind == FREE:
        return free.eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f)
    return xyz.eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f)


@jit
def accelerate(kind, axis, frame, body, record, i, aw, av, udot, k):
    if kind == REVOLUTE:
        return revolute.accelerate(axis, frame, body, record, i, aw, av, udot, k)
    if kind == SPHERICAL:
        return spherical.accelerate(axis, frame, body, record, i, aw, av, udot, k)
    if kind == PRISMATIC:
        return prismatic.accelerate(axis, frame, body, record, i, aw, av, udot, k)
    if kind == FREE:
        return free.accelerate(axis, frame, body, record, i, aw, av, udot, k)
    return xyz.accelerate(axis, frame, body, record, i, aw, av, udot, k)


@jit
def rates(kind, q, k, u, j, qdot):
    """q' of the joint, at its first coordinate k and first speed j."""
    if kind == REVOLUTE or kind == PRISMATIC:
        qdot[k] = u[j]
        return
    if kind != SPHERICAL:  # xyz and the translations of free
        store_at(qdot, k, load_at(u, j))
        k, j = k + 3, j + 3
    if kind == SPHERICAL or kind == FREE:
        e = rate(quaternion_at(q, k), load_at(u, j))
        qdot[k], qdot[k + 1], qdot[k + 2], qdot[k + 3] = e[0], e[1], e[2], e[3]


@jit
def drift(kind, q, k, u, j, time):
    """Moves the joint for ``time`` at its present speeds: exact for a constant ω in the body frame."""
    if kind == REVOLUTE or kind == PRISMATIC:
        q[k] += time * u[j]
        return
    if kind != SPHERICAL:
        store_at(q, k, add(load_at(q, k), scale(time, load_at(u, j))))
        k, j = k + 3, j + 3
    if kind == SPHERICAL or kind == FREE:
        e = turn(quaternion_at(q, k), load_at(u, j), time)
        q[k], q[k + 1], q[k + 2], q[k + 3] = e[0], e[1], e[2], e[3]
