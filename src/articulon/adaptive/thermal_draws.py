"""Kernels that draw speeds from N(0, kT M⁻¹), and that compute columns of M⁻¹."""

from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.kinematics import place
from articulon.dynamics.momentum_sampling import draw_speeds
from articulon.kernels import kernel


@kernel
def thermal_speeds(forest, q, seed, stream, count, ws, draw):
    """Draw speeds from N(0, M⁻¹) into ``draw.speeds``. ``ws`` must not have been used with speeds before."""
    place(forest, q, ws, 0, forest.mass.size)
    draw_speeds(forest, seed, stream, count, 1.0, ws, draw)


@kernel
def inverse_columns(forest, q, speeds, ws, tau, wrench, columns):
    """Compute M⁻¹ e_k for each k of ``speeds`` into the rows of ``columns``. ``ws`` must not have been used with speeds
    before; ``tau`` (nu,) and ``wrench`` (links, 6) are zeros."""
    n = forest.mass.size
    place(forest, q, ws, 0, n)
    for k in range(speeds.size):
        tau[speeds[k]] = 1.0
        eliminate(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, 0, n)
        accelerate(forest, (0.0, 0.0, 0.0), ws, columns[k], 0, n)
        tau[speeds[k]] = 0.0
