"""Fills the channels with the forces of a model, weighs them and books their power, at links that have been placed."""

import math

from articulon.algebra.vectors import copy_into, load_from
from articulon.baths.base import GAIN
from articulon.baths.equations import thermostat_wrenches
from articulon.dynamics import energy
from articulon.dynamics.kinematics import coordinate_rates
from articulon.forces.brownian import draw, noise_wrenches
from articulon.forces.fixman import fixman_forces
from articulon.forces.gravity import gravity_power
from articulon.forces.joint_actuation import actuate
from articulon.forces.joint_friction import joint_frictions
from articulon.forces.modal_forces import modal_damping, modal_springs
from articulon.forces.point_springs import point_spring_wrenches
from articulon.forces.site_pairs import pair_wrenches, place_sites
from articulon.forces.sites.evaluation import particle_wrenches, place_particles
from articulon.forces.stokes_drag import drag_wrenches
from articulon.forces.torsional_springs import spring_torques
from articulon.forces.user import ACTUATIONS, REFRESHES, SITE_SUMS, SITE_TERMS, USERS, user_wrenches
from articulon.kernels import jit
from articulon.model.state import CONFORMATIONAL, CONTACT, DAMPING, EXTERNAL, POTENTIAL, STOCHASTIC


@jit
def fill_positions(system, functions, time, q, u, ws, channels):
    """Forces of all channels but drag, Brownian motion and the friction of joints, at links that have been placed and
    moved."""
    forest, forces = system.forest, system.forces
    wrench, joint = channels.wrench, channels.joint
    for c in forces.wrench_channels:
        one = wrench[c].reshape(-1)
        for k in range(one.size):
            one[k] = 0.0
    for c in forces.joint_channels:
        for k in range(u.size):
            joint[c, k] = 0.0
    if forces.pairs.link.size > 0:
        place_sites(forces.pairs, ws, channels.site)
        pair_wrenches(forces.pairs, ws, channels.site, wrench[POTENTIAL])
    if forces.sites.kinds.size > 0:
        place_particles(forces.sites, ws)
        functions[SITE_SUMS][0](forces.sites, functions[SITE_TERMS], functions[REFRESHES][0])
        particle_wrenches(forces.sites, ws, wrench[POTENTIAL])
    for i in range(forces.contact.shape[0]):
        for k in range(6):
            wrench[CONTACT, i, k] += forces.contact[i, k]
    if forces.springs.link.size > 0:
        spring_torques(forest, forces.springs, q, joint[CONFORMATIONAL])
    modal_springs(forest, q, joint[CONFORMATIONAL])
    if forces.fixman.half_kT.size > 0:
        fixman_forces(forest, forces.fixman, ws, joint[CONFORMATIONAL])
    if forces.point_springs.link.size > 0:
        point_spring_wrenches(forces.point_springs, ws, wrench[POTENTIAL], wrench[DAMPING])
    user_wrenches(
        functions[USERS],
        forces.bodies,
        time,
        ws,
        channels.body_position,
        channels.body_rotation,
        channels.body_velocity,
        channels.body_wrench,
        wrench,
    )
    actuate(functions[ACTUATIONS], forces.actuations, time, q, u, channels.joint_written, joint[EXTERNAL])


@jit
def fill_friction(system, window, u, ws, channels, damping, stochastic):
    """Drag, and the Brownian forces of a window, added to their wrenches (links, 6)."""
    forest, forces = system.forest, system.forces
    if forces.drag.link.size > 0:
        drag_wrenches(forces.drag, ws, damping)
    if forces.noise.choice[0] != 0:
        if channels.held_window[0] != window:
            draw(forces.noise, window, channels.held)
            channels.held_window[0] = window
        size = 1.0
        if forces.noise.choice[4] != 0:
            size = math.sqrt(2.0 * energy.kinetic_energy(forest, ws) / (u.size * forces.noise.bath[0]))
        noise_wrenches(forces.drag, ws, channels.held, size, stochastic)


