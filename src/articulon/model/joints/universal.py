"""Two rotations, about an axis fixed in the parent and one fixed in the body (Cardan's joint)."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.inertia import shift
from articulon.algebra.rotations import about, product
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply_t,
    cross,
    dot,
    scale,
    sub,
    symmetric_apply,
    symmetric_less_outer,
)
from articulon.algebra.vectors import (
    column as matrix_column,
)
from articulon.kernels import jit
from articulon.model.joints.base import POINT, ROTATION, Joint, Row, X, Y


@dataclass(frozen=True)
class Universal(Joint):
    """Two rotations: q = (a, b) [rad], body to joint frame R = Rx(a) Ry(b), so first the body turns about its y, then
    with it about x of the joint frame; u = (a', b'). The two axes are perpendicular at every q."""

    kind: ClassVar[int] = 6
    nq: ClassVar[int] = 2
    nu: ClassVar[int] = 2
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = (("angle_x", "angle"), ("angle_y", "angle"))
    speeds: ClassVar[tuple[tuple[str, str], ...]] = (("rate_x", "angular_velocity"), ("rate_y", "angular_velocity"))
    fixed_in_body: ClassVar[tuple[bool, ...]] = (False, True)

    def rows(self) -> tuple[Row, ...]:
        """Four: the origins coincide, and x of the joint frame is perpendicular to y of the moving one."""
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
    """In the axes x and y of the joint and z = x × y: the moments about x and y are given, and about z alone the body's
    inertia reaches the parent."""
    x, y = matrix_column(frame, 0), matrix_column(body, 1)
    z = cross(x, y)
    Ax, Ay, Az = symmetric_apply(A, x), symmetric_apply(A, y), symmetric_apply(A, z)
    hx, hy, hz = apply_t(H, x), apply_t(H, y), apply_t(H, z)
    # The block (xx, xy, yy) of A is L diag(d) Lᵀ with t in L. What couples it to the turn about z, to the acceleration
    # and to the forces is reduced by L⁻¹, then by diag(d)⁻¹ and L⁻ᵀ.
    i0 = 1.0 / dot(x, Ax)
    t = i0 * dot(x, Ay)
    i1 = 1.0 / (dot(y, Ay) - t * dot(x, Ay))
    gx = tau[k] - dot(x, n)
    gy = tau[k + 1] - dot(y, n) - t * gx
    zx = dot(z, Ax)
    zy = dot(z, Ay) - t * zx
    hy = sub(hy, scale(t, hx))
    wy, sy, by = i1 * gy, i1 * zy, scale(i1, hy)
    wx, sx, bx = i0 * gx - t * wy, i0 * zx - t * sy, sub(scale(i0, hx), scale(t, by))
    zz = dot(z, Az) - i0 * zx * zx - i1 * zy * zy
    h = sub(hz, add(scale(i0 * zx, hx), scale(i1 * zy, hy)))
    M = symmetric_less_outer(symmetric_less_outer(M, i0, hx), i1, hy)
    cz = dot(z, cw)
    nz = dot(z, n) + i0 * zx * gx + i1 * zy * gy + zz * cz + dot(h, cv)
    f = add(add(f, add(scale(i0 * gx, hx), scale(i1 * gy, hy))), add(scale(cz, h), symmetric_apply(M, cv)))
    n = add(add(scale(tau[k], x), scale(tau[k + 1], y)), scale(nz, z))
    A = symmetric_less_outer((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), -zz, z)
    A, H = shift(r, A, (scale(z[0], h), scale(z[1], h), scale(z[2], h)), M)
    record = (wx, wy, sx, sy, bx[0], bx[1], bx[2], by[0], by[1], by[2], 0.0, 0.0)
    return A, H, M, add(n, cross(r, f)), f, record


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    x, y = matrix_column(frame, 0), matrix_column(body, 1)
    s = dot(cross(x, y), aw)
    wx = record[i, 0] - record[i, 2] * s
    wx -= record[i, 4] * av[0] + record[i, 5] * av[1] + record[i, 6] * av[2]
    wy = record[i, 1] - record[i, 3] * s
    wy -= record[i, 7] * av[0] + record[i, 8] * av[1] + record[i, 9] * av[2]
    a, b = wx - dot(x, aw), wy - dot(y, aw)
    udot[k], udot[k + 1] = a, b
    return add(aw, add(scale(a, x), scale(b, y))), av


@jit
def rates(q, k, u, j, qdot):
    qdot[k], qdot[k + 1] = u[j], u[j + 1]


@jit
def drift(q, k, u, j, time):
    q[k] += time * u[j]
    q[k + 1] += time * u[j + 1]
