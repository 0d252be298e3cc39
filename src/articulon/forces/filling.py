"""The passes that fill the channels with the forces of a model, scale them and book their power, at links that have
been placed and moved; and which of them a model needs."""

import math
from collections.abc import Iterator

import numpy as np

from articulon.forces.base import At
from articulon.forces.channel_forces import ChannelForces
from articulon.forces.evaluation_tables import ModelTables
from articulon.forces.gravity import gravity_power
from articulon.forces.linear_flow import flowing
from articulon.forces.modal_forces import modal_damping, modal_springs
from articulon.forces.sites.site_sums import add_forces_in_turn
from articulon.forces.sites.site_wrenches import particle_wrenches, place_particles
from articulon.forces.stokes_drag import drag_wrenches
from articulon.model.state import CONFORMATIONAL, CONTACT, DAMPING, EXTERNAL, POTENTIAL
from articulon.passes import Bound, pass_of
from articulon.thermostats.base import GAIN
from articulon.thermostats.equations import thermostat_on_modes, thermostat_on_rotors, thermostat_wrenches


@pass_of
def clear_wrenches(channels, wrench):
    """Zeroes the wrenches (8, links, 6) of some channels."""
    for c in channels:
        one = wrench[c].reshape(-1)
        for k in range(one.size):
            one[k] = 0.0


@pass_of
def clear_joints(channels, joint):
    """Zeroes the forces of joints (8, nu) of some channels."""
    for c in channels:
        for k in range(joint.shape[1]):
            joint[c, k] = 0.0


@pass_of
def clear(array):
    """Zeroes an array."""
    array[:] = 0.0


@pass_of
def fill_sites(sites, total, terms, refresh, ws, wrench):
    """All other forces between sites."""
    place_particles(sites, ws)
    total(sites, terms, refresh)
    particle_wrenches(sites, ws, wrench[POTENTIAL])


@pass_of
def fill_sites_in_turn(sites, total, terms, refresh, ws, wrench, time, turn):
    """The same, with slow forces in every ``turn[1]``-th step of the length ``turn[0]`` alone, as many times as
    strong."""
    place_particles(sites, ws)
    refresh(sites.cell, sites.particles, sites.neighbours, sites.grid, sites.kinds, sites.charges)
    due = np.rint(time[0] / turn[0]) % turn[1] == 0.0
    add_forces_in_turn(sites, terms, turn[1] if due else 0.0)
    particle_wrenches(sites, ws, wrench[POTENTIAL])


@pass_of
def fill_contacts(contact, wrench):
    """What the contacts of the step do."""
    for i in range(contact.shape[0]):
        for k in range(6):
            wrench[CONTACT, i, k] += contact[i, k]


@pass_of
def fill_modal_springs(forest, q, joint):
    """Stiffness of flexible bodies."""
    modal_springs(forest, q, joint[CONFORMATIONAL])


@pass_of
def fill_drag(drag, ws, damping):
    """Stokes drag, added to the wrenches (links, 6)."""
    drag_wrenches(drag, ws, damping)


@pass_of
def fill_modal_damping(forest, u, joint):
    """Damping of flexible bodies."""
    modal_damping(forest, u, joint[DAMPING])


@pass_of
def fill_thermostat(forest, bath, time, ws, variables, wrench):
    """A thermostat that is an equation of motion, and the rates of its variables (2, variables)."""
    thermostat_wrenches(forest, bath, time[0], ws, 0.0, variables[0], wrench, variables[1])


@pass_of
def fill_thermostat_with_rotors(forest, bath, time, ws, armature, u, variables, wrench, joint):
    """The same with armatures of joints (nu,)."""
    energy = 0.0
    for k in range(armature.size):
        energy += 0.5 * armature[k] * u[k] * u[k]
    thermostat_wrenches(forest, bath, time[0], ws, energy, variables[0], wrench, variables[1])
    thermostat_on_rotors(bath, armature, u, variables[0], variables[1], joint)


@pass_of
def fill_thermostat_on_modes(forest, bath, ws, variables, joint):
    """What it does to the modes of flexible bodies."""
    thermostat_on_modes(forest, bath, ws, variables[0], variables[1], joint)


@pass_of
def scale_wrenches(channels, factor, wrench, total):
    """The sum of the wrenches (links, 6) of some channels with their factors."""
    whole = total.reshape(-1)
    for k in range(whole.size):
        whole[k] = 0.0
    for c in channels:
        s, one = factor[c], wrench[c].reshape(-1)
        for k in range(whole.size):  # a vector loop
            whole[k] += s * one[k]


@pass_of
def scale_joints(channels, factor, joint, total):
    """The sum of the forces of joints (nu,) of some channels with their factors."""
    for k in range(total.size):
        total[k] = 0.0
    for c in channels:
        s = factor[c]
        for k in range(total.size):
            total[k] += s * joint[c, k]


@pass_of
def book_wrenches(channels, wrench, twist, power):
    """Power of the channels (8,), unscaled: that of wrenches."""
    speeds = twist.reshape(-1)
    for c in range(power.size):
        power[c] = 0.0
    for c in channels:
        p, one = 0.0, wrench[c].reshape(-1)
        for k in range(speeds.size):  # a vector loop
            p += one[k] * speeds[k]
        power[c] = p


@pass_of
def book_joints(channels, joint, u, power):
    """Adds that of the forces of joints."""
    for c in channels:
        p = 0.0
        for k in range(u.size):
            p += joint[c, k] * u[k]
        power[c] += p


@pass_of
def book_gravity(forest, gravity, ws, power):
    """Adds that of gravity."""
    power[EXTERNAL] += gravity_power(forest, gravity, ws)