@jit
def fill(system, functions, time, window, q, u, ws, channels):
    """Forces of every channel at links that have been placed and moved, a thermostat's by the variables that ``unpack``
    has left."""
    fill_positions(system, functions, time, q, u, ws, channels)
    fill_friction(system, window, u, ws, channels, channels.wrench[DAMPING], channels.wrench[STOCHASTIC])
    joint_frictions(system.forces.joint_frictions, u, channels.joint[DAMPING])
    modal_damping(system.forest, u, channels.joint[DAMPING])
    if channels.bath.size > 0:
        thermostat_wrenches(system.forest, system.bath, time, ws, channels.bath[0], channels.wrench, channels.bath[1])


@jit
def weigh(system, factor, u, channels):
    """Sums the channels with their factors."""
    forces, wrench, joint = system.forces, channels.wrench, channels.joint
    total, tau = channels.total_wrench.reshape(-1), channels.total_joint
    for k in range(total.size):
        total[k] = 0.0
    for c in forces.wrench_channels:
        s, one = factor[c], wrench[c].reshape(-1)
        for k in range(total.size):  # a vector loop
            total[k] += s * one[k]
    for k in range(u.size):
        tau[k] = 0.0
    for c in forces.joint_channels:
        s = factor[c]
        for k in range(u.size):
            tau[k] += s * joint[c, k]


@jit
def book_powers(system, u, ws, channels):
    """Power of each channel, unscaled, at links that have been moved."""
    forest, forces = system.forest, system.forces
    wrench, joint, power = channels.wrench, channels.joint, channels.power
    twist = ws.twist.reshape(-1)
    for c in range(power.size):
        power[c] = 0.0
    for c in forces.wrench_channels:
        p, one = 0.0, wrench[c].reshape(-1)
        for k in range(twist.size):  # a vector loop
            p += one[k] * twist[k]
        power[c] = p
    for c in forces.joint_channels:
        p = 0.0
        for k in range(u.size):
            p += joint[c, k] * u[k]
        power[c] += p
    g = forces.gravity
    if g[0] != 0.0 or g[1] != 0.0 or g[2] != 0.0:
        power[EXTERNAL] += gravity_power(forest, g, ws)


@jit
def force_sums(system, channels, ws, sums):
    """Σ |F| over the bodies by channel, unscaled; of joint forces, Σ |torque| over the joints' freedoms; a
    thermostat's ζ and kd ζ' behind them, where there is room."""
    forest, forces = system.forest, system.forces
    for c in range(8):
        sums[c] = 0.0
    if channels.bath.size > 0 and sums.size > 8:  # what a policy's law reads of it
        sums[8], sums[9] = channels.bath[0, 0], system.bath.constants[GAIN] * channels.bath[1, 0]
    for c in forces.wrench_channels:
        for i in range(forest.mass.size):
            f = load_from(channels.wrench[c], i, 0)
            sums[c] += math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
    for c in forces.joint_channels:
        for k in range(channels.joint.shape[1]):
            sums[c] += abs(channels.joint[c, k])
    g = forces.gravity
    sums[EXTERNAL] += forest.mass.sum() * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@jit
def finish(system, factor, y, nq, nu, channels, dy):
    """q', the scaled powers and the rates of a thermostat, beside the accelerations."""
    coordinate_rates(system.forest, y[:nq], y[nq : nq + nu], dy[:nq])
    finish_works(factor, nq + nu, channels, dy)


@jit
def finish_works(factor, start, channels, dy):
    """The scaled powers, from ``start`` on, and the rates of a thermostat's variables."""
    for c in range(8):
        dy[start + c] = factor[c] * channels.power[c]
    copy_into(dy[start + 8 :], channels.bath[1])


@jit
def scaled_gravity(forces, factor):
    s = factor[EXTERNAL]
    return (s * forces.gravity[0], s * forces.gravity[1], s * forces.gravity[2])
