"""Handling of Ctrl-C and termination requests. They are deferred until the state is consistent."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_asked = threading.Event()


def ask_runs_to_stop(wanted: bool = True) -> None:
    """Ask all runs of this process to save their state and stop, as Ctrl-C does; ``wanted=False`` withdraws the
    request.

    Unlike signals, the request also reaches runs in other threads than the main thread.
    """
    if wanted:
        _asked.set()
    else:
        _asked.clear()


class Interruption:
    """Context manager that records a request to stop instead of raising KeyboardInterrupt at once.

    Signals reach only the main thread; in other threads, signal handlers are not changed.

    Parameters
    ----------
    signals
        Signals that request a stop.
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
        """Whether a stop has been requested."""
        return self._signalled or _asked.is_set()

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True
        if self._raises:
            raise KeyboardInterrupt("interrupted before the first step")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Return a context in which a signal raises KeyboardInterrupt at once, for work in Python that is safe to
        interrupt."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False