@pass_of
def sum_wrenches(channels, wrench, sums):
    """Σ |F| over the links by channel (8,), unscaled."""
    for c in range(8):
        sums[c] = 0.0
    for c in channels:
        for i in range(wrench.shape[1]):
            x, y, z = wrench[c, i, 0], wrench[c, i, 1], wrench[c, i, 2]
            sums[c] += math.sqrt(x * x + y * y + z * z)


@pass_of
def sum_joints(channels, joint, sums):
    """Adds Σ |torque| over the joints' degrees of freedom."""
    for c in channels:
        for k in range(joint.shape[1]):
            sums[c] += abs(joint[c, k])


@pass_of
def sum_gravity(forest, gravity, sums):
    """Adds Σ m |g|."""
    g = gravity
    sums[EXTERNAL] += forest.mass.sum() * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@pass_of
def read_thermostat(bath, variables, sums):
    """A thermostat's ζ and kd ζ', behind the sums, for the law of a policy."""
    sums[8], sums[9] = variables[0, 0], bath.constants[GAIN] * variables[1, 0]


def filling(
    evaluator: ModelTables,
    at: At,
    resistance: bool = True,
    turn: np.ndarray | None = None,
    of_speeds: bool = True,
) -> Iterator[Bound]:
    """Passes that fill the channels but for drag and Brownian motion, and, without ``resistance``, but for what
    ``friction-implicit`` solves for; without ``of_speeds`` but for the other forces that read speeds too. With
    ``turn``, the length of a step [time] and a number of steps, slow forces between sites act in every so many
    steps."""
    forces, channels, forest, ws = evaluator.system.forces, at.channels, at.forest, at.ws
    wrench, joint = channels.wrench, channels.joint
    if forces.wrench_channels.size:
        yield clear_wrenches.bind(forces.wrench_channels, wrench)
    if forces.joint_channels.size:
        yield clear_joints.bind(forces.joint_channels, joint)
    if forces.sites.kinds.size:
        if turn is None:
            yield evaluator.bind_sites(fill_sites, ws, wrench)
        else:
            yield evaluator.bind_sites(fill_sites_in_turn, ws, wrench, at.time, turn)
    if forces.contact.shape[0]:
        yield fill_contacts.bind(forces.contact, wrench)
    if forest.flexible is not None:
        yield fill_modal_springs.bind(forest, at.q, joint)
    for kind, table in forces.terms:
        if of_speeds or not kind.reads_speeds(table):
            yield from kind.fill(table, at) if resistance else kind.fill_without_resistance(table, at)


def fill_friction(evaluator: ModelTables, at: At) -> Iterator[Bound]:
    """Passes of drag and Brownian motion, which add to ``at.damping`` and ``at.stochastic``."""
    forces = evaluator.system.forces
    if forces.drag.link.size:
        yield fill_drag.bind(forces.drag, at.ws, at.damping)
    yield from flowing(evaluator.linear_flow, at.ws, at.damping)
    if forces.noise.choice[0]:
        yield from evaluator.noise_passes(at)


def fill_all(evaluator: ModelTables, at: At) -> Iterator[Bound]:
    """Passes that fill every channel."""
    yield from filling(evaluator, at)
    yield from fill_friction(evaluator, at)
    system, channels = evaluator.system, at.channels
    if at.forest.flexible is not None:
        yield fill_modal_damping.bind(at.forest, at.u, channels.joint)
    if channels.bath.size:
        acting, filled = (at.forest, system.bath, at.time, at.ws), (channels.bath, channels.wrench)
        if evaluator.model.armature is None:
            yield fill_thermostat.bind(*acting, *filled)
        else:
            rotors = evaluator.model.armature.copy(), at.u
            yield fill_thermostat_with_rotors.bind(*acting, *rotors, *filled, channels.joint)
        if at.forest.flexible is not None:
            yield fill_thermostat_on_modes.bind(at.forest, system.bath, at.ws, channels.bath, channels.joint)


def scaling(evaluator: ModelTables, channels: ChannelForces, factor: np.ndarray) -> Iterator[Bound]:
    """Passes that sum the channels with their factors (8,)."""
    forces = evaluator.system.forces
    yield scale_wrenches.bind(forces.wrench_channels, factor, channels.wrench, channels.total_wrench)
    yield scale_joints.bind(forces.joint_channels, factor, channels.joint, channels.total_joint)


def booking(evaluator: ModelTables, at: At) -> Iterator[Bound]:
    """Passes that find the power of every channel at speeds ``at.u``, at links that have been moved."""
    forces, channels = evaluator.system.forces, at.channels
    yield book_wrenches.bind(forces.wrench_channels, channels.wrench, at.ws.twist, channels.power)
    if forces.joint_channels.size:
        yield book_joints.bind(forces.joint_channels, channels.joint, at.u, channels.power)
    if forces.gravity.any():
        yield book_gravity.bind(at.forest, forces.gravity, at.ws, channels.power)


def summing(evaluator: ModelTables, sums: np.ndarray) -> Iterator[Bound]:
    """Passes that find the magnitudes of the forces by channel, and what a thermostat tells a law, into ``sums``."""
    system, channels = evaluator.system, evaluator.channels
    forces = system.forces
    yield sum_wrenches.bind(forces.wrench_channels, channels.wrench, sums)
    if forces.joint_channels.size:
        yield sum_joints.bind(forces.joint_channels, channels.joint, sums)
    if forces.gravity.any():
        yield sum_gravity.bind(system.forest, forces.gravity, sums)
    if channels.bath.size and sums.size > 8:
        yield read_thermostat.bind(system.bath, channels.bath, sums)
