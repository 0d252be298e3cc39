"""Velocity Verlet on plain arrays, for models of free particles: no tree is walked.

All arrays are in the order of cells, so that neighbours lie near in memory; they return to the order of the model when
the neighbours are listed anew, and at the end of every chunk. What is done to all particles is a pass; sums are taken
over blocks of a fixed size and these in order, which gives the same bits for any number of threads.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import prange, types

from articulon.baths.base import FREEDOMS, FRICTION, GAIN, KICKS, SCALES, SEED, STREAM, WAY
from articulon.baths.langevin import decay_and_noise, ornstein_uhlenbeck, particle_normals
from articulon.baths.schedule import target
from articulon.forces.sites.evaluation import no_sites
from articulon.forces.sites.neighbours import IMAGES, LOST, OVERFLOW
from articulon.integrate.status import DIVERGED, REACHED
from articulon.kernels import jit, kernel, specialised
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.scaling.base import STEP, ZETA, ZETA_RATE

BLOCK = 1024
"""Particles whose sums are taken together."""
PARALLEL_PARTICLES = 20000
"""From this number of particles on, the threads share the passes over them."""
CROWDED = 100
"""Beside the values of ``status``: a list of neighbours needs more room."""


class Moving(NamedTuple):
    """Particles in the order of cells; scratch but for what it takes from the state."""

    x: np.ndarray
    """Coordinates, unwrapped [length], shape (n,)."""
    y: np.ndarray
    """Likewise."""
    z: np.ndarray
    """Likewise."""
    vx: np.ndarray
    """Velocities [velocity], shape (n,)."""
    vy: np.ndarray
    """Likewise."""
    vz: np.ndarray
    """Likewise."""
    light: np.ndarray
    """Inverse masses [1/mass], shape (n,)."""
    reference: np.ndarray
    """Coordinates when neighbours were last listed [length], shape (3, n)."""
    site: np.ndarray
    """Inverse masses, then velocities in the order of the model, shape (4, n)."""
    partial: np.ndarray
    """Two sums of each block, shape (blocks, 2)."""
    walls: np.ndarray
    """Lowest and highest coordinates between reflecting walls, infinite where there are none, shape (2, 3)."""
    held: np.ndarray
    """1 where the forces are those of the coordinates, shape (1,)."""


def moving(masses: np.ndarray, walls: np.ndarray) -> Moving:
    """Scratch for particles of these masses, in the order of the model."""
    n = masses.size
    site = np.zeros((4, n))
    site[0] = 1.0 / masses
    blocks = (n + BLOCK - 1) // BLOCK
    x, y, z, vx, vy, vz, light = np.zeros((7, n))
    return Moving(
        x, y, z, vx, vy, vz, light, np.zeros((3, n)), site, np.zeros((blocks, 2)), walls, np.zeros(1, dtype=np.int64)
    )


@jit
def kick_block(particles, moving, first, last, h):
    """v += h F/m of some particles; the kinetic energy that they gain, and that they have."""
    vx, vy, vz, light = moving.vx, moving.vy, moving.vz, moving.light
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    gained, kinetic = 0.0, 0.0
    for p in range(first, last):
        a, w = h * light[p], 0.5 / light[p]
        ax, ay, az = a * fx[p], a * fy[p], a * fz[p]
        bx, by, bz = vx[p], vy[p], vz[p]
        cx, cy, cz = bx + ax, by + ay, bz + az
        gained += w * (ax * (bx + cx) + ay * (by + cy) + az * (bz + cz))
        kinetic += w * (cx * cx + cy * cy + cz * cz)
        vx[p], vy[p], vz[p] = cx, cy, cz
    return gained, kinetic


def kick(particles, moving, h):
    """v += h F/m; ``partial`` holds the kinetic energies gained and reached."""
    partial, n = moving.partial, moving.light.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        gained, kinetic = kick_block(particles, moving, first, min(first + BLOCK, n), h)
        partial[b, 0] = gained
        partial[b, 1] = kinetic


@jit
def reflect(x, v, low, high):
    """A coordinate and its velocity after walls have thrown the particle back; not a number where it has flown through
    the whole box in one step."""
    below, above = x < low, x > high
    y = 2.0 * low - x if below else 2.0 * high - x if above else x
    return (np.nan if y < low or y > high else y), (-v if below or above else v)


@jit
def clear_block(particles, first, last):
    """Takes the forces off some particles."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for p in range(first, last):
        fx[p], fy[p], fz[p] = 0.0, 0.0, 0.0


def clear(particles, moving, h):
    """Takes the forces off all of them."""
    n = moving.light.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        clear_block(particles, first, min(first + BLOCK, n))


