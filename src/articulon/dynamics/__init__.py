"""How a model moves: kinematics, the equation-of-motion solvers, and energies."""

from articulon.dynamics.functions import (
    SOLVERS,
    body_poses,
    forward_dynamics,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
)
from articulon.dynamics.loop_functions import loop_jacobian, loop_residuals

__all__ = [
    "SOLVERS",
    "body_poses",
    "forward_dynamics",
    "inverse_dynamics",
    "kinetic_energy",
    "loop_jacobian",
    "loop_residuals",
    "mass_matrix",
]
