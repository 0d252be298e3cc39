"""Continue the run in a folder beyond the duration of its case."""

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.errors import ArticulonError, CaseError
from articulon.simulation.results import CASE
from articulon.storage.file_reading import read_summary
from articulon.time_scales.contact_step_limit import with_unit

DURATION, FRAMES = "run.duration", "run.frames"
"""Keys that may differ if a run is extended."""


def extended_case(folder: Path, case: Case, name: str = CASE) -> tuple[Case, Case | None]:
    """Return the case with which the run in a folder continues, and the shorter case that has been run so far.

    The shorter case is read from the file ``name`` in the folder. It is None if the folder holds the same case, or a
    different run.

    An override of the duration leaves the interval between frames unchanged.

    Raises
    ------
    CaseError
        If the duration is shorter, or is not a whole number of intervals between frames, or if the times of the frames
        differ.
    ArticulonError
        If a stop condition of the case has already ended the run.
    """
    file = folder / name
    if DURATION not in case.changes or not os.path.lexists(file):
        return case, None
    held = Case.read(file, allow_code=case.allow_code)
    longer = _at_the_same_interval(folder, case, held)
    differing = set(longer.differences(held))
    if not differing or not differing <= {DURATION, FRAMES} or longer.run.interval != held.run.interval:
        return longer, None
    unit = "" if case.units.time is None else case.units.symbols[2]
    before, after = (with_unit(float(one.run.duration), unit, 9) for one in (held, longer))
    if float(longer.run.duration) < float(held.run.duration):
        raise CaseError(
            f"{folder} holds a run of {before}, and {DURATION} is {after}; give a longer duration to continue"
        )
    summary = _summary(folder)
    if summary.get("stop_time") is not None:
        raise ArticulonError(f"{folder}: the run ended because it has {summary['status']}; it cannot be extended")
    return longer, held


def _at_the_same_interval(folder: Path, case: Case, held: Case) -> Case:
    """Return the case with the number of frames that keeps the interval of the existing run."""
    run, frames = case.run, held.run.frames
    if run.frame_interval is not None or held.run.frame_interval is not None or frames is None:
        return case
    if run.interval == held.run.interval:
        return case
    count = Fraction(repr(float(run.duration))) / Fraction(repr(float(held.run.duration))) * frames
    if count.denominator != 1:
        unit = "" if case.units.time is None else case.units.symbols[2]
        given, apart = (with_unit(float(time), unit, 9) for time in (run.duration, held.run.interval))
        raise CaseError(f"{case.source}: {DURATION}: {given} is not a whole number of the {apart} between frames")
    if FRAMES in case.changes and run.frames != frames:
        raise CaseError(
            f"{case.source}: {FRAMES}: the interval between frames must be that of {folder}; leave it out, "
            f"or give {count}"
        )
    return replace(case, run=run.model_copy(update={"frames": int(count)}))


def _summary(folder: Path) -> dict[str, Any]:
    try:
        return read_summary(folder)
    except ArticulonError:  # the run was killed before its first summary
        return {}
