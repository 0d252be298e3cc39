"""Flexible bodies by modal coordinates in floating frames, in every algorithm (Poursina 2012, 2.1 and 4.1).

A model without flexible bodies uses none of this code: ``dynamics/by_forest.py`` selects the functions.
"""

from articulon.dynamics.flexible import (
    flexible_articulated,
    flexible_blocks,
    flexible_damped,
    flexible_energy,
    flexible_kane,
    flexible_kinematics,
    flexible_loops,
    flexible_newton_euler,
    flexible_sampling,
)

__all__ = [
    "flexible_articulated",
    "flexible_blocks",
    "flexible_damped",
    "flexible_energy",
    "flexible_kane",
    "flexible_kinematics",
    "flexible_loops",
    "flexible_newton_euler",
    "flexible_sampling",
]
