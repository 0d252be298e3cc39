"""The command ``articulon``. What is heavy (kernels, plots, peers) is imported by the command that needs it."""

from __future__ import annotations

import errno
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from articulon import __version__
from articulon.errors import ArticulonError, CaseError, CheckpointError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from articulon.cases import Case

EXIT_ERROR = 2
"""The case, the model or the files are at fault; the message says which and what to do."""
EXIT_CHECK = 3
"""The results of a run, which are kept, do not pass a check of its case."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C, as shells report it."""

RUNS = Path("runs")
"""Where results go by default, a folder for each case."""

WRITTEN_BY_A_RUN = ("case.toml", "trajectory.h5", "checkpoint.npz", "checkpoint_prev.npz", "summary.json")
"""Files that show that a folder holds a run."""


class Commands(TyperGroup):
    """The commands, with every error that articulon raises on purpose as one message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interruption:
            fail(" ".join(map(str, interruption.args)) or "stopped by Ctrl-C", "interrupted")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except ArticulonError as error:
            fail(str(error))
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        raise typer.Exit(EXIT_ERROR)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

CaseName = Annotated[str, typer.Argument(metavar="CASE", help="A built-in case (see `articulon cases`) or a file.")]
Overrides = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the case: run.duration='0.1 us'. Repeatable."),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder of the results [runs/<case>].")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"articulon {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Dynamics of articulated molecules, nanoparticles, polymers and grains across scales."""


@app.command()
def run(
    case: CaseName,
    out: Out = None,
    overrides: Overrides = [],  # noqa: B006
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run that the folder holds.")] = False,
) -> None:
    """Run a case and write its results and report."""
    from articulon.cases import load_case

    description = load_case(case, _assignments(overrides))
    folder = RUNS / description.name if out is None else out
    check_folder(folder, description, resume)
    progress = RunProgress()

    from articulon.simulate.run import run as simulate

    try:
        done = simulate(description, out=folder, resume=resume, progress=progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_continue(case, folder, overrides)) from None
    finally:
        progress.close()

    from articulon.report.html import write_report

    report_file = write_report(folder)
    _print_summary(done.summary)
    failed = _print_checks(done.summary.get("checks") or [])
    typer.echo(f"results {folder}\nreport  {report_file}")
    if failed:
        fail("; ".join(failed), "check failed")
        raise typer.Exit(EXIT_CHECK)


@app.command()
def cases(
    name: Annotated[str | None, typer.Argument(help="A built-in case, to print its file and notes.")] = None,
) -> None:
    """List the built-in cases, or print one."""
    from articulon.cases.library import built_in_cases, titles
    from articulon.cases.loading import find

    if name is not None:
        typer.echo(find(name).read_text(encoding="utf-8"), nl=False)
        return
    width = max(map(len, built_in_cases()), default=0)
    for known, title in titles().items():
        typer.echo(f"{known:<{width}}  {title}")


@app.command()
def cite(case: CaseName) -> None:
    """Print what to cite for a case, as BibTeX."""
    from articulon.cases import load_case
    from articulon.cases.references import bibliography

    typer.echo(bibliography(load_case(case).cite))


