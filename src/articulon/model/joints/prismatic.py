"""Translation along an axis fixed in parent and body."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    dot,
    scale,
    symmetric_apply,
)
from articulon.kernels import jit
from articulon.model.joints.axis import AxisJoint, eliminate_one, rate_of_one
from articulon.model.joints.base import AXES, NO_TURN, PRISMATIC, TRANSLATION, Row, Vector, perpendicular


@dataclass(frozen=True)
class Prismatic(AxisJoint):
    """One translation: q is the displacement [length], and u its rate."""

    kind: ClassVar[int] = PRISMATIC
    nq: ClassVar[int] = 1
    nu: ClassVar[int] = 1
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("distance", "length"),)
    speeds: ClassVar[tuple[tuple[str, str], ...]] = (("speed", "velocity"),)
    translations: ClassVar[int] = 1
    fixed_in_body: ClassVar[tuple[bool, ...]] = (True,)

    def rows(self) -> tuple[Row, ...]:
        """Five rows: no rotation, and no displacement perpendicular to the axis."""
        s, t = perpendicular(self.direction)
        return (Row(TRANSLATION, s), Row(TRANSLATION, t), *NO_TURN)

    def aligned(self) -> tuple[tuple[Vector, Vector], ...]:
        """Directions of all axes: the frames are parallel."""
        return AXES


@jit
def place(axis, q, k, frame):
    return frame, scale(q[k], axis)


@jit
def velocity(axis, u, k, frame, body):
    return ZERO, scale(u[k], apply(frame, axis))


@jit
def column(axis, k, frame, body):
    return ZERO, apply(frame, axis)


@jit
def eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    x = apply(body, axis)
    uw, uv = apply(H, x), symmetric_apply(M, x)
    return eliminate_one(uw, uv, 1.0 / dot(x, uv), tau[k] - dot(x, f), r, cw, cv, A, H, M, n, f)


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    s = rate_of_one(record, i, aw, av)
    udot[k] = s
    return aw, add(av, scale(s, apply(body, axis)))


@jit
def rates(q, k, u, j, qdot):
    qdot[k] = u[j]


@jit
def drift(q, k, u, j, time):
    q[k] += time * u[j]
