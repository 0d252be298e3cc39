"""The folder of a member: whether it is its own, whether its run has ended, and what is kept of the run beside it."""

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
"""Written when the run of a member has ended: time averages of its observables."""
ERROR = "error.txt"
"""Why a member has failed."""
UNFINISHED = ("running", "interrupted", "failed")
"""Of a summary: that the run has not come to its end."""


def check_member(folder: Path, case: Case, resume: bool) -> bool:
    """Whether a folder holds a run of its member; raises ArticulonError where it holds one of another case, or any
    while nothing is to go on."""
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
    """The whole summary of the run of a member that has come to its end; None where it has not.

    What a scaled run is worth is found after its last step, so that such a run has ended only when it says so.
    """
    if not os.path.lexists(folder / SUMMARY):
        return None
    try:
        summary = read_summary(folder)
    except ArticulonError:
        return None  # the run writes it again
    if summary["status"] in UNFINISHED or summary.get("digest") != case.digest():
        return None
    if case.scaling.scales and _ended(folder) is None:
        return None
    return summary


def time_averages(folder: Path, skip: float) -> dict[str, float | None]:
    """Mean over the frames of every observable of a run that has ended, undefined values left out; None where all are.

    Parameters
    ----------
    folder
        The folder of the run.
    skip
        Fraction of the frames at the start that are left out.
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
    """Write down that the run of a member has ended, with its averages."""
    text = json.dumps({"skip": skip, "averages": dict(averages)}, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(folder / ENDED, text + "\n")
    discard(folder / ERROR)


def note_failed(folder: Path, text: str) -> None:
    """Write down why a member has failed, as far as its folder can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / ERROR, text.rstrip() + "\n")
    except (OSError, ArticulonError):
        return  # the table has it


def noted_error(folder: Path) -> list[str]:
    """The lines of why a member has failed before; none where it has not."""
    try:
        return (folder / ERROR).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def progress_mark(folder: Path) -> tuple[int, int] | None:
    """Something that changes whenever a run gets further; None before its first checkpoint."""
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
