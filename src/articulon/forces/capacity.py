"""Lists that grow: what was computed with a list that became too short is computed again with a longer one."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def with_capacity(attempt: Callable[[], T | None], grow: Callable[[], None]) -> T:
    """The result of an attempt, repeated with longer lists for as long as one exceeds its capacity.

    Parameters
    ----------
    attempt
        Restores what an earlier attempt has changed, tries again, and gives None where a list exceeded its capacity.
    grow
        Gives the lists more capacity.
    """
    while (result := attempt()) is None:
        grow()
    return result
