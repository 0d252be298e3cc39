"""The numeric figures of a summary under one name each, so that members can be averaged figure by figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NOT_RESULTS = (
    *("versions", "seed", "digest", "dynamics", "integrator", "scaling", "duration", "noise_window"),
    "stop_time",  # its mean over the runs that were stopped says nothing of those that were not
)
"""Sections of a summary that say what was asked for, and not what came of it, or that are not averaged."""
LABELS = ("what", "name", "kind", "body")
"""What tells apart the tables of a list, in this order."""
LONGEST_LIST = 64
"""Numbers of a list that are figures; a longer one is a series."""


def figures_of(summary: Mapping[str, Any]) -> dict[str, float]:
    """All finite numbers of a summary by dotted name, such as ``"temperatures.kinetic.mean"``.

    Settings, texts and truth values are left out; the tables of a list go by what they are about, as in
    ``"checks[drift of the energy].value"``.

    >>> figures_of({"steps": 3, "status": "complete", "forces": {"potential": 0.5}, "seed": 1})
    {'steps': 3.0, 'forces.potential': 0.5}
    """
    kept = {key: value for key, value in summary.items() if key not in NOT_RESULTS}
    return dict(_numbers(kept, ""))


def _numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for key, item in _elements(value):
            yield from _numbers(item, f"{name}[{key}]")
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        yield name, float(value)


def _elements(values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    if len(values) > LONGEST_LIST:
        return
    for label in LABELS:
        names = [str(item.get(label)) for item in values if isinstance(item, Mapping) and label in item]
        if len(names) == len(values) == len(set(names)):
            yield from zip(names, values, strict=True)
            return
    yield from enumerate(values)
