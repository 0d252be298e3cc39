"""Numbers of threads, which must change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

T = TypeVar("T")


def on_threads(count: int, what: Callable[[], T]) -> T:
    """What a function returns on so many threads, or on as many as there are."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    try:
        return what()
    finally:
        numba.set_num_threads(before)


def on_one_and_two(what: Callable[[], T]) -> tuple[T, T]:
    """What a function returns on one thread, and on two where there are two."""
    return on_threads(1, what), on_threads(2, what)
