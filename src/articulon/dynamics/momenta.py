"""Momentum and angular momentum of all bodies."""

import math

import numpy as np

from articulon.algebra.vectors import (
    add,
    cross,
    dot,
    load,
    store_at,
)
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.kinetic_energies import link_momentum
from articulon.dynamics.multibody_functions import vector
from articulon.dynamics.state_functions import scratch
from articulon.kernels import kernel
from articulon.model import Model, kernel_tables


@kernel
def momenta(forest, q, u, ws, result):
    """Momentum P, angular momentum L about the world's origin, Σ|p| and Σ|l| over the links, shape (8,)."""
    place(forest, q, ws, 0, forest.mass.size)
    move(forest, u, ws, 0, forest.mass.size)
    P, L, p_sizes, l_sizes = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0
    for i in range(forest.mass.size):
        p, spin = link_momentum(forest, ws, i)
        turning = add(spin, cross(load(ws.position, i), p))
        P, L = add(P, p), add(L, turning)
        p_sizes += math.sqrt(dot(p, p))
        l_sizes += math.sqrt(dot(turning, turning))
    store_at(result, 0, P)
    store_at(result, 3, L)
    result[6], result[7] = p_sizes, l_sizes


def momentum(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Momentum, angular momentum about the world's origin, and the sums of their magnitudes over the links.

    Returns
    -------
    numpy.ndarray
        P [mass length/time], L [mass length²/time], world frame, then Σ|p| and Σ|l|; shape (8,).
    """
    result = np.empty(8)
    momenta(kernel_tables(model).forest, vector(q, model.nq, "q"), vector(u, model.nu, "u"), scratch(model), result)
    return result
