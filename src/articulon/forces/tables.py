"""What the force kernels read and write."""

from typing import NamedTuple

import numpy as np

from articulon.forces.fixman import FixmanTable
from articulon.forces.sites.tables import SiteSystem


class Pairs(NamedTuple):
    """Site-to-site potentials. Sites are ordered so that partners of one kind are contiguous; those on the ground come
    last and feel nothing."""

    link: np.ndarray
    """Link that carries each moving site, shape (moving,)."""
    local: np.ndarray
    """Position in the link's frame [length], shape (moving, 3)."""
    ground: np.ndarray
    """World positions of the sites on the ground [length], shape (fixed, 3)."""
    start: np.ndarray
    """First run of partners of each moving site, shape (moving + 1,)."""
    low: np.ndarray
    """First partner of a run, shape (runs,)."""
    high: np.ndarray
    """One past the last partner of a run, shape (runs,)."""
    law: np.ndarray
    """(A, B, C) of a run [energy length¹², energy length⁶, energy length], shape (runs, 3)."""


class Springs(NamedTuple):
    """Torsional springs on revolute and spherical joints."""

    link: np.ndarray
    """shape (springs,)."""
    stiffness: np.ndarray
    """[energy/rad²], shape (springs,)."""
    rest: np.ndarray
    """Rest angle [rad] in the first column, or Euler parameters, shape (springs, 4)."""


class PointSprings(NamedTuple):
    """Springs with damping between two points."""

    link: np.ndarray
    """Links of the two ends, −1 for the ground, shape (springs, 2)."""
    point: np.ndarray
    """The two points in the links' frames [length], shape (springs, 6)."""
    constants: np.ndarray
    """Stiffness, rest length and damping [force/length, length, force time/length], shape (springs, 3)."""


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


class JointFrictions(NamedTuple):
    """Damping and Coulomb friction of joints, a row for the speeds that share one direction: those of a spherical
    joint, of a free translation, or one alone."""

    start: np.ndarray
    """First speed of a row, shape (rows,)."""
    end: np.ndarray
    """One past its last, shape (rows,)."""
    damping: np.ndarray
    """c [mass/time, or mass length²/time], shape (rows,)."""
    friction: np.ndarray
    """μ, the size of Coulomb's friction [force, or torque], shape (rows,)."""
    width: np.ndarray
    """u_s, the speed below which it is rounded off [velocity, or angular velocity], shape (rows,)."""


class Actuations(NamedTuple):
    """Forces of joints that are given over time."""

    speed: np.ndarray
    """Speed that a table acts on, shape (tables,)."""
    start: np.ndarray
    """First knot of a table, and the number of knots, shape (tables + 1,)."""
    knots: np.ndarray
    """[time], shape (knots,)."""
    coefficients: np.ndarray
    """Of the cubic after a knot, highest power first [force, or torque, over powers of time], shape (knots, 4)."""
    parameters: np.ndarray
    """Parameters of the users' functions, one after the other."""
    function_start: np.ndarray
    """Where each function's parameters begin, shape (functions + 1,)."""


class Forces(NamedTuple):
    """All force tables of a model. An empty table costs nothing."""

    pairs: Pairs
    springs: Springs
    point_springs: PointSprings
    drag: Drag
    noise: Noise
    gravity: np.ndarray
    """Acceleration of free fall, world frame [length/time²], shape (3,)."""
    bodies: "Bodies"
    joint_frictions: JointFrictions
    actuations: Actuations
    fixman: FixmanTable
    sites: SiteSystem
    contact: np.ndarray
    """Wrenches of contacts on the links, which their driver holds through each step, world frame, shape (links, 6), or
    (0, 6) without contacts."""
    wrench_channels: np.ndarray
    """Channels with forces on bodies."""
    joint_channels: np.ndarray
    """Channels with forces on joints."""


class Bodies(NamedTuple):
    """Where the bodies sit on their links, for forces that a user writes."""

    link: np.ndarray
    """shape (bodies,), or (0,) where no such force exists."""
    offset_position: np.ndarray
    """[length], shape (bodies, 3)."""
    offset_rotation: np.ndarray
    """shape (bodies, 4)."""
    channel: np.ndarray
    """Channel of each user's force, shape (user forces,)."""
    parameters: np.ndarray
    """Parameters of the users' forces, one after the other."""
    start: np.ndarray
    """Where each force's parameters begin, shape (user forces + 1,)."""


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
    site: np.ndarray
    """x, y and z of all sites, shape (3, sites)."""
    held: np.ndarray
    """Brownian forces and torques of the present window, world frame, shape (bodies with drag, 6)."""
    body_position: np.ndarray
    """Origins of the bodies for a user's force [length], shape (bodies, 3)."""
    body_rotation: np.ndarray
    """Their Euler parameters, shape (bodies, 4)."""
    body_velocity: np.ndarray
    """Velocity of the origin and angular velocity, world frame, shape (bodies, 6)."""
    body_wrench: np.ndarray
    """What a user's force writes, shape (bodies, 6)."""
    joint_written: np.ndarray
    """What a user's force of joints writes, shape (nu,), or (0,) where there is none."""
    bath: np.ndarray
    """A thermostat's variables at the latest evaluation, and their rates, shape (2, variables)."""
    held_window: np.ndarray
    """The window that ``held`` belongs to, −1 for none, shape (1,)."""


def channel_forces(forces: Forces, nu: int, bath: int = 0) -> ChannelForces:
    """Zeroed arrays for a model's forces and a number of thermostat variables."""
    links, dragged, bodies = forces.drag.mass.size, forces.drag.link.size, forces.bodies.link.size
    return ChannelForces(
        wrench=np.zeros((8, links, 6)),
        joint=np.zeros((8, nu)),
        power=np.zeros(8),
        total_wrench=np.zeros((links, 6)),
        total_joint=np.zeros(nu),
        site=np.ascontiguousarray(
            np.concatenate([np.zeros_like(forces.pairs.local), forces.pairs.ground]).reshape(-1, 3).T
        ),
        held=np.zeros((dragged, 6)),
        body_position=np.zeros((bodies, 3)),
        body_rotation=np.zeros((bodies, 4)),
        body_velocity=np.zeros((bodies, 6)),
        body_wrench=np.zeros((bodies, 6)),
        joint_written=np.zeros(nu if forces.actuations.function_start.size > 1 else 0),
        bath=np.zeros((2, bath)),
        held_window=np.full(1, -1, dtype=np.int64),
    )
