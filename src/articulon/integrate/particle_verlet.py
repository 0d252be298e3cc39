"""Velocity Verlet on plain arrays, for models of free particles: no tree is walked.

All arrays are in the order of cells, so that neighbours lie near in memory; they return to the order of the model when
the neighbours are listed anew, and at the end of every chunk. What is done to all particles is a pass; sums are taken
over blocks of a fixed size and these in order, which gives the same bits for any number of threads.
"""

import numpy as np

from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.integrate.particle_passes import BLOCK
from articulon.integrate.status import CAPACITY_EXCEEDED, DIVERGED, LEAPT, REACHED
from articulon.kernels import jit
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.passes import pass_of
from articulon.scaling.base import STEP, ZETA, ZETA_RATE
from articulon.thermostats.base import DEGREES_OF_FREEDOM, FRICTION, GAIN, KICKS, SCALES, SEED, STREAM, WAY
from articulon.thermostats.langevin import decay_and_noise
from articulon.thermostats.schedule import target


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
def leapt(system, gone):
    """Whether the longest way, squared, that a particle has gone since the lists were made is more than half of the
    least width of the periodic box and what the lists allow: it has then gone so far in the latest step."""
    inverse, periodic, least = system.cell.inverse, system.cell.periodic, np.inf
    for a in range(3):
        if periodic[a] != 0:
            square = inverse[0, a] ** 2 + inverse[1, a] ** 2 + inverse[2, a] ** 2
            least = min(least, 1.0 / np.sqrt(square))
    most = 0.5 * least + np.sqrt(system.grid.reach[1])
    return gone > most * most


@jit
def scale(moving, s):
    """Multiplies all velocities."""
    vx, vy, vz = moving.vx, moving.vy, moving.vz
    for p in range(vx.size):
        vx[p], vy[p], vz[p] = s * vx[p], s * vy[p], s * vz[p]


@jit
def kinetic_energy(moving):
    """½ Σ m v², in blocks."""
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
        return CAPACITY_EXCEEDED
    if status == DIVERGED or status == LEAPT or particles.counts[LOST] > 0:
        moving.held[0] = 0
        return LEAPT if status == LEAPT else DIVERGED
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
    """Advances the state by a number of steps of length h, ``chunk[0]``, and says in ``chunk[1]`` how that went:
    REACHED, DIVERGED where a number is no longer finite, or CAPACITY_EXCEEDED, where the state is that of before.

    Half a thermostat that scales, half a kick, the drift with the exact friction and noise of one that kicks in its
    middle, half a kick, half a thermostat.
    """
    kicks, drifts, clears = passes
    particles, counters, work, factor = system.particles, state.counters, state.work, state.factor
    way = bath.choice[WAY]
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
        if way == SCALES:
            s = relaxing[0](bath, kinetic, time + 0.5 * h, 0.5 * h, 2 * step + 1, factor, state.bath, work)
            scale(moving, s)
            kinetic = kinetic_energy(moving)
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        state.time[0] = h * (step + 1)
    chunk[1] = finish(particles, moving, handing, state, status)
