"""Going on with the run of a folder for longer than its case says."""

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
"""Keys that may differ where a run goes on for longer."""


def going_on(folder: Path, case: Case, name: str = CASE) -> tuple[Case, Case | None]:
    """The case that the run of a folder goes on with, and the shorter one that it has been made with so far, in the
    file of that name; None where that is the same, or another run altogether.

    A duration that is changed by an override leaves the interval between frames as it was.

    Raises
    ------
    CaseError
        For a shorter duration, one that is no whole number of the intervals between frames, and frames at others.
    ArticulonError
        Where what the case watches has ended the run.
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
        raise CaseError(f"{folder} holds a run of {before}, and {DURATION} is {after}; give a longer one to go on")
    summary = _summary(folder)
    if summary.get("stop_time") is not None:
        raise ArticulonError(f"{folder}: the run has {summary['status']}, which ended it; it cannot go on for longer")
    return longer, held


def _at_the_same_interval(folder: Path, case: Case, held: Case) -> Case:
    """The case with as many frames as keep the interval of what is held."""
    run, frames = case.run, held.run.frames
    if run.frame_interval is not None or held.run.frame_interval is not None or frames is None:
        return case
    if run.interval == held.run.interval:
        return case
    count = Fraction(repr(float(run.duration))) / Fraction(repr(float(held.run.duration))) * frames
    if count.denominator != 1:
        unit = "" if case.units.time is None else case.units.symbols[2]
        given, apart = (with_unit(float(time), unit, 9) for time in (run.duration, held.run.interval))
        raise CaseError(f"{case.source}: {DURATION}: {given} is no whole number of the {apart} between frames")
    if FRAMES in case.changes and run.frames != frames:
        raise CaseError(
            f"{case.source}: {FRAMES}: frames stay as far apart as they are in {folder}; leave it out, or give {count}"
        )
    return replace(case, run=run.model_copy(update={"frames": int(count)}))


def _summary(folder: Path) -> dict[str, Any]:
    try:
        return read_summary(folder)
    except ArticulonError:  # it was killed before its first
        return {}
