"""Arrays that hold forces by channel, and their sums."""

from typing import NamedTuple

import numpy as np


class ChannelForces(NamedTuple):
    """Forces by channel at the latest evaluation, and scratch; they are not part of the state."""

    wrench: np.ndarray
    """Force and moment about the link's origin, world frame, shape (8, links, 6)."""
    joint: np.ndarray
    """Generalised forces of joints, shape (8, nu)."""
    power: np.ndarray
    """Power of each channel, unscaled [energy/time], shape (8,)."""
    total_wrench: np.ndarray
    """Sum of the scaled channels, shape (links, 6)."""
    total_joint: np.ndarray
    """Sum of the scaled channels over joints, shape (nu,)."""
    held: np.ndarray
    """Brownian forces and torques of the current window, world frame, shape (bodies with drag, 6)."""
    bath: np.ndarray
    """Thermostat variables at the latest evaluation, and their rates, shape (2, variables)."""
    held_window: np.ndarray
    """Index of the window of ``held``, −1 for none, shape (1,)."""


def channel_forces(links: int, nu: int, bodies: int, bath: int = 0) -> ChannelForces:
    """Return zeroed arrays for the given numbers of links, speeds, bodies with drag and thermostat variables."""
    return ChannelForces(
        wrench=np.zeros((8, links, 6)),
        joint=np.zeros((8, nu)),
        power=np.zeros(8),
        total_wrench=np.zeros((links, 6)),
        total_joint=np.zeros(nu),
        held=np.zeros((bodies, 6)),
        bath=np.zeros((2, bath)),
        held_window=np.full(1, -1, dtype=np.int64),
    )
