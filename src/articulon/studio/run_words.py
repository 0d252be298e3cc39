"""Texts of a page about a run: its progress, its status light with the verdict, and its messages. All text from other
sources is escaped here.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from articulon.report.readable_numbers import number, suited
from articulon.report.verdict_words import verdict_words
from articulon.terminal import printable
from articulon.units import UnitSystem

GREEN, YELLOW, RED, BLUE, GREY = "#2e9e5b", "#e0a800", "#c8321f", "#1f77b4", "#9aa0a6"
LIGHTS = {"trusted": GREEN, "suspect": YELLOW, "inconclusive": YELLOW, "violated": RED}


class Light(NamedTuple):
    """A coloured status light and its text."""

    colour: str
    words: str


def light_of(state: str, summary: Mapping[str, Any] | None, error: str | None) -> Light:
    """Return the status light of a run.

    Parameters
    ----------
    state
        ``"idle"``, ``"starting"``, ``"running"``, ``"waiting"`` or ``"ended"``.
    summary
        Summary of a run that has ended.
    error
        Reason why the run has failed, or why the case cannot be run.
    """
    if state == "starting":
        return Light(BLUE, "starting")
    if state == "running":
        return Light(BLUE, "running")
    if state == "waiting":
        return Light(BLUE, "paused")
    if error is not None:
        if state != "ended":
            return Light(RED, "this case cannot be run yet")
        judged = None if summary is None else verdict_words(summary)
        return Light(RED, "failed" if judged is None else f"failed; verdict {judged.verdict}")
    if state == "idle" or summary is None:
        return Light(GREY, "not run yet")
    status = str(summary.get("status", ""))
    if status == "interrupted":
        return Light(GREY, "stopped; Run continues from here")
    failed = [check for check in summary.get("checks") or [] if not check["passed"]]
    words = verdict_words(summary)
    if failed:
        more = "" if words is None else f"; verdict {words.verdict}"
        return Light(RED, f"{status}; check failed: {failed[0]['what']}{more}")
    if words is None:
        passed = summary.get("checks") or []
        checked = f"; {len(passed)} checks passed" if len(passed) > 1 else "; its check passed" if passed else ""
        return Light(GREEN, f"{status}{checked}; not scaled")
    return Light(LIGHTS.get(words.verdict, GREY), f"{status}; {words.verdict}{words.rest}")


def light_box(light: Light) -> str:
    """Return the HTML of a light."""
    return (
        '<div style="display:flex;align-items:baseline;gap:0.55em;padding:0.1em 0.8em 0.4em">'
        f'<span style="flex:none;width:0.8em;height:0.8em;border-radius:50%;background:{light.colour};'
        f'box-shadow:0 0 0.5em {light.colour}80;transform:translateY(0.08em)"></span>'
        f'<span id="articulon-light" style="font-size:0.9em">{html.escape(printable(light.words))}</span></div>'
    )


def clock_box(units: UnitSystem, time: float, end: float, shown: float | None, figures: Iterable[str]) -> str:
    """Return the progress of a run as HTML: the time of the run, the shown time if it is earlier, and further
    figures."""
    scale = suited(units, "time", end)
    words = f"t = {scale.text(time)} of {scale.text(end)}"
    back = "" if shown is None else f" · shown: {scale.text(shown)}"
    more = " · ".join(filter(None, figures))
    return (
        f'<div style="padding:0.4em 0.8em 0.1em"><b>{html.escape(words)}</b>'
        f'<span style="color:#b26a00">{html.escape(back)}</span><br>'
        f'<span style="color:#777;font-size:0.85em">{html.escape(printable(more))}&nbsp;</span></div>'
    )


def pace_text(units: UnitSystem, rate: float | None) -> str:
    """Return the speed of a run as text: simulated time per hour of wall time and, except in reduced units, the ratio
    of simulated time to wall time."""
    if rate is None:
        return ""
    if units.time is None:
        return f"{number(3600.0 * rate, 3)} per hour"
    seconds = rate * units.time
    if seconds >= 1e-3:
        return f"{number(seconds, 3)} × real time"
    scale = suited(units, "time", 3600.0 * rate)
    return f"{scale.text(3600.0 * rate, 3)} per hour ({number(seconds, 2)} × real time)"


def note_box(notes: Iterable[tuple[str, str]]) -> str:
    """Return the HTML of messages, the latest first, each with its heading: ``""``, ``"warning"``, ``"error"`` or
    another word."""
    lines = []
    for heading, text in notes:
        colour = RED if heading in ("error", "diverged", "failed") else YELLOW if heading else "#555"
        named = f'<b style="color:{colour}">{html.escape(heading)}:</b> ' if heading else ""
        words = html.escape(printable(text)).replace("\n", "<br>")
        lines.append(f'<div style="margin-bottom:0.35em;overflow-wrap:anywhere">{named}{words}</div>')
    return f'<div style="padding:0.2em 0.8em 0.5em;font-size:0.82em">{"".join(lines) or "none"}</div>'
