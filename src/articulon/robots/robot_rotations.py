"""Conversions of rotations to and from the conventions of robot descriptions."""

from __future__ import annotations

import math

import numpy as np

from articulon.model.array_rotations import matrices


def matrix_of(e: np.ndarray) -> np.ndarray:
    """Rotation matrix of Euler parameters, shapes (4,) and (3, 3)."""
    return np.asarray(matrices(np.asarray(e)))


def of_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Euler parameters (4,) of rotations by roll about x, then pitch about y, then yaw about z, about fixed axes
    [rad]."""
    half = [0.5 * angle for angle in (roll, pitch, yaw)]
    (cr, cp, cy), (sr, sp, sy) = [math.cos(h) for h in half], [math.sin(h) for h in half]
    return np.array(
        [
            cy * cp * cr + sy * sp * sr,
            cy * cp * sr - sy * sp * cr,
            cy * sp * cr + sy * cp * sr,
            sy * cp * cr - cy * sp * sr,
        ]
    )


def rpy_of(e: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] of unit Euler parameters (4,): the angles from which :func:`of_rpy` makes these
    parameters.

    For Euler parameters (w, x, y, z), let c and s be the cosine and sine of half the pitch. Then w + y = (c + s) cos d,
    z − x = (c + s) sin d, w − y = (c − s) cos m and x + z = (c − s) sin m, where 2 d is yaw minus roll and 2 m is yaw
    plus roll. The result is therefore accurate even if yaw and roll are about the same axis.
    """
    w, x, y, z = (float(part) for part in e)
    apart, together = math.atan2(z - x, w + y), math.atan2(x + z, w - y)
    pitch = 2.0 * math.atan2(math.hypot(w + y, z - x), math.hypot(w - y, x + z)) - 0.5 * math.pi
    return together - apart, pitch, together + apart


def about_axis(axis: np.ndarray) -> np.ndarray:
    """Euler parameters (4,) of the shortest rotation that takes z to a unit vector (3,)."""
    x, y, z = axis
    if z < -1.0 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    e = np.array([1.0 + z, -y, x, 0.0])
    return np.asarray(e / np.linalg.norm(e))


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Euler parameters (4,) of a rotation by an angle [rad] about a unit vector (3,)."""
    return np.array([math.cos(0.5 * angle), *(math.sin(0.5 * angle) * axis)])
