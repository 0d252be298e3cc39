"""A case file that cannot be read as TOML until a user has corrected it."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.errors import CaseError
from articulon.studio.editing.case_document import CaseDocument
from articulon.terminal import printable

MOST_SHOWN = 100_000
"""Largest number of characters of the file that are shown."""


class BrokenFile:
    """The text of a broken case file and its error, shown in place of the case.

    Parameters
    ----------
    path
        The file.
    opened
        Function that reads the file as a document; it raises CaseError while the file is broken.
    reason
        Message of this error.
    """

    def __init__(self, path: Path, opened: Callable[[], CaseDocument], reason: str) -> None:
        self.path, self._opened, self.reason = path, opened, reason
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def case(self) -> Case:
        """See :class:`articulon.studio.case_source.CaseSource`."""
        raise CaseError(self.reason)

    def on_change(self, callback: Callable[[], Any]) -> None:
        """See :class:`articulon.studio.case_source.CaseSource`. This does nothing, because the page polls
        :meth:`changed`."""

    @property
    def changed(self) -> bool:
        """Return whether the file has changed since the last check."""
        stamp = self._stamp()
        changed, self._seen = stamp != self._seen, stamp
        return changed

    def mended(self) -> CaseDocument | None:
        """Return the document if the file can be read now, otherwise None."""
        try:
            return self._opened()
        except CaseError as error:
            self.reason = str(error)
            return None

    def box(self) -> str:
        """Return the text with line numbers, as HTML."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            text = f"cannot be read: {error.strerror}"
        lines = text[:MOST_SHOWN].splitlines()
        width = len(str(len(lines)))
        numbered = "\n".join(f"{number:>{width}}  {printable(line)}" for number, line in enumerate(lines, 1))
        return (
            '<div style="padding:0.2em 0.8em;font-size:0.82em">This file is opened again when it has been mended.</div>'
            '<pre style="padding:0.2em 0.8em;font-size:0.78em;overflow:auto;max-height:60vh">'
            f"{html.escape(numbered)}</pre>"
        )
