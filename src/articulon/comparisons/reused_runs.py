"""Runs of a comparison that was broken off: complete ones are taken as they are, the others go on."""

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
    """Raises ArticulonError for a folder that holds another run than its entry's, or one of another engine."""
    for entry in chosen:
        place = folder / entry.name
        held = [name for name in HELD if (place / name).exists()]
        if not held:
            continue
        measured = _measured(place)
        if _digest(place) != entry.case.digest():
            reason = f"holds another run ({held[0]})"
        elif measured is not None and measured.get("engine") != reference_cache.engine():
            reason = "holds this run as another version of articulon made it"
        else:
            continue
        raise ArticulonError(f"{place} {reason}; choose another folder (out=...), or remove it")


def is_begun(place: Path) -> bool:
    """Whether a folder holds a run, complete or not."""
    return (place / CASE).exists()


def complete_wall_seconds(case: Case, place: Path) -> float | None:
    """Wall time of the complete run that a folder holds [s]; None where it holds none."""
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
    """Wall time of a run until it was broken off, by its summary [s]; 0 where it has none."""
    try:
        return float(read_summary(place)["wall_seconds"])
    except (ArticulonError, OSError, ValueError, KeyError, TypeError):
        return 0.0


def note_measured(place: Path, wall_seconds: float) -> None:
    """Write down what was measured of a run that is complete, and by which engine it was made."""
    text = json.dumps({"wall_seconds": wall_seconds, "engine": reference_cache.engine()})
    write_text(place / reference_cache.MEASURED, text + "\n")


def how_to_continue(folder: Path, chosen: Sequence[Entry]) -> str:
    """What to say when a comparison is broken off."""
    complete = [entry.name for entry in chosen if complete_wall_seconds(entry.case, folder / entry.name) is not None]
    runs = ", ".join(complete) if complete else "none yet"
    return (
        f"the comparison was stopped; complete runs in {folder}: {runs}.\n"
        "Run the same command again: complete runs are reused, and one that was broken off goes on from its last "
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
