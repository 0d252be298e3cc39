"""What the groups and figures of a sweep are called, and its numbers in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from articulon.cases.overrides import parts
from articulon.cases.toml_writing import inline
from articulon.report.readable_numbers import Scale, number

ALL = "all members"
"""The group of a sweep over seeds alone."""


def group_label(values: Mapping[str, Any]) -> str:
    """A group by its values: ``"temperature = 300K"``."""
    return ", ".join(f"{parts(key)[-1]} = {plain(value)}" for key, value in values.items()) or ALL


def plain(value: Any) -> str:
    """A value as a person would write it."""
    return value if isinstance(value, str) else inline(value)


def mean_words(found: Mapping[str, Any] | None) -> str:
    """A mean with half of its interval: ``"0.52 ± 0.03"``, and how many it is of where there is none."""
    if found is None:
        return "–"
    if found["interval"] is None:
        return f"{number(found['mean'])} (one)"
    half = 0.5 * (found["interval"][1] - found["interval"][0])
    return f"{number(found['mean'])} ± {number(half, 2)}"


def passage_words(found: Mapping[str, Any], time: Scale) -> list[str]:
    """First-passage statistics of a group: passages, median, mean until the end, and mean if the rate is constant."""
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
    """An end of an interval of times, or a word where there is none."""
    return otherwise if value is None else time.text(value, 3)


PASSAGE_HEADS = ("{stop}", "median\n(95 %)", "mean of min(t, end)", "mean at a constant rate\n(95 %)")
"""Headings of :func:`passage_words`; ``{stop}`` is what the case calls its stop."""


def passage_heads(stop: str) -> list[str]:
    """The headings with what the case calls its stop."""
    return [head.format(stop=stop) for head in PASSAGE_HEADS]


def shortened(name: str, letters: int) -> str:
    """A name with its middle left out where it is long."""
    if len(name) <= letters:
        return name
    front = (letters - 1) // 2
    return f"{name[:front]}…{name[len(name) - (letters - 1 - front) :]}"


def scale_of(units: Any, groups: Sequence[Mapping[str, Any]]) -> Scale:
    """The unit that suits the longest first-passage time."""
    from articulon.report.readable_numbers import suited

    longest = [group["first_passage"]["until"] for group in groups if group["first_passage"] is not None]
    return suited(units, "time", max(longest, default=0.0))