@jit
def drift_block(particles, moving, first, last, h):
    """x += h v of some particles; the square of the longest way since neighbours were listed."""
    x, y, z, vx, vy, vz = moving.x, moving.y, moving.z, moving.vx, moving.vy, moving.vz
    wrap, reference, walls = particles.wrap, moving.reference, moving.walls
    px, py, pz = particles.x, particles.y, particles.z
    worst, all_ways = 0.0, 0.0
    for p in range(first, last):
        ax, bx = reflect(x[p] + h * vx[p], vx[p], walls[0, 0], walls[1, 0])
        ay, by = reflect(y[p] + h * vy[p], vy[p], walls[0, 1], walls[1, 1])
        az, bz = reflect(z[p] + h * vz[p], vz[p], walls[0, 2], walls[1, 2])
        x[p], y[p], z[p], vx[p], vy[p], vz[p] = ax, ay, az, bx, by, bz
        px[p], py[p], pz[p] = ax + wrap[0, p], ay + wrap[1, p], az + wrap[2, p]
        dx, dy, dz = ax - reference[0, p], ay - reference[1, p], az - reference[2, p]
        d = dx * dx + dy * dy + dz * dz
        worst = max(worst, d)
        all_ways += d
    # A way that is not a number hides in a maximum, not in a sum.
    return worst if all_ways < np.inf else np.nan


@jit
def follow_block(particles, first, last):
    """Moves some images to where their sites have gone."""
    x, y, z, parent, shift = particles.x, particles.y, particles.z, particles.parent, particles.shift
    n = particles.order.size
    for m in range(first, last):
        root = parent[m]
        x[n + m], y[n + m], z[n + m] = x[root] + shift[0, m], y[root] + shift[1, m], z[root] + shift[2, m]


