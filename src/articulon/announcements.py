"""What whoever waits is told besides results: that kernels are compiled, and about how long that takes."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _quiet(text: str) -> None:
    pass


_listener: Callable[[str], None] = _quiet
_TOLD: set[str] = set()
"""What the terminal has been told by this process."""


def announce(text: str) -> None:
    """Tells whoever listens; nobody does unless told to."""
    _listener(text)


@contextmanager
def announcing(say: Callable[[str], None]) -> Iterator[None]:
    """Has somebody be told, each thing once, while it is entered."""
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


@contextmanager
def announcing_to_the_terminal() -> Iterator[None]:
    """Has standard error be told, each thing once in a process, where nobody else is told."""

    def say(text: str) -> None:
        if text not in _TOLD:
            _TOLD.add(text)
            print(f"articulon: {text}", file=sys.stderr, flush=True)

    if _listener is not _quiet:
        yield
        return
    with announcing(say):
        yield
