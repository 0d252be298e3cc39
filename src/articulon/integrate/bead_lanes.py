"""Trees of beads on rods in vector lanes: as many identical trees as a register has lanes take their steps together.

The scheme is that of ``rod_flights.py``, with the beads kept in Cartesian coordinates from step to step. A kick changes
the velocities by the forces and removes the part that would change rod lengths. A flight is a step of RATTLE. The noise
is that of free beads without the part that would change lengths; its covariance is that of the velocities that the rods
allow. Coordinates and speeds of the joints are computed from the positions at the end. Rods have no spin about their
axis: each frame is turned from its parent's by the shortest rotation, so that coordinates depend on the positions
alone.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import matrix, normalised, product, store_quaternion
from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    column,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store,
    store_at,
    store_from,
    sub,
)
from articulon.dynamics.kinematics import joint_frame
from articulon.integrate.rod_flights import apart, factorise_rods, keep_lengths, stretch
from articulon.integrate.status import REACHED
from articulon.kernels import jit
from articulon.lane_registers import folded
from articulon.model.joints import XYZ
from articulon.model.state import POTENTIAL, THERMOSTAT
from articulon.passes import pass_of
from articulon.thermostats.base import FRICTION, SEED, STREAM
from articulon.thermostats.langevin import decay_and_noise, particle_normals
from articulon.thermostats.schedule import target


class Joined(NamedTuple):
    """The arrays of a forest that the functions of rods read."""

    parent: np.ndarray


class Anchors(NamedTuple):
    """The arrays of a workspace that the functions of rods read."""

    position: np.ndarray


# Conversion from and to the joints


@jit
def fill_copies(beads, numbers):
    """Fill lanes of no weight with copies of trees. The copies take the same steps as these trees, so that the number
    of iterations does not depend on how a run is cut into chunks."""
    for n in range(beads.copied.shape[0]):
        r, lane, k = beads.copied[n, 0], beads.copied[n, 1], beads.copied[n, 2]
        for a in range(3):
            numbers[r, a, lane] = numbers[beads.row[k], a, beads.lane[k]]


@pass_of
def take_places(forest, ws, history):
    """Write the positions and velocities of the beads to a memory (6 links + 1,) if it holds none, from the known
    poses and velocities of the links."""
    links = forest.mass.size
    if history[6 * links] != 0.0:
        return
    for k in range(links):
        centre = load(forest.moment, k)
        arm = apply(load_matrix(ws.rotation, k), scale(1.0 / forest.mass[k], centre))
        store_at(history, 6 * k, add(load(ws.position, k), arm))
        store_at(history, 6 * k + 3, add(load_from(ws.twist, k, 0), cross(load_from(ws.twist, k, 3), arm)))
    history[6 * links] = 1.0


@pass_of
def take_beads_in_lanes(beads, history):
    """Load positions and velocities from a memory into the lanes, and set up the rods there."""
    for n in range(beads.link.size):
        k = beads.link[n]
        r, lane = beads.row[k], beads.lane[k]
        for a in range(3):
            beads.place_numbers[r, a, lane] = history[6 * k + a]
            beads.speed_numbers[r, a, lane] = history[6 * k + 3 + a]
    fill_copies(beads, beads.place_numbers)
    fill_copies(beads, beads.speed_numbers)
    for g in range(beads.group.size - 1):
        point_along(beads, g)


@pass_of
def give_places(beads, history):
    """Write positions and velocities from the lanes into a memory."""
    for n in range(beads.link.size):
        k = beads.link[n]
        r, lane = beads.row[k], beads.lane[k]
        for a in range(3):
            history[6 * k + a] = beads.place_numbers[r, a, lane]
            history[6 * k + 3 + a] = beads.speed_numbers[r, a, lane]


@jit
def shortest_from_z(d):
    """Euler parameters of the shortest rotation of the z axis onto a unit vector, exact to rounding near the opposite
    direction."""
    across = d[0] * d[0] + d[1] * d[1]
    w = 1.0 + d[2] if d[2] > 0.0 else across / (1.0 - d[2])
    if w == 0.0:
        return (0.0, 1.0, 0.0, 0.0)
    return normalised((w, -d[1], d[0], 0.0))


@pass_of
def give_joints(forest, history, q, u, ws):
    """Set coordinates and speeds of the joints from positions and velocities, parents first."""
    parent, rotation = forest.parent, forest.rotation
    for k in range(parent.size):
        p, kq, ku = parent[k], forest.q_start[k], forest.u_start[k]
        x = (history[6 * k], history[6 * k + 1], history[6 * k + 2])
        v = (history[6 * k + 3], history[6 * k + 4], history[6 * k + 5])
        frame = joint_frame(parent, rotation, ws.quaternion, k)
        axes = matrix(frame)
        begins, carried, angular_velocity = load(forest.position, k), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if p >= 0:
            begins = (history[6 * p], history[6 * p + 1], history[6 * p + 2])
            carried = (history[6 * p + 3], history[6 * p + 4], history[6 * p + 5])
            angular_velocity = load_from(ws.twist, p, 3)
        if forest.kind[k] == XYZ:
            store_at(q, kq, apply_t(axes, sub(x, begins)))
            store_at(u, ku, apply_t(axes, v))
            store_quaternion(ws.quaternion, k, frame)
            store_from(ws.twist, k, 3, (0.0, 0.0, 0.0))
            continue
        length = forest.moment[k, 2] / forest.mass[k]
        d = sub(x, begins)
        z = scale(math.copysign(1.0 / math.sqrt(dot(d, d)), length), d)
        own = shortest_from_z(apply_t(axes, z))
        e = product(frame, own)
        axes = matrix(e)
        q[kq], q[kq + 1], q[kq + 2], q[kq + 3] = own[0], own[1], own[2], own[3]
        # ω across the rod, minus that of the parent; the joint's angular velocity has no component along the rod.
        w = sub(scale(1.0 / length, cross(z, sub(v, carried))), angular_velocity)
        a, b = dot(column(axes, 0), w), dot(column(axes, 1), w)
        u[ku], u[ku + 1] = a, b
        store_quaternion(ws.quaternion, k, e)
        store_from(ws.twist, k, 3, add(angular_velocity, apply(axes, (a, b, 0.0))))


# Steps in the lanes


@jit
def point_along(beads, g):
    """Set the rods of a group from the bead positions, and factorise their matrix."""
    rods = beads.rods
    start, end = rods.tree[g], rods.tree[g + 1]
    joined, anchors = Joined(beads.parent), Anchors(beads.position)
    for r in range(start, end):
        store(rods.along, r, apart(joined, rods, rods.place, anchors, r))
    factorise_rods(joined, rods, start, end)


@jit
def fly_group(beads, time, g):
    """Free flight of a group over a time, from positions that ``point_along`` has read; returns its status."""
    rods = beads.rods
    joined, anchors = Joined(beads.parent), Anchors(beads.position)
    start, end = rods.tree[g], rods.tree[g + 1]
    for k in range(beads.group[g], beads.group[g + 1]):
        x = load(rods.place, k)
        store(rods.before, k, x)
        store(rods.place, k, add(x, scale(time, load(rods.speed, k))))
    found = stretch(joined, rods, anchors, start, end)
    if found != REACHED:
        return found
    for k in range(beads.group[g], beads.group[g + 1]):
        store(rods.speed, k, scale(1.0 / time, sub(load(rods.place, k), load(rods.before, k))))
    point_along(beads, g)
    keep_lengths(joined, rods, start, end)
    return REACHED


@jit
def kick_group(beads, h, g):
    """Apply v += h M⁻¹ F to a group, without the part that would change lengths; returns twice the power of the forces,
    and Σ m v²."""
    rods, first, last = beads.rods, beads.group[g], beads.group[g + 1]
    square = 0.0 * beads.mass[first]
    power = square
    for k in range(first, last):
        v, f = load(rods.speed, k), load(beads.force, k)
        power = power + dot(f, v)
        store(rods.speed, k, add(v, scale(h * rods.inverse_mass[k], f)))
    keep_lengths(Joined(beads.parent), rods, rods.tree[g], rods.tree[g + 1])
    for k in range(first, last):
        v = load(rods.speed, k)
        power = power + dot(load(beads.force, k), v)
        square = square + beads.mass[k] * dot(v, v)
    return folded(beads.weight[first] * power), folded(square)


@jit
def langevin_group(beads, c, s, g):
    """Apply friction and noise to a group; returns twice the energy that it gains."""
    rods, first, last = beads.rods, beads.group[g], beads.group[g + 1]
    change = 0.0 * beads.mass[first]
    for k in range(first, last):
        v = load(rods.speed, k)
        change = change - beads.mass[k] * dot(v, v)
        v = add(scale(c, v), scale(s * beads.thermal[k], load(beads.noise, k)))
        store(rods.speed, k, v)
    keep_lengths(Joined(beads.parent), rods, rods.tree[g], rods.tree[g + 1])
    for k in range(first, last):
        v = load(rods.speed, k)
        change = change + beads.mass[k] * dot(v, v)
    return folded(change)


@jit
def draw_noise(beads, seed, stream, number, first, last):
    """Draw the noise of some of the beads, given by their links."""
    for n in range(first, last):
        k = beads.link[n]
        r, lane = beads.row[k], beads.lane[k]
        x, y, z = particle_normals(seed, stream, number, k)
        beads.noise_numbers[r, 0, lane] = x
        beads.noise_numbers[r, 1, lane] = y
        beads.noise_numbers[r, 2, lane] = z


@pass_of
def fly_beads(beads, span, status):
    """Free flight of all groups over a time ``span`` (1,); ``status`` (1,) keeps the worst status."""
    for g in range(beads.group.size - 1):
        status[0] = max(status[0], fly_group(beads, span[0], g))


@pass_of
def kick_beads(beads, half, work, size):
    """Kick all groups over a time ``half`` (1,), add the work of the forces, and compute Σ m v² (1,), which is not
    finite if any number is not."""
    done, moving = 0.0, 0.0
    for g in range(beads.group.size - 1):
        power, square = kick_group(beads, half[0], g)
        done += power
        moving += square
    work[POTENTIAL] += 0.5 * half[0] * done
    size[0] = moving


@pass_of
def langevin_beads(beads, bath, clock, number, work):
    """Apply Langevin friction and noise over the time ``clock[1]`` from ``clock[0]`` on, and add its work."""
    time, h = clock[0], clock[1]
    c, s = decay_and_noise(bath.constants[FRICTION], h, target(bath, time + 0.5 * h))
    draw_noise(beads, bath.choice[SEED], bath.choice[STREAM], number[0], 0, beads.link.size)
    fill_copies(beads, beads.noise_numbers)
    gained = 0.0
    for g in range(beads.group.size - 1):
        gained += langevin_group(beads, c, s, g)
    work[THERMOSTAT] += 0.5 * gained


@jit
def collect_forces(sites, beads):
    """Collect forces on the sites into the lanes of their beads."""
    links, force = sites.link, beads.force_numbers
    place, fx, fy, fz = sites.particles.place, sites.particles.fx, sites.particles.fy, sites.particles.fz
    force[:] = 0.0
    for s in range(links.size):
        r, lane, p = beads.row[links[s]], beads.lane[links[s]], place[s]
        if r >= 0:
            force[r, 0, lane] += fx[p]
            force[r, 1, lane] += fy[p]
            force[r, 2, lane] += fz[p]
    fill_copies(beads, force)


@pass_of
def fill_beads(sites, total, terms, refresh, beads):
    """Compute forces between sites that lie on beads."""
    site, links = sites.particles.site, sites.link
    for s in range(links.size):
        r, lane = beads.row[links[s]], beads.lane[links[s]]
        for a in range(3):
            site[a, s] = beads.place_numbers[r, a, lane]
    total(sites, terms, refresh)
    collect_forces(sites, beads)


@pass_of
def fill_shared_beads(sites, total, terms, refresh, beads, places):
    """Compute forces on the beads of this process, given the positions (links, 3) of the beads of all trees,
    ``places``."""
    site, links = sites.particles.site, sites.link
    for s in range(links.size):
        for a in range(3):
            site[a, s] = places[links[s], a]
    total(sites, terms, refresh)
    collect_forces(sites, beads)


@pass_of
def give_own_places(beads, places):
    """Write the positions of the beads of this process into those of all beads (links, 3)."""
    for n in range(beads.link.size):
        k = beads.link[n]
        for a in range(3):
            places[k, a] = beads.place_numbers[beads.row[k], a, beads.lane[k]]
