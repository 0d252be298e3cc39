"""Where a page has its case from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from articulon.cases.case import Case


class CaseSource(Protocol):
    """Gives a case, as it stands."""

    def case(self) -> Case:
        """The case; raises CaseError, with where its faults are, for one that is none yet."""
        ...

    def on_change(self, callback: Callable[[], Any]) -> Any:
        """Have somebody told when it has changed."""
        ...


class FixedCase:
    """A case that stays as it is, as of a program that shows one.

    Parameters
    ----------
    case
        The case.
    """

    def __init__(self, case: Case) -> None:
        self._case = case

    def case(self) -> Case:
        """See :class:`CaseSource`."""
        return self._case

    def on_change(self, callback: Callable[[], Any]) -> None:
        """See :class:`CaseSource`; it never does."""
