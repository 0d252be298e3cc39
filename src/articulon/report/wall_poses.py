"""Poses of moving walls at a given time."""

from __future__ import annotations

import numpy as np

from articulon.forces.contact.walls import WallPart


def wall_pose(wall: WallPart, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (3,) and rotation matrix (3, 3) of a wall at a time t. The wall is at p + v t + A sin(2π f
    t), and it is rotated by ω t."""
    point, velocity, amplitude, turning = wall.motion[:12].reshape(4, 3)
    place = point + velocity * time + amplitude * np.sin(wall.motion[12] * time)
    speed = float(np.linalg.norm(turning))
    if speed == 0.0:
        return place, np.eye(3)
    n = turning / speed
    cross = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
    return place, np.eye(3) + np.sin(speed * time) * cross + (1.0 - np.cos(speed * time)) * cross @ cross
