"""Rotations as Euler parameters, scalar first: e = (cos θ/2, n sin θ/2) rotates body vectors into parent vectors."""

import math

from articulon.algebra.vectors import add, cross, dot, scale
from articulon.kernels import jit
from articulon.lane_functions import sine_and_cosine
from articulon.lanes import any_of, choose

IDENTITY = (1.0, 0.0, 0.0, 0.0)


@jit
def load_quaternion(a, i):
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@jit
def store_quaternion(a, i, e):
    a[i, 0], a[i, 1], a[i, 2], a[i, 3] = e[0], e[1], e[2], e[3]


@jit
def quaternion_at(a, k):
    return (a[k], a[k + 1], a[k + 2], a[k + 3])


@jit
def product(a, b):
    """Hamilton product a b: the rotation b, followed by the rotation a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@jit
def conjugate(e):
    return (e[0], -e[1], -e[2], -e[3])


@jit
def about(axis, angle):
    """Rotation by ``angle`` about a unit axis."""
    s, c = sine_and_cosine(0.5 * angle)
    return (c, s * axis[0], s * axis[1], s * axis[2])


@jit
def matrix(e):
    """Rotation matrix of e, orthogonal up to rounding for any norm of e."""
    s = 2.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    x, y, z = s * e[1], s * e[2], s * e[3]
    wx, wy, wz = e[0] * x, e[0] * y, e[0] * z
    xx, xy, xz = e[1] * x, e[1] * y, e[1] * z
    yy, yz, zz = e[2] * y, e[2] * z, e[3] * z
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


@jit
def rate(e, w):
    """e' = ½ e (0, ω), with ω in the body frame (Guy 2018, B.17)."""
    return (
        -0.5 * (e[1] * w[0] + e[2] * w[1] + e[3] * w[2]),
        0.5 * (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]),
        0.5 * (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]),
        0.5 * (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]),
    )


@jit
def rotation_vector(e):
    """Axis times angle in [0, π]. At the angle π the sign of the axis is arbitrary, and the sign in e is kept."""
    sign = choose(e[0] < 0.0, -1.0, 1.0)  # e and −e are the same rotation; the smaller angle is used
    v, w = (sign * e[1], sign * e[2], sign * e[3]), sign * e[0]
    s = math.sqrt(dot(v, v))
    # Below 1e-8, the first term of the series of 2 atan(s/w)/s is used, because the next term is below rounding.
    return scale(choose(s < 1e-8 * w, 2.0 / w, 2.0 * math.atan2(s, w) / s), v)


@jit
def rotation_vector_change(turned, w):
    """Rate of change of a rotation vector φ whose body rotates at w, in the body's frame: w + ½ φ × w + c φ × (φ × w)
    with θ = |φ| and c = 1/θ² − cot(θ/2)/(2 θ). The map for −φ is the transposed one. ``turned`` is φ."""
    x = dot(turned, turned)
    c = 1.0 / 12.0 + x * (1.0 / 720.0 + x * (1.0 / 30240.0 + x * (1.0 / 1209600.0 + x / 47900160.0)))
    large = x > 0.0625
    if any_of(large):
        angle = math.sqrt(x)
        half = 0.5 * angle
        sine, cosine = sine_and_cosine(half)
        c = choose(large, (1.0 - half * cosine / sine) / x, c)
    once = cross(turned, w)
    return add(add(w, scale(0.5, once)), scale(c, cross(turned, once)))


@jit
def exponential(rotation):
    """Euler parameters of a rotation vector."""
    angle2 = dot(rotation, rotation)
    x = 0.25 * angle2  # Taylor series in x = (θ/2)², exact up to rounding for small θ
    s = 0.5 * (1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110)))))
    c = 1 - x / 2 * (1 - x / 12 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90 * (1 - x / 132)))))
    large = angle2 >= 0.0625
    if any_of(large):
        angle = math.sqrt(angle2)
        sine, cosine = sine_and_cosine(0.5 * angle)
        s, c = choose(large, sine / angle, s), choose(large, cosine, c)
    return (c, s * rotation[0], s * rotation[1], s * rotation[2])


@jit
def turn(e, w, time):
    """e after rotation at the constant body-frame angular velocity w for ``time``, normalised."""
    return normalised(product(e, exponential(scale(time, w))))


@jit
def turn_in_world(e, w, time):
    """e after rotation at the constant world-frame angular velocity w for ``time``, not normalised."""
    return product(exponential(scale(time, w)), e)


@jit
def normalised(e):
    s = 1.0 / math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    return (s * e[0], s * e[1], s * e[2], s * e[3])
