"""Progress display of a run."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from articulon.errors import CaseError
from articulon.terminal import clock, printable, standard_error

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from articulon.simulation.run_request import Progress as SomeProgress


BETWEEN = 0.05
"""Shortest time between two updates of the bar [s]."""
PATIENCE = 1.0
"""Wall time after which a bar appears by default [s]; shorter runs have no bar."""


def shown_by(progress: SomeProgress | bool | None) -> SomeProgress:
    """Return the progress display of a run.

    Parameters
    ----------
    progress
        An object that shows the progress; True for a bar on standard error or in a notebook, False for none. None shows
        a bar in an interactive terminal or notebook, for runs longer than a second; elsewhere it shows only that
        kernels are compiled.

    Raises
    ------
    CaseError
        For any other value.
    """
    from articulon.inputs import shown
    from articulon.simulation.run_request import Silent

    if progress is None:
        console = standard_error()
        return RunProgress(console, PATIENCE) if console.is_terminal or console.is_jupyter else Silent(announces=True)
    if isinstance(progress, bool):
        return RunProgress() if progress else Silent()
    if not all(callable(getattr(progress, name, None)) for name in ("start", "message", "update", "finish")):
        raise CaseError(
            "progress: expected True, False, or an object with start, message, update and finish, got "
            f"{shown(progress)}"
        )
    return progress


class RunProgress:
    """Shows a run on standard error: as a bar in a terminal, elsewhere as a line after every tenth of the duration.

    :func:`articulon.run` accepts any object with the methods ``start``, ``message``, ``update`` and ``finish`` as
    ``progress``.
    """

    def __init__(self, console: Console | None = None, patience: float = 0.0) -> None:
        self._console = standard_error() if console is None else console
        self._patience, self._quiet = patience, patience > 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._total = self._first = 0.0
        self._unit = ""
        self._began = 0.0
        self._tenth = 0
        self._warm, self._resumed, self._drawn = False, 0.0, -1.0
        self._latest: tuple[float, float, int] | None = None

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """Show that the run begins or resumes.

        Parameters
        ----------
        total_time
            The simulated time at the end [time].
        unit
            The symbol of the unit of time.
        resumed_from
            The simulated time at which the run resumes [time].
        """
        self._total, self._first, self._unit = total_time, resumed_from, unit
        self._began, self._warm = monotonic(), False
        self._tenth = int(10 * resumed_from / total_time)
        self._resumed, self._quiet = resumed_from, self._patience > 0.0
        if not self._quiet:
            self._show()

    def _show(self) -> None:
        """Show the display for the first time."""
        self._quiet = False
        if self._resumed:
            self.message(f"continuing from {self._with_unit(f'{self._resumed:.6g}')}")
        if not (self._console.is_terminal or self._console.is_jupyter):
            return
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.fields[simulated]}"),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[rate]}"),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=self._total, simulated="", rate="")
        self._bar.update(self._task, completed=self._resumed)
        self._bar.start()

    def message(self, text: str) -> None:
        """Show a message to the user, such as that kernels are being compiled."""
        self._console.print(printable(text), markup=False)

    def update(self, time: float, step: float, steps: int) -> None:
        """Show the simulated time [time], the current step length [time] and the number of steps taken."""
        now = monotonic()
        if self._quiet and now - self._began < self._patience:
            return
        if self._quiet:
            self._show()
        self._latest = time, step, steps
        if now - self._drawn < BETWEEN and self._bar is not None:
            return
        self._draw(time, step, steps)

    def _draw(self, time: float, step: float, steps: int) -> None:
        self._drawn, self._latest = monotonic(), None
        simulated = f"{time:.6g} of {self._with_unit(f'{self._total:.6g}')}"
        rate = f"{self._rate(time)}  step {self._with_unit(f'{step:.3g}')}, {steps:,} taken"
        if not self._warm:
            # Compilation during the first steps is left out of the displayed rates.
            self._warm, self._began, self._first = True, monotonic(), time
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=time, simulated=simulated, rate=rate)
            return
        tenth = int(10 * time / self._total)
        if tenth > self._tenth:
            self._tenth = tenth
            self.message(f"{simulated}  {rate}")

    def finish(self, text: str = "") -> None:
        """Show that the run has ended; the text says how."""
        self.close()
        if text and not self._quiet:
            self.message(text)

    def close(self) -> None:
        """Remove the bar from the screen."""
        if self._bar is not None:
            if self._latest is not None:
                self._draw(*self._latest)
            self._bar.stop()
            self._bar = None

    def _rate(self, now: float) -> str:
        elapsed, done = monotonic() - self._began, now - self._first
        if elapsed <= 0.0 or done <= 0.0:
            return ""
        left = (self._total - now) * elapsed / done
        rate = 3600.0 * done / elapsed
        per_hour = f"{rate:.3g} {self._unit}/h" if self._unit else f"{rate:.3g} per hour"
        return f"{per_hour}  {clock(left)} left"

    def _with_unit(self, text: str) -> str:
        return f"{text} {self._unit}" if self._unit else text
