"""One line on the verdict of a scaled run: the worst motion, when it exceeded its bound, and the broken premise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from articulon.report.fidelity_words import PREMISES
from articulon.report.readable_numbers import percent
from articulon.terminal import printable


class VerdictWords(NamedTuple):
    """A verdict and the text that follows it in its line."""

    verdict: str
    """``trusted``, ``suspect``, ``inconclusive`` or ``violated``."""
    rest: str
    """Text on the worst motion, the time and the premise; it begins with a blank or a colon."""


def verdict_words(summary: Mapping[str, Any]) -> VerdictWords | None:
    """Return the verdict on a run in words; None for an unscaled run.

    Parameters
    ----------
    summary
        Summary of the run.
    """
    found = summary.get("fidelity")
    if not found:
        return None
    verdict = str(found["verdict"])
    what, premises = _what(found, verdict)
    since, worst = found.get("since"), _worst(found)
    when = ""
    if since is not None and verdict != "trusted" and "since" not in worst:
        moment = f"since {float(since):.3g} {summary['time_unit']}".rstrip()
        when = " from the start" if float(since) <= 0.0 else f" {moment}"
    by = f" (premise{'s' if len(premises) > 1 else ''}: {', '.join(premises)})" if premises else ""
    return VerdictWords(verdict, f"{when}{f': {what}' if what else ''}{by}")


def _what(found: Mapping[str, Any], verdict: str) -> tuple[str, Sequence[str]]:
    """Return the worst error in words, and the names of the premises that belong to the verdict."""
    premises: Mapping[str, Any] = found.get("premises") or {}
    broken = [str(name) for name in found.get("broken") or ()]
    worst = _worst(found)
    if verdict == "trusted":
        named = broken or [name for name, premise in premises.items() if premise.get("verdict") == "trusted"]
        tolerance = found.get("tolerance")
        allowed = "the tolerance" if tolerance is None else percent(tolerance, 3).replace("\u00a0", " ")
        within = f"below {allowed}"
        return f"{worst}, {within}" if worst else f"errors {within}", named
    if verdict == "inconclusive":
        undecided = {
            name: p.get("reason")
            for name, p in premises.items()
            if p.get("verdict") == "inconclusive" or (name == "paired" and p.get("reason"))
        }
        reasons = [str(reason) for reason in dict.fromkeys(undecided.values()) if reason]
        return f"not decided: {'; '.join(reasons)}".removesuffix(": "), broken or list(undecided)
    said = "; ".join(_lower(PREMISES.get(name, name)) for name in broken)
    motion = set(broken) & {"paired", "averages", "lag", "drift"}
    return (worst if motion and worst else f"not met: {said}" if said else ""), broken


def _worst(found: Mapping[str, Any]) -> str:
    """Name the worst motion."""
    return printable(str((found.get("worst") or {}).get("words") or ""))


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
