"""Read-only values: arrays, alone and in tables; their copies and unpickled values are read-only too.

NumPy loses the read-only flag of an array in pickling and deep copies, so frozen objects freeze themselves again.
"""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def freeze(value: Any) -> None:
    """Make every array of a value read-only, also in named tuples and tables."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for item in value:
            freeze(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            freeze(item)


def read_only(table: T) -> T:
    """Return the same named tuple of arrays, as read-only views."""
    if isinstance(table, np.ndarray):
        view = table.view()
        view.setflags(write=False)
        return view
    if isinstance(table, tuple) and hasattr(table, "_fields"):
        return type(table)(*(read_only(item) for item in table))
    return table


class Frozen:
    """A dataclass with read-only arrays and immutable tables; its copies are read-only too.

    Attributes that begin with an underscore are left unchanged.
    """

    def __post_init__(self) -> None:
        _freeze_attributes(self.__dict__)

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are left out because they can be computed again, and table views because they cannot be
        # pickled.
        found = {name for name in self.__dict__ if isinstance(getattr(type(self), name, None), cached_property)}
        return {
            name: dict(value) if isinstance(value, MappingProxyType) else value
            for name, value in self.__dict__.items()
            if name not in found
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        _freeze_attributes(state)
        self.__dict__.update(state)


def _freeze_attributes(attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        if not name.startswith("_"):
            freeze(value)
            if isinstance(value, dict | MappingProxyType):
                attributes[name] = MappingProxyType(dict(value))


def kept(value: Any) -> Any:
    """Return a read-only copy of numbers given by a user: arrays become read-only arrays, lists become tuples, and all
    other values are unchanged."""
    if isinstance(value, np.ndarray):
        copy = value.copy()
        copy.setflags(write=False)
        return copy
    if isinstance(value, list | tuple):
        return tuple(kept(item) for item in value)
    return value
