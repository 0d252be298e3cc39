"""Passes over all free particles: kicks, drifts, friction and noise, and reordering, shared among threads or not.

Arrays are in the order of cells. A pass works block by block, and its sums are taken over blocks of a fixed size, so
that they have the same bits for any number of threads.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import prange, types

from articulon.forces.sites.cells import IMAGES
from articulon.forces.sites.site_evaluation import no_sites
from articulon.forces.sites.site_tables import pack
from articulon.kernel_variants import specialised
from articulon.kernels import jit
from articulon.thermostats.langevin import ornstein_uhlenbeck, particle_normals

BLOCK = 1024
"""Number of particles in a block, whose sums are taken together."""
PARALLEL_PARTICLES = 20000
"""Smallest number of particles for which threads share the passes."""


class Moving(NamedTuple):
    """Particles in the order of cells. All arrays that are not loaded from the state are scratch."""

    x: np.ndarray
    """Coordinates x, unwrapped [length], shape (n,)."""
    y: np.ndarray
    """Coordinates y, unwrapped [length], shape (n,)."""
    z: np.ndarray
    """Coordinates z, unwrapped [length], shape (n,)."""
    vx: np.ndarray
    """Velocities along x [velocity], shape (n,)."""
    vy: np.ndarray
    """Velocities along y [velocity], shape (n,)."""
    vz: np.ndarray
    """Velocities along z [velocity], shape (n,)."""
    inverse_mass: np.ndarray
    """Inverse masses [1/mass], shape (n,)."""
    reference: np.ndarray
    """Coordinates when neighbours were last listed [length], shape (3, n)."""
    site: np.ndarray
    """Inverse masses, then velocities in the order of the model, shape (4, n)."""
    partial: np.ndarray
    """Two sums of each block, shape (blocks, 2)."""
    walls: np.ndarray
    """Lowest and highest coordinates between reflecting walls, infinite without walls, shape (2, 3)."""
    held: np.ndarray
    """1 if the forces belong to the present coordinates, shape (1,)."""


def moving(masses: np.ndarray, walls: np.ndarray) -> Moving:
    """Scratch arrays for particles of these masses, in the order of the model."""
    n = masses.size
    site = np.zeros((4, n))
    site[0] = 1.0 / masses
    blocks = (n + BLOCK - 1) // BLOCK
    x, y, z, vx, vy, vz, inverse_mass = np.zeros((7, n))
    return Moving(
        x,
        y,
        z,
        vx,
        vy,
        vz,
        inverse_mass,
        np.zeros((3, n)),
        site,
        np.zeros((blocks, 2)),
        walls,
        np.zeros(1, dtype=np.int64),
    )


@jit
def kick_block(particles, moving, first, last, h):
    """Apply v += h F/m to some particles; return their gain of kinetic energy, and their kinetic energy."""
    vx, vy, vz, inverse_mass = moving.vx, moving.vy, moving.vz, moving.inverse_mass
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    gained, kinetic = 0.0, 0.0
    for p in range(first, last):
        a, w = h * inverse_mass[p], 0.5 / inverse_mass[p]
        ax, ay, az = a * fx[p], a * fy[p], a * fz[p]
        bx, by, bz = vx[p], vy[p], vz[p]
        cx, cy, cz = bx + ax, by + ay, bz + az
        gained += w * (ax * (bx + cx) + ay * (by + cy) + az * (bz + cz))
        kinetic += w * (cx * cx + cy * cy + cz * cz)
        vx[p], vy[p], vz[p] = cx, cy, cz
    return gained, kinetic


def kick(particles, moving, h):
    """Apply v += h F/m; ``partial`` holds the gains of kinetic energy and the kinetic energies."""
    partial, n = moving.partial, moving.inverse_mass.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        gained, kinetic = kick_block(particles, moving, first, min(first + BLOCK, n), h)
        partial[b, 0] = gained
        partial[b, 1] = kinetic


@jit
def reflect(x, v, low, high):
    """A coordinate and its velocity after reflection by walls; NaN if the particle has moved through the whole box in
    one step."""
    below, above = x < low, x > high
    y = 2.0 * low - x if below else 2.0 * high - x if above else x
    return (np.nan if y < low or y > high else y), (-v if below or above else v)


@jit
def clear_block(particles, first, last):
    """Zero the forces on some particles."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for p in range(first, last):
        fx[p], fy[p], fz[p] = 0.0, 0.0, 0.0


