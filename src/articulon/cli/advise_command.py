"""The command ``advise``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from articulon.cli.commands import EXIT_INTERRUPTED, AllowCode, CaseName, Overrides, app, assignments, fail
from articulon.cli.output import echo, table_console
from articulon.runs.progress import RunProgress

if TYPE_CHECKING:
    from articulon.advice import Advice

WIDTH = 100
"""Width of the output if there is no terminal."""


@app.command()
def advise(
    case: CaseName,
    probe: Annotated[
        str | None,
        typer.Option(
            "--probe", metavar="TIME", help="Length of the probe run; by default a few of its slowest relaxation times."
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Approximate wall time to spend, without compiling.")
    ] = 30.0,
    tolerance: Annotated[
        str | None,
        typer.Option("--tolerance", metavar="PART", help="Allowed error: 0.02 or '2 %' (the default)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    overrides: Overrides = [],  # noqa: B006
    allow_code: AllowCode = False,
) -> None:
    """Advise on a case before a long run: which rule, which step, at what cost, and how far to trust it."""
    from articulon.advice import advise as advise_on
    from articulon.cases import load_case

    description = load_case(case, assignments(overrides), allow_code=allow_code)
    progress = RunProgress()
    try:
        found = advise_on(description, probe, seconds=seconds, tolerance=tolerance, progress=progress)
    except KeyboardInterrupt as interruption:
        partial = getattr(interruption, "advice", None)
        if partial is None:
            raise
        _print(partial, as_json)
        fail("stopped by Ctrl-C; options marked accordingly have not been measured", "interrupted")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        progress.close()
    _print(found, as_json)


def _print(advice: Advice, as_json: bool) -> None:
    if as_json:
        echo(json.dumps(advice.data, indent=2, ensure_ascii=False, allow_nan=False))
        return
    from articulon.advice.advice_table import print_advice

    print_advice(advice, table_console(WIDTH))
