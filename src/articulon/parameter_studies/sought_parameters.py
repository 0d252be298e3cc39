"""Parameters of a search: start values, bounds, and the case with trial values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.cases.case import Case
from articulon.cases.study_sections import Sought
from articulon.errors import CaseError
from articulon.inputs import shown
from articulon.sensitivities.case_parameters import value_of_key


@dataclass(frozen=True)
class SoughtParameters:
    """Numbers of several keys of a case, concatenated."""

    case: Case
    """The case with its own values."""
    keys: tuple[str, ...]
    """Keys of the numbers."""
    shapes: tuple[tuple[int, ...], ...]
    """Shape of the numbers at each key; () for a single number."""
    own: np.ndarray
    """Values in the case, shape (numbers,)."""
    start: np.ndarray
    """Start values, shape (numbers,)."""
    bounds: tuple[np.ndarray, np.ndarray]
    """Lower and upper bounds, shape (numbers,) each; infinite if there is no bound."""

    @property
    def names(self) -> list[str]:
        """The key of every number."""
        found = []
        for key, shape in zip(self.keys, self.shapes, strict=True):
            found += [key + "".join(f"[{k}]" for k in index) for index in np.ndindex(*shape)]
        return found

    def values(self, numbers: np.ndarray) -> dict[str, Any]:
        """Return numbers by key, in the form of a case."""
        found, first = {}, 0
        for key, shape in zip(self.keys, self.shapes, strict=True):
            part = numbers[first : first + int(np.prod(shape, dtype=np.int64))]
            found[key] = part.reshape(shape).tolist() if shape else float(part[0])
            first += part.size
        return found

    def with_numbers(self, numbers: np.ndarray) -> Case:
        """Return the case with these numbers at its keys."""
        return self.case.with_overrides(self.values(numbers))


@dataclass(frozen=True)
class Found:
    """Result of a search."""

    case: Case
    """The case with the found values."""
    sought: SoughtParameters
    """The parameters that were sought."""
    numbers: np.ndarray
    """The found values, shape (numbers,)."""

    @property
    def names(self) -> list[str]:
        """The key of every number."""
        return self.sought.names

    @property
    def values(self) -> dict[str, Any]:
        """The found values, by key."""
        return self.sought.values(self.numbers)


def sought_parameters(
    case: Case, declared: Sequence[Sought], given: Mapping[str, Any] | Sequence[str] | None, where: str
) -> SoughtParameters:
    """Return the parameters of a search: those that a case declares, or the given ones instead. These are keys, or a
    dictionary with a start value, or start value, lower and upper bound, for each key; None leaves one of the three
    open.

    Raises
    ------
    CaseError
        For keys that are unknown or not numeric, values out of bounds, and an empty list.
    """
    entries = [_given(key, value) for key, value in _items(given, where)] if given is not None else list(declared)
    if not entries:
        raise CaseError(f"{where}.parameters: name keys of the case, such as 'forces[0].viscosity'")
    shapes, parts = [], []
    for k, one in enumerate(entries):
        place = f"{where}.parameters[{k}]"
        own = _numbers(case, one.key, None, f"{place}.key")
        limits = [
            np.full(own.shape, limit) if value is None else _like(case, one.key, value, own, f"{place}.{name}")
            for name, value, limit in (("minimum", one.minimum, -np.inf), ("maximum", one.maximum, np.inf))
        ]
        start = own if one.start is None else _like(case, one.key, one.start, own, f"{place}.start")
        if not ((limits[0] <= start) & (start <= limits[1]) & (limits[0] < limits[1])).all():
            raise CaseError(
                f"{where}: {one.key}: the start value {shown(start.tolist())} is not between the least and the largest "
                f"value, {shown(limits[0].tolist())} and {shown(limits[1].tolist())}"
            )
        shapes.append(own.shape)
        parts.append([part.ravel() for part in (own, start, *limits)])
    keys = tuple(one.key for one in entries)
    if len(set(keys)) < len(keys):
        raise CaseError(f"{where}.parameters: a key is named twice: {', '.join(keys)}")
    whole = [np.concatenate(part) for part in zip(*parts, strict=True)]
    return SoughtParameters(case, keys, tuple(shapes), whole[0], whole[1], (whole[2], whole[3]))


def _items(given: Any, where: str) -> list[tuple[str, Any]]:
    if isinstance(given, str):
        return [(given, None)]
    if isinstance(given, Mapping):
        return list(given.items())
    if isinstance(given, Sequence) and all(isinstance(key, str) for key in given):
        return [(key, None) for key in given]
    raise CaseError(f"{where}: parameters: expected keys of the case, or a dictionary of them, got {shown(given)}")


def _given(key: str, value: Any) -> Sought:
    if isinstance(value, tuple) and len(value) == 3:
        return Sought(key=key, start=value[0], minimum=value[1], maximum=value[2])
    return Sought(key=key, start=value)


def _numbers(case: Case, key: str, value: Any, where: str) -> np.ndarray:
    """Return the numbers at a key of the case, or the numbers of a value given for that key."""
    found = value_of_key(case if value is None else case.with_overrides({key: value}), key, where)
    try:
        numbers = np.array(found, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if isinstance(found, bool | int) or not np.isfinite(numbers).all() or not numbers.size:
        raise CaseError(f"{where}: '{key}' is {shown(found)}, not a number; name a key that has one")
    return numbers


def _like(case: Case, key: str, value: Any, own: np.ndarray, where: str) -> np.ndarray:
    """Return a given value in the form of a key's numbers; the value is one number for all of them, or one for each."""
    if own.ndim and not isinstance(value, list | tuple | np.ndarray):
        value = np.full(own.shape, value).tolist()
    elif isinstance(value, tuple | np.ndarray):
        value = np.asarray(value).tolist()
    try:
        found = np.array(value, dtype=np.float64)  # a bound may be a value that the key does not accept
    except (TypeError, ValueError):
        found = _numbers(case, key, value, where)
    if found.shape != own.shape:
        raise CaseError(f"{where}: expected as many numbers as '{key}' has, {own.size}, got {shown(value)}")
    return found
