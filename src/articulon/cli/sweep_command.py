"""The command ``sweep``."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from articulon.cli.commands import (
    EXIT_CHECK,
    AllowCode,
    CaseName,
    Overrides,
    app,
    as_options,
    assignments,
    fail,
    varied_values,
)
from articulon.cli.output import echo, printable, table_console
from articulon.errors import CaseError

if TYPE_CHECKING:
    from articulon.sweeps.ensemble_entry import Sweep


@app.command()
def sweep(
    case: CaseName,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="N", help="Number of seeds: 1, 2 ... N; or a list, 3,5,8.")
    ] = "50",
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="KEY=V1,V2", help="Run every seed for each value of a key. Repeatable."),
    ] = [],  # noqa: B006
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="Processes on this machine; by default one per core."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Run on the workers of a Dask scheduler instead: tcp://10.0.0.1:8786. They need access to the folder.",
        ),
    ] = None,
    overrides: Overrides = [],  # noqa: B006
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the results; by default sweeps/<case>.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the sweep in the folder, or start one if there is none. More --seeds than "
            "before add members.",
        ),
    ] = False,
    skip: Annotated[
        str, typer.Option("--skip", metavar="PART", help="Initial fraction of frames to skip in time averages: 20%.")
    ] = "0",
    slurm: Annotated[
        bool,
        typer.Option("--slurm", help="Run nothing; write the script of a Slurm job array and the list of its members."),
    ] = False,
    allow_code: AllowCode = False,
) -> None:
    """Run a case for many seeds, and for values of its keys, and average the results of the runs."""
    from articulon.cases import load_case

    description = load_case(case, assignments(overrides), allow_code=allow_code)
    description.check_code()
    varied = varied_values("sweep", description, case, overrides, vary)
    if workers is not None and scheduler is not None:
        raise CaseError("--workers are processes on this machine, but --scheduler has its own workers; give only one")
    if slurm and (workers is not None or scheduler is not None):
        raise CaseError("--slurm does not run anything; leave out --workers and --scheduler")

    from articulon.sweeps.ensemble_entry import PAGE, default_folder, ensemble, plan_of

    folder = default_folder(description) if out is None else out
    again = ["articulon", "sweep", case, "--seeds", seeds, *(part for text in vary for part in ("--vary", text))]
    again += [*(part for text in overrides for part in ("--set", text)), "--out", str(folder), "--resume"]
    again += ["--skip", skip] * (skip != "0") + ["--allow-code"] * allow_code
    if slurm:
        from articulon.sweeps.slurm_script import write_slurm

        plan = plan_of(description, _seeds(seeds), varied)
        script, members = write_slurm(plan, folder, join(again), resume)
        echo(f"members {members}: {len(plan.members)}\nscript  {script}; start it by: {join(['sbatch', str(script)])}")
        return
    from articulon.sweeps.sweep_progress import SweepProgress

    try:
        done = ensemble(
            description,
            _seeds(seeds),
            varied,
            folder,
            _cores() if workers is None else workers,
            scheduler,
            resume=resume,
            skip=_part(skip),
            progress=SweepProgress(),
            allow_code=allow_code,
        )
    except KeyboardInterrupt as interruption:
        told = " ".join(map(str, interruption.args)) or "the sweep was stopped before its first run"
        again += ["--workers", str(workers)] * (workers is not None)
        again += ["--scheduler", str(scheduler)] * (scheduler is not None)
        raise KeyboardInterrupt(f"{told}:\n  {join(again)}") from None
    _print(done)
    echo(f"results {folder}\npage    {folder / PAGE}")
    if done.failed:
        fail(f"{len(done.failed)} of {len(done.summary['members'])} members", "failed")
        raise typer.Exit(EXIT_CHECK)


def _print(done: Sweep) -> None:
    """Print the results of each group as a table, and the members that failed."""
    from rich.table import Table

    from articulon.sweeps.sweep_words import group_label, passage_heads, passage_words, scale_of

    summary: dict[str, Any] = done.summary
    stops, groups = summary["stops"], summary["groups"]
    time = scale_of(done.case.units, groups)
    table = Table(title=printable(done.case.title), title_justify="left")
    for k, head in enumerate(("", "ended", "failed", *(passage_heads(stops) if stops else ()))):
        table.add_column(printable(head), justify="right" if k else "left")
    for group in groups:
        words = passage_words(group["first_passage"], time) if group["first_passage"] else []
        cells = [group_label(group["values"]), group["members"] - group["failed"], group["failed"], *words]
        table.add_row(*(printable(cell).replace("\u00a0", " ") for cell in cells))
    table_console().print(table)
    for name, error in done.failed.items():
        echo(as_options(f"failed  {name}: {error.splitlines()[0]}"))
    for note in summary["notes"]:
        echo(f"note    {note}")


def _seeds(text: str) -> int | list[int]:
    """Number of seeds, or a list of seeds."""
    try:
        found = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found:
        raise CaseError(f"cannot read --seeds {text!r}; write a number of seeds, or a list such as 3,5,8")
    return found if "," in text else found[0]


def _part(text: str) -> float:
    from articulon.cli.analyse_command import part

    return 0.0 if text.strip() in ("0", "0%") else part(text, "--skip")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
