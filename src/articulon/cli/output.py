"""How commands print: all that they say goes through here, so that nothing in it steers the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from articulon.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["echo", "printable", "table_console"]

WIDTH = 120
"""Of a table where no terminal has one."""


def echo(text: object = "", *, nl: bool = True) -> None:
    """Print a text to the standard output."""
    typer.echo(printable(text), nl=nl)


def table_console(width: int = WIDTH) -> Console:
    """Where a table is printed: as wide as the terminal, or this many characters where there is none."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=width, highlight=False)
