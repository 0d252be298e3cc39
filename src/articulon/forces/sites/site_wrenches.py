"""Conversion between sites and links: positions of the sites, and wrenches of site forces on the links."""

from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store_from
from articulon.kernels import jit


@jit
def place_particles(system, ws):
    """Compute the world positions of the sites, in the model's order."""
    links, local, rotation, position = system.link, system.local, ws.rotation, ws.position
    site = system.particles.site
    for s in range(links.size):
        i, p = links[s], load(local, s)
        if i >= 0:
            p = add(load(position, i), apply(load_matrix(rotation, i), p))
        site[0, s], site[1, s], site[2, s] = p[0], p[1], p[2]


@jit
def particle_wrenches(system, ws, wrench):
    """Add the forces on the sites, already computed, to the wrenches of their links."""
    links, position, place, site = system.link, ws.position, system.particles.place, system.particles.site
    fx, fy, fz = system.particles.fx, system.particles.fy, system.particles.fz
    for s in range(links.size):
        i = links[s]
        if i >= 0:
            p = place[s]
            f, o = (fx[p], fy[p], fz[p]), load(position, i)
            arm = (site[0, s] - o[0], site[1, s] - o[1], site[2, s] - o[2])
            store_from(wrench, i, 0, add(load_from(wrench, i, 0), f))
            store_from(wrench, i, 3, add(load_from(wrench, i, 3), cross(arm, f)))