def clear(particles, moving, h):
    """Zero the forces on all particles."""
    n = moving.inverse_mass.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        clear_block(particles, first, min(first + BLOCK, n))


@jit
def drift_block(particles, moving, first, last, h):
    """Apply x += h v to some particles; return the square of the largest displacement since neighbours were listed."""
    x, y, z, vx, vy, vz = moving.x, moving.y, moving.z, moving.vx, moving.vy, moving.vz
    wrap, reference, walls = particles.wrap, moving.reference, moving.walls
    px, py, pz, packed = particles.x, particles.y, particles.z, particles.packed
    worst, all_ways = 0.0, 0.0
    for p in range(first, last):
        ax, bx = reflect(x[p] + h * vx[p], vx[p], walls[0, 0], walls[1, 0])
        ay, by = reflect(y[p] + h * vy[p], vy[p], walls[0, 1], walls[1, 1])
        az, bz = reflect(z[p] + h * vz[p], vz[p], walls[0, 2], walls[1, 2])
        x[p], y[p], z[p], vx[p], vy[p], vz[p] = ax, ay, az, bx, by, bz
        px[p], py[p], pz[p] = ax + wrap[0, p], ay + wrap[1, p], az + wrap[2, p]
        packed[p, 0], packed[p, 1], packed[p, 2] = px[p], py[p], pz[p]
        dx, dy, dz = ax - reference[0, p], ay - reference[1, p], az - reference[2, p]
        d = dx * dx + dy * dy + dz * dz
        worst = max(worst, d)
        all_ways += d
    # A maximum would ignore NaN, a sum does not.
    return worst if all_ways < np.inf else np.nan


@jit
def follow_block(particles, first, last):
    """Move some images to the positions of their sites."""
    x, y, z, parent, shift = particles.x, particles.y, particles.z, particles.parent, particles.shift
    n = particles.order.size
    for m in range(first, last):
        root = parent[m]
        x[n + m], y[n + m], z[n + m] = x[root] + shift[0, m], y[root] + shift[1, m], z[root] + shift[2, m]
        pack(particles, n + m)


