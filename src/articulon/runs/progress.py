"""How a run is shown while it goes."""

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
"""Shortest time between two drawings of the bar [s]."""
PATIENCE = 1.0
"""For how long a run goes on before it is shown of itself [s]: what ends sooner needs no bar."""


def shown_by(progress: SomeProgress | bool | None) -> SomeProgress:
    """What shows a run.

    Parameters
    ----------
    progress
        Whoever shows it; True for a bar on standard error or in a notebook, False for nothing. None shows a bar where a
        person is looking, in a terminal or a notebook, and the run takes longer than a second.

    Raises
    ------
    CaseError
        For what is none of these.
    """
    from articulon.inputs import shown
    from articulon.simulation.run_request import Silent

    if progress is None:
        console = standard_error()
        return RunProgress(console, PATIENCE) if console.is_terminal or console.is_jupyter else Silent()
    if isinstance(progress, bool):
        return RunProgress() if progress else Silent()
    if not all(callable(getattr(progress, name, None)) for name in ("start", "message", "update", "finish")):
        raise CaseError(
            "progress: expected True, False, or an object with start, message, update and finish, got "
            f"{shown(progress)}"
        )
    return progress


class RunProgress:
    """Shows a run on the standard error: a bar on a terminal, and a line at every tenth of the way elsewhere.

    Anything with the methods ``start``, ``message``, ``update`` and ``finish`` can be given to
    :func:`articulon.run` as ``progress``.
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
        """The run begins, or goes on.

        Parameters
        ----------
        total_time
            The simulated time at which it will end [time].
        unit
            The symbol of the unit of time.
        resumed_from
            The simulated time at which it goes on [time].
        """
        self._total, self._first, self._unit = total_time, resumed_from, unit
        self._began, self._warm = monotonic(), False
        self._tenth = int(10 * resumed_from / total_time)
        self._resumed, self._quiet = resumed_from, self._patience > 0.0
        if not self._quiet:
            self._show()

    def _show(self) -> None:
        """Begin to say and draw."""
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
        """Something that a person should know, such as that kernels are being compiled."""
        self._console.print(printable(text), markup=False)

    def update(self, time: float, step: float, steps: int) -> None:
        """How far the run has come: simulated time [time], length of the current step [time], steps taken."""
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
            # What is compiled for the first steps does not count in the rates that are shown later.
            self._warm, self._began, self._first = True, monotonic(), time
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=time, simulated=simulated, rate=rate)
            return
        tenth = int(10 * time / self._total)
        if tenth > self._tenth:
            self._tenth = tenth
            self.message(f"{simulated}  {rate}")

    def finish(self, text: str = "") -> None:
        """The run is over; the text says how it ended."""
        self.close()
        if text and not self._quiet:
            self.message(text)

    def close(self) -> None:
        """Take the bar off the screen, however the run ended."""
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
