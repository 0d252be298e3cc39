"""Runs that are timed: whole ones from their first step to their end, and short ones from which a cost is estimated."""

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
"""Wall time that an unscaled explicit run may be expected to take to be made unasked [s]."""
SAMPLE = 4e4
"""Length of the run from which a cost is estimated, in steps of a fixed rule or in the fastest relaxation times."""
PART = 0.1
"""Part of a run that is no longer than this, from which its cost is estimated."""


class Stopwatch:
    """Passes on what a run shows and measures it from its first step to its end."""

    def __init__(self, inner: Progress) -> None:
        self._inner = inner
        self._began = self._ended = math.nan

    @property
    def seconds(self) -> float:
        """Wall time [s]."""
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
    """The step of a fixed rule [time], or the fastest relaxation time of the scaled system; infinite where there is
    neither."""
    case = entry.case
    step = getattr(case.integrator, "step", None)
    return float(step or fastest_relaxation(case.build_model()) / case.scaling.least_factor())


def run_short(entry: Entry, steps: float) -> tuple[dict[str, Any], float]:
    """A short run of an entry, which loads and warms up its code: its summary, and the wall time of its steps [s].

    ``steps`` is its length in steps of a fixed rule, or in the fastest relaxation times of the scaled system.
    """
    case, unit = entry.case, _unit(entry)
    duration = float(case.run.duration)
    # Without drag nothing says how long a step is: a hundredth of the run then is a short one.
    length = steps * unit if math.isfinite(unit) else duration / 100.0
    if isinstance(case.integrator, FrictionImplicit) or length < duration:
        # It ends where the whole run does: beyond that a case may have no physics, and no steps that stay finite.
        case = case.with_overrides({"run.duration": length, "run.frames": 1})
    watch = Stopwatch(Silent())
    with tempfile.TemporaryDirectory() as scratch:
        run(case, out=Path(scratch) / "short", progress=watch)
        return read_summary(Path(scratch) / "short"), watch.seconds


def estimated(entry: Entry, simulated_time: float) -> tuple[float, float]:
    """What a run would take for a simulated time [s], and the simulated time of the run that this is taken from.

    From the difference between two runs, so that what every run takes once is not counted for all of them.
    """
    run_short(entry, 8.0)
    # Of a run that is shorter than the sample a part is enough.
    whole = simulated_time / _unit(entry)
    sample = SAMPLE if whole > SAMPLE or whole == 0.0 else PART * whole
    (first, first_wall), (second, second_wall) = (run_short(entry, sample * part) for part in (0.2, 1.0))
    longer = float(second["simulated_time"]) - float(first["simulated_time"])
    once = first_wall if longer > 0.0 and second_wall > first_wall else 0.0
    elapsed = longer if once else float(second["simulated_time"])
    return (second_wall - once) / elapsed * simulated_time, float(second["simulated_time"])
