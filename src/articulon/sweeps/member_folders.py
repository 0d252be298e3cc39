"""The folder of a member: whether it belongs to the member, whether its run has ended, and additional files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from articulon.analysis.time_averages import first_frame
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.simulation.case_run import CASE, HELD
from articulon.simulation.results import Run
from articulon.storage.atomic_writing import discard, write_text
from articulon.storage.file_reading import SUMMARY, read_summary

ENDED = "member.json"
"""File that is written when a member's run has ended, with the time averages of its observables."""
ERROR = "error.txt"
"""File with the error of a failed member."""
UNFINISHED = ("running", "interrupted", "failed")
"""Statuses in the summary of a run that is not complete."""


def check_member(folder: Path, case: Case, resume: bool) -> bool:
    """Return whether a folder holds a run of its member. Raises ArticulonError if the folder holds a run of another
    case, or if it holds a run and ``resume`` is False."""
    held = [name for name in HELD if os.path.lexists(folder / name)]
    if not held:
        return False
    if not resume:
        raise ArticulonError(
            f"{folder} holds another run ({held[0]}); continue the sweep (resume=True), or choose another folder "
            "(out=...)"
        )
    if os.path.lexists(folder / CASE):
        case.check_continues(folder / CASE)
    return True


def finished_summary(folder: Path, case: Case) -> dict[str, Any] | None:
    """Return the summary of a member's completed run; None if the run is not complete.

    The verdict on a scaled run is made after its last step. So a scaled run is complete only if its summary has the
    verdict.
    """
    if not os.path.lexists(folder / SUMMARY):
        return None
    try:
        summary = read_summary(folder)
    except ArticulonError:
        return None  # the run will write the summary again
    if summary["status"] in UNFINISHED or summary.get("digest") != case.digest():
        return None
    if case.scaling.scales and _ended(folder) is None:
        return None
    return summary


def time_averages(folder: Path, skip: float) -> dict[str, float | None]:
    """Return the mean over the frames of every observable of a completed run. Undefined values are left out; None if
    all values are undefined.

    Parameters
    ----------
    folder
        The folder of the run.
    skip
        Fraction of the frames at the start that is left out.
    """
    kept = _ended(folder)
    if kept is not None and kept.get("skip") == skip and isinstance(kept.get("averages"), dict):
        return dict(kept["averages"])
    found: dict[str, float | None] = {}
    for name, values in Run(folder).observables.items():
        if name == "time":
            continue
        later = np.asarray(values, dtype=float)[first_frame(len(values), skip) :]
        defined = later[np.isfinite(later)]
        found[name] = float(defined.mean()) if defined.size else None
    return found


def note_ended(folder: Path, averages: Mapping[str, float | None], skip: float) -> None:
    """Record that a member's run has ended, and its averages."""
    text = json.dumps({"skip": skip, "averages": dict(averages)}, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(folder / ENDED, text + "\n")
    discard(folder / ERROR)


def note_failed(folder: Path, text: str) -> None:
    """Record the reason why a member has failed, if its folder is writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / ERROR, text.rstrip() + "\n")
    except (OSError, ArticulonError):
        return  # the table of the sweep has the error too


def noted_error(folder: Path) -> list[str]:
    """Return the lines of a member's earlier error; an empty list if there was no error."""
    try:
        return (folder / ERROR).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def progress_mark(folder: Path) -> tuple[int, int] | None:
    """Return a value that changes whenever a run makes progress; None before its first checkpoint."""
    try:
        found = os.stat(folder / "checkpoint.npz")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _ended(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / ENDED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
