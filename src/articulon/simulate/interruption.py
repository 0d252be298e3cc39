"""Ctrl-C and the request to terminate, kept until the state is whole."""

import signal
import threading
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """While it is entered, remembers that the process was asked to stop instead of raising at once.

    Signals reach only the main thread; in any other, nothing is changed.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before.clear()

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
