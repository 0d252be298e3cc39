"""Runs of an interrupted comparison: complete ones are reused, and the others continue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.comparisons import reference_cache
from articulon.comparisons.variant_runs import Entry
from articulon.errors import ArticulonError
from articulon.simulation.case_run import CASE, HELD
from articulon.simulation.summary import read_summary
from articulon.storage.atomic_writing import write_text


def check_folders(folder: Path, chosen: Sequence[Entry]) -> None:
    """Raise ArticulonError if the folder of an entry contains a run of another case, or a run that another version of
    the engine made."""
    for entry in chosen:
        place = folder / entry.name
        held = [name for name in HELD if (place / name).exists()]
        if not held:
            continue
        measured = _measured(place)
        if _digest(place) != entry.case.digest():
            reason = f"holds another run ({held[0]})"
        elif measured is not None and measured.get("engine") != reference_cache.engine():
            reason = "holds this run as made by another version of articulon"
        else:
            continue
        raise ArticulonError(f"{place} {reason}; choose another folder (out=...), or remove it")


def is_begun(place: Path) -> bool:
    """Return whether a folder contains a run, complete or not."""
    return (place / CASE).exists()


def complete_wall_seconds(case: Case, place: Path) -> float | None:
    """Return the wall time of the complete run of a case in a folder [s]; None if there is none."""
    if not is_begun(place) or not all((place / name).is_file() for name in reference_cache.KEPT):
        return None
    ended = ("complete", *([] if case.run.stop is None else [case.run.stop.label]))
    try:
        summary = read_summary(place)
        if summary["status"] not in ended:
            return None
        return float((_measured(place) or summary)["wall_seconds"])
    except (ArticulonError, OSError, ValueError, KeyError, TypeError):
        return None


def earlier_wall_seconds(place: Path) -> float:
    """Wall time of a run up to its interruption, from its summary [s]; 0 without a summary."""
    try:
        return float(read_summary(place)["wall_seconds"])
    except (ArticulonError, OSError, ValueError, KeyError, TypeError):
        return 0.0


def note_measured(place: Path, wall_seconds: float) -> None:
    """Record the wall time of a complete run, and the engine that made it."""
    text = json.dumps({"wall_seconds": wall_seconds, "engine": reference_cache.engine()})
    write_text(place / reference_cache.MEASURED, text + "\n")


def how_to_continue(folder: Path, chosen: Sequence[Entry]) -> str:
    """Return the message for an interrupted comparison: which runs are complete, and how to continue."""
    complete = [entry.name for entry in chosen if complete_wall_seconds(entry.case, folder / entry.name) is not None]
    runs = ", ".join(complete) if complete else "none yet"
    return (
        f"the comparison was stopped; complete runs in {folder}: {runs}.\n"
        "Run the same command again: complete runs are reused, and an interrupted one continues from its last "
        "checkpoint"
    )


def _digest(place: Path) -> str | None:
    try:
        return Case.read(place / CASE).digest()
    except ArticulonError:
        return None


def _measured(place: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((place / reference_cache.MEASURED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
