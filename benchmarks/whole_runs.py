"""Whole runs of cases, timed."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from articulon.cases import Case
from articulon.simulation.case_run import run
from articulon.simulation.preparation import prepare
from articulon.simulation.run_request import Silent


@dataclass
class Timed:
    """What a run took: to get ready, and then to advance."""

    simulated: float
    """In the unit that durations are asked for in."""
    ready: tuple[float, float]
    """Before the first step: wall-clock and processor time [s]."""
    advancing: tuple[float, float]
    """From the first step until the results were written [s]."""
    steps: int
    evaluations: int

    def wall(self, duration: float) -> float:
        """Wall-clock time for a duration, the time to get ready included [s]."""
        return self.ready[0] + self.advancing[0] * duration / self.simulated

    def processor(self, duration: float) -> float:
        """Processor time for a duration, the time to get ready included [s]."""
        return self.ready[1] + self.advancing[1] * duration / self.simulated


class Stopwatch(Silent):
    """The progress of a run, which notes when it started to advance."""

    def __init__(self) -> None:
        super().__init__()
        self.started = (0.0, 0.0)

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """The run begins."""
        self.started = (time.perf_counter(), time.process_time())


def timed(case: Case, simulated: float) -> Timed:
    """A whole run as ``articulon run`` makes it, into a folder that is thrown away, kernels loaded beforehand.

    ``simulated`` is the duration of the case, in any unit.
    """
    prepare(case)
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter(), time.process_time()
        done = run(case, Path(folder) / "run", progress=watch)
        ended = time.perf_counter(), time.process_time()
        summary = done.summary
    ready = watch.started[0] - began[0], watch.started[1] - began[1]
    advancing = ended[0] - watch.started[0], ended[1] - watch.started[1]
    return Timed(simulated, ready, advancing, summary["steps"], summary["evaluations"])
