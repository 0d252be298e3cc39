"""Choice of the number of steps in a chunk. Between chunks control returns to Python, for progress and Ctrl-C."""

from articulon.integrate.base import Driver

CHUNK_SECONDS = 0.25
"""Target wall time of a chunk of steps [s]; it does not change the results."""
OVERHEAD_SECONDS = 0.025
"""Largest overhead of a chunk that does not change its length [s]. The overhead is the wall time for passing the state
to the kernels. If it takes longer, chunks become longer in proportion."""
MOST_STEPS = 2**40


class Chunks:
    """Chooses the length of the next chunk from the wall time of the last one.

    Parameters
    ----------
    driver
        The stepper.
    seconds
        Target wall time of a chunk [s].
    """

    def __init__(self, driver: Driver, seconds: float = CHUNK_SECONDS) -> None:
        self.driver, self.seconds = driver, seconds
        self.steps = 16
        """Steps of the next chunk."""

    def took(self, steps: int, seconds: float) -> None:
        """Record that a chunk of this many steps took this long [s]."""
        if not steps:
            return
        overhead = self.driver.overhead
        chunk = self.seconds * max(1.0, overhead / OVERHEAD_SECONDS)
        wanted = int(chunk * steps / max(seconds - overhead, 1e-6))
        self.steps = min(max(1, min(wanted, 4 * self.steps)), MOST_STEPS)
