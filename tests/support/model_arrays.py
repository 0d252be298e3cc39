"""Every array that can be reached from a model by its public names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def arrays_of(value: Any, path: str = "model") -> Iterator[tuple[str, np.ndarray]]:
    """Path and array of everything public below a value: attributes, fields of named tuples, entries of tables."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for name in value._fields:
            yield from arrays_of(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, tuple | list):
        for k, item in enumerate(value):
            yield from arrays_of(item, f"{path}[{k}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from arrays_of(item, f"{path}[{key!r}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for name in sorted(name for name in dir(value) if not name.startswith("_")):
            item = getattr(value, name)
            if not callable(item):
                yield from arrays_of(item, f"{path}.{name}")
