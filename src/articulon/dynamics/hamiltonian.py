"""Canonical momenta: speeds from momenta, momenta from speeds, and the rates of the momenta, each in O(n).

Each coordinate q has a momentum p. If q' = u is a speed, p = μ with μ = M u. Four Euler parameters e have p_e = 2
E(e)ᵀμ/|e|², with μ the momentum of the speeds ω, body frame, and e' = ½ E(e)ᵀω. Conversely μ = ½ E(e) p_e for any norm
of e. Then

    H(q, p) = ½ μᵀ M(q)⁻¹ μ + V(q), with rotations from e/|e|,

is a Hamiltonian on all of R²ⁿ, n = nq. It is invariant under (e, p_e) → (c e, p_e/c), so that |e| has no meaning and
e·p_e is conserved: a scheme that is symplectic for (q, p) is symplectic for the bodies, without constraints (compare
Betsch and Siebert, Int. J. Numer. Meth. Engng 79, 444, 2009).

The rates −∂H/∂q + Q follow from the momentum (P, L) and the wrench (F, N) of all that a joint carries, about the link's
origin o, which moves at v_o. With the k-th column (s_ω, s_v) of the joint's motion subspace and Ω the angular velocity
of the frame in which that column is fixed, d/dt (s_ω·L + s_v·P) is

    τ_k + s_ω·(N − v_o × P) + s_v·F + (Ω × s_ω)·L + (Ω × s_v)·P.

For Euler parameters Ω is the parent's angular velocity, and these three numbers are κ, the derivatives of −H at
constant μ with respect to a rotation of the body. Then p_e' = ½ E(p_e)ᵀω + 2 E(e)ᵀκ/|e|².
"""

from articulon.algebra.rotations import conjugate, normalised, product, quaternion_at, rate
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
    load_symmetric,
    scale,
    store_at,
    store_from,
    sub,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.kinematics import frames
from articulon.kernels import jit
from articulon.model import Workspace


@jit
def plain(kind):
    """Number of the joint's leading coordinates whose rates are its leading speeds; Euler parameters come after
    them."""
    at = joints.quaternion(kind)
    return joints.degrees_of_freedom(kind) if at < 0 else at


@jit
def store_four(a, k, e):
    a[k], a[k + 1], a[k + 2], a[k + 3] = e[0], e[1], e[2], e[3]


@jit
def unit_coordinates(forest, q, result):
    """Coordinates q with Euler parameters of norm 1."""
    kinds, q_start = forest.kind, forest.q_start
    for k in range(q.size):
        result[k] = q[k]
    for i in range(kinds.size):
        if joints.quaternion(kinds[i]) >= 0:
            k = q_start[i] + joints.quaternion(kinds[i])
            store_four(result, k, normalised(quaternion_at(q, k)))


@jit
def speed_momenta(forest, q, p, mu):
    """Speed momenta μ (nu,) of the canonical momenta p (nq,)."""
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for i in range(kinds.size):
        kind, k, j = kinds[i], q_start[i], u_start[i]
        n = plain(kind)
        for m in range(n):
            mu[j + m] = p[k + m]
        if joints.quaternion(kind) >= 0:
            x = product(conjugate(quaternion_at(q, k + n)), quaternion_at(p, k + n))  # the vector part of x is E(e) p
            store_at(mu, j + n, (0.5 * x[1], 0.5 * x[2], 0.5 * x[3]))


@jit
def canonical_momenta(forest, q, mu, p):
    """Canonical momenta p (nq,) of the speed momenta μ (nu,)."""
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for i in range(kinds.size):
        kind, k, j = kinds[i], q_start[i], u_start[i]
        n = plain(kind)
        for m in range(n):
            p[k + m] = mu[j + m]
        if joints.quaternion(kind) >= 0:
            store_four(p, k + n, parameter_rates(quaternion_at(q, k + n), load_at(mu, j + n)))


@jit
def parameter_rates(e, torque):
    """The four numbers 2 E(e)ᵀ x/|e|² of a vector x."""
    s = 4.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    return rate(e, scale(s, torque))


@jit
def link_momentum(forest, ws, i):
    """Linear momentum of link i and its angular momentum about the link's origin, world axes."""
    R, v, w = load_matrix(ws.rotation, i), load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
    h = apply(R, load(forest.moment, i))
    turning = symmetric_apply(symmetric_rotate(R, load_symmetric(forest.inertia, i)), w)
    return add(scale(forest.mass[i], v), cross(w, h)), add(turning, cross(h, v))


