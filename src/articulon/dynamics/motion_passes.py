"""Passes of the dynamics: positions and velocities of links, and their accelerations by each algorithm."""

from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.dca.block_kinematics import locate_by_blocks
from articulon.dynamics.embedding import (
    embed_dependents,
    embedded_accelerations,
    rates_of_speeds,
    speeds_of_rates,
)
from articulon.dynamics.kane import solve_kane
from articulon.dynamics.kinematics import coordinate_rates, move, place
from articulon.dynamics.loops.conditions import drive_power, evaluate_motions
from articulon.dynamics.loops.constrained_articulated import solve_tree_and_keep
from articulon.dynamics.threaded_forests import locate_parallel, solve_parallel
from articulon.kernels import jit
from articulon.passes import pass_of, pass_that_allocates


@jit
def scaled(gravity, factor):
    """Gravity (3,) times a factor (1,), as a tuple for the recursions."""
    s = factor[0]
    return (s * gravity[0], s * gravity[1], s * gravity[2])


@pass_of
def place_links(forest, q, ws):
    """Positions and rotations of all links."""
    place(forest, q, ws, 0, forest.mass.size)


@pass_of
def move_links(forest, u, ws):
    """Velocities and velocity-product accelerations of links with known poses."""
    move(forest, u, ws, 0, forest.mass.size)


@pass_of
def locate_in_parallel(forest, q, u, ws):
    """Computes poses and velocities of all links, with the trees distributed over threads."""
    locate_parallel(forest, q, u, ws)


@pass_of
def locate_blocks_in_parallel(forest, tree, q, u, ws, blocks):
    """Computes poses and velocities of all links of long chains, block by block, in parallel."""
    locate_by_blocks(forest, tree, q, u, ws, blocks)


@pass_of
def rate_coordinates(forest, q, u, rate):
    """Coordinate rates q' of the speeds u."""
    coordinate_rates(forest, q, u, rate)


@pass_of
def solve(forest, mass, moment, inertia, tau, wrench, gravity, factor, ws, udot):
    """Accelerations by the articulated recursion, with the given inertias, for links with known poses and
    velocities."""
    eliminate(forest, mass, moment, inertia, tau, wrench, ws, 0, mass.size)
    accelerate(forest, scaled(gravity, factor), ws, udot, 0, mass.size)


@pass_of
def solve_in_parallel(forest, tau, wrench, gravity, factor, ws, udot):
    """Accelerations of links with known poses and velocities, with the trees distributed over threads."""
    solve_parallel(forest, tau, wrench, scaled(gravity, factor), ws, udot)


@pass_of
def find_motions(motions, functions, time, motion):
    """Value, rate and acceleration of every given motion at a time (1,)."""
    evaluate_motions(motions, functions, time[0], motion)


@pass_that_allocates
def solve_by_kane(forest, loops, tau, wrench, gravity, factor, ws, solver, udot):
    """Accelerations by Kane's method."""
    s = factor[0]
    solve_kane(forest, loops, tau, wrench, (s * gravity[0], s * gravity[1], s * gravity[2]), ws, solver, udot)


@pass_of
def power_drives(loops, u, multiplier, power):
    """Power (1,) of the forces that drive joints."""
    power[0] = drive_power(loops, u, multiplier)


@pass_of
def find_speeds(forest, q, rate, u):
    """Speeds u of the coordinate rates q', including those of Euler parameters."""
    speeds_of_rates(forest, q, rate, u)


@pass_of
def solve_and_keep(forest, tau, wrench, gravity, factor, ws, udot, articulated):
    """Accelerations by the articulated recursion; the articulated inertias are stored."""
    solve_tree_and_keep(forest, tau, wrench, scaled(gravity, factor), ws, udot, articulated)


@pass_of
def embed(forest, ws, articulated, q, rate, udot, dependent, second):
    """Second derivatives q'', with the accelerations of Euler parameters."""
    embedded_accelerations(forest, ws, articulated, q, rate, udot, dependent, second)


@pass_of
def embed_dependent(forest, q, rate, dependent, switches):
    """Dependent Euler parameters and rates from the independent ones."""
    embed_dependents(forest, q, rate, dependent, switches)


@pass_of
def find_rates(forest, q, u, rate):
    """Coordinate rates q' of the speeds u, including those of Euler parameters."""
    rates_of_speeds(forest, q, u, rate)
