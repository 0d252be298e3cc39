"""The verdict on a scaled run, printed as the last line of output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

COLOURS = {"trusted": "bold green", "suspect": "bold yellow", "inconclusive": "bold yellow", "violated": "bold red"}
"""Terminal style of each verdict."""


def is_trusted(summary: Mapping[str, Any]) -> bool:
    """Whether a run is unscaled, or its verdict is ``trusted``."""
    found = summary.get("fidelity")
    return not found or found["verdict"] == "trusted"


def verdict_text(summary: Mapping[str, Any]) -> Text | None:
    """Return the verdict on a run in one line, with the worst motion, the time from which it holds, and the premise.
    None for an unscaled run.

    Parameters
    ----------
    summary
        Summary of the run.
    """
    from articulon.report.verdict_words import verdict_words

    words = verdict_words(summary)
    if words is None:
        return None
    from rich.text import Text

    return Text.assemble("verdict ", (words.verdict, COLOURS.get(words.verdict, "bold")), words.rest)


def print_verdict(summary: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the verdict on a scaled run, in colour on a terminal and plain elsewhere; nothing for an unscaled run.

    Parameters
    ----------
    summary
        Summary of the run.
    console
        Output console; by default standard output.
    """
    text = verdict_text(summary)
    if text is None:
        return
    from rich.console import Console

    (Console(highlight=False) if console is None else console).print(text, soft_wrap=True)
