"""Where a page has its case from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from articulon.cases.case import Case
from articulon.cases.loading import load_case


class CaseSource(Protocol):
    """Gives a case, as it stands."""

    def case(self) -> Case:
        """The case; raises CaseError, with where its faults are, for one that is none yet."""
        ...

    def on_change(self, callback: Callable[[], Any]) -> Any:
        """Have somebody told when it has changed."""
        ...


class FileSource:
    """A case that is read from its file, or a built-in one, and does not change while a page is open.

    Parameters
    ----------
    name_or_path
        Of the case.
    allow_code
        Whether functions that it names may run.
    """

    def __init__(self, name_or_path: str | Path, allow_code: bool = False) -> None:
        self._name, self._allow_code = name_or_path, allow_code

    def case(self) -> Case:
        """See :class:`CaseSource`."""
        return load_case(self._name, allow_code=self._allow_code)

    def on_change(self, callback: Callable[[], Any]) -> None:
        """See :class:`CaseSource`."""
