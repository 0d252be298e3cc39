"""Labels of a sweep's groups and figures, and its results as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from articulon.cases.overrides import parts
from articulon.cases.toml_writing import inline
from articulon.report.readable_numbers import Scale, number

ALL = "all members"
"""Label of the only group of a sweep over seeds."""


def group_label(values: Mapping[str, Any]) -> str:
    """Return the label of a group from its values: ``"temperature = 300K"``."""
    return ", ".join(f"{parts(key)[-1]} = {plain(value)}" for key, value in values.items()) or ALL


def plain(value: Any) -> str:
    """Format a value in the usual notation, without quotation marks."""
    return value if isinstance(value, str) else inline(value)


def mean_words(found: Mapping[str, Any] | None) -> str:
    """Format a mean with half the width of its interval: ``"0.52 ± 0.03"``. Without an interval, give the number of
    values."""
    if found is None:
        return "–"
    if found["interval"] is None:
        return f"{number(found['mean'])} (one)"
    half = 0.5 * (found["interval"][1] - found["interval"][0])
    return f"{number(found['mean'])} ± {number(half, 2)}"


def passage_words(found: Mapping[str, Any], time: Scale) -> list[str]:
    """Format first-passage statistics of a group: passages, median, restricted mean, and mean at a constant rate."""
    low, high = found["median_interval"]
    ends = [bound(time, low, "unknown"), bound(time, high, "unknown")]
    median = "not reached" if found["median"] is None else time.text(found["median"])
    least, most = found["memoryless_interval"]
    mean = "–" if found["memoryless_mean"] is None else time.text(found["memoryless_mean"])
    return [
        f"{found['stopped']} of {found['runs']}",
        f"{median} ({ends[0]} to {ends[1]})",
        f"{time.text(found['restricted_mean'])} (to {time.text(found['until'])})",
        f"{mean} ({bound(time, least, '0')} to {bound(time, most, 'unknown')})",
    ]


def bound(time: Scale, value: float | None, otherwise: str) -> str:
    """Format an end of an interval of times; if the end is None, return the text ``otherwise``."""
    return otherwise if value is None else time.text(value, 3)


PASSAGE_HEADS = ("{stop}", "median\n(95 %)", "mean of min(t, end)", "mean at a constant rate\n(95 %)")
"""Headings of :func:`passage_words`; ``{stop}`` is the case's label of its stop condition."""


def passage_heads(stop: str) -> list[str]:
    """Return the headings with the case's label of its stop condition."""
    return [head.format(stop=stop) for head in PASSAGE_HEADS]


def shortened(name: str, letters: int) -> str:
    """Shorten a long name by leaving out its middle."""
    if len(name) <= letters:
        return name
    front = (letters - 1) // 2
    return f"{name[:front]}…{name[len(name) - (letters - 1 - front) :]}"


def scale_of(units: Any, groups: Sequence[Mapping[str, Any]]) -> Scale:
    """Return a unit of suitable size for the longest first-passage time."""
    from articulon.report.readable_numbers import suited

    longest = [group["first_passage"]["until"] for group in groups if group["first_passage"] is not None]
    return suited(units, "time", max(longest, default=0.0))
