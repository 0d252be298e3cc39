"""Rotation about a point fixed in parent and body."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.inertia import shift_mass
from articulon.algebra.rotations import product, quaternion_at, rate, turn
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    factorise,
    load_at,
    schur,
    solve,
    store_at,
    sub,
    symmetric_apply,
)
from articulon.algebra.vectors import (
    column as matrix_column,
)
from articulon.kernels import jit
from articulon.model.joints.base import POINT, SPHERICAL, SPIN, TURN, Joint, Row


@dataclass(frozen=True)
class Spherical(Joint):
    """Three rotations: q = (e0, e1, e2, e3), body to joint frame; u = ω in the body frame [rad/time]."""

    kind: ClassVar[int] = SPHERICAL
    nq: ClassVar[int] = 4
    nu: ClassVar[int] = 3
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = TURN
    speeds: ClassVar[tuple[tuple[str, str], ...]] = SPIN
    quaternion: ClassVar[int | None] = 0
    fixed_in_body: ClassVar[tuple[bool, ...]] = (True, True, True)

    def rows(self) -> tuple[Row, ...]:
        """Three rows: the origins coincide."""
        return POINT


@jit
def place(axis, q, k, frame):
    return product(frame, quaternion_at(q, k)), ZERO


@jit
def velocity(axis, u, k, frame, body):
    return apply(body, load_at(u, k)), ZERO


@jit
def column(axis, k, frame, body):
    return matrix_column(body, k), ZERO


@jit
def eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    t = apply(body, load_at(tau, k))
    F = factorise(A)
    M, K = schur(M, F, H)
    y = solve(F, sub(t, n))
    f = add(add(f, apply_t(H, y)), symmetric_apply(M, cv))
    A, G = shift_mass(r, M)
    record = (y[0], y[1], y[2], K[0][0], K[0][1], K[0][2], K[1][0], K[1][1], K[1][2], K[2][0], K[2][1], K[2][2])
    return A, G, M, add(t, cross(r, f)), f, record


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    w = (
        record[i, 0] - (record[i, 3] * av[0] + record[i, 4] * av[1] + record[i, 5] * av[2]),
        record[i, 1] - (record[i, 6] * av[0] + record[i, 7] * av[1] + record[i, 8] * av[2]),
        record[i, 2] - (record[i, 9] * av[0] + record[i, 10] * av[1] + record[i, 11] * av[2]),
    )
    store_at(udot, k, apply_t(body, sub(w, aw)))
    return w, av


@jit
def rates(q, k, u, j, qdot):
    e = rate(quaternion_at(q, k), load_at(u, j))
    qdot[k], qdot[k + 1], qdot[k + 2], qdot[k + 3] = e[0], e[1], e[2], e[3]


@jit
def drift(q, k, u, j, time):
    """Exact for a constant ω in the body frame."""
    e = turn(quaternion_at(q, k), load_at(u, j), time)
    q[k], q[k + 1], q[k + 2], q[k + 3] = e[0], e[1], e[2], e[3]
