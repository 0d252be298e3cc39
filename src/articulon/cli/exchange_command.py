"""The command ``exchange``."""

from __future__ import annotations

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from articulon.cli.commands import AllowCode, CaseName, Overrides, app, assignments
from articulon.cli.output import echo, printable, table_console
from articulon.runs.progress import RunProgress

if TYPE_CHECKING:
    from articulon.runs.exchange_results import ReplicaExchange

NOTHING = "nothing"
"""Word for a run without locked joints."""


@app.command()
def exchange(
    case: CaseName,
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="Time between two exchanges: '2 ps'.")],
    temperatures: Annotated[
        str | None,
        typer.Option(
            "--temperatures", metavar="T1,T2", help="Temperatures of runs; neighbours in this list exchange: 300K,330K."
        ),
    ] = None,
    locked: Annotated[
        list[str],
        typer.Option(
            "--locked",
            metavar="WORDS",
            help="Locked joints of a run: bodies or words such as side-chains, separated by semicolons; "
            "'nothing' for none. Give it once for each run.",
        ),
    ] = [],  # noqa: B006
    overrides: Overrides = [],  # noqa: B006
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the results; by default exchanges/<case>.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the exchange in the folder, or start one if there is none. A longer "
            "run.duration extends it.",
        ),
    ] = False,
    allow_code: AllowCode = False,
) -> None:
    """Run a case at several temperatures, or with several sets of locked joints, and exchange coordinates."""
    from articulon.cases import load_case

    description = load_case(case, assignments(overrides), allow_code=allow_code)
    description.check_code()

    from articulon.runs.exchange_page import PAGE
    from articulon.runs.replica_exchange import default_folder, replica_exchange
    from articulon.storage.checkpoint import NEWEST

    folder = default_folder(description) if out is None else out
    chosen = [] if temperatures is None else ["--temperatures", temperatures]
    chosen += [part for words in locked for part in ("--locked", words)]
    again = ["articulon", "exchange", case, "--every", every, *chosen]
    again += [part for text in overrides for part in ("--set", text)]
    again += ["--out", str(folder), "--resume", *(["--allow-code"] if allow_code else [])]
    progress = RunProgress()
    try:
        done = replica_exchange(
            description,
            every=every,
            temperatures=None if temperatures is None else _parts(temperatures, ","),
            locked=[() if words.strip() == NOTHING else tuple(_parts(words, ";")) for words in locked] or None,
            out=folder,
            resume=resume,
            progress=progress,
            allow_code=allow_code,
        )
    except KeyboardInterrupt:
        if not (folder / NEWEST).is_file():  # interrupted during compilation: nothing to save yet
            raise
        raise KeyboardInterrupt(f"the states are saved; continue with:\n  {join(again)}") from None
    finally:
        progress.close()
    _print(done, description.title, "" if description.units.time is None else " K")
    echo(f"results {folder}\npage    {folder / PAGE}")


def _print(done: ReplicaExchange, title: str, kelvin: str) -> None:
    """Print the results of the exchange as a table."""
    from rich.table import Table

    from articulon.runs.exchange_page import round_trips

    table = Table(title=printable(title), title_justify="left")
    for k, head in enumerate(("run", "temperature", "locked", "accepted with next run")):
        table.add_column(head, justify="left" if k in (0, 2) else "right")
    for k, run in enumerate(done.runs):
        tried = k < len(done.tried) and done.tried[k]
        part = f"{100.0 * done.acceptance[k]:.0f} % of {done.tried[k]}" if tried else ""
        cells = (
            run.folder.name,
            f"{done.temperatures[k]:.6g}{kelvin}",
            ", ".join(done.locked[k]) or NOTHING,
            part,
        )
        table.add_row(*map(printable, cells))
    table_console().print(table)
    echo(f"{len(done.walkers)} exchanges, {round_trips(done)} from the first run to the last and back")


def _parts(text: str, mark: str) -> list[str]:
    return [part.strip() for part in text.split(mark) if part.strip()]
