"""Passes that fill the channels with the forces of a model, scale them and book their power, for links whose poses and
velocities are computed; and functions that select the passes that a model needs."""

import math
from collections.abc import Iterator

import numpy as np

from articulon.dynamics.kinetic_energies import rotor_energy
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
    """Zero the wrenches (8, links, 6) of some channels."""
    for c in channels:
        one = wrench[c].reshape(-1)
        for k in range(one.size):
            one[k] = 0.0


@pass_of
def clear_joints(channels, joint):
    """Zero the joint forces (8, nu) of some channels."""
    for c in channels:
        for k in range(joint.shape[1]):
            joint[c, k] = 0.0


@pass_of
def clear(array):
    """Zero an array."""
    array[:] = 0.0


@pass_of
def fill_sites(sites, total, terms, refresh, ws, wrench):
    """Add the forces between sites."""
    place_particles(sites, ws)
    total(sites, terms, refresh)
    particle_wrenches(sites, ws, wrench[POTENTIAL])


@pass_of
def fill_sites_in_turn(sites, total, terms, refresh, ws, wrench, time, turn):
    """Add the forces between sites, with slow forces only in every ``turn[1]``-th step of length ``turn[0]``,
    multiplied by ``turn[1]``."""
    place_particles(sites, ws)
    refresh(sites.cell, sites.particles, sites.neighbours, sites.grid, sites.kinds, sites.charges)
    due = np.rint(time[0] / turn[0]) % turn[1] == 0.0
    add_forces_in_turn(sites, terms, turn[1] if due else 0.0)
    particle_wrenches(sites, ws, wrench[POTENTIAL])


@pass_of
def fill_contacts(contact, wrench):
    """Add the contact forces of the step."""
    for i in range(contact.shape[0]):
        for k in range(6):
            wrench[CONTACT, i, k] += contact[i, k]


@pass_of
def fill_modal_springs(forest, q, joint):
    """Add the elastic forces of flexible bodies."""
    modal_springs(forest, q, joint[CONFORMATIONAL])


@pass_of
def fill_drag(drag, ws, damping):
    """Add Stokes drag to the wrenches (links, 6)."""
    drag_wrenches(drag, ws, damping)


@pass_of
def fill_modal_damping(forest, u, joint):
    """Add the damping forces of flexible bodies."""
    modal_damping(forest, u, joint[DAMPING])


@pass_of
def fill_thermostat(forest, bath, time, ws, variables, wrench):
    """Add the forces of a thermostat that is part of the equations of motion, and compute the rates of its variables
    (2, variables)."""
    thermostat_wrenches(forest, bath, time[0], ws, 0.0, variables[0], wrench, variables[1])


@pass_of
def fill_thermostat_with_rotors(forest, bath, time, ws, armature, u, variables, wrench, joint):
    """Add the forces of a thermostat that is part of the equations of motion, also on the armatures of joints (nu,),
    and compute the rates of its variables (2, variables)."""
    energy = rotor_energy(armature, u)
    thermostat_wrenches(forest, bath, time[0], ws, energy, variables[0], wrench, variables[1])
    thermostat_on_rotors(bath, armature, u, variables[0], variables[1], joint)


@pass_of
def fill_thermostat_on_modes(forest, bath, ws, variables, joint):
    """Add the thermostat's forces on the modes of flexible bodies."""
    thermostat_on_modes(forest, bath, ws, variables[0], variables[1], joint)


@pass_of
def scale_wrenches(channels, factor, wrench, total):
    """Sum the wrenches (links, 6) of some channels, multiplied by their factors."""
    whole = total.reshape(-1)
    for k in range(whole.size):
        whole[k] = 0.0
    for c in channels:
        s, one = factor[c], wrench[c].reshape(-1)
        for k in range(whole.size):  # the compiler vectorises this loop
            whole[k] += s * one[k]


@pass_of
def scale_joints(channels, factor, joint, total):
    """Sum the joint forces (nu,) of some channels, multiplied by their factors."""
    for k in range(total.size):
        total[k] = 0.0
    for c in channels:
        s = factor[c]
        for k in range(total.size):
            total[k] += s * joint[c, k]


@pass_of
def book_wrenches(channels, wrench, twist, power):
    """Compute the unscaled power of the wrenches by channel (8,)."""
    speeds = twist.reshape(-1)
    for c in range(power.size):
        power[c] = 0.0
    for c in channels:
        p, one = 0.0, wrench[c].reshape(-1)
        for k in range(speeds.size):  # the compiler vectorises this loop
            p += one[k] * speeds[k]
        power[c] = p


