"""Conversion of the numbers in a summary to a flat table by dotted names, so that they can be averaged over members."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NOT_RESULTS = (
    *("versions", "seed", "digest", "dynamics", "integrator", "scaling", "duration", "noise_window"),
    "stop_time",  # a mean over the runs that stopped would ignore the others
)
"""Sections of a summary that are inputs, or that must not be averaged."""
LABELS = ("what", "name", "kind", "body")
"""Keys that distinguish the tables of a list, in order of priority."""
LONGEST_LIST = 64
"""Largest length of a list of single numbers; a longer list is a series."""


def figures_of(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return all finite numbers of a summary by dotted name, such as ``"temperatures.kinetic.mean"``.

    Settings, texts and booleans are left out. The tables of a list are identified by their labels, as in
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
