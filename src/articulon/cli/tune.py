"""The command ``tune``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from articulon.cli.analyse_command import part
from articulon.cli.commands import AllowCode, CaseName, Overrides, app, assignments
from articulon.cli.output import echo
from articulon.errors import ArticulonError
from articulon.runs.progress import RunProgress


@app.command()
def tune(
    case: CaseName,
    tolerance: Annotated[
        str, typer.Option("--tolerance", metavar="PART", help="Allowed lag of a scaled run: 0.01 or 1%.")
    ] = "1%",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The tuned case; by default <case>-tuned.toml.")
    ] = None,
    overrides: Overrides = [],  # noqa: B006
    allow_code: AllowCode = False,
) -> None:
    """Find a2, or Q and kd of a thermostat, by short paired runs, and write the tuned case."""
    from articulon.analysis.tuned_constants import tune as find
    from articulon.cases import load_case
    from articulon.storage.atomic_writing import write_text

    allowed = part(tolerance)
    description = load_case(case, assignments(overrides), allow_code=allow_code)
    description.check_code()
    file = Path(f"{description.folder_name}-tuned.toml") if out is None else out
    if os.path.lexists(file):
        raise ArticulonError(f"{file} exists already; choose another file with --out")
    progress = RunProgress()
    try:
        found = find(description, allowed, progress)
    finally:
        progress.close()
    unit = description.units.symbols[2]
    for pair in found.pairs:
        echo(
            f"a2 = {pair.a2:.3g}: {pair.delay:.3g} {unit} late after {pair.duration:.3g} {unit}, predicted "
            f"{pair.predicted:.3g}"
        )
    for note in found.notes:
        echo(note)
    write_text(file, found.case.to_toml(), new=True)
    echo(f"written to {file}")
