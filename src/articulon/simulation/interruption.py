"""Ctrl-C and the request to terminate, kept until the state is whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_asked = threading.Event()


def ask_runs_to_stop(wanted: bool = True) -> None:
    """Asks the runs of this process to save their state and stop, as Ctrl-C does, also those in other threads than the
    main one, which no signal reaches; or takes that back."""
    if wanted:
        _asked.set()
    else:
        _asked.clear()


class Interruption:
    """While it is entered, remembers that the process was asked to stop instead of raising at once.

    Signals reach only the main thread; in any other, nothing is changed.

    Parameters
    ----------
    signals
        Those that ask.
    """

    def __init__(self, signals: tuple[signal.Signals, ...] = SIGNALS) -> None:
        self.signals, self._raises, self._signalled = signals, False, False
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

    @property
    def requested(self) -> bool:
        """Whether to stop."""
        return self._signalled or _asked.is_set()

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True
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
