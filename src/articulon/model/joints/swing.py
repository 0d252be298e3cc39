"""A rod between two points: two rotations of a body's z axis, without spin about it."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.rotations import product, quaternion_at, rate, turn
from articulon.algebra.vectors import ZERO, apply
from articulon.algebra.vectors import column as matrix_column
from articulon.kernels import jit
from articulon.model.joints.base import TURN, Joint, Row
from articulon.model.joints.two_axes import accelerate_about, eliminate_about


@dataclass(frozen=True)
class Swing(Joint):
    """Two rotations of a body whose mass lies on its z axis, such as a bead at the end of a massless rod: q = (e0, e1,
    e2, e3), body to joint frame; u = (ωx, ωy) in the body frame [rad/time]. The component ωz, relative to the joint
    frame, is zero, because rotation about the z axis moves no mass.

    A rod between point masses has these two degrees of freedom. A spherical joint has a third one, rotation about the z
    axis, which has no inertia and would make the mass matrix singular. All masses, sites and joints of children that
    the body carries must lie on its z axis; the children's joints may be swing, spherical or free joints. Unlike a
    universal joint, a swing joint has no singular configuration.
    """

    kind: ClassVar[int] = 7
    nq: ClassVar[int] = 4
    nu: ClassVar[int] = 2
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = TURN
    speeds: ClassVar[tuple[tuple[str, str], ...]] = (("wx", "angular_velocity"), ("wy", "angular_velocity"))
    quaternion: ClassVar[int | None] = 0
    fixed_in_body: ClassVar[tuple[bool, ...]] = (True, True)
    spinless: ClassVar[bool] = True

    def rows(self) -> tuple[Row, ...]:
        """No rows: the joint excludes only rotation about the z axis, and no constraint on positions and directions can
        exclude it."""
        return ()


@jit
def place(axis, q, k, frame):
    return product(frame, quaternion_at(q, k)), ZERO


@jit
def spin(u, k):
    """ω in the body frame."""
    return u[k], u[k + 1], 0.0 * u[k]


@jit
def velocity(axis, u, k, frame, body):
    return apply(body, spin(u, k)), ZERO


@jit
def column(axis, k, frame, body):
    return matrix_column(body, k), ZERO


@jit
def eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    return eliminate_about(matrix_column(body, 0), matrix_column(body, 1), tau, k, r, cw, cv, A, H, M, n, f)


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    return accelerate_about(matrix_column(body, 0), matrix_column(body, 1), record, i, aw, av, udot, k)


@jit
def rates(q, k, u, j, qdot):
    e = rate(quaternion_at(q, k), spin(u, j))
    qdot[k], qdot[k + 1], qdot[k + 2], qdot[k + 3] = e[0], e[1], e[2], e[3]


@jit
def drift(q, k, u, j, time):
    """Exact for a constant ω in the body frame."""
    e = turn(quaternion_at(q, k), spin(u, j), time)
    q[k], q[k + 1], q[k + 2], q[k + 3] = e[0], e[1], e[2], e[3]
