"""Three translations in the joint frame."""

from dataclasses import dataclass
from typing import ClassVar

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
    symmetric_apply,
    transpose,
)
from articulon.algebra.vectors import (
    column as matrix_column,
)
from articulon.kernels import jit
from articulon.model.joints.base import AXES, NO_TURN, PLACE, VELOCITY, XYZ, Joint, Row, Vector


@dataclass(frozen=True)
class Xyz(Joint):
    """Three translations: q is the position [length] and u the velocity in the joint frame; the body does not
    rotate."""

    kind: ClassVar[int] = XYZ
    nq: ClassVar[int] = 3
    nu: ClassVar[int] = 3
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = PLACE
    speeds: ClassVar[tuple[tuple[str, str], ...]] = VELOCITY
    translations: ClassVar[int] = 3
    fixed_in_body: ClassVar[tuple[bool, ...]] = (False, False, False)

    def rows(self) -> tuple[Row, ...]:
        """Three rows: no rotation."""
        return NO_TURN

    def aligned(self) -> tuple[tuple[Vector, Vector], ...]:
        """Directions of all axes: the frames are parallel."""
        return AXES


@jit
def place(axis, q, k, frame):
    return frame, load_at(q, k)


@jit
def velocity(axis, u, k, frame, body):
    return ZERO, apply(frame, load_at(u, k))


@jit
def column(axis, k, frame, body):
    return ZERO, matrix_column(frame, k)


@jit
def eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    t = apply(frame, load_at(tau, k))
    F = factorise(M)
    A, K = schur(A, F, transpose(H))
    y = solve(F, sub(t, f))
    n = add(add(n, apply(H, y)), symmetric_apply(A, cw))
    record = (y[0], y[1], y[2], K[0][0], K[0][1], K[0][2], K[1][0], K[1][1], K[1][2], K[2][0], K[2][1], K[2][2])
    zero = (ZERO, ZERO, ZERO)
    return A, zero, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), add(n, cross(r, t)), t, record


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    a = (
        record[i, 0] - (record[i, 3] * aw[0] + record[i, 4] * aw[1] + record[i, 5] * aw[2]),
        record[i, 1] - (record[i, 6] * aw[0] + record[i, 7] * aw[1] + record[i, 8] * aw[2]),
        record[i, 2] - (record[i, 9] * aw[0] + record[i, 10] * aw[1] + record[i, 11] * aw[2]),
    )
    store_at(udot, k, apply_t(frame, sub(a, av)))
    return aw, a


@jit
def rates(q, k, u, j, qdot):
    store_at(qdot, k, load_at(u, j))


@jit
def drift(q, k, u, j, time):
    store_at(q, k, add(load_at(q, k), scale(time, load_at(u, j))))
