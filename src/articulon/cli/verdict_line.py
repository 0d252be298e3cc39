"""The verdict on a scaled run, as the last line that is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from articulon.cli.output import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

COLOURS = {"trusted": "bold green", "suspect": "bold yellow", "inconclusive": "bold yellow", "violated": "bold red"}
"""How a verdict is printed on a terminal."""


def is_trusted(summary: Mapping[str, Any]) -> bool:
    """Whether nothing is scaled in a run, or its verdict is ``trusted``."""
    found = summary.get("fidelity")
    return not found or found["verdict"] == "trusted"


def verdict_text(summary: Mapping[str, Any]) -> Text | None:
    """The verdict on a run in one line: what is worst, since when and by which premise; None for an unscaled run.

    Parameters
    ----------
    summary
        The figures of the run.
    """
    found = summary.get("fidelity")
    if not found:
        return None
    from rich.text import Text

    verdict = str(found["verdict"])
    what, premises = _what(found, verdict)
    since, worst = found.get("since"), _worst(found)
    when = ""
    if since is not None and verdict != "trusted" and "since" not in worst:
        moment = f"since {float(since):.3g} {summary['time_unit']}".rstrip()
        when = " from the start" if float(since) <= 0.0 else f" {moment}"
    by = f" (premise{'s' if len(premises) > 1 else ''}: {', '.join(premises)})" if premises else ""
    rest = f"{when}{f': {what}' if what else ''}{by}"
    return Text.assemble("verdict ", (verdict, COLOURS.get(verdict, "bold")), rest)


def print_verdict(summary: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the verdict on a scaled run, in colour on a terminal and plainly elsewhere; nothing for an unscaled run.

    Parameters
    ----------
    summary
        The figures of the run.
    console
        Where to; the standard output by default.
    """
    text = verdict_text(summary)
    if text is None:
        return
    from rich.console import Console

    (Console(highlight=False) if console is None else console).print(text, soft_wrap=True)


def _what(found: Mapping[str, Any], verdict: str) -> tuple[str, Sequence[str]]:
    """What is worst, in words, and the names of the premises that it follows from."""
    from articulon.report.readable_numbers import percent

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
    from articulon.report.fidelity_words import PREMISES

    said = "; ".join(_lower(PREMISES.get(name, name)) for name in broken)
    motion = set(broken) & {"paired", "averages", "lag", "drift"}
    return (worst if motion and worst else f"not met: {said}" if said else ""), broken


def _worst(found: Mapping[str, Any]) -> str:
    """The motion that is worst, in words."""
    return printable(str((found.get("worst") or {}).get("words") or ""))


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
