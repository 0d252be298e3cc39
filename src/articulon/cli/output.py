"""Output of the commands: all text goes through here, so that control characters in it cannot affect the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from articulon.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["echo", "printable", "table_console"]

WIDTH = 120
"""Width of a table if there is no terminal."""


def echo(text: object = "", *, nl: bool = True) -> None:
    """Print a text to the standard output."""
    typer.echo(printable(text), nl=nl)


def table_console(width: int = WIDTH) -> Console:
    """Console for tables: as wide as the terminal, or of the given width if there is none."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=width, highlight=False)
