"""Rows of the results of a comparison: one for each run that ended, diverged, or was not made."""

from __future__ import annotations

from typing import Any

from articulon.comparisons.path_measures import clock
from articulon.comparisons.variant_runs import Entry
from articulon.errors import ArticulonError, DivergenceError
from articulon.report.html import fidelity_verdict
from articulon.report.view import View, stop_time

MEASURED, CACHED, ESTIMATED = "measured", "cached", "estimated"
"""Sources of a wall time: this comparison, an earlier one on this machine, or a short run."""

DIVERGED, NOT_RUN = "diverged", "not run"
"""Status of a run whose values became infinite or undefined, and of a run that was not made. Both have no figures."""

_NOTHING = dict.fromkeys(
    (
        *("steps", "rejected", "evaluations", "active_mean", "stop_time", "verdict", "predicted_delay"),
        *("energy_balance_error_relative", "wall_seconds", "wall_seconds_are", "estimated_from"),
    )
)


def run_row(entry: Entry, view: View, wall: float, source: str) -> dict[str, Any]:
    """Row of a finished run with a measured or cached wall time [s]."""
    summary, simulated = view.summary, float(view.summary["simulated_time"])
    worst = (summary.get("fidelity") or {}).get("worst") or {}
    notes = ["made by an earlier comparison, which measured its wall time"] if source == CACHED else []
    return {
        **_description(entry),
        "status": summary["status"],
        "active_mean": (summary.get("adaptive") or {}).get("active_mean", 1.0),
        "steps": summary["steps"],
        "rejected": summary["rejected"],
        "evaluations": summary["evaluations"],
        "wall_seconds": wall,
        "wall_seconds_are": source,
        "estimated_from": None,
        "simulated_time": simulated,
        "physical_time": clock(entry.case) * simulated,
        "stop_time": stop_time(summary),
        "verdict": fidelity_verdict(summary),
        "predicted_delay": worst.get("late"),
        "energy_balance_error_relative": summary.get("energy_balance_error_relative"),
        "notes": notes + [str(note) for note in summary.get("notes", ())],
    }


def diverged_row(entry: Entry, error: DivergenceError) -> dict[str, Any]:
    """Row of a run that diverged, with the time reached."""
    reached = {"simulated_time": error.time, "physical_time": clock(entry.case) * error.time}
    return {**_description(entry), **_NOTHING, "status": DIVERGED, **reached, "notes": [why(error)]}


def estimated_row(entry: Entry, wall: float, sample: float, simulated: float, note: str) -> dict[str, Any]:
    """Return the row of a run that was not made. Its wall time [s] for the time ``simulated`` was estimated from a run
    of the length ``sample`` [time]."""
    cost = {"wall_seconds": wall, "wall_seconds_are": ESTIMATED, "estimated_from": sample}
    times = {"simulated_time": simulated, "physical_time": simulated}
    return {**_description(entry), **_NOTHING, "status": NOT_RUN, **cost, **times, "notes": [note]}


def why(error: ArticulonError) -> str:
    """Return an error as a phrase. For an error during a run, the phrase says where in the run it occurred, but does
    not name scratch files."""
    if isinstance(error, DivergenceError):
        where = f" at body '{error.body}'" if error.advice is None else ""
        moment = f"t = {error.time:.6g} {error.time_unit}".rstrip()
        return f"it diverged at {moment}: {error.reason}{where}"
    return str(error).splitlines()[0]


def _description(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "group": entry.group,
        "is_reference": entry.is_reference,
        "without_unscaled": entry.without or None,
        "scaling": entry.case.scaling.model_dump(mode="json"),
        "rule": entry.case.integrator.rule,
        "digest": entry.case.digest(),
    }
