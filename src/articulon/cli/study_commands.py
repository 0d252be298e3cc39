"""The commands ``sensitivities``, ``fit`` and ``optimise``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from articulon.cli.commands import EXIT_CHECK, AllowCode, CaseName, Overrides, app, assignments, fail
from articulon.cli.output import echo, printable, table_console

ROWS = 40
"""Number of parameters printed; the page has all of them."""
Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder of the results; by default a new folder studies/<case>-..."),
]
Parameters = Annotated[
    list[str],
    typer.Option("--parameter", metavar="KEY", help="A key, instead of those named by the case. Repeatable."),
]


@app.command()
def sensitivities(
    case: CaseName,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective", metavar="NAME", help="An observable at the end; by default the stop time of the run."
        ),
    ] = None,
    parameters: Parameters = [],  # noqa: B006
    method: Annotated[
        str | None, typer.Option("--method", metavar="NAME", help="adjoint, or forward for few parameters.")
    ] = None,
    overrides: Overrides = [],  # noqa: B006
    out: Folder = None,
    allow_code: AllowCode = False,
) -> None:
    """Rank the parameters of a case by the effect of a change of one percent on the end of its run."""
    from articulon.cases import load_case
    from articulon.parameter_studies.ranking import rank_parameters
    from articulon.parameter_studies.ranking_page import PAGE, value_text
    from articulon.parameter_studies.study_folder import free_folder
    from articulon.report.readable_numbers import number

    description = load_case(case, assignments(overrides), allow_code=allow_code)
    folder = free_folder(f"{description.folder_name}-sensitivities") if out is None else out
    found = rank_parameters(
        description,
        objective,
        parameters or None,
        method,
        allow_code=allow_code,
        out=folder,
    )
    echo(f"{found.objective.replace('_', ' ')} {value_text(found)}\n")
    rows = [
        [one.parameter, number(one.value), number(one.effect / 100.0 if one.elasticity is None else one.elasticity, 3)]
        for one in found.influences[:ROWS]
    ]
    unit = " (%)" if found.value else ""
    print_table(description.title, ["parameter", "value", f"change by 1 % more{unit}"], rows)
    if len(found.influences) > ROWS:
        echo(f"and {len(found.influences) - ROWS} more, on the page")
    if found.left_out:
        echo(f"left out: {len(found.left_out)} keys; see the page for the reasons")
    echo(f"results {folder}\npage    {folder / PAGE}")


@app.command()
def fit(
    case: CaseName,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="CSV file with a column time and one for each observable."),
    ] = None,
    parameters: Parameters = [],  # noqa: B006
    overrides: Overrides = [],  # noqa: B006
    out: Folder = None,
    allow_code: AllowCode = False,
) -> None:
    """Fit parameters of a case to measurements, with confidence intervals. Without measurements, test whether its own
    parameters can be recovered from its run."""
    from articulon.cases import load_case
    from articulon.parameter_studies.fit_page import PAGE
    from articulon.parameter_studies.fitting import fit as fit_case
    from articulon.parameter_studies.study_folder import free_folder
    from articulon.report.readable_numbers import number

    description = load_case(case, assignments(overrides), allow_code=allow_code)
    folder = free_folder(f"{description.folder_name}-fit") if out is None else out
    found = fit_case(description, data, parameters or None, allow_code=allow_code, out=folder)
    rows = [
        [
            name,
            number(value, 6),
            f"{number(low, 5)} to {number(high, 5)}",
            *[number(own, 6)] * found.synthetic,
        ]
        for name, value, (low, high), own in zip(
            found.names, found.numbers, found.intervals(), found.sought.own, strict=True
        )
    ]
    heads = ["parameter", "found", "95 % interval", *(["true"] if found.synthetic else [])]
    print_table(description.title, heads, rows)
    if found.measurements.errors is not None:
        echo(f"χ² {number(found.residual_error**2)} for each of {found.degrees_of_freedom} degrees of freedom")
    echo(f"results {folder}\npage    {folder / PAGE}")
    if found.recovered is False:
        fail("the parameters of the case were not recovered: they are outside the 99.9 % region", "failed")
        raise typer.Exit(EXIT_CHECK)


@app.command()
def optimise(
    case: CaseName,
    parameters: Parameters = [],  # noqa: B006
    overrides: Overrides = [],  # noqa: B006
    out: Folder = None,
    allow_code: AllowCode = False,
) -> None:
    """Find parameters of a case for which its run meets the targets of the case's section optimise."""
    from articulon.cases import load_case
    from articulon.parameter_studies.optimising import optimise as optimise_case
    from articulon.parameter_studies.optimum_page import OPTIMAL_CASE, PAGE
    from articulon.parameter_studies.study_folder import free_folder
    from articulon.report.readable_numbers import number

    description = load_case(case, assignments(overrides), allow_code=allow_code)
    folder = free_folder(f"{description.folder_name}-optimum") if out is None else out
    found = optimise_case(description, None, parameters or None, allow_code=allow_code, out=folder)
    ends = [
        [one.observable, number(one.value, 6), number(end, 6)]
        for one, end in zip(found.targets, found.ends.tolist(), strict=True)
    ]
    print_table(description.title, ["observable", "target", "end"], ends)
    echo(f"{found.runs} runs; run the result with: articulon run {folder / OPTIMAL_CASE}")
    echo(f"results {folder}\npage    {folder / PAGE}")


def print_table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    """Print a table whose first column contains words."""
    from rich.table import Table

    table = Table(title=printable(title), title_justify="left")
    for k, head in enumerate(heads):
        table.add_column(printable(head), justify="right" if k else "left")
    for row in rows:
        table.add_row(*(printable(cell) for cell in row))
    table_console().print(table)