@app.command()
def compare(
    case: CaseName,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="A,B", help="Variants to run; by default those that the case names."),
    ] = None,
    vary: Annotated[
        list[str], typer.Option("--vary", metavar="KEY=V1,V2", help="Run once for each value of a key. Repeatable.")
    ] = [],  # noqa: B006
    overrides: Overrides = [],  # noqa: B006
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the results [runs/<case>-compare].")
    ] = None,
) -> None:
    """Run variants of a case side by side and print how they differ."""
    from articulon.cases import load_case
    from articulon.cases.advice import foreign, how_to_vary
    from articulon.cases.overrides import parts, values_of

    description = load_case(case, _assignments(overrides))
    names = None if against is None else [name.strip() for name in against.split(",") if name.strip()]
    for name in names or ():
        description.variant(name)
    varied: dict[str, list[Any]] = {}
    for text in vary:
        key, _, values = text.partition("=")
        found = values_of(values)
        if not found:
            raise CaseError(f"cannot read --vary {text!r}; write key=value1,value2")
        parts(key)
        for value in found:
            try:
                description.with_overrides({key.strip(): value})
            except CaseError as error:
                advice = how_to_vary(case, overrides, key.strip(), value, vary) if foreign(description, key) else ""
                raise CaseError(f"{error}{advice}") from None
        varied[key.strip()] = found
    folder = RUNS / f"{description.name}-compare" if out is None else out

    from articulon.report.compare import compare as compare_variants

    progress = RunProgress()
    try:
        compare_variants(description, against=names, vary=varied, out=folder, progress=progress)
    finally:
        progress.close()


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
) -> None:
    """Write the report of a run again."""
    if not (folder / "case.toml").is_file():
        raise ArticulonError(f"{folder} holds no run (there is no case.toml in it); give the folder of a run")

    from articulon.report.html import write_report

    typer.echo(write_report(folder))


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(help="A benchmark; all of them by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure speed and memory on this machine, beside other engines where they are installed."""
    from articulon.benchmark import main as measure

    measure(name, json)


def check_folder(folder: Path, case: Case, resume: bool) -> None:
    """Raises unless a folder is free for a run, or holds the one that is to be continued."""
    held = [name for name in WRITTEN_BY_A_RUN if (folder / name).exists()]
    if not resume:
        if held:
            raise ArticulonError(
                f"{folder} holds another run ({held[0]}); continue it with --resume, or choose another folder by --out"
            )
        return
    if not held:
        raise CheckpointError(
            f"there is no run to resume in {folder}; leave out --resume, or give its folder with --out"
        )
    if (folder / "case.toml").exists():
        case.check_continues(folder / "case.toml")


def _how_to_continue(case: str, folder: Path, overrides: list[str]) -> str:
    from shlex import join

    changes = [part for text in overrides for part in ("--set", text)]
    command = join(["articulon", "run", case, *changes, "--out", str(folder), "--resume"])
    checkpoint = folder / "checkpoint.npz"
    if checkpoint.exists():
        return f"the checkpoint is {checkpoint}; continue with\n  {command}"
    return f"no checkpoint had been written to {folder} yet"


def _assignments(texts: list[str]) -> dict[str, Any]:
    from articulon.cases.overrides import assignment

    found: dict[str, Any] = {}
    for text in texts:
        key, value = assignment(text)
        found[key] = value
    return found


def _print_summary(summary: Any) -> None:
    """The figures of a summary that are single numbers or words, one a line."""
    plain = {key: value for key, value in summary.items() if isinstance(value, str | int | float)}
    width = max(map(len, plain), default=0)
    for key, value in plain.items():
        shown = f"{value:.6g}" if isinstance(value, float) else value
        typer.echo(f"{key.replace('_', ' '):<{width}}  {shown}")


def _print_checks(checks: list[Any]) -> list[str]:
    """Each check with what it found, one a line; returns those that failed."""
    lines = {}
    for check in checks:
        value = "not a number" if check["value"] is None else f"{check['value']:.3g}"
        found = f"{value}, allowed {check['bound']:.3g} {check['unit']}".rstrip()
        if check.get("measured") is not None:
            found = f"{check['measured']:.12g}, should be {check['reference']:.12g}, error {found}"
        lines[f"{check['what']}: {found}"] = check["passed"]
    for line, passed in lines.items():
        typer.echo(f"{'passed' if passed else 'FAILED'}  {line}")
    return [line for line, passed in lines.items() if not passed]


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True, highlight=False)


def fail(message: str, heading: str = "error") -> None:
    """Print a message to the standard error, its heading in red."""
    from rich.text import Text

    _console().print(Text.assemble((f"{heading}:", "bold red"), " ", message))


class RunProgress:
    """Shows a run on the standard error: a bar on a terminal, and a line at every tenth of the way elsewhere.

    Anything with the methods ``start``, ``message``, ``update`` and ``finish`` can be given to
    :func:`articulon.run` as ``progress``.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = _console() if console is None else console
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._total = self._first = 0.0
        self._unit = ""
        self._began = 0.0
        self._tenth = 0

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
        self._began = time.monotonic()
        self._tenth = int(10 * resumed_from / total_time)
        if resumed_from:
            self.message(f"continuing from {resumed_from:.6g} {unit}")
        if not self._console.is_terminal:
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
        self._task = self._bar.add_task("", total=total_time, simulated="", rate="")
        self._bar.update(self._task, completed=resumed_from)
        self._bar.start()

    def message(self, text: str) -> None:
        """Something that a person should know, such as that kernels are being compiled."""
        self._console.print(text, markup=False)

    def update(self, time: float, step: float, steps: int) -> None:
        """How far the run has come: simulated time [time], length of the current step [time], steps taken."""
        simulated = f"{time:.6g} of {self._total:.6g} {self._unit}"
        rate = f"{self._rate(time)}  step {step:.3g} {self._unit}, {steps:,} taken"
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
        if text:
            self.message(text)

    def close(self) -> None:
        """Take the bar off the screen, however the run ended."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _rate(self, now: float) -> str:
        elapsed, done = time.monotonic() - self._began, now - self._first
        if elapsed <= 0.0 or done <= 0.0:
            return ""
        left = (self._total - now) * elapsed / done
        return f"{3600.0 * done / elapsed:.3g} {self._unit}/h  {_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def main() -> None:
    """The entry point of the command."""
    app(prog_name="articulon")
