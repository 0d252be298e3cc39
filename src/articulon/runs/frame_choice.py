"""Selection of frames of a run, with Python's slicing rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.errors import ArticulonError
from articulon.inputs import shown


def chosen_frames(wanted: Any, count: int, where: str) -> list[int]:
    """Return the numbers of the selected frames, counted from 0.

    Parameters
    ----------
    wanted
        Text "first:end:interval", or a slice; both exclude the frame ``end``. Or a list of numbers; one number; or None
        for all frames. Negative numbers count from the end.
    count
        Number of frames.
    where
        Name of the argument, with which messages begin.

    Raises
    ------
    ArticulonError
        If no frame is selected, or a frame that does not exist.
    """
    if wanted is None:
        wanted = slice(None)
    if isinstance(wanted, str):
        wanted = _from_text(wanted, where)
    if isinstance(wanted, slice):
        return _from_slice(wanted, count, where)
    given = [wanted] if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool) else wanted
    if not isinstance(given, Sequence | np.ndarray) or not all(
        isinstance(k, int | np.integer) and not isinstance(k, bool) for k in given
    ):
        raise ArticulonError(f"{where}: expected numbers of frames, or text such as '10:200:5', got {shown(wanted)}")
    for k in given:
        if not -count <= k < count:
            raise ArticulonError(f"{where}: there is no frame {k}; there are {count}, from 0 to {count - 1}")
    if not len(given):
        raise ArticulonError(f"{where}: no frame is selected")
    return [int(k) % count for k in given]


def _from_text(text: str, where: str) -> slice | list[int]:
    if re.fullmatch(r"\s*-?\d+\s*", text):
        return [int(text)]
    parts = text.split(":")
    if not 2 <= len(parts) <= 3 or any(not re.fullmatch(r"\s*(-?\d+)?\s*", part) for part in parts):
        raise ArticulonError(f"{where}: expected 'first:end:interval', such as '10:200:5', got {text!r}")
    return slice(*(int(part) if part.strip() else None for part in parts))


def _from_slice(wanted: slice, count: int, where: str) -> list[int]:
    step = 1 if wanted.step is None else wanted.step
    if not isinstance(step, int | np.integer) or step < 1:
        raise ArticulonError(f"{where}: the interval must be a whole number of at least 1, got {shown(wanted.step)}")
    for name, value, most in (("first", wanted.start, count - 1), ("end", wanted.stop, count)):
        if value is not None and not -count <= value <= most:
            raise ArticulonError(
                f"{where}: there is no frame {value if name == 'first' else value - 1}; there are {count}, from 0 to "
                f"{count - 1}"
            )
    found = list(range(count))[wanted]
    if not found:
        raise ArticulonError(f"{where}: no frame is selected")
    return found
