"""Showing the bodies between steps of a chunk, for drivers that would need much time to hand over the whole state."""

from collections.abc import Callable

import numpy as np

Poses = Callable[[np.ndarray, np.ndarray], None]
"""Writes the origins of the bodies [length] (bodies, 3) and their Euler parameters (bodies, 4) into two arrays, in
single or double precision."""
Show = Callable[[float, int, Poses], None]
"""Called with the time, the number of steps of the run, and the poses of the bodies."""
FASTER = 4
"""Largest factor by which the number of steps between two glances grows at once."""


class Glances:
    """Interrupts a chunk at intervals to show the bodies. The results do not change.

    Parameters
    ----------
    show
        Function that shows them.
    """

    def __init__(self, show: Show) -> None:
        self.show = show
        self.seconds = 0.0
        """Wall time between two glances; may be changed at any moment [s]."""
        self._steps = 1

    def part(self, left: int) -> int:
        """Return how many of the steps that are left in a chunk are taken before the next glance."""
        return min(left, self._steps)

    def took(self, steps: int, seconds: float) -> None:
        """Record that this many steps took this long [s]."""
        wanted = int(self.seconds * steps / max(seconds, 1e-6))
        self._steps = max(1, min(wanted, FASTER * self._steps))
