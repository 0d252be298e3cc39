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
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArticulonError(f"{file}: cannot be read: {error.strerror}; is the folder that of a run?") from None
    except ValueError as error:
        raise ArticulonError(f"{file}: is damaged ({error}); --resume writes it again") from None
