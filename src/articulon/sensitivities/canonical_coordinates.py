"""Derivatives of the maps between canonical variables (q, p) and joint speeds (``dynamics/hamiltonian.py``), for each
joint separately.

Changes of q and p have nq numbers each; Euler parameters e may have any norm. For Euler parameters, these changes
contain a rotation δ of the body in its own frame, and a change of the momentum μ that belongs to the speeds. With s =
|e|² and products of quaternions,

    δ = 2 vec(ē δe)/s,   μ = ½ vec(ē p).

The rates for the angular velocity ω and the torque κ are q' = ½ e ω and p' = ½ p ω + 2 e κ/s. All other coordinates
have δ = δq, μ = p, q' = ω and p' = κ. Changes that alter only the norm of e have no effect.
"""

from articulon.algebra.rotations import conjugate, product, quaternion_at, rate
from articulon.algebra.vectors import load_at, scale, store_at
from articulon.dynamics import joints
from articulon.dynamics.hamiltonian import plain, store_four
from articulon.kernels import jit


@jit
def square(e):
    return e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]


@jit
def vector_of(a, b):
    """Return the vector part of the quaternion product ā b."""
    found = product(conjugate(a), b)
    return (found[1], found[2], found[3])


@jit
def add_four(a, k, s, e):
    """Add s e, with a quaternion e, to four numbers of a from index k on."""
    for m in range(4):
        a[k + m] += s * e[m]


@jit
def turning_parts(forest, i):
    """Return the index of the first Euler parameter of link i and the index of the first of their speeds; −1 for both
    if the link has no Euler parameters."""
    kind = forest.kind[i]
    n = plain(kind)
    if joints.quaternion(kind) < 0:
        return -1, -1
    return forest.q_start[i] + n, forest.u_start[i] + n


@jit
def copy_to_coordinates(forest, i, numbers, result):
    """Copy numbers of speeds (nu,) to the coordinates (nq,) of link i that are not Euler parameters."""
    for m in range(plain(forest.kind[i])):
        result[forest.q_start[i] + m] = numbers[forest.u_start[i] + m]


@jit
def copy_to_speeds(forest, i, numbers, result):
    """Copy numbers of coordinates (nq,) of link i that are not Euler parameters to the speeds (nu,)."""
    for m in range(plain(forest.kind[i])):
        result[forest.u_start[i] + m] = numbers[forest.q_start[i] + m]


@jit
def shift_and_momenta(forest, q, p, q_change, p_change, shift, change):
    """Compute the rotations and displacements of joints, and the changes of μ (nu,), from changes of q and p (nq,)."""
    for i in range(forest.kind.size):
        copy_to_speeds(forest, i, q_change, shift)
        copy_to_speeds(forest, i, p_change, change)
        k, j = turning_parts(forest, i)
        if k >= 0:
            e, d = quaternion_at(q, k), quaternion_at(q_change, k)
            store_at(shift, j, scale(2.0 / square(e), vector_of(e, d)))
            a, b = vector_of(d, quaternion_at(p, k)), vector_of(e, quaternion_at(p_change, k))
            store_at(change, j, (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])))


@jit
def shift_and_momenta_adjoint(forest, q, p, by_shift, by_momentum, by_q, by_p):
    """Adjoint of :func:`shift_and_momenta`: add the contributions to the weights of q and p (nq,)."""
    for i in range(forest.kind.size):
        for m in range(plain(forest.kind[i])):
            by_q[forest.q_start[i] + m] += by_shift[forest.u_start[i] + m]
            by_p[forest.q_start[i] + m] += by_momentum[forest.u_start[i] + m]
        k, j = turning_parts(forest, i)
        if k >= 0:
            e, m = quaternion_at(q, k), load_at(by_momentum, j)
            add_four(by_q, k, 4.0 / square(e), rate(e, load_at(by_shift, j)))
            add_four(by_q, k, -1.0, rate(quaternion_at(p, k), m))
            add_four(by_p, k, 1.0, rate(e, m))


@jit
def canonical_changes(forest, q, mu, shift, change, q_change, p_change):
    """Compute changes of q and p (nq,) from changes of μ and from rotations and displacements of joints (nu,). The norm
    of Euler parameters does not change."""
    for i in range(forest.kind.size):
        copy_to_coordinates(forest, i, shift, q_change)
        copy_to_coordinates(forest, i, change, p_change)
        k, j = turning_parts(forest, i)
        if k >= 0:
            e = quaternion_at(q, k)
            d, s = rate(e, load_at(shift, j)), 4.0 / square(e)
            store_four(q_change, k, d)
            store_four(p_change, k, rate(d, scale(s, load_at(mu, j))))
            add_four(p_change, k, s, rate(e, load_at(change, j)))


