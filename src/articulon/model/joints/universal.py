"""Two rotations: about an axis fixed in the parent, and about an axis fixed in the body (Cardan's joint)."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.rotations import about, product
from articulon.algebra.vectors import ZERO, add, scale
from articulon.algebra.vectors import column as matrix_column
from articulon.kernels import jit
from articulon.model.joints.base import POINT, ROTATION, Joint, Row, X, Y
from articulon.model.joints.two_axes import accelerate_about, eliminate_about


@dataclass(frozen=True)
class Universal(Joint):
    """Two rotations: q = (a, b) [rad], u = (a', b'); body to joint frame R = Rx(a) Ry(b). The body rotates first about
    its own y axis, then about x of the joint frame. The two axes are perpendicular at every q."""

    kind: ClassVar[int] = 6
    nq: ClassVar[int] = 2
    nu: ClassVar[int] = 2
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("angle_x", "angle"), ("angle_y", "angle"))
    speeds: ClassVar[tuple[tuple[str, str], ...]] = (("rate_x", "angular_velocity"), ("rate_y", "angular_velocity"))
    fixed_in_body: ClassVar[tuple[bool, ...]] = (False, True)

    def rows(self) -> tuple[Row, ...]:
        """Four rows: the origins coincide, and x of the joint frame is perpendicular to y of the moving frame."""
        return (*POINT, Row(ROTATION, X, Y))


@jit
def place(axis, q, k, frame):
    return product(frame, product(about(X, q[k]), about(Y, q[k + 1]))), ZERO


@jit
def velocity(axis, u, k, frame, body):
    return add(scale(u[k], matrix_column(frame, 0)), scale(u[k + 1], matrix_column(body, 1))), ZERO


@jit
def column(axis, k, frame, body):
    return (matrix_column(frame, 0) if k == 0 else matrix_column(body, 1)), ZERO


@jit
def eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f):
    return eliminate_about(matrix_column(frame, 0), matrix_column(body, 1), tau, k, r, cw, cv, A, H, M, n, f)


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    return accelerate_about(matrix_column(frame, 0), matrix_column(body, 1), record, i, aw, av, udot, k)


@jit
def rates(q, k, u, j, qdot):
    qdot[k], qdot[k + 1] = u[j], u[j + 1]


@jit
def drift(q, k, u, j, time):
    q[k] += time * u[j]
    q[k + 1] += time * u[j + 1]
