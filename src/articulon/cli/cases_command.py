"""Commands for cases and for this machine: list, compile, cite and measure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from articulon.cli.commands import CaseName, app
from articulon.cli.output import echo
from articulon.errors import ArticulonError


@app.command()
def cases(
    name: Annotated[str | None, typer.Argument(help="A built-in case whose file and notes are printed.")] = None,
) -> None:
    """List the built-in cases, or print one."""
    from articulon.cases.case import text_of
    from articulon.cases.library import built_in_cases, titles
    from articulon.cases.loading import find

    if name is not None:
        echo(text_of(find(name)), nl=False)
        return
    width = max(map(len, built_in_cases()), default=0)
    for known, title in titles().items():
        echo(f"{known:<{width}}  {title}")


@app.command("warm-up")
def warm_up(
    names: Annotated[list[str] | None, typer.Argument(help="Cases; all built-in ones by default.")] = None,
) -> None:
    """Compile the kernels that runs of cases need, so that their first steps start at once."""
    from articulon.announcements import announcing
    from articulon.cases import load_case
    from articulon.cases.library import built_in_cases
    from articulon.simulation.warming import warm

    for name in names or list(built_in_cases()):
        with announcing(lambda text, name=name: echo(f"{name}: {text}")):  # type: ignore[misc]
            seconds = warm(load_case(name))
        echo(f"{name}: ready in {seconds:.1f} s")


@app.command()
def cite(case: CaseName) -> None:
    """Print the references to cite for a case, as BibTeX."""
    from articulon.cases import load_case
    from articulon.cases.references import bibliography

    echo(bibliography(load_case(case).cite))


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(help="A benchmark; all of them by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure speed and memory on this machine, alongside other installed engines; needs a checkout."""
    checkout = Path(__file__).resolve().parents[3]
    if "benchmarks" not in sys.modules:
        if not (checkout / "benchmarks" / "__init__.py").is_file():
            raise ArticulonError(
                "the benchmarks are not part of the installed package: clone the repository of articulon, install it "
                "by 'pip install -e .', and run 'articulon bench' again"
            )
        sys.path.insert(0, str(checkout))
    from benchmarks import main as measure

    measure(name, json)