@pass_of
def book_joints(channels, joint, u, power):
    """Add the power of the joint forces."""
    for c in channels:
        p = 0.0
        for k in range(u.size):
            p += joint[c, k] * u[k]
        power[c] += p


@pass_of
def book_gravity(forest, gravity, ws, power):
    """Add the power of gravity."""
    power[EXTERNAL] += gravity_power(forest, gravity, ws)


@pass_of
def sum_wrenches(channels, wrench, sums):
    """Compute Σ |F| over the links by channel (8,), unscaled."""
    for c in range(8):
        sums[c] = 0.0
    for c in channels:
        for i in range(wrench.shape[1]):
            x, y, z = wrench[c, i, 0], wrench[c, i, 1], wrench[c, i, 2]
            sums[c] += math.sqrt(x * x + y * y + z * z)


@pass_of
def sum_joints(channels, joint, sums):
    """Add Σ |torque| over the joints' degrees of freedom."""
    for c in channels:
        for k in range(joint.shape[1]):
            sums[c] += abs(joint[c, k])


@pass_of
def sum_gravity(forest, gravity, sums):
    """Add Σ m |g| of gravity."""
    g = gravity
    sums[EXTERNAL] += forest.mass.sum() * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@pass_of
def read_thermostat(bath, variables, sums):
    """Write a thermostat's ζ and kd ζ' after the sums, for the law of a scaling policy."""
    sums[8], sums[9] = variables[0, 0], bath.constants[GAIN] * variables[1, 0]


def filling(
    evaluator: ModelTables,
    at: At,
    resistance: bool = True,
    turn: np.ndarray | None = None,
    of_speeds: bool = True,
) -> Iterator[Bound]:
    """Return the passes that fill the channels, except drag and Brownian forces. If ``resistance`` is False, the
    resistance that ``friction-implicit`` solves for is left out. If ``of_speeds`` is False, all forces that read speeds
    are left out. ``turn`` holds the length of a step [time] and a number n of steps: slow forces between sites then act
    only in every n-th step."""
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
    """Return the passes of drag and Brownian forces, which add to ``at.damping`` and ``at.stochastic``."""
    forces = evaluator.system.forces
    if forces.drag.link.size:
        yield fill_drag.bind(forces.drag, at.ws, at.damping)
    yield from flowing(evaluator.linear_flow, at.ws, at.damping)
    if forces.noise.choice[0]:
        yield from evaluator.noise_passes(at)


def fill_all(evaluator: ModelTables, at: At) -> Iterator[Bound]:
    """Return the passes that fill every channel."""
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
    """Return the passes that sum the channels with their factors (8,)."""
    forces = evaluator.system.forces
    yield scale_wrenches.bind(forces.wrench_channels, factor, channels.wrench, channels.total_wrench)
    yield scale_joints.bind(forces.joint_channels, factor, channels.joint, channels.total_joint)


def booking(evaluator: ModelTables, at: At) -> Iterator[Bound]:
    """Return the passes that compute the power of every channel at speeds ``at.u``, for links whose velocities are
    computed."""
    forces, channels = evaluator.system.forces, at.channels
    yield book_wrenches.bind(forces.wrench_channels, channels.wrench, at.ws.twist, channels.power)
    if forces.joint_channels.size:
        yield book_joints.bind(forces.joint_channels, channels.joint, at.u, channels.power)
    if forces.gravity.any():
        yield book_gravity.bind(at.forest, forces.gravity, at.ws, channels.power)


def summing(evaluator: ModelTables, sums: np.ndarray) -> Iterator[Bound]:
    """Return the passes that write the magnitudes of the forces by channel, and the thermostat variables that a scaling
    law reads, into ``sums``."""
    system, channels = evaluator.system, evaluator.channels
    forces = system.forces
    yield sum_wrenches.bind(forces.wrench_channels, channels.wrench, sums)
    if forces.joint_channels.size:
        yield sum_joints.bind(forces.joint_channels, channels.joint, sums)
    if forces.gravity.any():
        yield sum_gravity.bind(system.forest, forces.gravity, sums)
    if channels.bath.size and sums.size > 8:
        yield read_thermostat.bind(system.bath, channels.bath, sums)
