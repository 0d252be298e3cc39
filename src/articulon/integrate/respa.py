"""r-RESPA on plain arrays: forces that change fast are evaluated more often than those that change slowly
(M. Tuckerman, B. J. Berne and G. J. Martyna, J. Chem. Phys. 97, 1990, 1992).

There are three levels: long range, pairs, bonded. A step of a level is velocity Verlet in which steps of the next level
replace the drift. With one inner step at every level, the scheme is velocity Verlet.
"""

import numpy as np

from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.forces.sites.site_terms import BONDED, LONG, SHORT
from articulon.integrate.particle_verlet import (
    drive_law,
    finish,
    force_magnitudes,
    kinetic_energy,
    leapt,
    load_state,
    longest,
    relist,
    scale,
    total,
)
from articulon.integrate.status import DIVERGED, LEAPT, REACHED
from articulon.kernels import jit
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.passes import pass_of
from articulon.thermostats.base import EFFECT, FRICTION, KICKS, SCALES, SEED, STREAM
from articulon.thermostats.langevin import decay_and_noise
from articulon.thermostats.schedule import target


@jit
def sum_level(system, functions, level, forces):
    """Compute the forces of the terms of one level, and keep them in ``forces`` (3, n)."""
    particles = system.particles
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for p in range(fx.size):
        fx[p], fy[p], fz[p] = 0.0, 0.0, 0.0
    for k in range(len(functions)):
        if system.level[k] == level:
            functions[k](system.tables[k], system.cell, particles, system.neighbours)
    for p in range(fx.size):
        forces[level, 0, p], forces[level, 1, p], forces[level, 2, p] = fx[p], fy[p], fz[p]


@jit
def take_level(particles, level, forces):
    """Set the forces of a level as those of the next kick."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for p in range(fx.size):
        fx[p], fy[p], fz[p] = forces[level, 0, p], forces[level, 1, p], forces[level, 2, p]


@jit
def take_all(particles, forces):
    """Set the sum of the forces of all levels as the forces of the particles."""
    for p in range(particles.fx.size):
        particles.fx[p] = forces[BONDED, 0, p] + forces[SHORT, 0, p] + forces[LONG, 0, p]
        particles.fy[p] = forces[BONDED, 1, p] + forces[SHORT, 1, p] + forces[LONG, 1, p]
        particles.fz[p] = forces[BONDED, 2, p] + forces[SHORT, 2, p] + forces[LONG, 2, p]


@pass_of
def advance_respa(
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
    forces,
    parts,
    h,
    state,
    sums,
    chunk,
):
    """Advance as ``advance_verlet`` does, with ``parts`` (2,): steps of pairs in each step, and bonded steps in each
    step of pairs.

    A thermostat that scales speeds acts at both ends of a step, and a thermostat that kicks acts in the middle of every
    innermost drift.
    """
    kicks, drifts, _ = passes
    particles, counters, work, factor = system.particles, state.counters, state.work, state.factor
    effect, h1, h0 = bath.choice[EFFECT], h / parts[0], h / (parts[0] * parts[1])
    load_state(system, moving, refresh, ordering, handing, state)
    # Each level's forces belong to the coordinates at which they were last needed, so all are evaluated again.
    moving.held[0] = 0
    for level in range(3):
        sum_level(system, functions, level, forces)
    kinetic = kinetic_energy(moving)
    status = REACHED
    for _ in range(chunk[0]):
        if particles.counts[OVERFLOW] + particles.counts[LOST] > 0 or status != REACHED:
            break
        step, time = counters[STEPS], h * counters[STEPS]
        if varies or step == 0:
            sums[POTENTIAL] = 0.0
            take_all(particles, forces)
            force_magnitudes(particles, sums)
            drive_law(bath, kinetic, time, h, state.bath, sums)
            law(parameters, sums, factor)
        a2 = factor[POTENTIAL]
        if effect == SCALES:
            scale(moving, relaxing[0](bath, kinetic, time, 0.5 * h, 2 * step, factor, state.bath, work))
        take_level(particles, LONG, forces)
        kicks(particles, moving, 0.5 * h * a2)
        work[POTENTIAL] += total(moving, 0)
        for i in range(parts[0]):
            take_level(particles, SHORT, forces)
            kicks(particles, moving, 0.5 * h1 * a2)
            work[POTENTIAL] += total(moving, 0)
            for j in range(parts[1]):
                take_level(particles, BONDED, forces)
                kicks(particles, moving, 0.5 * h0 * a2)
                work[POTENTIAL] += total(moving, 0)
                if effect == KICKS:
                    drifts(particles, moving, 0.5 * h0)
                    inner = (step * parts[0] + i) * parts[1] + j
                    c, s = decay_and_noise(bath.constants[FRICTION], h0, target(bath, time + i * h1 + (j + 0.5) * h0))
                    shaking[0](particles, moving, c, s, bath.choice[SEED], bath.choice[STREAM], inner)
                    work[THERMOSTAT] += total(moving, 0)
                    drifts(particles, moving, 0.5 * h0)
                else:
                    drifts(particles, moving, h0)
                gone = longest(moving)
                if not gone < np.inf:
                    status = DIVERGED
                elif gone > system.grid.reach[1] and particles.counts[OVERFLOW] == 0:
                    if leapt(system, gone):
                        status = LEAPT
                    else:
                        relist(system, moving, refresh, ordering)
                if status != REACHED or particles.counts[OVERFLOW] > 0:
                    break
                sum_level(system, functions, BONDED, forces)
                kicks(particles, moving, 0.5 * h0 * a2)
                work[POTENTIAL] += total(moving, 0)
            if status != REACHED or particles.counts[OVERFLOW] > 0:
                break
            sum_level(system, functions, SHORT, forces)
            kicks(particles, moving, 0.5 * h1 * a2)
            work[POTENTIAL] += total(moving, 0)
        if status != REACHED or particles.counts[OVERFLOW] > 0:
            break
        sum_level(system, functions, LONG, forces)
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
        counters[EVALUATIONS] += parts[0]
        state.time[0] = h * (step + 1)
    chunk[1] = finish(particles, moving, handing, state, status)
