"""Sums over all terms: forces on the sites, with all terms or with slow terms in turn, and measures."""

import numpy as np

from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.forces.sites.site_terms import LONG
from articulon.kernels import first_class, jit, kernel
from articulon.passes import pass_of


@first_class
def no_forces(table, cell, particles, neighbours):
    pass


@first_class
def no_measure(table, cell, particles, neighbours, result):
    pass


@jit
def are_found(particles):
    """Whether the lists hold all pairs: their capacity suffices, and every position is finite."""
    return particles.counts[OVERFLOW] + particles.counts[LOST] == 0


@jit
def start_sum(particles):
    """Set the forces to zero, or to NaN if they cannot be computed; return whether they can."""
    found = are_found(particles)
    start = 0.0 if found else np.nan
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for p in range(fx.size):
        fx[p], fy[p], fz[p] = start, start, start
    return found


@jit
def add_forces(system, functions):
    """Add the forces of all terms, for lists that are up to date; NaN if they cannot be computed."""
    particles = system.particles
    if start_sum(particles):
        for k in range(len(functions)):
            functions[k](system.tables[k], system.cell, particles, system.neighbours)


@jit
def add_forces_in_turn(system, functions, times):
    """Add the forces of all terms, with those of slow terms multiplied by a number, or omitted if it is zero."""
    particles = system.particles
    if not start_sum(particles):
        return
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    if times > 0.0:
        for k in range(len(functions)):
            if system.level[k] == LONG:
                functions[k](system.tables[k], system.cell, particles, system.neighbours)
        for p in range(fx.size):
            fx[p], fy[p], fz[p] = times * fx[p], times * fy[p], times * fz[p]
    for k in range(len(functions)):
        if system.level[k] != LONG:
            functions[k](system.tables[k], system.cell, particles, system.neighbours)


@kernel(called="value")
def site_forces(system, functions, refresh):
    """Bring the lists up to date with ``particles.site`` and add the forces of all terms, in cell order."""
    refresh(system.cell, system.particles, system.neighbours, system.grid, system.kinds, system.charges)
    add_forces(system, functions)


@pass_of
def list_sites(system, refresh):
    """Bring the lists up to date."""
    refresh(system.cell, system.particles, system.neighbours, system.grid, system.kinds, system.charges)


@pass_of
def sum_forces(system, sum_of, functions, refresh):
    """Call ``site_forces`` from Python."""
    sum_of(system, functions, refresh)


@pass_of
def sum_measures(system, measures, refresh, result):
    """Bring the lists up to date and add the measures of all terms; called from Python. NaN if they cannot be
    computed."""
    refresh(system.cell, system.particles, system.neighbours, system.grid, system.kinds, system.charges)
    found = are_found(system.particles)
    for m in range(result.size):
        result[m] = 0.0 if found else np.nan
    if found:
        for k in range(len(measures)):
            measures[k](system.tables[k], system.cell, system.particles, system.neighbours, result)
