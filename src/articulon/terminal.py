"""Safe output to a terminal. Names of files and bodies, and titles, come from other sources and must not control the
terminal."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

KEPT = "\n\t"
"""Control characters that are allowed in text."""
UNSEEN = frozenset("\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")
"""Invisible characters that change the direction of a line, or break it."""


def printable(text: object) -> str:
    r"""Return a text in which all characters that would control a terminal are escaped, in Python's notation.

    Control characters could move the cursor, change colours, titles and earlier output, or make a terminal reply.
    Directional marks would show a text in a different order. Lone surrogates, which occur in file names that are not
    valid text, cannot be printed.

    >>> printable("arm\x1b[2J")
    'arm\\x1b[2J'
    """
    return "".join(_written_out(letter) if _steers(letter) else letter for letter in str(text))


def clock(seconds: float) -> str:
    """Return a time as text: hours, minutes and seconds.

    >>> clock(3723.4)
    '1:02:03'
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def standard_error() -> Console:
    """Return the console for progress on standard error."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True, highlight=False)


def _steers(letter: str) -> bool:
    if letter.isascii():
        return not letter.isprintable() and letter not in KEPT
    return letter in UNSEEN or unicodedata.category(letter) in ("Cc", "Cs")


def _written_out(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
