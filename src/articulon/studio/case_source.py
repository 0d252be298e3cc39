"""Sources of the case that a page shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from articulon.cases.case import Case


class CaseSource(Protocol):
    """Source of a case, which may change."""

    def case(self) -> Case:
        """Return the current case; raises CaseError, with the places of the errors, if the case is invalid."""
        ...

    def on_change(self, callback: Callable[[], Any]) -> Any:
        """Register a function that is called after each change of the case."""
        ...


class FixedCase:
    """A case that does not change, such as a case that a program shows.

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
        """See :class:`CaseSource`; the case never changes."""
