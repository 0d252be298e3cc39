"""Velocity Verlet on plain arrays, for models of free particles, without recursion over trees.

All arrays are in the order of cells, so that neighbours are close in memory; they return to the order of the model when
the neighbour lists are rebuilt, and at the end of every chunk. Operations on all particles are passes. Sums are taken
over blocks of a fixed size, and the sums of the blocks are added in order, which gives the same bits for any number of
threads.
"""

import numpy as np

from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.integrate.particle_passes import BLOCK
from articulon.integrate.status import CAPACITY_EXCEEDED, DIVERGED, LEAPT, REACHED
from articulon.kernels import jit
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.passes import pass_of
from articulon.scaling.base import STEP, ZETA, ZETA_RATE
from articulon.thermostats.base import DEGREES_OF_FREEDOM, EFFECT, FRICTION, GAIN, KICKS, SCALES, SEED, STREAM
from articulon.thermostats.langevin import decay_and_noise
from articulon.thermostats.schedule import target


@jit
def total(moving, column):
    """Sum of the blocks' sums, in order."""
    result = 0.0
    for b in range(moving.partial.shape[0]):
        result += moving.partial[b, column]
    return result


@jit
def longest(moving):
    """Square of the largest displacement of any particle; NaN if one is NaN."""
    worst = 0.0
    for b in range(moving.partial.shape[0]):
        d = moving.partial[b, 0]
        if not d < np.inf:
            return np.nan
        worst = max(worst, d)
    return worst


@jit
def leapt(system, gone):
    """Whether a particle has moved through half of the box in the latest step: its displacement since the lists were
    built then exceeds half the smallest width of the periodic box plus the displacement that the lists allow."""
    inverse, periodic, least = system.cell.inverse, system.cell.periodic, np.inf
    for a in range(3):
        if periodic[a] != 0:
            square = inverse[0, a] ** 2 + inverse[1, a] ** 2 + inverse[2, a] ** 2
            least = min(least, 1.0 / np.sqrt(square))
    most = 0.5 * least + np.sqrt(system.grid.reach[1])
    return gone > most * most


@jit
def scale(moving, s):
    """Multiply all velocities by a factor."""
    vx, vy, vz = moving.vx, moving.vy, moving.vz
    for p in range(vx.size):
        vx[p], vy[p], vz[p] = s * vx[p], s * vy[p], s * vz[p]


@jit
def kinetic_energy(moving):
    """½ Σ m v², summed in blocks."""
    vx, vy, vz, inverse_mass = moving.vx, moving.vy, moving.vz, moving.inverse_mass
    result = 0.0
    for b in range(moving.partial.shape[0]):
        part = 0.0
        for p in range(BLOCK * b, min(BLOCK * b + BLOCK, vx.size)):
            part += 0.5 / inverse_mass[p] * (vx[p] * vx[p] + vy[p] * vy[p] + vz[p] * vz[p])
        result += part
    return result


@jit
def load_state(system, moving, refresh, ordering, handing, state):
    """Load coordinates and velocities from the state, and rebuild the neighbour lists if particles have moved too
    far."""
    particles, q, u = system.particles, state.q, state.u
    handing[0](particles, moving, q, u)
    elsewhere, others = total(moving, 0), total(moving, 1)
    if moving.held[0] == 1 and elsewhere == 0.0 and others == 0.0:  # still loaded from the previous chunk
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
    """End a chunk: store the particles into the state, unless one is lost or a list has overflowed."""
    if particles.counts[OVERFLOW] > 0:
        moving.held[0] = 0
        return CAPACITY_EXCEEDED
    if status == DIVERGED or status == LEAPT or particles.counts[LOST] > 0:
        moving.held[0] = 0
        return LEAPT if status == LEAPT else DIVERGED
    handing[1](particles, moving, state.q, state.u)
    return status


@jit
def relist(system, moving, refresh, ordering):
    """Rebuild the neighbour lists."""
    particles = system.particles
    ordering[0](particles, moving)
    particles.reference[0, 0] = np.nan
    refresh(system.cell, particles, system.neighbours, system.grid, system.kinds, system.charges)
    ordering[1](particles, moving)


@jit
def sum_forces(system, functions, moving, clears):
    """Compute the forces of all terms at the present coordinates."""
    particles = system.particles
    clears(particles, moving, 0.0)
    for k in range(len(functions)):
        functions[k](system.tables[k], system.cell, particles, system.neighbours)


@jit
def begin(system, functions, moving, clears, refresh, ordering, handing, state):
    """Begin a chunk: load the particles from the state, and compute their forces unless these are known already."""
    load_state(system, moving, refresh, ordering, handing, state)
    if moving.held[0] == 0:
        sum_forces(system, functions, moving, clears)
        moving.held[0] = 1
    if state.counters[STEPS] == 0:  # later chunks start with an evaluation already counted
        state.counters[EVALUATIONS] += 1


@jit
def force_magnitudes(particles, sums):
    """Add Σ|F| to the law's input for the potential."""
    for p in range(particles.fx.size):
        sums[POTENTIAL] += np.sqrt(particles.fx[p] ** 2 + particles.fy[p] ** 2 + particles.fz[p] ** 2)


@jit
def drive_law(bath, kinetic, time, h, variables, sums):
    """Set the law's inputs other than the forces: the thermostat's ζ, kd ζ' and the step."""
    sums[STEP] = h
    if variables.size > 0:
        rate = (2.0 * kinetic - bath.constants[DEGREES_OF_FREEDOM] * target(bath, time)) / bath.masses[0]
        if bath.masses.size > 1:
            rate -= variables[0] * variables[1]
        sums[ZETA], sums[ZETA_RATE] = variables[0], bath.constants[GAIN] * rate


@pass_of
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
    chunk,
):
    """Advance the state by ``chunk[0]`` steps of length h, and write the status to ``chunk[1]``: REACHED, DIVERGED if a
    number is no longer finite, or CAPACITY_EXCEEDED, with the state unchanged.

    A step is half of a thermostat that scales speeds, half a kick, the drift with the exact friction and noise of a
    Langevin thermostat in its middle, half a kick, and half of the thermostat.
    """
    kicks, drifts, clears = passes
    particles, counters, work, factor = system.particles, state.counters, state.work, state.factor
    effect = bath.choice[EFFECT]
    begin(system, functions, moving, clears, refresh, ordering, handing, state)
    kinetic = kinetic_energy(moving)
    status = REACHED
    for _ in range(chunk[0]):
        if particles.counts[OVERFLOW] + particles.counts[LOST] > 0:
            break
        step, time = counters[STEPS], h * counters[STEPS]
        if varies != 0 or step == 0:
            sums[POTENTIAL] = 0.0
            force_magnitudes(particles, sums)
            drive_law(bath, kinetic, time, h, state.bath, sums)
            law(parameters, sums, factor)
        a2 = factor[POTENTIAL]
        if effect == SCALES:
            scale(moving, relaxing[0](bath, kinetic, time, 0.5 * h, 2 * step, factor, state.bath, work))
        kicks(particles, moving, 0.5 * h * a2)
        work[POTENTIAL] += total(moving, 0)
        if effect == KICKS:
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
            if leapt(system, gone):
                status = LEAPT
                break
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
        if effect == SCALES:
            s = relaxing[0](bath, kinetic, time + 0.5 * h, 0.5 * h, 2 * step + 1, factor, state.bath, work)
            scale(moving, s)
            kinetic = kinetic_energy(moving)
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        state.time[0] = h * (step + 1)
    chunk[1] = finish(particles, moving, handing, state, status)
