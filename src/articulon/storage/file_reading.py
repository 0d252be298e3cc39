"""Reading of the JSON files of a run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from articulon.errors import ArticulonError

SUMMARY = "summary.json"
"""File with the summary of a run."""


def read_summary(folder: Path) -> dict[str, Any]:
    """Read the summary of a run; raise ArticulonError if it is missing or cannot be read."""
    file, again = folder / SUMMARY, "resume=True writes it again"
    if file.exists() and not file.is_file():
        raise ArticulonError(f"{file}: is not a file; remove it, and {again}")
    return read_record(file, _ALWAYS, "; is the folder that of a run?", again)


def read_record(
    file: Path,
    kinds: Mapping[str, tuple[type, ...]],
    unreadable: str = "",
    damaged: str = "remove it, and resume=True writes it again",
) -> dict[str, Any]:
    """Read a JSON table that must have certain keys.

    Parameters
    ----------
    file
        The file.
    kinds
        Allowed types of the value of each key.
    unreadable, damaged
        End of the message on a file that cannot be read, and advice for a damaged file.

    Raises
    ------
    ArticulonError
        If the file cannot be read, is damaged, or lacks a key.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArticulonError(f"{file}: cannot be read: {error.strerror}{unreadable}") from None
    except (ValueError, RecursionError) as error:
        raise ArticulonError(f"{file}: is damaged ({error}); {damaged}") from None
    if not isinstance(found, dict):
        raise ArticulonError(f"{file}: is damaged (it is not a table); {damaged}")
    for key, kind in kinds.items():
        value = found.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ArticulonError(f"{file}: is damaged ('{key}' is missing or wrong); {damaged}")
    return found


_NUMBER = (int, float)
_ALWAYS: dict[str, tuple[type, ...]] = {
    "status": (str,),
    "simulated_time": _NUMBER,
    "duration": _NUMBER,
    "wall_seconds": _NUMBER,
    "steps": (int,),
    "rejected": (int,),
    "evaluations": (int,),
}
"""Entries of every summary."""
