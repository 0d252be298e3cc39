"""Which forces a right-hand side has, and what they are multiplied by."""

from typing import NamedTuple


class Acting(NamedTuple):
    """The forces of a right-hand side."""

    factor: float = 1.0
    """What all are multiplied by."""
    scaled: bool = False
    """Whether there is a policy that multiplies them, if only by one."""
    resistance: bool = True
    """Whether drag, noise and what resists the speeds of joints are among them."""


ALL = Acting()
"""All of them, as they are."""
