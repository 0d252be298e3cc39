"""Spheres on bodies of any kind: their positions and motion, and the wrenches of their contacts on the links."""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, scale, store_from, sub
from articulon.forces.contact.contact_columns import COUNTS, LOAD, MOTION, RECORD, RESISTANCE
from articulon.forces.contact.contact_history import KEEP, LIST_PAIRS, LIST_WALLS
from articulon.forces.contact.contact_pairs import add_across
from articulon.forces.contact.contact_tables import FREE
from articulon.forces.sites.cells import IMAGES, LOST, OVERFLOW
from articulon.kernels import jit


class Carried(NamedTuple):
    """Spheres of a model as carried by its links."""

    link: np.ndarray
    """Link that carries each sphere, −1 for the ground, shape (spheres,)."""
    local: np.ndarray
    """Centre in the link's frame, or in the world for the ground [length], shape (spheres, 3)."""
    wrench: np.ndarray
    """Force and moment about its origin that contacts exert on each link, world frame, shape (links, 6)."""


@jit
def follow_images(particles, motion, first, last):
    """Move some periodic images along with their spheres."""
    n = particles.order.size
    for m in range(first, last):
        root = particles.parent[m]
        for a in range(MOTION.width):
            motion[n + m, a] = motion[root, a]
        for a in range(3):
            motion[n + m, MOTION.position + a] += particles.shift[a, m]


@jit
def place_spheres(carried, ws, system):
    """Compute the centres of the spheres, in the order of the model."""
    site, link = system.particles.site, carried.link
    for s in range(link.size):
        x = load(carried.local, s)
        if link[s] >= 0:
            x = add(load(ws.position, link[s]), apply(load_matrix(ws.rotation, link[s]), x))
        site[0, s], site[1, s], site[2, s] = x


@jit
def farthest_sphere(system):
    """Square of the longest displacement of a sphere since the last list; NaN before the first list, or if a position
    is NaN."""
    site, reference, worst = system.particles.site, system.particles.reference, 0.0
    for s in range(site.shape[1]):
        d = (site[0, s] - reference[0, s], site[1, s] - reference[1, s], site[2, s] - reference[2, s])
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        if not square < np.inf:
            return np.nan
        worst = max(worst, square)
    return worst


@jit
def list_spheres(system, lists, refresh):
    """Rebuild all lists for the positions in ``site``, and preserve the contacts."""
    particles, spheres = system.particles, system.spheres
    particles.reference[0, 0] = np.nan
    refresh[0](system.cell, particles, system.neighbours, system.grid, system.numbers, system.spheres.radius)
    if particles.counts[OVERFLOW] + particles.counts[LOST] > 0:
        return
    lists[LIST_PAIRS](system)
    lists[LIST_WALLS](system)
    for p in range(particles.order.size):
        s = particles.order[p]
        spheres.motion[p, MOTION.radius] = spheres.radius[s]
        spheres.motion[p, MOTION.inverse_mass] = spheres.inverse_mass[s]
        spheres.motion[p, MOTION.kind] = system.numbers[s]


@jit
def capacity_exceeded(system):
    """Whether a list exceeded its capacity."""
    candidates, walls = system.candidates.counts, system.walls.counts
    return system.particles.counts[OVERFLOW] + candidates[COUNTS.exceeded] + walls[COUNTS.exceeded] > 0


@jit
def follow_spheres(system, lists, refresh):
    """Bring the lists up to date with the positions in ``site``; return whether this succeeded."""
    if not farthest_sphere(system) <= system.grid.reach[1]:
        lists[KEEP](system)
        list_spheres(system, lists, refresh)
    return not capacity_exceeded(system) and system.particles.counts[LOST] == 0


@jit
def move_spheres(carried, ws, system):
    """Compute positions, velocities and angular velocities of the spheres in the order of cells, and positions of their
    images."""
    particles, motion = system.particles, system.spheres.motion
    site, order, wrap, n = particles.site, particles.order, particles.wrap, particles.order.size
    for p in range(n):
        s = order[p]
        i, v, w = carried.link[s], (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if i >= 0:
            w = load_from(ws.twist, i, 3)
            arm = sub((site[0, s], site[1, s], site[2, s]), load(ws.position, i))
            v = add(load_from(ws.twist, i, 0), cross(w, arm))
        for a in range(3):
            motion[p, MOTION.position + a] = site[a, s] + wrap[a, p]
            motion[p, MOTION.velocity + a], motion[p, MOTION.angular_velocity + a] = v[a], w[a]
    follow_images(particles, motion, 0, particles.counts[IMAGES])


@jit
def add_wall_contact(walls, slot, f, t):
    """Add a contact with a wall, and its rolling and twisting resistance, to the force and torque on its sphere."""
    record = walls.record
    pull = load_from(record, slot, RECORD.force)
    t = sub(t, scale(record[slot, RECORD.arm], cross(load_from(record, slot, RECORD.normal), pull)))
    if walls.resistance.shape[0] > 0:
        t = add(t, load_from(walls.resistance, slot, RESISTANCE.couple))
    return add(f, pull), t


@jit
def take_load(load, p):
    """Return and reset the force and torque that contacts between spheres have summed for the sphere at a place."""
    force, torque = load_from(load, p, LOAD.force), load_from(load, p, LOAD.torque)
    for a in range(LOAD.width):
        load[p, a] = 0.0
    return force, torque


@jit
def sum_contacts(carried, ws, system):
    """Compute the wrenches of all contacts on the links: first pairs, already summed, then walls."""
    candidates, walls, particles = system.candidates, system.walls, system.particles
    wrench, order, site = carried.wrench, particles.order, particles.site
    one = wrench.reshape(-1)
    for k in range(one.size):
        one[k] = 0.0
    for p in range(order.size):
        s = order[p]
        i = carried.link[s]
        add_across(candidates, system.spheres.load, p, p)
        f, t = take_load(system.spheres.load, p)
        if i < 0:
            continue
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] != FREE:
                f, t = add_wall_contact(walls, slot, f, t)
        arm = sub((site[0, s], site[1, s], site[2, s]), load(ws.position, i))
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), f))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), add(t, cross(arm, f))))
