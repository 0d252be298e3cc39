"""Verdict on a scaled run, from a first part of the run that is long enough to show the lag."""

from __future__ import annotations

import math
from typing import Any

from articulon.advice.case_time_scales import CaseTimeScales
from articulon.cases.case import Case
from articulon.cases.simulated_model import simulated
from articulon.errors import ArticulonError
from articulon.model import Model
from articulon.report.readable_numbers import percent
from articulon.simulation.memory_verdict import judged_in_memory

RELAXATIONS = 10.0
"""Length of the part, in scaled relaxation times τ/a2."""
FRAMES = 100
BUDGET = 0.5
"""Allowed cost of the unscaled reference motion, as a fraction of the evaluations."""


def judged_probe(
    case: Case,
    model: Model,
    a2: float,
    scales: CaseTimeScales,
    tolerance: float,
    whole: float,
    seconds: float,
) -> tuple[str, float | None, float, str]:
    """Run the first part of a scaled case, and judge it.

    Returns the verdict on this part, the error expected for the whole run, the length of the part as a fraction of the
    run, and an explanation.

    Parameters
    ----------
    case, model
        Scaled case, and its model.
    a2
        Scaling factor.
    scales
        Time scales of the unscaled case.
    tolerance
        Allowed error.
    whole
        Wall time of the whole scaled run [s].
    seconds
        Wall time for the part [s].
    """
    length = min(scales.duration, RELAXATIONS * scales.slowest_drag / a2)
    if whole * length / scales.duration > seconds or not math.isfinite(length):
        return (
            "inconclusive",
            None,
            0.0,
            "too expensive to run long enough for a verdict here; the run itself will give one",
        )
    integrator: Any = case.integrator
    options = {"rtol": integrator.rtol, "atol": integrator.atol}
    try:
        done = simulated(
            model,
            length,
            rule=str(integrator.rule),
            frames=FRAMES,
            scaling=case.scaling,
            seed=int(case.run.seed),
            **options,
        )
        assert done.memory is not None
        found = judged_in_memory(done, done.memory, tolerance, "time", BUDGET)
    except ArticulonError as error:
        return "inconclusive", None, 0.0, f"a part of it cannot run: {str(error).splitlines()[0]}"
    assert found is not None
    worst = found.get("worst") or {}
    late, of_part = worst.get("late"), worst.get("time_error")
    largest = "" if of_part is None else f", {worst.get('words', '')}"
    words = f"the verdict on {percent(length / scales.duration, 2)} of it is '{found['verdict']}'{largest}".replace(
        "\u00a0", " "
    )
    part = None if late is None else abs(float(late)) / scales.duration
    return str(found["verdict"]), part, length / scales.duration, words
