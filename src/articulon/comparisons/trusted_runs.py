"""Sentences on which runs of a comparison can be trusted, and which of these is the cheapest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from articulon.comparisons.compared import Compared
from articulon.report.readable_numbers import number, percent, suited, wall_time
from articulon.report.verdict_words import verdict_words

UNSCALED = "unscaled"
"""Text that replaces the verdict for a run without scaled forces, which needs no verdict."""


class RunVerdict(NamedTuple):
    """Summary of the verdict on one run."""

    name: str
    """Name of the run."""
    verdict: str
    """``trusted``, ``suspect``, ``inconclusive`` or ``violated``, or :data:`UNSCALED`."""
    words: str
    """The verdict, the stop time, and the cost of the run, in one or two sentences."""


def run_verdicts(done: Compared) -> list[RunVerdict]:
    """Return the verdicts of all finished runs; empty if none of them is scaled."""
    ended = [row for row in done.rows if row["name"] in done.views]
    if all(row["scaling"]["policy"] == "none" for row in ended):
        return []
    return [_said(done, row) for row in ended]


def _said(done: Compared, row: Mapping[str, Any]) -> RunVerdict:
    found = verdict_words(done.views[row["name"]].summary)
    unscaled = row["scaling"]["policy"] == "none"
    verdict = UNSCALED if unscaled else "inconclusive" if found is None else found.verdict
    judged = "no force is scaled" if unscaled else f"{verdict}{'' if found is None else found.rest}"
    return RunVerdict(row["name"], verdict, f"{row['name']}: {judged}. {_stop(done, row)}{_cost(row)}")


def _stop(done: Compared, row: Mapping[str, Any]) -> str:
    stop, time = done.case.run.stop, row["stop_time"]
    if stop is None or time is None:
        return ""
    said = f"{stop.label.capitalize()} at {suited(done.case.units, 'time', time).text(time, 4)}"
    late = row.get("lateness_relative")
    if late is None:
        return f"{said}. "
    return f"{said}, {percent(abs(late), 2)} {'later' if late > 0.0 else 'earlier'} than the reference. "


def _cost(row: Mapping[str, Any]) -> str:
    measured = "" if row["wall_seconds_are"] == "measured" else ", measured earlier"
    evaluations = number(row["evaluations"])
    return f"It took {wall_time(row['wall_seconds'])}{measured} and {evaluations} evaluations of the forces."


def which_to_trust(done: Compared) -> str:
    """Return a sentence that recommends the unscaled or trusted run with the lowest cost per simulated time.

    The sentence is empty if nothing is scaled.
    """
    said = run_verdicts(done)
    if not said:
        return ""
    sound = [one.name for one in said if one.verdict in (UNSCALED, "trusted")]
    others = [one.name for one in said if one.name not in sound]
    if not sound:
        return "None of these runs can be trusted: none is unscaled, and none has the verdict 'trusted'."
    pace = {name: _wall_seconds_per_time(done.row(name)) for name in sound}
    best = min(sound, key=pace.__getitem__)
    why = "nothing in it is scaled" if done.row(best)["scaling"]["policy"] == "none" else "its verdict is 'trusted'"
    text = f"Take '{best}': {why}"
    rivals = [f"'{name}'" for name in sound if name != best]
    if rivals:
        text += f", and it costs less than {_list(rivals)}, which can be trusted too"
    return f"{text}.{_warning(others)}"


def _wall_seconds_per_time(row: Mapping[str, Any]) -> float:
    return float(row["wall_seconds"]) / float(row["physical_time"] or 1.0)


def _warning(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return f" Do not rely on {_list(quoted)}." if quoted else ""


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
