"""Ctrl-C and the request to terminate, kept until the state is whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """While it is entered, remembers that the process was asked to stop instead of raising at once.

    Signals reach only the main thread; in any other, nothing is changed.

    Parameters
    ----------
    signals
        Those that ask.
    """

    def __init__(self, signals: tuple[signal.Signals, ...] = SIGNALS) -> None:
        self.requested, self.signals, self._raises = False, signals, False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self.signals:
                self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before.clear()

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        if self._raises:
            raise KeyboardInterrupt("interrupted before the first step")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Raises KeyboardInterrupt when a signal comes, while it is entered: for what Python does."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False
