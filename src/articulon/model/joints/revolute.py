"""Rotation about an axis fixed in parent and body."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.algebra.inertia import force_of, moment_of, shift
from articulon.algebra.rotations import about, product
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    dot,
    matrix_add,
    scale,
    symmetric_apply,
    symmetric_less_outer,
)
from articulon.kernels import jit
from articulon.model.joints.axis import AxisJoint
from articulon.model.joints.base import REVOLUTE


@dataclass(frozen=True)
class Revolute(AxisJoint):
    """One rotation: q is the angle [rad], u its rate."""

    kind: ClassVar[int] = REVOLUTE
    nq: ClassVar[int] = 1
    nu: ClassVar[int] = 1


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
    d = 1.0 / dot(x, uw)
    g = tau[k] - dot(x, n)
    s = d * (g - dot(uw, cw) - dot(uv, cv))
    n = add(add(n, moment_of(A, H, cw, cv)), scale(s, uw))
    f = add(add(f, force_of(H, M, cw, cv)), scale(s, uv))
    dw = scale(-d, uw)
    H = matrix_add(H, (scale(dw[0], uv), scale(dw[1], uv), scale(dw[2], uv)))
    A, M = symmetric_less_outer(A, d, uw), symmetric_less_outer(M, d, uv)
    A, H = shift(r, A, H, M)
    record = (d * uw[0], d * uw[1], d * uw[2], d * uv[0], d * uv[1], d * uv[2], d * g, 0.0, 0.0, 0.0, 0.0, 0.0)
    return A, H, M, add(n, cross(r, f)), f, record


@jit
def accelerate(axis, frame, body, record, i, aw, av, udot, k):
    s = record[i, 6] - (record[i, 0] * aw[0] + record[i, 1] * aw[1] + record[i, 2] * aw[2])
    s -= record[i, 3] * av[0] + record[i, 4] * av[1] + record[i, 5] * av[2]
    udot[k] = s
    return add(aw, scale(s, apply(body, axis))), av
