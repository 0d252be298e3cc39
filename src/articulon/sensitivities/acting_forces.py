"""Selection of the forces on the right-hand side of the equations of motion, and the factor that multiplies them."""

from typing import NamedTuple


class Acting(NamedTuple):
    """Selection of the forces on the right-hand side."""

    factor: float = 1.0
    """Factor that multiplies all forces."""
    scaled: bool = False
    """Whether a scaling policy multiplies the forces, even if its factor is one."""
    resistance: bool = True
    """Whether drag, noise, and damping and friction of joints are included."""


ALL = Acting()
"""All forces, unscaled."""
