"""How commands print: all that they say goes through here, so that nothing in it steers the terminal."""

from __future__ import annotations

import typer

from articulon.terminal import printable

__all__ = ["echo", "printable"]


def echo(text: object = "", *, nl: bool = True) -> None:
    """Print a text to the standard output."""
    typer.echo(printable(text), nl=nl)
