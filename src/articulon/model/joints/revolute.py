"""Rotation about an axis fixed in parent and body."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.rotations import about, product
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    dot,
    scale,
    symmetric_apply,
)
from articulon.kernels import jit
from articulon.model.joints.axis import AxisJoint, eliminate_one, rate_of_one
from articulon.model.joints.base import POINT, REVOLUTE, ROTATION, Row, Vector, perpendicular


@dataclass(frozen=True)
class Revolute(AxisJoint):
    """One rotation: q is the angle [rad], and u its rate."""

    kind: ClassVar[int] = REVOLUTE
    nq: ClassVar[int] = 1
    nu: ClassVar[int] = 1
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("angle", "angle"),)
    speeds: ClassVar[tuple[tuple[str, str], ...]] = (("rate", "angular_velocity"),)
    fixed_in_body: ClassVar[tuple[bool, ...]] = (True,)

    def rows(self) -> tuple[Row, ...]:
        """Five rows: the origins coincide, and so do the axes."""
        s, t = perpendicular(self.direction)
        return (*POINT, Row(ROTATION, s, self.direction), Row(ROTATION, t, self.direction))

    def aligned(self) -> tuple[tuple[Vector, Vector], ...]:
        """Directions of the axes."""
        return ((self.direction, self.direction),)


@jit
def place(axis, q, k, frame):
    return product(frame, about(axis, q[k])), ZERO


@jit
def velocity(axis, u, k, frame, body):
    return scale(u[k], apply(body, axis)), ZERO


@jit
def column(axis, k, frame, body):
    return apply(body, axis), ZERO


@jit
def eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    x = apply(body, axis)
    uw, uv = symmetric_apply(A, x), apply_t(H, x)
    return eliminate_one(uw, uv, 1.0 / dot(x, uw), tau[k] - dot(x, n), r, cw, cv, A, H, M, n, f)


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    s = rate_of_one(record, i, aw, av)
    udot[k] = s
    return add(aw, scale(s, apply(body, axis))), av


@jit
def rates(q, k, u, j, qdot):
    qdot[k] = u[j]


@jit
def drift(q, k, u, j, time):
    q[k] += time * u[j]
