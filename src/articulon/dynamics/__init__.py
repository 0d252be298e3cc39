"""How a model moves: kinematics, the equation-of-motion solvers, and energies."""

from articulon.dynamics.derivatives.derivative_functions import (
    derivatives,
    force_derivatives,
    jacobian_vector,
    vector_jacobian,
)
from articulon.dynamics.loops.loop_jacobians import loop_jacobian, loop_residuals
from articulon.dynamics.multibody_functions import (
    SOLVERS,
    body_poses,
    forward_dynamics,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
)

__all__ = [
    "SOLVERS",
    "body_poses",
    "derivatives",
    "force_derivatives",
    "forward_dynamics",
    "inverse_dynamics",
    "jacobian_vector",
    "kinetic_energy",
    "loop_jacobian",
    "loop_residuals",
    "mass_matrix",
    "vector_jacobian",
]
