"""The whole right-hand side, one kernel for each equation-of-motion algorithm.

Each is ``derivative(system, functions, factor, time, window, y, ws, channels, solver, dy)``: dy/dt of y = (q, u, works
by channel, thermostat variables). Kinematics places the links and their sites, forces fill the channels, scaling weighs
them, dynamics turns them into accelerations.
"""

from typing import Any

from numba import prange

from articulon.algebra.vectors import copy_into
from articulon.dynamics import divided
from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.block_kinematics import locate_by_blocks
from articulon.dynamics.constrained import project, solve_loops, solve_tree_and_keep
from articulon.dynamics.divided import solve_divided, solve_divided_parallel
from articulon.dynamics.embedding import embed_dependents, embedded_accelerations, rates_of_speeds, speeds_of_rates
from articulon.dynamics.functions import PARALLEL_LINKS
from articulon.dynamics.kane import solve_kane
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.loops import drive_power, evaluate_motions
from articulon.forces.filling import book_powers, fill, finish, finish_works, scaled_gravity, weigh
from articulon.forces.user import MOTIONS
from articulon.kernels import jit, kernel
from articulon.model import Model
from articulon.model.state import EXTERNAL


@jit
def fill_and_weigh(system, functions, factor, time, window, q, u, ws, channels):
    """Forces of every channel and their weighed sums, at links that are placed and moved here."""
    place(system.forest, q, ws, 0, system.forest.mass.size)
    move(system.forest, u, ws, 0, system.forest.mass.size)
    fill(system, functions, time, window, q, u, ws, channels)
    weigh(system, factor, u, channels)
    book_powers(system, u, ws, channels)


@kernel
def prepare_forces(system, functions, factor, time, window, q, u, ws, channels):
    """The same as a kernel of its own: the right-hand sides that are not in a hurry share one compilation of it."""
    fill_and_weigh(system, functions, factor, time, window, q, u, ws, channels)


@jit
def unpack(y, channels):
    """nq and nu of y = (q, u, 8 works, thermostat variables); the last are left in ``channels.bath``."""
    nu, variables = channels.total_joint.size, channels.bath.shape[1]
    copy_into(channels.bath[0], y[y.size - variables :])
    return y.size - nu - 8 - variables, nu


@kernel
def derivative(system, functions, factor, time, window, y, ws, channels, solver, dy):
    """By the articulated-body algorithm, for a forest without loops."""
    forest = system.forest
    links = forest.mass.size
    nq, nu = unpack(y, channels)
    q, u = y[:nq], y[nq : nq + nu]
    fill_and_weigh(system, functions, factor, time, window, q, u, ws, channels)
    wrench, tau = channels.total_wrench, channels.total_joint
    eliminate(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, 0, links)
    accelerate(forest, scaled_gravity(system.forces, factor), ws, dy[nq : nq + nu], 0, links)
    finish(system, factor, y, nq, nu, channels, dy)


@kernel(parallel=True)
def locate_parallel(forest, q, u, ws):
    """Places and moves all links, tree by tree."""
    for t in prange(forest.tree.size - 1):
        place(forest, q, ws, forest.tree[t], forest.tree[t + 1])
        move(forest, u, ws, forest.tree[t], forest.tree[t + 1])


@kernel(parallel=True)
def solve_parallel(forest, tau, wrench, gravity, ws, udot):
    """Accelerations of links that have been placed and moved, tree by tree."""
    for t in prange(forest.tree.size - 1):
        start, end = forest.tree[t], forest.tree[t + 1]
        eliminate(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, start, end)
        accelerate(forest, gravity, ws, udot, start, end)


@kernel
def derivative_parallel(system, functions, factor, time, window, y, ws, channels, solver, dy):
    """The same with the trees shared out among the threads."""
    nq, nu = unpack(y, channels)
    q, u = y[:nq], y[nq : nq + nu]
    locate_parallel(system.forest, q, u, ws)
    fill(system, functions, time, window, q, u, ws, channels)
    weigh(system, factor, u, channels)
    book_powers(system, u, ws, channels)
    gravity = scaled_gravity(system.forces, factor)
    solve_parallel(system.forest, channels.total_joint, channels.total_wrench, gravity, ws, dy[nq : nq + nu])
    finish(system, factor, y, nq, nu, channels, dy)


@jit
def finish_with_drives(system, factor, y, nq, nu, channels, solver, dy):
    """The same as ``finish``, with the work of the forces that drive joints booked as external."""
    finish(system, factor, y, nq, nu, channels, dy)
    dy[nq + nu + EXTERNAL] += drive_power(system.loops, y[nq : nq + nu], solver.loops.multiplier)


@kernel
def derivative_with_loops(system, functions, factor, time, window, y, ws, channels, solver, dy):
    """By the articulated-body algorithm, with loops and driven joints."""
    nq, nu = unpack(y, channels)
    prepare_forces(system, functions, factor, time, window, y[:nq], y[nq : nq + nu], ws, channels)
    evaluate_motions(system.motions, functions[MOTIONS], time, solver.loops.motion)
    gravity = scaled_gravity(system.forces, factor)
    tau, wrench = channels.total_joint, channels.total_wrench
    solve_loops(system.forest, system.loops, tau, wrench, gravity, ws, solver.loops, dy[nq : nq + nu])
    finish_with_drives(system, factor, y, nq, nu, channels, solver, dy)