@jit
def add_row(a, i, f, n):
    store_from(a, i, 0, add(load_from(a, i, 0), f))
    store_from(a, i, 3, add(load_from(a, i, 3), n))


@jit
def add_to_parent(a, p, r, f, n):
    """Adds a force or momentum about a link's origin to that of its parent, about the parent's origin."""
    add_row(a, p, f, add(n, cross(r, f)))


@jit
def momenta_of_speeds(forest, ws, momentum, mu):
    """Speed momenta μ = M u (nu,) of links with known poses and velocities.

    ``momentum`` (links, 6) is scratch: linear, then angular momentum of all that a link carries, about its origin.
    """
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, reach = ws.quaternion, ws.rotation, ws.reach
    for i in range(parent.size):
        P, L = link_momentum(forest, ws, i)
        store_from(momentum, i, 0, P)
        store_from(momentum, i, 3, L)
    for i in range(parent.size - 1, -1, -1):
        kind, p = kinds[i], parent[i]
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        P, L = load_from(momentum, i, 0), load_from(momentum, i, 3)
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, i), k, frame, body)
            mu[u_start[i] + k] = dot(sw, L) + dot(sv, P)
        if p >= 0:
            add_to_parent(momentum, p, load(reach, i), P, L)


@jit
def speeds_of_momenta(forest, mu, zero, ws, u):
    """Speeds u = M⁻¹ μ of links with known poses: the accelerations of a system at rest under the forces μ.

    ``zero`` is an array of zeros (links, 6).
    """
    still = Workspace(
        ws.quaternion,
        ws.rotation,
        ws.position,
        ws.reach,
        zero,
        zero,
        ws.gathered,
        ws.record,
        ws.acceleration,
        ws.modal,
    )
    links = forest.mass.size
    eliminate(forest, forest.mass, forest.moment, forest.inertia, mu, zero, still, 0, links)
    accelerate(forest, (0.0, 0.0, 0.0), still, u, 0, links)


@jit
def momentum_rates(forest, q, p, u, tau, wrench, gravity, ws, momentum, carried, pdot):
    """Rates p' (nq,) of links with known poses and velocities, under the forces τ (nu,), wrenches (links, 6) and
    gravity.

    ``momentum`` and ``carried`` (links, 6) are scratch: momentum and wrench of all that a link carries, about its
    origin.
    """
    parent, kinds, axes, rotation = forest.parent, forest.kind, forest.axis, forest.rotation
    q_start, u_start = forest.q_start, forest.u_start
    quaternion, rotations, reach, twist = ws.quaternion, ws.rotation, ws.reach, ws.twist
    for i in range(parent.size):
        P, L = link_momentum(forest, ws, i)
        store_from(momentum, i, 0, P)
        store_from(momentum, i, 3, L)
        h = apply(load_matrix(rotations, i), load(forest.moment, i))
        store_from(carried, i, 0, add(load_from(wrench, i, 0), scale(forest.mass[i], gravity)))
        store_from(carried, i, 3, add(load_from(wrench, i, 3), cross(h, gravity)))
    for i in range(parent.size - 1, -1, -1):
        kind, above, k, j = kinds[i], parent[i], q_start[i], u_start[i]
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        P, L = load_from(momentum, i, 0), load_from(momentum, i, 3)
        F, N = load_from(carried, i, 0), load_from(carried, i, 3)
        torque = sub(N, cross(load_from(twist, i, 0), P))
        outside = ZERO
        if above >= 0:
            outside = load_from(twist, above, 3)
        n = plain(kind)
        for m in range(n):
            sw, sv = joints.column(kind, load(axes, i), m, frame, body)
            turning = load_from(twist, i, 3) if joints.fixed_in_body(kind, m) else outside
            carry = dot(cross(turning, sw), L) + dot(cross(turning, sv), P)
            pdot[k + m] = tau[j + m] + dot(sw, torque) + dot(sv, F) + carry
        if joints.quaternion(kind) >= 0:
            kappa = add(load_at(tau, j + n), apply_t(body, add(torque, cross(L, outside))))
            spin = rate(quaternion_at(p, k + n), load_at(u, j + n))
            turn = parameter_rates(quaternion_at(q, k + n), kappa)
            store_four(pdot, k + n, (spin[0] + turn[0], spin[1] + turn[1], spin[2] + turn[2], spin[3] + turn[3]))
        if above >= 0:
            add_to_parent(momentum, above, load(reach, i), P, L)
            add_to_parent(carried, above, load(reach, i), F, N)
