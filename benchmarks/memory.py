"""How much memory a model takes."""

import resource
import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def bytes_of(*values: Any) -> int:
    """Bytes of all arrays, texts and tuples in some values, what they share counted once."""
    seen: set[int] = set()
    total, left = 0, list(values)
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            total += value.nbytes
            continue
        total += sys.getsizeof(value)
        if isinstance(value, tuple | list):
            left.extend(value)
        elif is_dataclass(value):
            left.extend(getattr(value, field.name) for field in fields(value))
    return total


def peak_bytes() -> int:
    """The most memory that this process has held at a time, its libraries and compiled code included [bytes]."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most  # macOS counts bytes, Linux kilobytes
