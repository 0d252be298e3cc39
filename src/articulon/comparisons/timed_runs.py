"""Timing of runs: whole runs from their first step to their end, and short runs from which a cost is estimated."""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import Any

from articulon.comparisons.variant_runs import Entry
from articulon.forces.brownian import fastest_relaxation
from articulon.integrate import FrictionImplicit
from articulon.simulation.case_run import run
from articulon.simulation.run_request import Progress, Silent
from articulon.simulation.summary import read_summary

PATIENCE = 60.0
"""Longest expected wall time of an unscaled explicit run that is added without request [s]."""
SAMPLE = 4e4
"""Length of a run from which a cost is estimated, in steps of an integrator with fixed steps, or in fastest relaxation
times."""
PART = 0.1
"""Fraction of the run used for the estimate if the run is shorter than ``SAMPLE``."""


class Stopwatch:
    """Measures the wall time of a run from its first step to its end, and forwards its progress messages."""

    def __init__(self, inner: Progress) -> None:
        self._inner = inner
        self.announces = getattr(inner, "announces", False)
        """Whether standard error receives announcements, as for :class:`Silent`."""
        self._began = self._ended = math.nan

    @property
    def seconds(self) -> float:
        """Measured wall time [s]."""
        return self._ended - self._began

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """See :class:`Progress`."""
        self._inner.start(total_time, unit, resumed_from)
        self._began = time.perf_counter()

    def message(self, text: str) -> None:
        """See :class:`Progress`."""
        self._inner.message(text)

    def update(self, time: float, step: float, steps: int) -> None:
        """See :class:`Progress`."""
        self._inner.update(time, step, steps)

    def finish(self, text: str = "") -> None:
        """See :class:`Progress`."""
        self._ended = time.perf_counter()
        self._inner.finish(text)


def _unit(entry: Entry) -> float:
    """Return the step of an integrator with fixed steps [time], otherwise the fastest relaxation time of the scaled
    system; infinite without drag."""
    case = entry.case
    step = getattr(case.integrator, "step", None)
    return float(step or fastest_relaxation(case.build_model()) / case.scaling.least_factor())


def run_short(entry: Entry, steps: float) -> tuple[dict[str, Any], float]:
    """Make a short run of an entry to load its code; return its summary, and the wall time of its steps [s].

    ``steps`` is its length, in steps of an integrator with fixed steps, or in fastest relaxation times of the scaled
    system.
    """
    case, unit = entry.case, _unit(entry)
    duration = float(case.run.duration)
    # Without drag the length of a step is unknown; a hundredth of the run is used instead.
    length = steps * unit if math.isfinite(unit) else duration / 100.0
    if isinstance(case.integrator, FrictionImplicit) or length < duration:
        # The short run is not longer than the whole run. Beyond its end the model may be invalid and steps may diverge.
        case = case.with_overrides({"run.duration": length, "run.frames": 1})
    watch = Stopwatch(Silent())
    with tempfile.TemporaryDirectory() as scratch:
        run(case, out=Path(scratch) / "short", progress=watch)
        return read_summary(Path(scratch) / "short"), watch.seconds


def estimated(entry: Entry, simulated_time: float) -> tuple[float, float]:
    """Estimate the wall time of a run for a simulated time [s]. Return this estimate, and the simulated time of the run
    on which it is based.

    The estimate uses the difference of two runs, so that one-time costs are not extrapolated.
    """
    run_short(entry, 8.0)
    # For a run that is shorter than the sample, a fraction of the run is enough.
    whole = simulated_time / _unit(entry)
    sample = SAMPLE if whole > SAMPLE or whole == 0.0 else PART * whole
    (first, first_wall), (second, second_wall) = (run_short(entry, sample * part) for part in (0.2, 1.0))
    longer = float(second["simulated_time"]) - float(first["simulated_time"])
    once = first_wall if longer > 0.0 and second_wall > first_wall else 0.0
    elapsed = longer if once else float(second["simulated_time"])
    return (second_wall - once) / elapsed * simulated_time, float(second["simulated_time"])
