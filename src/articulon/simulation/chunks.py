"""How many steps are taken before Python is in control again: to show how a run goes, and to hear of Ctrl-C."""

from articulon.integrate.base import Driver

CHUNK_SECONDS = 0.25
"""Wall-clock time that a chunk of steps should take [s]; its length changes no bit of the results."""
OVERHEAD_SECONDS = 0.025
"""What of it may go by beside the steps [s]; chunks whose state takes longer to hand over are longer in proportion."""
MOST_STEPS = 2**40


class Chunks:
    """The length of the next chunk, from how long the latest took.

    Parameters
    ----------
    driver
        What takes the steps.
    seconds
        That a chunk should take [s].
    """

    def __init__(self, driver: Driver, seconds: float = CHUNK_SECONDS) -> None:
        self.driver, self.seconds = driver, seconds
        self.steps = 16
        """Steps of the next chunk."""

    def took(self, steps: int, seconds: float) -> None:
        """A chunk of so many steps took so long [s]."""
        if not steps:
            return
        overhead = self.driver.overhead
        chunk = self.seconds * max(1.0, overhead / OVERHEAD_SECONDS)
        wanted = int(chunk * steps / max(seconds - overhead, 1e-6))
        self.steps = min(max(1, min(wanted, 4 * self.steps)), MOST_STEPS)
