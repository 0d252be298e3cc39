"""Kinematics and accelerations of forests of many trees, with the trees shared out among threads."""

from numba import prange

from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.kinematics import move, place
from articulon.kernels import kernel


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
