"""Kinematics and accelerations of forests of many trees, with the trees distributed over threads."""

from numba import prange

from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.joints import degrees_of_freedom
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.momentum_sampling import Draw, apply_random_forces
from articulon.kernels import jit, kernel
from articulon.rng import normal_pair

TREES = 64
"""Number of trees that a thread takes at a time."""


@kernel(parallel=True)
def locate_parallel(forest, q, u, ws):
    """Computes poses and velocities of all links, tree by tree."""
    for t in prange(forest.tree.size - 1):
        place(forest, q, ws, forest.tree[t], forest.tree[t + 1])
        move(forest, u, ws, forest.tree[t], forest.tree[t + 1])


@kernel(parallel=True)
def solve_parallel(forest, tau, wrench, gravity, ws, udot):
    """Accelerations of links with known poses and velocities, tree by tree."""
    for t in prange(forest.tree.size - 1):
        start, end = forest.tree[t], forest.tree[t + 1]
        eliminate(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, start, end)
        accelerate(forest, gravity, ws, udot, start, end)


@jit
def draw_links(forest, seed, stream, count, root, ws, draw, D, start, end):
    """Random speeds of whole trees, for the links from ``start`` to ``end``; ``D`` is scratch."""
    own = Draw(draw.normal, draw.torque, D, draw.speeds)
    for i in range(start, end):
        j = forest.u_start[i]
        for k in range(degrees_of_freedom(forest.kind[i])):
            own.normal[j + k], _ = normal_pair(seed, stream, count, j + k)
    apply_random_forces(forest, forest.moment, forest.inertia, root, ws, own, start, end)
    accelerate(forest, (0.0, 0.0, 0.0), ws, own.speeds, start, end)


@kernel(parallel=True)
def draw_in_parallel(forest, seed, stream, count, root, ws, draw, D):
    """Draws speeds from N(0, root² M⁻¹) as ``momentum_sampling.draw_speeds`` does, for rigid links with known poses,
    with the trees distributed over threads; ``D`` (groups of trees, 6, 6) is scratch."""
    trees = forest.tree.size - 1
    for group in prange(D.shape[0]):
        start, end = forest.tree[group * TREES], forest.tree[min((group + 1) * TREES, trees)]
        draw_links(forest, seed, stream, count, root, ws, draw, D[group], start, end)
