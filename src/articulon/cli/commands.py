"""The command group ``articulon``, its common options, and its error handling."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from articulon import __version__
from articulon.cli.output import echo, printable
from articulon.errors import ArticulonError, CaseError

if TYPE_CHECKING:
    from rich.console import Console

    from articulon.cases import Case


EXIT_ERROR = 2
"""Exit code: the case, the model or the files are invalid; the message says what to do."""
EXIT_CHECK = 3
"""Exit code: a check of the case failed, or ``--strict`` was given and the verdict is not trusted. Results are kept."""
EXIT_INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report it."""


class Commands(TyperGroup):
    """The command group; it turns each error that articulon raises into one message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the requested command."""
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
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder of the results; by default runs/<case>, with the changes by --set in its name.",
    ),
]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code", help="Allow functions that the case names to run; they are code by the author of the case."
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"articulon {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Dynamics of articulated molecules, nanoparticles, polymers and grains across scales."""


def console() -> Console:
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True, highlight=False)


def fail(message: str, heading: str = "error") -> None:
    """Print a message to standard error, with its heading in red."""
    from rich.text import Text

    console().print(Text.assemble((f"{heading}:", "bold red"), " ", printable(as_options(message))))


OPTIONS = {
    "resume=True": "--resume",
    "out=...": "--out DIR",
    "port=...": "--port N",
    "host=...": "--host ADDRESS",
    "token=...": "--token TEXT",
    "allow_code=True of load_case, run or open_run": "--allow-code",
    "allow_code=True": "--allow-code",
    "articulon.analysis.analyse_contacts": "articulon analyse",
}
"""Command-line equivalents of the Python arguments named in messages."""


def as_options(message: str) -> str:
    """Return a message with Python arguments replaced by command-line options."""
    for argument, option in OPTIONS.items():
        message = message.replace(argument, option)
    return message


def assignments(texts: list[str]) -> dict[str, Any]:
    """Overrides given by ``--set``, by dotted key."""
    from articulon.cases.overrides import assignment

    found: dict[str, Any] = {}
    for text in texts:
        key, value = assignment(text)
        found[key] = value
    return found


def varied_values(command: str, description: Case, case: str, overrides: list[str], vary: list[str]) -> dict[str, Any]:
    """Lists of values given by ``--vary``, by dotted key.

    Parameters
    ----------
    command
        Name of the command.
    description
        The case.
    case, overrides
        Name or file of the case, and the ``--set`` texts.
    vary
        ``--vary`` texts such as ``"scaling.a2=0.1,0.2"``.

    Raises
    ------
    CaseError
        For anything that is not a list of values, and for a value that the case does not allow.
    """
    from articulon.cases.advice import foreign, how_to_vary
    from articulon.cases.overrides import parts, values_of

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
                foreigner = foreign(description, key)
                advice = how_to_vary(command, case, overrides, key.strip(), value, vary) if foreigner else ""
                raise CaseError(f"{error}{advice}") from None
        varied[key.strip()] = found
    return varied