def drift(particles, moving, h):
    """x += h v, images and all; ``partial`` holds the squares of the longest ways."""
    partial, n = moving.partial, moving.light.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        partial[b, 0] = drift_block(particles, moving, first, min(first + BLOCK, n), h)
    images = particles.counts[IMAGES]
    for b in prange((images + BLOCK - 1) // BLOCK):
        first = BLOCK * np.int64(b)
        follow_block(particles, first, min(first + BLOCK, images))


@jit
def shake_block(particles, moving, first, last, c, s, seed, stream, step):
    """The exact step of friction and noise of some particles; the kinetic energy that they gain."""
    vx, vy, vz, light, order = moving.vx, moving.vy, moving.vz, moving.light, particles.order
    gained = 0.0
    for p in range(first, last):
        a, b, d = particle_normals(seed, stream, step, order[p])
        t, before = s * np.sqrt(light[p]), vx[p] ** 2 + vy[p] ** 2 + vz[p] ** 2
        vx[p] = ornstein_uhlenbeck(vx[p], c, t, a)
        vy[p] = ornstein_uhlenbeck(vy[p], c, t, b)
        vz[p] = ornstein_uhlenbeck(vz[p], c, t, d)
        gained += 0.5 / light[p] * (vx[p] ** 2 + vy[p] ** 2 + vz[p] ** 2 - before)
    return gained


def shake(particles, moving, c, s, seed, stream, step):
    """Friction and noise over a step; ``partial`` holds the kinetic energy gained."""
    partial, n = moving.partial, moving.light.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        last = min(first + BLOCK, n)
        partial[b, 0] = shake_block(particles, moving, first, last, c, s, seed, stream, step)


@jit
def collect_block(particles, moving, first, last):
    """Writes coordinates and velocities of some particles in the order of the model."""
    order, site, line = particles.order, particles.site, moving.site
    for p in range(first, last):
        s = order[p]
        site[0, s], site[1, s], site[2, s] = moving.x[p], moving.y[p], moving.z[p]
        line[1, s], line[2, s], line[3, s] = moving.vx[p], moving.vy[p], moving.vz[p]


def collect(particles, moving):
    """Writes coordinates and velocities in the order of the model."""
    n = moving.light.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        collect_block(particles, moving, first, min(first + BLOCK, n))


@jit
def distribute_block(particles, moving, first, last):
    """Reads some of them into the order of cells."""
    order, site, line, reference = particles.order, particles.site, moving.site, particles.reference
    for p in range(first, last):
        s = order[p]
        moving.x[p], moving.y[p], moving.z[p] = site[0, s], site[1, s], site[2, s]
        moving.light[p], moving.vx[p], moving.vy[p], moving.vz[p] = line[0, s], line[1, s], line[2, s], line[3, s]
        for a in range(3):
            moving.reference[a, p] = reference[a, s]


def distribute(particles, moving):
    """Reads them into the order of cells."""
    n = moving.light.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        distribute_block(particles, moving, first, min(first + BLOCK, n))


@jit
def compare_block(particles, moving, q, u, first, last):
    """How many of some particles are not where a state has them or where they and their neighbours were last listed,
    and how many have other velocities."""
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
    """``partial`` holds how many particles are elsewhere, and how many have other velocities."""
    partial, n = moving.partial, moving.light.size
    for b in prange(partial.shape[0]):
        first = BLOCK * np.int64(b)
        elsewhere, others = compare_block(particles, moving, q, u, first, min(first + BLOCK, n))
        partial[b, 0] = elsewhere
        partial[b, 1] = others


@jit
def store_block(particles, moving, q, u, first, last):
    """Writes coordinates and velocities of some particles into a state."""
    order = particles.order
    for p in range(first, last):
        k = 3 * order[p]
        q[k], q[k + 1], q[k + 2] = moving.x[p], moving.y[p], moving.z[p]
        u[k], u[k + 1], u[k + 2] = moving.vx[p], moving.vy[p], moving.vz[p]


def store(particles, moving, q, u):
    """Writes them into a state."""
    n = moving.light.size
    for b in prange(moving.partial.shape[0]):
        first = BLOCK * np.int64(b)
        store_block(particles, moving, q, u, first, min(first + BLOCK, n))


_EXAMPLES = (numba.typeof(no_sites().particles), numba.typeof(moving(np.ones(1), np.zeros((2, 3)))))
PASS = types.void(*_EXAMPLES, types.float64)
"""Signature of ``kick``, ``drift`` and ``clear``."""
SHAKE = types.void(*_EXAMPLES, types.float64, types.float64, types.int64, types.int64, types.int64)
"""Signature of ``shake``."""
ORDER = types.void(*_EXAMPLES)
"""Signature of ``collect`` and ``distribute``."""
STATE = types.void(*_EXAMPLES, types.float64[::1], types.float64[::1])
"""Signature of ``compare`` and ``store``."""
PASSES = {
    parallel: tuple(
        specialised(function, f"{function.__name__}_{'parallel' if parallel else 'serial'}", parallel=parallel)
        for function in (kick, drift, clear, shake, collect, distribute, compare, store)
    )
    for parallel in (False, True)
}
"""The passes, shared among threads or not."""


@jit
def total(moving, column):
    """The sum of the blocks' sums, in order."""
    result = 0.0
    for b in range(moving.partial.shape[0]):
        result += moving.partial[b, column]
    return result


@jit
def longest(moving):
    """The square of the longest way that any particle has gone; NaN where one has."""
    worst = 0.0
    for b in range(moving.partial.shape[0]):
        d = moving.partial[b, 0]
        if not d < np.inf:
            return np.nan
        worst = max(worst, d)
    return worst


@jit
def scale(moving, s):
    """Multiplies all velocities."""
    vx, vy, vz = moving.vx, moving.vy, moving.vz
    for p in range(vx.size):
        vx[p], vy[p], vz[p] = s * vx[p], s * vy[p], s * vz[p]


@jit
def kinetic_energy(moving):
    """½ Σ m v², in blocks."""
    vx, vy, vz, light = moving.vx, moving.vy, moving.vz, moving.light
    result = 0.0
    for b in range(moving.partial.shape[0]):
        part = 0.0
        for p in range(BLOCK * b, min(BLOCK * b + BLOCK, vx.size)):
            part += 0.5 / light[p] * (vx[p] * vx[p] + vy[p] * vy[p] + vz[p] * vz[p])
        result += part
    return result


@jit
def load_state(system, moving, refresh, ordering, handing, state):
    """Takes coordinates and velocities from the state, and lists neighbours where they have gone too far."""
    particles, q, u = system.particles, state.q, state.u
    handing[0](particles, moving, q, u)
    elsewhere, others = total(moving, 0), total(moving, 1)
    if moving.held[0] == 1 and elsewhere == 0.0 and others == 0.0:  # they are here from the chunk before
        return
    moving.held[0] = moving.held[0] == 1 and elsewhere == 0.0
    site, line = particles.site, moving.site
    for s in range(particles.order.size):
        for a in range(3):
            site[a, s], line[1 + a, s] = q[3 * s + a], u[3 * s + a]
    refresh(system.cell, particles, system.neighbours, system.grid, system.kinds, system.charges)
    ordering[1](particles, moving)


@jit
def finish(particles, moving, handing, state, status):
    """Ends a chunk: gives the particles back to the state, unless they are lost or their lists had too little room."""
    if particles.counts[OVERFLOW] > 0:
        moving.held[0] = 0
        return CROWDED
    if status == DIVERGED or particles.counts[LOST] > 0:
        moving.held[0] = 0
        return DIVERGED
    handing[1](particles, moving, state.q, state.u)
    return status


@jit
def relist(system, moving, refresh, ordering):
    """Lists the neighbours anew."""
    particles = system.particles
    ordering[0](particles, moving)
    particles.reference[0, 0] = np.nan
    refresh(system.cell, particles, system.neighbours, system.grid, system.kinds, system.charges)
    ordering[1](particles, moving)


@jit
def sum_forces(system, functions, moving, clears):
    """Forces of all terms at particles that are up to date."""
    particles = system.particles
    clears(particles, moving, 0.0)
    for k in range(len(functions)):
        functions[k](system.tables[k], system.cell, particles, system.neighbours)


@jit
def begin(system, functions, moving, clears, refresh, ordering, handing, state):
    """Begins a chunk: takes the particles from the state, and finds their forces where they are not at hand."""
    load_state(system, moving, refresh, ordering, handing, state)
    if moving.held[0] == 0:
        sum_forces(system, functions, moving, clears)
        moving.held[0] = 1
    if state.counters[STEPS] == 0:  # later the step before has counted them, and a break finds them anew
        state.counters[EVALUATIONS] += 1


@jit
def force_magnitudes(particles, sums):
    """Adds Σ|F| to what a policy's law reads of the potential."""
    for p in range(particles.fx.size):
        sums[POTENTIAL] += np.sqrt(particles.fx[p] ** 2 + particles.fy[p] ** 2 + particles.fz[p] ** 2)


@jit
def drive_law(bath, kinetic, time, h, variables, sums):
    """What a policy's law reads beside the forces: ζ, kd ζ' and the step."""
    sums[STEP] = h
    if variables.size > 0:
        rate = (2.0 * kinetic - bath.constants[FREEDOMS] * target(bath, time)) / bath.masses[0]
        if bath.masses.size > 1:
            rate -= variables[0] * variables[1]
        sums[ZETA], sums[ZETA_RATE] = variables[0], bath.constants[GAIN] * rate


@kernel
def advance_verlet(
    passes,
    shaking,
    ordering,
    handing,
    refresh,
    functions,
    relaxing,
    bath,
    law,
    parameters,
    varies,
    system,
    moving,
    h,
    state,
    sums,
    steps,
):
    """Advances the state by a number of steps of length h: REACHED, DIVERGED where a number is no longer finite, or
    CROWDED, where the state is that of before.

    Half a thermostat that scales, half a kick, the drift with the exact friction and noise of one that kicks in its
    middle, half a kick, half a thermostat.
    """
    kicks, drifts, clears = passes
    particles, counters, work, factor = system.particles, state.counters, state.work, state.factor
    way = bath.choice[WAY]
    begin(system, functions, moving, clears, refresh, ordering, handing, state)
    kinetic = kinetic_energy(moving)
    status = REACHED
    for _ in range(steps):
        if particles.counts[OVERFLOW] + particles.counts[LOST] > 0:
            break
        step, time = counters[STEPS], h * counters[STEPS]
        if varies or step == 0:
            sums[POTENTIAL] = 0.0
            force_magnitudes(particles, sums)
            drive_law(bath, kinetic, time, h, state.bath, sums)
            law(parameters, sums, factor)
        a2 = factor[POTENTIAL]
        if way == SCALES:
            scale(moving, relaxing[0](bath, kinetic, time, 0.5 * h, 2 * step, factor, state.bath, work))
        kicks(particles, moving, 0.5 * h * a2)
        work[POTENTIAL] += total(moving, 0)
        if way == KICKS:
            drifts(particles, moving, 0.5 * h)
            c, s = decay_and_noise(bath.constants[FRICTION], h, target(bath, time + 0.5 * h))
            shaking[0](particles, moving, c, s, bath.choice[SEED], bath.choice[STREAM], step)
            work[THERMOSTAT] += total(moving, 0)
            drifts(particles, moving, 0.5 * h)
        else:
            drifts(particles, moving, h)
        gone = longest(moving)
        if not gone < np.inf:
            status = DIVERGED
            break
        if gone > system.grid.reach[1]:
            relist(system, moving, refresh, ordering)
            if particles.counts[OVERFLOW] > 0:
                break
        sum_forces(system, functions, moving, clears)
        kicks(particles, moving, 0.5 * h * a2)
        work[POTENTIAL] += total(moving, 0)
        kinetic = total(moving, 1)
        if not kinetic < np.inf:
            status = DIVERGED
            break
        if way == SCALES:
            s = relaxing[0](bath, kinetic, time + 0.5 * h, 0.5 * h, 2 * step + 1, factor, state.bath, work)
            scale(moving, s)
            kinetic = kinetic_energy(moving)
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        state.time[0] = h * (step + 1)
    return finish(particles, moving, handing, state, status)
