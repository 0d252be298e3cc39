"""Lists that grow: when a list exceeds its capacity, the computation is repeated with a longer one."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def with_capacity(attempt: Callable[[], T | None], grow: Callable[[], None]) -> T:
    """Return the result of an attempt, repeated with longer lists for as long as one exceeds its capacity.

    Parameters
    ----------
    attempt
        Restores what an earlier attempt has changed, tries again, and returns None if a list exceeded its capacity.
    grow
        Enlarges the lists.
    """
    while (result := attempt()) is None:
        grow()
    return result