def drift(particles, moving, h):
    """Apply x += h v, and move the images; ``partial`` holds the squares of the largest displacements."""
    partial, n = moving.partial, moving.inverse_mass.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        partial[b, 0] = drift_block(particles, moving, first, min(first + BLOCK, n), h)
    images = particles.counts[IMAGES]
    for b in prange((images + BLOCK - 1) // BLOCK):
        first = BLOCK * np.int64(b)
        follow_block(particles, first, min(first + BLOCK, images))


@jit
def langevin_block(particles, moving, first, last, c, s, seed, stream, step):
    """Apply the exact step of friction and noise to some particles; return their gain of kinetic energy."""
    vx, vy, vz, inverse_mass, order = moving.vx, moving.vy, moving.vz, moving.inverse_mass, particles.order
    gained = 0.0
    for p in range(first, last):
        a, b, d = particle_normals(seed, stream, step, order[p])
        t, before = s * np.sqrt(inverse_mass[p]), vx[p] ** 2 + vy[p] ** 2 + vz[p] ** 2
        vx[p] = ornstein_uhlenbeck(vx[p], c, t, a)
        vy[p] = ornstein_uhlenbeck(vy[p], c, t, b)
        vz[p] = ornstein_uhlenbeck(vz[p], c, t, d)
        gained += 0.5 / inverse_mass[p] * (vx[p] ** 2 + vy[p] ** 2 + vz[p] ** 2 - before)
    return gained


def apply_langevin(particles, moving, c, s, seed, stream, step):
    """Apply friction and noise over a step; ``partial`` holds the gains of kinetic energy."""
    partial, n = moving.partial, moving.inverse_mass.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        last = min(first + BLOCK, n)
        partial[b, 0] = langevin_block(particles, moving, first, last, c, s, seed, stream, step)


@jit
def collect_block(particles, moving, first, last):
    """Write coordinates and velocities of some particles in the order of the model."""
    order, site, line = particles.order, particles.site, moving.site
    for p in range(first, last):
        s = order[p]
        site[0, s], site[1, s], site[2, s] = moving.x[p], moving.y[p], moving.z[p]
        line[1, s], line[2, s], line[3, s] = moving.vx[p], moving.vy[p], moving.vz[p]


def collect(particles, moving):
    """Write coordinates and velocities in the order of the model."""
    n = moving.inverse_mass.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        collect_block(particles, moving, first, min(first + BLOCK, n))


@jit
def distribute_block(particles, moving, first, last):
    """Read coordinates and velocities of some particles into the order of cells."""
    order, site, line, reference = particles.order, particles.site, moving.site, particles.reference
    for p in range(first, last):
        s = order[p]
        moving.x[p], moving.y[p], moving.z[p] = site[0, s], site[1, s], site[2, s]
        moving.inverse_mass[p], moving.vx[p], moving.vy[p], moving.vz[p] = (
            line[0, s],
            line[1, s],
            line[2, s],
            line[3, s],
        )
        for a in range(3):
            moving.reference[a, p] = reference[a, s]


def distribute(particles, moving):
    """Read coordinates and velocities into the order of cells."""
    n = moving.inverse_mass.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        distribute_block(particles, moving, first, min(first + BLOCK, n))


@jit
def compare_block(particles, moving, q, u, first, last):
    """Count those of some particles whose coordinates differ from the state's, or whose positions or list references
    differ from those of ``particles``; and count those with other velocities."""
    order, wrap, elsewhere, others = particles.order, particles.wrap, 0, 0
    for p in range(first, last):
        s, k, x, y, z = order[p], 3 * order[p], moving.x[p], moving.y[p], moving.z[p]
        here = x == q[k] and y == q[k + 1] and z == q[k + 2]
        here = here and particles.x[p] == x + wrap[0, p] and particles.y[p] == y + wrap[1, p]
        here = here and particles.z[p] == z + wrap[2, p]
        for a in range(3):
            here = here and moving.reference[a, p] == particles.reference[a, s]
        elsewhere += not here
        others += not (moving.vx[p] == u[k] and moving.vy[p] == u[k + 1] and moving.vz[p] == u[k + 2])
    return elsewhere, others


def compare(particles, moving, q, u):
    """Compare with a state; ``partial`` holds the numbers of particles with other coordinates and with other
    velocities."""
    partial, n = moving.partial, moving.inverse_mass.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        elsewhere, others = compare_block(particles, moving, q, u, first, min(first + BLOCK, n))
        partial[b, 0] = elsewhere
        partial[b, 1] = others


@jit
def store_block(particles, moving, q, u, first, last):
    """Write coordinates and velocities of some particles into a state."""
    order = particles.order
    for p in range(first, last):
        k = 3 * order[p]
        q[k], q[k + 1], q[k + 2] = moving.x[p], moving.y[p], moving.z[p]
        u[k], u[k + 1], u[k + 2] = moving.vx[p], moving.vy[p], moving.vz[p]


def store(particles, moving, q, u):
    """Write coordinates and velocities into a state."""
    n = moving.inverse_mass.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        store_block(particles, moving, q, u, first, min(first + BLOCK, n))


_EXAMPLES = (numba.typeof(no_sites().particles), numba.typeof(moving(np.ones(1), np.zeros((2, 3)))))
PASS = types.void(*_EXAMPLES, types.float64)
"""Signature of ``kick``, ``drift`` and ``clear``."""
LANGEVIN = types.void(*_EXAMPLES, types.float64, types.float64, types.int64, types.int64, types.int64)
"""Signature of ``apply_langevin``."""
ORDER = types.void(*_EXAMPLES)
"""Signature of ``collect`` and ``distribute``."""
STATE = types.void(*_EXAMPLES, types.float64[::1], types.float64[::1])
"""Signature of ``compare`` and ``store``."""
PASSES = {
    parallel: tuple(
        specialised(
            function, f"{function.__name__}_{'parallel' if parallel else 'serial'}", parallel=parallel, called="value"
        )
        for function in (kick, drift, clear, apply_langevin, collect, distribute, compare, store)
    )
    for parallel in (False, True)
}
"""The passes, shared among threads or not."""
