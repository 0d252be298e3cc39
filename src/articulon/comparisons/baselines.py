"""Fair baselines for scaling: unscaled runs with implicit friction, and unscaled runs without inertia.

Compared with an explicit integrator, almost any method saves time. Scaling allows steps longer than the fastest
relaxation times. An unscaled friction-implicit integrator allows this too, and so does overdamped Brownian dynamics if
inertia does not matter. Both are free of the errors of scaling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from articulon.cases.case import Case
from articulon.comparisons.compared import Compared
from articulon.comparisons.run_rows import DIVERGED
from articulon.comparisons.variant_runs import Entry
from articulon.errors import CaseError
from articulon.forces.stokes_drag import StokesDrag
from articulon.integrate import INTEGRATORS
from articulon.report.readable_numbers import number, percent, wall_time
from articulon.simulation.run_request import Progress
from articulon.simulation.step_search import longest_step

RULES = {"friction-implicit": "the unscaled friction-implicit rule", "overdamped": "unscaled overdamped dynamics"}
"""Integrators with which scaling is compared, and their descriptions."""


TIE = 1.05
"""Ratio up to which two speeds of computation count as equal, because wall times of the same run vary by this much."""


def with_baselines(case: Case, chosen: Sequence[Entry], progress: Progress) -> list[Entry]:
    """Add an unscaled run to the entries for each baseline integrator that is missing, if forces are scaled and there
    is drag. Long runs are not made; their cost is estimated."""
    scaled = any(not entry.unscaled for entry in chosen)
    if not scaled or not any(isinstance(force, StokesDrag) for force in case.forces):
        return list(chosen)
    found = list(chosen)
    for rule in RULES:
        if any(entry.unscaled and entry.rule == rule for entry in chosen):
            continue
        entry = _variant(case, rule) or _made(case, rule, progress)
        if entry is not None:
            found.append(entry)
    return found


def _variant(case: Case, rule: str) -> Entry | None:
    """Return the first unscaled variant of the case with a given integrator."""
    for name in case.variants:
        variant = case.variant(name)
        if not variant.scaling.scales and variant.integrator.rule == rule:
            return Entry(name, variant, 0, optional=True, variant=name)
    return None


def _made(case: Case, rule: str, progress: Progress) -> Entry | None:
    """Return the case with a given integrator and the longest step that is accurate at the start; None if this
    integrator cannot run it."""
    declared = declaration_of(rule)
    if declared is None:
        return None
    try:
        step = longest_step(case, declared, rule)
        if step is None:
            return None
        changes = {"scaling": {"policy": "none"}, "integrator": {"rule": rule, "step": step}}
        return Entry(rule, case.with_overrides(changes), 0, optional=True)
    except CaseError as error:
        progress.message(f"{rule}: left out of the comparison: {error}")
        return None


def declaration_of(rule: str) -> type | None:
    """Return the declaration of an integrator by its name; None if there is none."""
    return INTEGRATORS.members.get(rule)


def sentences(done: Compared) -> list[str]:
    """Return sentences that compare each scaled run with the baselines."""
    found = []
    for row in done.rows:
        if row["scaling"]["policy"] == "none" or row["steps"] is None:
            continue
        for other in (one for one in done.rows if one["status"] != DIVERGED):
            fair = other["scaling"]["policy"] == "none" and other["rule"] in RULES and other["group"] == row["group"]
            if fair and other["other_physics"] == row["other_physics"]:
                text = sentence(row, other)
                if text:
                    found.append(text)
    return found


def _own_error(other: Mapping[str, Any]) -> str:
    """Return a phrase on the error that overdamped dynamics itself has."""
    if other["rule"] != "overdamped":
        return ""
    late = other.get("lateness_relative")
    by = "" if late is None else f", which makes it {percent(abs(late), 2)} {'late' if late > 0.0 else 'early'}"
    return f" It omits inertia{by}."


def sentence(row: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return a sentence that compares a scaled run with an unscaled one for equal physical times; empty if a run took
    no measurable time."""
    own, theirs = (float(one["wall_seconds"]) for one in (row, other))
    if own <= 0.0 or theirs <= 0.0 or not row["physical_time"] or not other["physical_time"]:
        return ""
    ratio = (theirs / float(other["physical_time"])) / (own / float(row["physical_time"]))
    about = "about " if other["wall_seconds_are"] == "estimated" else ""
    what = RULES[other["rule"]]
    walls = f"{about}{wall_time(theirs)} against {wall_time(own)}{_times_as_long(row, other)}{_clock(row)}"
    if ratio * TIE < 1.0:
        return (
            f"Scaling gains nothing: {what} ('{other['name']}') covers the same time {number(1.0 / ratio, 2)} times as "
            f"fast as '{row['name']}' ({walls}), without the errors of scaling.{_own_error(other)}"
        )
    pace = "as fast as" if ratio < TIE else f"{number(ratio, 2)} times as fast as"
    verdict = row["verdict"]
    worth = "" if verdict in (None, "trusted") else f", but its verdict is '{verdict}'"
    return f"'{row['name']}' is {pace} {what} ('{other['name']}'; {walls}){worth}."


def _times_as_long(row: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return a note if the other run covers more or less physical time; otherwise an empty text. The times differ if a
    stop condition ends the runs."""
    lengths = float(other["physical_time"]) / float(row["physical_time"])
    return "" if abs(lengths - 1.0) < 0.01 else f", for {number(lengths, 2)} times the time"


def _clock(row: Mapping[str, Any]) -> str:
    """Return a note if a run covers less physical time than simulated time; otherwise an empty text."""
    simulated = row.get("simulated_time")
    if not simulated or abs(float(row["physical_time"]) / float(simulated) - 1.0) < 1e-9:
        return ""
    rate = number(float(row["physical_time"]) / float(simulated), 2)
    return f"; the clock of '{row['name']}' runs at {rate} of the true rate"
