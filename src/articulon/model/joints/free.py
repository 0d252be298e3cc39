"""A joint with six degrees of freedom."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.rotations import product, quaternion_at, rate, turn
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    factorise,
    load_at,
    scale,
    schur,
    solve,
    store_at,
    sub,
    transpose,
)
from articulon.algebra.vectors import (
    column as matrix_column,
)
from articulon.kernels import jit
from articulon.model.joints.base import FREE, PLACE, SPIN, TURN, VELOCITY, Joint, Row


@dataclass(frozen=True)
class Free(Joint):
    """Six degrees of freedom: q = (x, y, z, e0, e1, e2, e3); u = (velocity of the body's origin in the joint frame,
    angular velocity ω in the body frame)."""

    kind: ClassVar[int] = FREE
    nq: ClassVar[int] = 7
    nu: ClassVar[int] = 6
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = PLACE + TURN
    speeds: ClassVar[tuple[tuple[str, str], ...]] = VELOCITY + SPIN
    translations: ClassVar[int] = 3
    quaternion: ClassVar[int | None] = 3
    fixed_in_body: ClassVar[tuple[bool, ...]] = (False, False, False, True, True, True)

    def rows(self) -> tuple[Row, ...]:
        """No rows: the joint constrains nothing."""
        return ()


@jit
def place(axis, q, k, frame):
    return product(frame, quaternion_at(q, k + 3)), load_at(q, k)


@jit
def velocity(axis, u, k, frame, body):
    return apply(body, load_at(u, k + 3)), apply(frame, load_at(u, k))


@jit
def column(axis, k, frame, body):
    if k < 3:
        return ZERO, matrix_column(frame, k)
    return matrix_column(body, k - 3), ZERO


@jit
def eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    """The body's inertia does not act on the parent; only the joint's own force does."""
    force, moment = apply(frame, load_at(tau, k)), apply(body, load_at(tau, k + 3))
    F = factorise(M)
    S, _ = schur(A, F, transpose(H))
    b = sub(force, f)
    w = solve(factorise(S), sub(sub(moment, n), apply(H, solve(F, b))))
    a = solve(F, sub(b, apply_t(H, w)))
    record = (w[0], w[1], w[2], a[0], a[1], a[2], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return nothing, (ZERO, ZERO, ZERO), nothing, add(moment, cross(r, force)), force, record


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    w = (record[i, 0], record[i, 1], record[i, 2])
    a = (record[i, 3], record[i, 4], record[i, 5])
    store_at(udot, k, apply_t(frame, sub(a, av)))
    store_at(udot, k + 3, apply_t(body, sub(w, aw)))
    return w, a


@jit
def rates(q, k, u, j, qdot):
    store_at(qdot, k, load_at(u, j))
    e = rate(quaternion_at(q, k + 3), load_at(u, j + 3))
    qdot[k + 3], qdot[k + 4], qdot[k + 5], qdot[k + 6] = e[0], e[1], e[2], e[3]


@jit
def drift(q, k, u, j, time):
    """Exact for a constant velocity in the joint frame and a constant ω in the body frame."""
    store_at(q, k, add(load_at(q, k), scale(time, load_at(u, j))))
    e = turn(quaternion_at(q, k + 3), load_at(u, j + 3), time)
    q[k + 3], q[k + 4], q[k + 5], q[k + 6] = e[0], e[1], e[2], e[3]
