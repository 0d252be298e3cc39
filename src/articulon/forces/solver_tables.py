"""Tables of forces that kernels read: those that solvers treat themselves, and the terms."""

from typing import Any, NamedTuple

import numpy as np

from articulon.forces.base import Force, Term
from articulon.forces.sites.site_tables import SiteSystem


class Drag(NamedTuple):
    """Stokes drag at centres of mass, and its noise."""

    link: np.ndarray
    """Link of each body with drag, shape (bodies,)."""
    centre: np.ndarray
    """Centre of mass in the link's frame [length], shape (bodies, 3)."""
    translational: np.ndarray
    """Translational drag coefficient [mass/time], shape (bodies,)."""
    rotational: np.ndarray
    """Rotational drag coefficient [mass length²/time], shape (bodies,)."""
    flow: np.ndarray
    """Velocity of the medium, world frame [length/time], shape (bodies, 3)."""
    mass: np.ndarray
    """Drag of each link in the role of a mass [mass/time], shape (links,)."""
    moment: np.ndarray
    """First moment of that mass about the link's origin, link frame, shape (links, 3)."""
    inertia: np.ndarray
    """Inertia of that mass about the link's origin, link frame, shape (links, 6)."""


class LinearFlow(NamedTuple):
    """Forces of a flowing medium on bodies at rest, without those of the uniform part of the flow."""

    link: np.ndarray
    """Link of each body, shape (bodies,)."""
    centre: np.ndarray
    """Centre of mass in the link's frame [length], shape (bodies, 3)."""
    pull: np.ndarray
    """β G, drag coefficient times velocity gradient, world axes, row-major [mass/time²], shape (bodies, 9)."""
    turn: np.ndarray
    """½ β_ω ∇×(G r), with β_ω the rotational drag coefficient, world axes [torque], shape (bodies, 3)."""


class Noise(NamedTuple):
    """Brownian forces and torques, held constant over numbered windows."""

    amplitude: np.ndarray
    """√(2βkT) of translation and rotation of the bodies of ``Drag`` [force √time, torque √time], shape (bodies, 2)."""
    window: np.ndarray
    """Length of a fine window [time], shape (1,)."""
    choice: np.ndarray
    """Distribution (0 none, 1 normal, 2 uniform, 3 direction), fine windows averaged in each window, seed, stream, and
    whether the instantaneous temperature is used, shape (5,)."""
    bath: np.ndarray
    """k_B T of the bath [energy], shape (1,)."""


class Forces(NamedTuple):
    """All forces of a model: those that solvers treat themselves, and the terms."""

    drag: Drag
    flow: LinearFlow | None
    """Contribution of the medium's velocity gradient; None without one."""
    noise: Noise
    gravity: np.ndarray
    """Gravitational acceleration, world frame [length/time²], shape (3,)."""
    sites: SiteSystem
    contact: np.ndarray
    """Wrenches of contacts on the links, which the stepper holds through each step, world frame, shape (links, 6), or
    (0, 6) without contacts."""
    wrench_channels: np.ndarray
    """Channels with forces on bodies."""
    joint_channels: np.ndarray
    """Channels with forces on joints."""
    terms: tuple[Term, ...]
    """All other forces."""

    def table(self, kind: type[Force]) -> Any:
        """Return the table of a kind of force, None if there is none."""
        return next((term.table for term in self.terms if term.kind is kind), None)