@jit
def canonical_changes_adjoint(forest, q, mu, by_q, by_p, by_shift, by_momentum):
    """Adjoint of :func:`canonical_changes`: compute weights of the joints' rotations and displacements and of μ
    (nu,)."""
    for i in range(forest.kind.size):
        copy_to_speeds(forest, i, by_q, by_shift)
        copy_to_speeds(forest, i, by_p, by_momentum)
        k, j = turning_parts(forest, i)
        if k >= 0:
            e, b = quaternion_at(q, k), quaternion_at(by_p, k)
            s = 4.0 / square(e)
            a, back = quaternion_at(by_q, k), rate(b, scale(s, load_at(mu, j)))
            a = (a[0] - back[0], a[1] - back[1], a[2] - back[2], a[3] - back[3])
            store_at(by_shift, j, scale(0.5, vector_of(e, a)))
            store_at(by_momentum, j, scale(0.5 * s, vector_of(e, b)))


@jit
def torques_of_rates(forest, q, p, u, p_rate, torque):
    """Compute the torques κ (nu,) from the rates p' (nq,)."""
    for i in range(forest.kind.size):
        copy_to_speeds(forest, i, p_rate, torque)
        k, j = turning_parts(forest, i)
        if k >= 0:
            e, d, own = quaternion_at(q, k), quaternion_at(p_rate, k), rate(quaternion_at(p, k), load_at(u, j))
            d = (d[0] - own[0], d[1] - own[1], d[2] - own[2], d[3] - own[3])
            store_at(torque, j, scale(0.5, vector_of(e, d)))


@jit
def rate_changes(forest, q, p, u, torque, q_change, p_change, u_change, torque_change, q_rate, p_rate):
    """Compute the changes of q' and p' (nq,) from the changes of q and p (nq,), and of ω and κ (nu,)."""
    for i in range(forest.kind.size):
        copy_to_coordinates(forest, i, u_change, q_rate)
        copy_to_coordinates(forest, i, torque_change, p_rate)
        k, j = turning_parts(forest, i)
        if k >= 0:
            e, d, w, dw = quaternion_at(q, k), quaternion_at(q_change, k), load_at(u, j), load_at(u_change, j)
            kappa, s = load_at(torque, j), 4.0 / square(e)
            store_four(q_rate, k, rate(d, w))
            add_four(q_rate, k, 1.0, rate(e, dw))
            store_four(p_rate, k, rate(quaternion_at(p_change, k), w))
            add_four(p_rate, k, 1.0, rate(quaternion_at(p, k), dw))
            add_four(p_rate, k, s, rate(d, kappa))
            add_four(p_rate, k, s, rate(e, load_at(torque_change, j)))
            along = e[0] * d[0] + e[1] * d[1] + e[2] * d[2] + e[3] * d[3]
            add_four(p_rate, k, -0.5 * s * s * along, rate(e, kappa))


@jit
def rate_adjoint(forest, q, p, u, torque, a, b, by_q, by_p, by_speed, by_torque):
    """Adjoint of :func:`rate_changes`: from weights a of q' and b of p' (nq,), compute weights of q and p (nq,), and
    of ω and κ (nu,)."""
    for i in range(forest.kind.size):
        copy_to_speeds(forest, i, a, by_speed)
        copy_to_speeds(forest, i, b, by_torque)
        for m in range(plain(forest.kind[i])):
            by_q[forest.q_start[i] + m] = 0.0
            by_p[forest.q_start[i] + m] = 0.0
        k, j = turning_parts(forest, i)
        if k >= 0:
            e, w, kappa = quaternion_at(q, k), load_at(u, j), load_at(torque, j)
            f, g, s = quaternion_at(a, k), quaternion_at(b, k), 4.0 / square(e)
            x, y = vector_of(e, f), vector_of(quaternion_at(p, k), g)
            store_at(by_speed, j, (0.5 * (x[0] + y[0]), 0.5 * (x[1] + y[1]), 0.5 * (x[2] + y[2])))
            store_at(by_torque, j, scale(0.5 * s, vector_of(e, g)))
            turned = rate(e, kappa)
            along = turned[0] * g[0] + turned[1] * g[1] + turned[2] * g[2] + turned[3] * g[3]
            store_four(by_q, k, rate(f, scale(-1.0, w)))
            add_four(by_q, k, -s, rate(g, kappa))
            add_four(by_q, k, -0.5 * s * s * along, e)
            store_four(by_p, k, rate(g, scale(-1.0, w)))


@jit
def inverse_inertias(forest, factors, result):
    """Compute for every coordinate (nq,) the inverse of the inertia that its joint moves, from factors of M⁻¹ (nu, 7);
    for Euler parameters, the inverse of the largest of the three inertias."""
    for i in range(forest.kind.size):
        k, j = turning_parts(forest, i)
        for m in range(plain(forest.kind[i])):
            result[forest.q_start[i] + m] = factors[forest.u_start[i] + m, 6]
        if k >= 0:
            least = min(factors[j, 6], min(factors[j + 1, 6], factors[j + 2, 6]))
            for m in range(4):
                result[k + m] = least
