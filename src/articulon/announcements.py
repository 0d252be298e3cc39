"""Messages to the user that are not results: that kernels are being compiled, and about how long this takes."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _quiet(text: str) -> None:
    pass


_listener: Callable[[str], None] = _quiet
BATCH = "compiling"
"""First word of the message that announces the compilation of a batch of kernels."""
_TOLD: set[str] = set()
"""Texts that this process has printed to the terminal."""


def announce(text: str) -> None:
    """Pass a text to the current listener; by default there is none."""
    _listener(text)


@contextmanager
def announcing(say: Callable[[str], None]) -> Iterator[None]:
    """Context in which ``say`` receives each announcement once."""
    global _listener
    said: set[str] = set()

    def once(text: str) -> None:
        if text not in said:
            said.add(text)
            say(text)

    before, _listener = _listener, once
    try:
        yield
    finally:
        _listener = before


def tell_the_terminal(text: str) -> None:
    """Print an announcement on standard error, once per process."""
    if text not in _TOLD:
        _TOLD.add(text)
        print(f"articulon: {text}", file=sys.stderr, flush=True)


@contextmanager
def announcing_to_the_terminal() -> Iterator[None]:
    """Context in which standard error receives each announcement once per process, unless there is another listener."""
    if _listener is not _quiet:
        yield
        return
    with announcing(tell_the_terminal):
        yield
