"""Reading what a run has left."""

import json
from pathlib import Path
from typing import Any

from articulon.errors import ArticulonError

SUMMARY = "summary.json"
"""The figures of a run."""


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary of a run; raises ArticulonError where there is none that can be read."""
    file = folder / SUMMARY
    try:
        if file.exists() and not file.is_file():
            raise ArticulonError(f"{file}: is no file; remove it, and resume=True writes it again")
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArticulonError(f"{file}: cannot be read: {error.strerror}; is the folder that of a run?") from None
    except (ValueError, RecursionError) as error:
        raise ArticulonError(f"{file}: is damaged ({error}); resume=True writes it again") from None
    if not isinstance(found, dict):
        raise ArticulonError(f"{file}: is damaged (it is no table); resume=True writes it again")
    for key, kinds in _ALWAYS.items():
        value = found.get(key)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise ArticulonError(f"{file}: is damaged ('{key}' is missing or wrong); resume=True writes it again")
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
"""What every summary has."""