@kernel(allocates=True)
def derivative_by_kane(system, functions, factor, time, window, y, ws, channels, solver, dy):
    """By Kane's method, with loops and driven joints."""
    nq, nu = unpack(y, channels)
    prepare_forces(system, functions, factor, time, window, y[:nq], y[nq : nq + nu], ws, channels)
    evaluate_motions(system.motions, functions[MOTIONS], time, solver.loops.motion)
    gravity = scaled_gravity(system.forces, factor)
    tau, wrench = channels.total_joint, channels.total_wrench
    solve_kane(system.forest, system.loops, tau, wrench, gravity, ws, solver, dy[nq : nq + nu])
    finish_with_drives(system, factor, y, nq, nu, channels, solver, dy)


@kernel
def derivative_by_division(system, functions, factor, time, window, y, ws, channels, solver, dy):
    """By divide and conquer, with loops and driven joints."""
    nq, nu = unpack(y, channels)
    prepare_forces(system, functions, factor, time, window, y[:nq], y[nq : nq + nu], ws, channels)
    evaluate_motions(system.motions, functions[MOTIONS], time, solver.loops.motion)
    gravity = scaled_gravity(system.forces, factor)
    tau, wrench = channels.total_joint, channels.total_wrench
    solve_divided(system.forest, system.loops, tau, wrench, gravity, ws, solver, dy[nq : nq + nu])
    finish_with_drives(system, factor, y, nq, nu, channels, solver, dy)


@kernel
def derivative_by_division_parallel(system, functions, factor, time, window, y, ws, channels, solver, dy):
    """The same on all threads."""
    nq, nu = unpack(y, channels)
    q, u = y[:nq], y[nq : nq + nu]
    locate_by_blocks(system.forest, solver.tree, q, u, ws, solver.blocks)
    fill(system, functions, time, window, q, u, ws, channels)
    weigh(system, factor, u, channels)
    book_powers(system, u, ws, channels)
    evaluate_motions(system.motions, functions[MOTIONS], time, solver.loops.motion)
    gravity = scaled_gravity(system.forces, factor)
    tau, wrench = channels.total_joint, channels.total_wrench
    solve_divided_parallel(system.forest, system.loops, tau, wrench, gravity, ws, solver, dy[nq : nq + nu])
    finish_with_drives(system, factor, y, nq, nu, channels, solver, dy)


@kernel
def derivative_with_embedding(system, functions, factor, time, window, y, ws, channels, solver, dy):
    """By the articulated-body algorithm with Euler parameters' accelerations: y = (q, q', works, thermostat
    variables), with loops or without."""
    forest, tau, wrench = system.forest, channels.total_joint, channels.total_wrench
    nq = (unpack(y, channels)[0] + channels.total_joint.size) // 2
    q, qdot, u, udot = y[:nq], y[nq : 2 * nq], solver.u, solver.udot
    speeds_of_rates(forest, q, qdot, u)
    prepare_forces(system, functions, factor, time, window, q, u, ws, channels)
    gravity = scaled_gravity(system.forces, factor)
    if system.loops.kind.size > 0:
        evaluate_motions(system.motions, functions[MOTIONS], time, solver.loops.motion)
        solve_loops(forest, system.loops, tau, wrench, gravity, ws, solver.loops, udot)
    else:
        solve_tree_and_keep(forest, tau, wrench, gravity, ws, udot, solver.loops.articulated)
    articulated = solver.loops.articulated
    embedded_accelerations(forest, ws, articulated, q, qdot, udot, solver.dependent, dy[nq : 2 * nq])
    copy_into(dy[:nq], qdot)
    finish_works(factor, 2 * nq, channels, dy)
    dy[2 * nq + EXTERNAL] += drive_power(system.loops, u, solver.loops.multiplier)


@kernel
def settle_with_embedding(system, functions, time, y, ws, channels, solver):
    """Dependent Euler parameters and rates from the independent ones, then onto the loops."""
    nq = (unpack(y, channels)[0] + channels.total_joint.size) // 2
    q, qdot, u = y[:nq], y[nq : 2 * nq], solver.u
    embed_dependents(system.forest, q, qdot, solver.dependent, solver.switches)
    if system.loops.kind.size > 0:
        speeds_of_rates(system.forest, q, qdot, u)
        project(system.forest, system.loops, system.motions, functions[MOTIONS], time, q, u, ws, solver.loops)
        rates_of_speeds(system.forest, q, u, qdot)


@kernel
def settle(system, functions, time, y, ws, channels, solver):
    """Moves q and u of y onto the loops and driven joints; how far they were off is left in ``solver.loops.drift``."""
    nq, nu = unpack(y, channels)
    q, u = y[:nq], y[nq : nq + nu]
    project(system.forest, system.loops, system.motions, functions[MOTIONS], time, q, u, ws, solver.loops)


@kernel
def settle_nothing(system, functions, time, y, ws, channels, solver):
    """For a forest without loops."""


def settle_kernel(model: Model, rotations: str) -> Any:
    """What is done to the state of a model after every step."""
    if rotations == "euler-parameters":
        return settle_with_embedding
    return settle if model.loops.kind.size else settle_nothing


def derivative_kernel(model: Model, solver: str, rotations: str) -> Any:
    """The kernel for a model, the name of a solver and the treatment of rotations."""
    if rotations == "euler-parameters":
        return derivative_with_embedding
    if solver == "kane":
        return derivative_by_kane
    if solver == "divide-and-conquer":
        parallel = model.forest.mass.size >= divided.PARALLEL_LINKS and model.forest.flexible is None
        return derivative_by_division_parallel if parallel else derivative_by_division
    if model.loops.kind.size:
        return derivative_with_loops
    return derivative_parallel if model.trees > 1 and model.forest.mass.size >= PARALLEL_LINKS else derivative
