"""Overdamped steps of free particles, x += h F/(m γ) + √(2 k T h/(m γ)) ξ (Ermak and McCammon, J. Chem. Phys. 69, 1352,
1978, without hydrodynamic interactions)."""

import math

import numpy as np

from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.integrate.particle_passes import BLOCK
from articulon.integrate.particle_verlet import (
    begin,
    finish,
    force_magnitudes,
    leapt,
    longest,
    relist,
    sum_forces,
)
from articulon.integrate.status import DIVERGED, LEAPT, REACHED
from articulon.kernels import jit
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.passes import pass_of
from articulon.thermostats.base import FRICTION, SEED, STREAM
from articulon.thermostats.langevin import particle_normals
from articulon.thermostats.schedule import target


@jit
def pull(bath, particles, moving, before, h, kT, step):
    """Set the velocities that carry every particle over its displacement in a time h, and keep its position in
    ``before`` (3, n)."""
    friction, seed, stream = bath.constants[FRICTION], bath.choice[SEED], bath.choice[STREAM]
    fx, fy, fz, inverse_mass, order = particles.fx, particles.fy, particles.fz, moving.inverse_mass, particles.order
    for p in range(inverse_mass.size):
        before[0, p], before[1, p], before[2, p] = moving.x[p], moving.y[p], moving.z[p]
        a, b, c = particle_normals(seed, stream, step, order[p])
        drag = inverse_mass[p] / friction
        noise = math.sqrt(2.0 * kT * drag / h)
        moving.vx[p] = drag * fx[p] + noise * a
        moving.vy[p] = drag * fy[p] + noise * b
        moving.vz[p] = drag * fz[p] + noise * c


@jit
def mean_velocities(moving, before, h):
    """Set the mean velocities of the particles over a step, after walls may have reflected some."""
    for p in range(moving.vx.size):
        moving.vx[p] = (moving.x[p] - before[0, p]) / h
        moving.vy[p] = (moving.y[p] - before[1, p]) / h
        moving.vz[p] = (moving.z[p] - before[2, p]) / h


@jit
def power(particles, moving):
    """Σ F·v, summed in blocks."""
    fx, fy, fz, vx, vy, vz = particles.fx, particles.fy, particles.fz, moving.vx, moving.vy, moving.vz
    result = 0.0
    for b in range(moving.partial.shape[0]):
        part = 0.0
        for p in range(BLOCK * b, min(BLOCK * b + BLOCK, vx.size)):
            part += fx[p] * vx[p] + fy[p] * vy[p] + fz[p] * vz[p]
        result += part
    return result


@pass_of
def advance_overdamped(
    passes, ordering, handing, refresh, functions, bath, law, parameters, system, moving, before, h, state, sums, chunk
):
    """Advance the state by ``chunk[0]`` steps of length h, and write the status to ``chunk[1]``: REACHED, DIVERGED if a
    number is no longer finite, or CAPACITY_EXCEEDED, with the state unchanged.

    The work of the forces is computed by the trapezoidal rule from position to position. As there is no kinetic energy,
    the bath supplies all of this work.
    """
    particles, counters, work = system.particles, state.counters, state.work
    _, drifts, clears = passes
    begin(system, functions, moving, clears, refresh, ordering, handing, state)
    status = REACHED
    for _ in range(chunk[0]):
        if particles.counts[OVERFLOW] + particles.counts[LOST] > 0:
            break
        step = counters[STEPS]
        if step == 0:
            force_magnitudes(particles, sums)
            law(parameters, sums, state.factor)
        pull(bath, particles, moving, before, h, target(bath, h * (step + 0.5)), step)
        drifts(particles, moving, h)
        gone = longest(moving)
        if not gone < np.inf:
            status = DIVERGED
            break
        mean_velocities(moving, before, h)
        done = 0.5 * h * power(particles, moving)
        if gone > system.grid.reach[1]:
            if leapt(system, gone):
                status = LEAPT
                break
            relist(system, moving, refresh, ordering)
            if particles.counts[OVERFLOW] > 0:
                break
        sum_forces(system, functions, moving, clears)
        done += 0.5 * h * power(particles, moving)
        if not abs(done) < np.inf:
            status = DIVERGED
            break
        work[POTENTIAL] += done
        work[THERMOSTAT] -= done
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        state.time[0] = h * (step + 1)
    for p in range(moving.vx.size):
        moving.vx[p], moving.vy[p], moving.vz[p] = 0.0, 0.0, 0.0
    chunk[1] = finish(particles, moving, handing, state, status)
