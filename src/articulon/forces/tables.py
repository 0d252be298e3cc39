"""What the force kernels read and write."""

from typing import Any, NamedTuple

import numpy as np

from articulon.forces.base import Force, Term
from articulon.forces.sites.tables import SiteSystem


class Drag(NamedTuple):
    """Stokes drag at centres of mass, and the noise that belongs to it."""

    link: np.ndarray
    """shape (bodies,)."""
    centre: np.ndarray
    """Centre of mass in the link's frame [length], shape (bodies, 3)."""
    translational: np.ndarray
    """[mass/time], shape (bodies,)."""
    rotational: np.ndarray
    """[mass length²/time], shape (bodies,)."""
    flow: np.ndarray
    """Velocity of the medium, world frame [length/time], shape (bodies, 3)."""
    mass: np.ndarray
    """Drag of a link as if it were a mass [mass/time], shape (links,)."""
    moment: np.ndarray
    """Its first moment about the link's origin, link frame, shape (links, 3)."""
    inertia: np.ndarray
    """Its inertia about the link's origin, link frame, shape (links, 6)."""


class Noise(NamedTuple):
    """Brownian forces and torques, held constant over numbered windows."""

    amplitude: np.ndarray
    """√(2βkT) of translation and rotation of the bodies of ``Drag`` [force √time, torque √time], shape (bodies, 2)."""
    window: np.ndarray
    """Length of a fine window [time], shape (1,)."""
    choice: np.ndarray
    """Shape (0 none, 1 normal, 2 uniform, 3 direction), fine windows averaged in each window, seed, stream, and
    whether the instantaneous temperature is used, shape (5,)."""
    bath: np.ndarray
    """k_B T of the bath [energy], shape (1,)."""


class Forces(NamedTuple):
    """All forces of a model: what solvers know themselves, and the terms."""

    drag: Drag
    noise: Noise
    gravity: np.ndarray
    """Acceleration of free fall, world frame [length/time²], shape (3,)."""
    sites: SiteSystem
    contact: np.ndarray
    """Wrenches of contacts on the links, which their driver holds through each step, world frame, shape (links, 6), or
    (0, 6) without contacts."""
    wrench_channels: np.ndarray
    """Channels with forces on bodies."""
    joint_channels: np.ndarray
    """Channels with forces on joints."""
    terms: tuple[Term, ...]
    """All other forces."""

    def table(self, kind: type[Force]) -> Any:
        """The table of a kind of force, None where there is none."""
        return next((term.table for term in self.terms if term.kind is kind), None)


class ChannelForces(NamedTuple):
    """Forces by channel at the latest evaluation, and scratch; deleting it changes nothing."""

    wrench: np.ndarray
    """Force and moment about the link's origin, world frame, shape (8, links, 6)."""
    joint: np.ndarray
    """Generalised forces of joints, shape (8, nu)."""
    power: np.ndarray
    """Power of each channel, unscaled [energy/time], shape (8,)."""
    total_wrench: np.ndarray
    """Sum of the weighed channels, shape (links, 6)."""
    total_joint: np.ndarray
    """shape (nu,)."""
    held: np.ndarray
    """Brownian forces and torques of the present window, world frame, shape (bodies with drag, 6)."""
    bath: np.ndarray
    """A thermostat's variables at the latest evaluation, and their rates, shape (2, variables)."""
    held_window: np.ndarray
    """The window that ``held`` belongs to, −1 for none, shape (1,)."""


def channel_forces(forces: Forces, nu: int, bath: int = 0) -> ChannelForces:
    """Zeroed arrays for a model's forces and a number of thermostat variables."""
    links = forces.drag.mass.size
    return ChannelForces(
        wrench=np.zeros((8, links, 6)),
        joint=np.zeros((8, nu)),
        power=np.zeros(8),
        total_wrench=np.zeros((links, 6)),
        total_joint=np.zeros(nu),
        held=np.zeros((forces.drag.link.size, 6)),
        bath=np.zeros((2, bath)),
        held_window=np.full(1, -1, dtype=np.int64),
    )
