"""The verdict on a scaled run, asked of a part of it that is long enough for its lag to be there."""

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
"""Scaled relaxation times τ/a2 that it is run for."""
FRAMES = 100
BUDGET = 0.5
"""What the unscaled motion beside it may cost, as a part of its evaluations."""


def judged_probe(
    case: Case,
    model: Model,
    a2: float,
    scales: CaseTimeScales,
    tolerance: float,
    whole: float,
    seconds: float,
) -> tuple[str, float | None, float, str]:
    """The verdict on a scaled run of a part of a case, the error of the whole run that follows, that part, and all in
    words.

    Parameters
    ----------
    case, model
        The scaled case, and its model.
    a2
        Its factor.
    scales
        The time scales of the unscaled case.
    tolerance
        Error that is allowed.
    whole
        Wall time of the whole scaled run [s].
    seconds
        Wall time for this [s].
    """
    length = min(scales.duration, RELAXATIONS * scales.slowest_drag / a2)
    if whole * length / scales.duration > seconds or not math.isfinite(length):
        return (
            "inconclusive",
            None,
            0.0,
            "too dear to be run for long enough to be judged here; the run's verdict will say",
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
        return "inconclusive", None, 0.0, f"a part of it does not run: {str(error).splitlines()[0]}"
    assert found is not None
    worst = found.get("worst") or {}
    late, of_part = worst.get("late"), worst.get("time_error")
    told = "" if of_part is None else f", {worst.get('words', '')}"
    words = f"the verdict on {percent(length / scales.duration, 2)} of it is '{found['verdict']}'{told}".replace(
        "\u00a0", " "
    )
    part = None if late is None else abs(float(late)) / scales.duration
    return str(found["verdict"]), part, length / scales.duration, words
