"""Text on the verdict of a scaled run: its premises, the findings on each premise, and the cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from articulon.report import page
from articulon.report.readable_numbers import number, percent, suited, wall_time
from articulon.report.view import View

VERDICTS = {
    "trusted": "The scaled run can be trusted: the checked premises hold.",
    "suspect": "The scaled run is suspect: a premise holds only roughly.",
    "violated": "Do not trust the scaled run: a premise of the scaling does not hold.",
    "inconclusive": "It is undecided whether the scaled run can be trusted: a premise could not be checked.",
}
"""Meaning of each verdict."""

PREMISES = {
    "lag": "Bodies follow the forces",
    "drift": "Drag and driving forces have one factor",
    "cancellation": "The scaled forces nearly cancel",
    "paired": "An unscaled run moves in the same way",
    "averages": "Averages are those of an unscaled run",
    "clock": "Clock and temperature of the positions",
    "kinetic": "Speeds have the temperature",
    "configuration": "Positions have the temperature",
}
"""Statement of each premise of the scaling."""


def verdict_sentences(view: View) -> list[str]:
    """Return sentences on the verdict, on the broken premises and on when they broke; an empty list for an
    unscaled run."""
    found = view.summary.get("fidelity")
    if not found:
        return []
    verdict = str(found["verdict"])
    sentences = [VERDICTS.get(verdict, f"Fidelity: {verdict}.")]
    heat = found.get("broken") and not set(found["broken"]) & {"paired", "averages", "lag", "drift"}
    if found.get("worst") and not heat:
        worst = str(found["worst"]["words"])
        sentences.append(f"{worst[:1].upper()}{worst[1:]}{'' if worst.endswith('.') else '.'}")
    broken = [f"“{PREMISES.get(name, name)}” ({name})" for name in found.get("broken") or ()]
    if broken:
        word = "broken" if verdict == "violated" else "holds only roughly"
        since = found.get("since")
        when = "" if since is None else f" since {view.time_scale.text(float(since), 3)}"
        if since is not None and float(since) <= float(view.times[0]):
            when = " from the start"
        sentences.append(f"{'; '.join(broken)}: {word}{when}.")
    return sentences


def fidelity_part(view: View) -> str:
    """Return the premises of the scaling, each with its verdict and findings, as HTML."""
    found = view.summary.get("fidelity")
    if not found:
        return ""
    head = page.definitions(
        [
            ("verdict", str(found["verdict"])),
            ("worst", str((found.get("worst") or {}).get("words") or "")),
            ("it covers", str(found.get("covers") or "").removeprefix("It covers ").removesuffix(".")),
            ("it rests on", str(found.get("basis") or "")),
        ]
    )
    rows = []
    for name, premise in (found.get("premises") or {}).items():
        said = WORDS[name](premise, view) if name in WORDS else ""
        texts = [text for text in (said, _sentence(premise.get("reason"))) if text]
        since = premise.get("since")
        when = "" if since is None else view.time_scale.text(float(since), 3)
        rows.append((PREMISES.get(name, name), str(premise["verdict"] or "not judged"), when, " ".join(texts)))
    heads = ("premise", "verdict", "broken at", "what was found")
    return "\n".join([head, page.prose_table(heads, rows), page.paragraphs([_cost(found)])])


def _sentence(reason: Any) -> str:
    return "" if not reason else f"{str(reason)[0].upper()}{str(reason)[1:]}."


def _time(view: View, value: float) -> str:
    return suited(view.case.units, "time", value).text(value, 3)


def _lag(premise: Mapping[str, Any], view: View) -> str:
    delay, part = premise.get("predicted_delay"), premise.get("relative_error")
    if delay is None or part is None:
        return ""
    return (
        f"Because of its inertia, {premise['what']} is about {_time(view, delay)} late at the end of the run, an "
        f"error of {percent(part, 2)} ± {percent(premise['half_width'], 2)}; its speed is too low by "
        f"{percent(min(premise['mean'], 1.0), 2)} on average and {percent(min(premise['max'], 1.0), 2)} at most."
    )


def _drift(premise: Mapping[str, Any], view: View) -> str:
    ratios = premise.get("speed_ratio") or {}
    texts = [
        f"by {channel} forces {number(found['mean'], 3)} times the true one on average, at most "
        f"{number(found['max'], 3)} times"
        for channel, found in ratios.items()
        if found["min"] != 1.0 or found["max"] != 1.0
    ]
    if texts:
        return f"The steady drift is {'; '.join(texts)}."
    return "The steady drift is the true one." if ratios else ""


def _cancellation(premise: Mapping[str, Any], view: View) -> str:
    found, shares = premise.get("residual"), premise.get("by_channel") or {}
    if not found:
        return ""
    parts = ", ".join(f"{name} {percent(share, 2)}" for name, share in shares.items() if share > 0.0)
    text = (
        f"On the slowest body, {percent(found['mean'], 2)} of the forces do not cancel on average, at most "
        f"{percent(found['max'], 2)}, and over all joints {percent(found['mean_over_joints'], 2)}; they are {parts}."
    )
    error = premise.get("relative_error")
    if error is None:
        return text
    way = "slow" if error > 0.0 else "fast"
    return f"{text} This makes it {percent(abs(error), 3)} too {way} over the run."


def _paired(premise: Mapping[str, Any], view: View) -> str:
    error, half, motions = premise.get("relative_error"), premise.get("half_width"), premise.get("motions") or []
    if error is None or half is None:
        return ""
    told = "; ".join(
        f"{one['what']} {percent(one['time_error'], 2)} in time and {percent(one['position_error'], 2)} in position"
        for one in motions[:4]
    )
    return (
        f"Relative to an unscaled run ({premise['method']}) the worst error is {percent(error, 3)} ± "
        f"{percent(half, 2)}: {told}."
    )


def _averages(premise: Mapping[str, Any], view: View) -> str:
    error, half = premise.get("relative_error"), premise.get("half_width")
    if error is None or half is None:
        return ""
    if premise.get("what") is None:
        return ""
    return f"The worst is {premise['what']}: off by {percent(error, 2)} ± {percent(half, 2)}."


def _clock(premise: Mapping[str, Any], view: View) -> str:
    clock, heat = premise.get("physical_time_per_simulated_time"), premise.get("temperature_of_positions")
    texts = []
    if clock is not None:
        unit = view.case.units.symbols[2] if view.case.units.time is not None else "unit of time"
        unit = unit.replace("us", "µs")
        texts.append(
            "Simulated time is physical time."
            if abs(clock - 1.0) < 1e-9
            else f"1 {unit} of the run corresponds to {number(clock, 4)} {unit}: positions relax "
            f"{'more slowly' if clock < 1.0 else 'faster'} than they should."
        )
    if heat is not None:
        texts.append(
            f"The factors of noise, drag and potential make positions sample {number(heat, 4)} K, "
            f"{number(premise['over_bath'], 4)} times the medium's temperature."
        )
    return " ".join(texts)


def _kinetic(premise: Mapping[str, Any], view: View) -> str:
    ratio, half = premise.get("over_target"), premise.get("half_width")
    if ratio is None or half is None:
        return ""
    return (
        f"The kinetic temperature, divided by its scaling factor, is {number(ratio, 4)} ± "
        f"{number(half, 2)} times the target."
    )


def _configuration(premise: Mapping[str, Any], view: View) -> str:
    ratio = premise.get("measured_over_target")
    return "" if ratio is None else f"The configurational temperature is {number(ratio, 4)} times the target."


def _cost(found: Mapping[str, Any]) -> str:
    cost, tolerance = found.get("cost") or {}, found.get("tolerance")
    if not cost or tolerance is None:
        return ""
    text = (
        f"Errors in {found.get('error', 'time')} (fidelity.error) below {percent(tolerance, 3)} are trusted "
        f"(fidelity.tolerance), and up to {percent(5.0 * tolerance, 3)} suspect. The estimates took "
        f"{wall_time(cost['estimators_wall_seconds'])}"
    )
    if cost.get("estimators_part_of_run") is not None:
        text += f", {percent(cost['estimators_part_of_run'], 2)} of the run"
    text += "."
    if cost.get("paired_evaluations"):
        text += (
            f" The unscaled run took another {wall_time(cost['paired_wall_seconds'])} and "
            f"{number(cost['paired_evaluations'])} of the {number(cost['paired_budget'])} force evaluations "
            "that fidelity.budget allows."
        )
    return text


WORDS: dict[str, Callable[[Mapping[str, Any], View], str]] = {
    "lag": _lag,
    "drift": _drift,
    "cancellation": _cancellation,
    "paired": _paired,
    "averages": _averages,
    "clock": _clock,
    "kinetic": _kinetic,
    "configuration": _configuration,
}
"""Functions that describe the findings of each premise."""
