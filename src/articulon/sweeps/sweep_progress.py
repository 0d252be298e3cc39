"""Progress display of a sweep: a table of the running members, and the number that have ended."""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from articulon.errors import CaseError
from articulon.inputs import clipped
from articulon.inputs import shown as shown_value
from articulon.terminal import clock, printable, standard_error

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live

FEW = 16
"""Largest number of members that are shown at once; further members are only counted."""
CLIPPED = 200
"""Largest length of an error that is shown while other members run."""
PER_SECOND = 4
"""Number of table updates per second."""
METHODS = ("begin", "running", "stopped", "ended", "message", "close")


class Shown(Protocol):
    """Interface of progress displays."""

    def begin(self, members: int, ended: int, where: str) -> None:
        """Show that the sweep begins, with the number of members, the number of members that had already ended, and a
        description of the workers."""

    def running(self, member: str, part: float) -> None:
        """Show that a member has reached the fraction ``part`` of its run, from 0 to 1."""

    def stopped(self, member: str) -> None:
        """Show that a member lost its worker before the member ended."""

    def ended(self, member: str, status: str, seconds: float, error: str | None) -> None:
        """Show that a member is complete or has failed."""

    def message(self, text: str, once: str | None = None) -> None:
        """Show a message to the user. Of several messages with the same ``once``, only the first is shown."""

    def close(self) -> None:
        """Close the display at the end of the sweep, also if the sweep is not complete."""


class SilentSweep:
    """A progress display that shows nothing."""

    def begin(self, members: int, ended: int, where: str) -> None:
        """See :class:`Shown`."""

    def running(self, member: str, part: float) -> None:
        """See :class:`Shown`."""

    def stopped(self, member: str) -> None:
        """See :class:`Shown`."""

    def ended(self, member: str, status: str, seconds: float, error: str | None) -> None:
        """See :class:`Shown`."""

    def message(self, text: str, once: str | None = None) -> None:
        """See :class:`Shown`."""

    def close(self) -> None:
        """See :class:`Shown`."""


def sweep_shown_by(progress: Shown | bool | None) -> Shown:
    """Return the progress display of a sweep.

    Parameters
    ----------
    progress
        An object that shows the progress; True for a table on standard error, False for no display. None shows the
        table in an interactive terminal or notebook.

    Raises
    ------
    CaseError
        For any other value.
    """
    if progress is None:
        console = standard_error()
        progress = console.is_terminal or console.is_jupyter
    if isinstance(progress, bool):
        return SweepProgress() if progress else SilentSweep()
    if not all(callable(getattr(progress, name, None)) for name in METHODS):
        raise CaseError(
            f"progress: expected True, False, or an object with {', '.join(METHODS)}, got {shown_value(progress)}"
        )
    return progress


class SweepProgress:
    """Shows a sweep on standard error: as a table in a terminal, otherwise as a line after every tenth of the members.

    Progress messages of workers arrive in another thread than the thread of the sweep.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = standard_error() if console is None else console
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._parts: dict[str, float] = {}
        self._done: set[str] = set()
        self._said: set[str] = set()
        self._members = self._ended_before = self._count = self._failures = 0
        self._began = 0.0

    def begin(self, members: int, ended: int, where: str) -> None:
        """See :class:`Shown`."""
        self._members, self._ended_before, self._count, self._began = members, ended, ended, monotonic()
        before = f", {ended} of which ended before" if ended else ""
        self.message(f"{members} members{before}; {where}")
        if self._console.is_terminal or self._console.is_jupyter:
            from rich.live import Live

            self._live = Live(
                get_renderable=self._table, console=self._console, refresh_per_second=PER_SECOND, transient=True
            )
            self._live.start()

    def running(self, member: str, part: float) -> None:
        """See :class:`Shown`."""
        with self._lock:
            if member not in self._done:  # a last message may arrive late
                self._parts[member] = max(part, self._parts.get(member, 0.0))

    def stopped(self, member: str) -> None:
        """See :class:`Shown`."""
        with self._lock:
            self._parts.pop(member, None)

    def ended(self, member: str, status: str, seconds: float, error: str | None) -> None:
        """See :class:`Shown`."""
        with self._lock:
            self._done.add(member)
            self._parts.pop(member, None)
        before, self._count = self._count, self._count + 1
        if error is not None:
            self._failures += 1
            self.message(f"{member}: failed: {clipped(error.splitlines()[0], CLIPPED)}")
        if self._live is None and (10 * self._count) // self._members > (10 * before) // self._members:
            self.message(self._words())

    def message(self, text: str, once: str | None = None) -> None:
        """See :class:`Shown`."""
        if once is not None:
            if once in self._said:
                return
            self._said.add(once)
        self._console.print(printable(text), markup=False)

    def close(self) -> None:
        """See :class:`Shown`."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _words(self) -> str:
        failed = f", {self._failures} of them failed" if self._failures else ""
        done = self._count - self._ended_before
        elapsed, left = monotonic() - self._began, self._members - self._count
        rest = f"; about {clock(elapsed * left / done)} left" if done and left else ""
        return f"{self._count} of {self._members} ended{failed}{rest}"

    def _table(self) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        with self._lock:
            parts = dict(self._parts)
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, part in list(parts.items())[:FEW]:
            table.add_row(Text(printable(name)), ProgressBar(total=1.0, completed=part, width=30), f"{part:4.0%}")
        more = f"and {len(parts) - FEW} more" if len(parts) > FEW else ""
        whole = ProgressBar(total=max(1, self._members), completed=self._count, width=30)
        table.add_row(Text(more or "all", style="bold"), whole, f"{self._count / max(1, self._members):4.0%}")
        return Group(table, Text(self._words()))
