"""Benchmark of the loops over listed pairs on this machine: a small Lennard-Jones liquid, summed repeatedly."""

import math
from collections.abc import Iterable
from time import perf_counter

import numpy as np

from articulon.forces.sites.cells import FAR
from articulon.forces.sites.laws.lennard_jones import LEAVES
from articulon.forces.sites.neighbours import VECTOR
from articulon.forces.sites.pair_sums import LANES_OF, Combination, forces_kernel, no_rows, pair_table
from articulon.forces.sites.site_tables import FORCES, Cell, Neighbours, Particles, empty_neighbours, empty_particles
from articulon.kernels import prepare, preparing_at_once, preparing_together
from articulon.passes import Function, Program, pass_of

EDGE, DENSITY, SHAKEN = 13, 0.85, 0.3
"""Sites along each edge of the cubic lattice, their density, and their displacement from it along every axis [1, 1/σ³,
σ]; the numbers of listed neighbours are then as uneven as in a melt."""
CUTOFF, REACH = 2.5, 2.8
"""Cutoff of the law, and reach of the lists [σ]."""
ROUNDS = 9
"""Number of rounds, in each of which every loop has a turn."""
CALLS, UNTIMED = 30, 12
"""Number of sums of a loop in one turn, and number of sums at the start of the turn that are not timed: some processors
change their clock for up to two milliseconds when wide registers come into use or go out of it."""


@pass_of
def sum_pairs(table, cell, particles, neighbours, forces):
    """Add the forces of one law."""
    forces(table, cell, particles, neighbours)


def nanoseconds(loops: Iterable[str]) -> dict[str, np.ndarray]:
    """Time that loops take per listed pair on one thread [ns].

    Parameters
    ----------
    loops
        Names of loops, as in ``LANES_OF``. Loops that are not in the cache are compiled, on all cores.

    Returns
    -------
    dict
        For each loop its best time in each of its turns, shape (rounds,). Loops are compared within a round: between
        rounds the clock of a processor changes by more than the differences between loops.
    """
    leaf, name = LEAVES["truncated"]
    law = Combination((name, "none"), (leaf, None), True, False)
    table = pair_table(np.array([[CUTOFF**2, 4.0, 4.0, 0.0]]), no_rows(1), 1.0)
    cell = Cell(np.eye(3), np.eye(3), np.zeros(3), np.zeros(3, dtype=np.int64))
    particles, neighbours = liquid()
    programs = {}
    with preparing_at_once(), preparing_together():
        for loop in loops:
            kernel = prepare(forces_kernel(law, False, LANES_OF[loop]), FORCES)
            bound = sum_pairs.bind(table, cell, particles, neighbours, Function(kernel, FORCES))
            programs[loop] = Program([bound])
            _ = programs[loop].code  # compiled with the others
    rounds = [[_best(program) for program in programs.values()] for _ in range(ROUNDS)]
    each = 1e9 * np.array(rounds) / neighbours.number.sum()
    return dict(zip(programs, each.T, strict=True))


def _best(program: Program) -> float:
    """Shortest time of a program in one turn [s]."""
    least = math.inf
    for call in range(CALLS):
        began = perf_counter()
        program()
        taken = perf_counter() - began
        if call >= UNTIMED:
            least = min(least, taken)
    return least


def liquid() -> tuple[Particles, Neighbours]:
    """Return sites near the points of a lattice, with images all around, and neighbour lists as in runs. They are built
    here, because the kernels that build lists take several times as long to compile as the loops."""
    spacing = DENSITY ** (-1.0 / 3.0)
    far = math.ceil((REACH + 2.0 * SHAKEN * math.sqrt(3.0)) / spacing)
    wide = EDGE + 2 * far
    points = np.indices((wide, wide, wide)).reshape(3, -1)
    inside = ((points >= far) & (points < far + EDGE)).all(axis=0)
    order = np.argsort(~inside, kind="stable")  # images come after the sites
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    shaken = np.random.default_rng(1).uniform(-SHAKEN, SHAKEN, points.shape)
    x, sites = (spacing * points + shaken)[:, order], EDGE**3
    steps = np.indices((2 * far + 1,) * 3).reshape(3, -1) - far
    steps = steps[:, steps.any(axis=0)]
    near = place[order[:sites, None] + np.array([wide * wide, wide, 1]) @ steps]
    listed = sum((x[axis][near] - x[axis][:sites, None]) ** 2 for axis in range(3)) < REACH**2
    number = listed.sum(axis=1)
    particles = empty_particles(sites, order.size - sites, VECTOR)
    neighbours = empty_neighbours(sites, int(number.max()) + 2 * VECTOR)
    for axis, coordinate in enumerate((particles.x, particles.y, particles.z)):
        coordinate[: order.size], coordinate[order.size :] = x[axis], FAR
        particles.packed[:, axis] = coordinate
    neighbours.places[:] = particles.x.size - 1
    neighbours.number[:] = number
    for row, some, chosen in zip(neighbours.places, near, listed, strict=True):
        row[: chosen.sum()] = some[chosen]
    return particles, neighbours
