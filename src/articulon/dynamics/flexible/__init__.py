"""Flexible bodies by modal coordinates in floating frames, in every algorithm (Poursina 2012, 2.1 and 4.1).

A model without them runs none of this: ``dynamics/variants.py`` says how one is told from the other.
"""

from articulon.dynamics.flexible import articulated, blocks, energy, kane, kinematics, loops, recursive

__all__ = ["articulated", "blocks", "energy", "kane", "kinematics", "loops", "recursive"]
