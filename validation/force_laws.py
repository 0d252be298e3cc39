"""Force laws of the problems that verdicts are tested on: one jitted function, compiled once, told by its parameters.

A row of WIDTH numbers is a law on a body: (body, law, a, b, c, d, n, m, 0, ...) with unit vectors n and m. Along n, at
s = n·x, forces are functions of place or of time; torques are about z, or turn the body's x axis into a field along n.
"""

from __future__ import annotations

import math

import numba

WIDTH = 16
LAWS = (
    "steady",
    "power",
    "exponential",
    "onset",
    "switch",
    "swing",
    "washboard",
    "rotating",
    "well",
    "double-well",
    "trap",
    "dipole",
    "torque",
    "torque-grows",
    "torque-swings",
)
"""Names of the laws, by number; the last four are torques."""


def row(
    body: int,
    law: str,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 1.0,
    d: float = 1.0,
    n: tuple[float, float, float] = (1.0, 0.0, 0.0),
    m: tuple[float, float, float] = (0.0, 1.0, 0.0),
) -> tuple[float, ...]:
    """The parameters of a law on a body."""
    numbers = (float(body), float(LAWS.index(law)), a, b, c, d, *n, *m)
    return numbers + (0.0,) * (WIDTH - len(numbers))


@numba.njit
def laws(time, positions, rotations, velocities, parameters, wrenches):
    """Adds the forces and torques of all rows."""
    for k in range(parameters.size // 16):
        p = parameters[16 * k : 16 * k + 16]
        i, law, a, b, c, d = int(p[0]), int(p[1]), p[2], p[3], p[4], p[5]
        x, w = positions[i], wrenches[i]
        s = p[6] * x[0] + p[7] * x[1] + p[8] * x[2]
        f = 0.0
        if law == 0:  # steady
            f = a
        elif law == 1:  # a (1 − s/c)^−b, to d of the distance
            f = a * max(1.0 - s / c, d) ** -b
        elif law == 2:  # a e^{s/c}, to e^d
            f = a * math.exp(min(s / c, d))
        elif law == 3:  # from a to b at c, within d
            f = a + (b - a) * 0.5 * (1.0 + math.tanh((s - c) / d))
        elif law == 4:  # the same in time
            f = a + (b - a) * 0.5 * (1.0 + math.tanh((time - c) / d))
        elif law == 5:  # swings in time
            f = a + b * math.cos(c * time + d)
        elif law == 6:  # swings in space
            f = a + b * math.sin(c * s + d)
        elif law == 7:  # rotates in the plane of n and m
            for j in range(3):
                w[j] += b * (math.cos(c * time + d) * p[6 + j] + math.sin(c * time + d) * p[9 + j])
        elif law == 8:  # a well about c n
            for j in range(3):
                w[j] -= a * (x[j] - c * p[6 + j])
        elif law == 9:  # wells at ±c along n
            f = -a * s * (s * s / (c * c) - 1.0)
        elif law == 10:  # a steady force and a trap of width d at c
            z = (s - c) / d
            f = a - b * z * math.exp(0.5 * (1.0 - z * z))
        if law < 11:
            for j in range(3):
                w[j] += f * p[6 + j]
            continue
        q0, q1, q2, q3 = rotations[i, 0], rotations[i, 1], rotations[i, 2], rotations[i, 3]
        ex, ey, ez = 1.0 - 2.0 * (q2 * q2 + q3 * q3), 2.0 * (q1 * q2 + q0 * q3), 2.0 * (q1 * q3 - q0 * q2)
        if law == 11:
            w[3] += a * (ey * p[8] - ez * p[7])
            w[4] += a * (ez * p[6] - ex * p[8])
            w[5] += a * (ex * p[7] - ey * p[6])
        elif law == 12:
            w[5] += a
        elif law == 13:  # grows with the angle, to both sides of it
            w[5] += a * math.exp(min(abs(math.atan2(ey, ex)) / c, d))
        else:
            w[5] += a + b * math.cos(c * time + d)
