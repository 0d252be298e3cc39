"""The commands that run cases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from articulon.cli.commands import (
    EXIT_CHECK,
    AllowCode,
    CaseName,
    Out,
    Overrides,
    app,
    assignments,
    fail,
    varied_values,
)
from articulon.cli.output import echo
from articulon.cli.verdict_line import is_trusted, print_verdict
from articulon.errors import ArticulonError, DivergenceError
from articulon.runs.progress import RunProgress

if TYPE_CHECKING:
    from articulon.cases import Case

RUNS = Path("runs")
"""Default folder of results, with a folder for each case."""

OF_ENERGY = ("energy_balance_error", "largest_work")
"""Summary figures that are energies."""
REPORT = "report.html"
"""File name of the report in the folder of a run."""
WRITTEN_BY_A_RUN = ("case.toml", "trajectory.h5", "checkpoint.npz", "checkpoint_prev.npz", "summary.json")
"""Files that identify a folder as that of a run."""


@app.command()
def run(
    case: CaseName,
    out: Out = None,
    overrides: Overrides = [],  # noqa: B006
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the run in the folder, or start one if there is none. A longer run.duration "
            "(by --set) extends a finished run.",
        ),
    ] = False,
    allow_code: AllowCode = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with code 3 unless the verdict on a scaled run is 'trusted' (not suspect, violated or "
            "inconclusive). The results are kept.",
        ),
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="lammps",
            help="Have LAMMPS compute the forces between sites, under mpiexec -n N on N processors; the same as "
            "--set run.engine=lammps.",
        ),
    ] = None,
) -> None:
    """Run a case and write its results and report; the last line is the verdict on a scaled run."""
    from articulon.cases import load_case
    from articulon.lammps.rank_runs import by_lammps, is_first_rank

    changes = [] if engine is None else [f"run.engine={engine}"]
    leads = is_first_rank() if engine is not None else True
    description = load_case(case, assignments([*overrides, *changes]), allow_code=allow_code)
    description.check_code()
    folder = RUNS / description.folder_name if out is None else out
    if leads and (not by_lammps(description) or is_first_rank()):
        check_folder(folder, description, resume)
    progress = RunProgress()

    from articulon.runs.entry import run as run_case

    try:
        done = run_case(description, out=folder, resume=resume, progress=progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_continue(case, folder, [*overrides, *changes], allow_code)) from None
    except DivergenceError:
        progress.close()
        if (folder / WRITTEN_BY_A_RUN[-1]).is_file():
            from articulon.storage.file_reading import read_summary

            print_verdict(read_summary(folder))
        raise
    finally:
        progress.close()

    _print_summary(done.summary)
    failed = _print_checks(done.summary.get("checks") or [])
    for note in done.summary.get("notes") or []:
        echo(f"note    {note}")
    echo(f"results {folder}\nreport  {folder / REPORT}")
    if description.run.gsd:
        from articulon.runs.gsd_export import write_gsd

        echo(f"spheres {write_gsd(done)}")
    doubted = strict and not is_trusted(done.summary)
    if failed:
        fail("; ".join(failed), "check failed")
    if doubted:
        fail("--strict requires the verdict 'trusted'", "not trusted")
    print_verdict(done.summary)
    if failed or doubted:
        raise typer.Exit(EXIT_CHECK)


@app.command()
def compare(
    case: CaseName,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="A,B", help="Variants to run; by default those named by the case."),
    ] = None,
    vary: Annotated[
        list[str], typer.Option("--vary", metavar="KEY=V1,V2", help="Run once for each value of a key. Repeatable.")
    ] = [],  # noqa: B006
    overrides: Overrides = [],  # noqa: B006
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the results; by default runs/<case>-compare.")
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Run variants of a case side by side and print how they differ."""
    from articulon.cases import load_case

    description = load_case(case, assignments(overrides), allow_code=allow_code)
    description.check_code()
    names = None if against is None else [name.strip() for name in against.split(",") if name.strip()]
    for name in names or ():
        description.variant(name)
    varied = varied_values("compare", description, case, overrides, vary)
    folder = RUNS / f"{description.folder_name}-compare" if out is None else out

    from articulon.comparisons.comparison import compare as compare_variants

    progress = RunProgress()
    try:
        compare_variants(description, against=names, vary=varied, out=folder, progress=progress)
    finally:
        progress.close()
    if not (names or varied or description.variants):
        echo("note    this case has no variants to compare; create some by --vary KEY=V1,V2, for example of the step")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            metavar="FILE",
            help="PDB or mmCIF file to compare molecules with; by default the first frame.",
        ),
    ] = None,
) -> None:
    """Write the report of an existing run again."""
    from articulon.simulation.results import check_run

    check_run(folder)

    from articulon.studio.run_report import write_report

    echo(write_report(folder, reference))


def check_folder(folder: Path, case: Case, resume: bool) -> None:
    """Raises an error if a folder is neither free for a run nor contains the run to continue."""
    held = [name for name in WRITTEN_BY_A_RUN if os.path.lexists(folder / name)]
    if held and not resume:
        raise ArticulonError(
            f"{folder} holds another run ({held[0]}); continue it (resume=True), or choose another folder (out=...)"
        )
    if resume and "case.toml" in held:
        from articulon.cases.run_extension import extended_case

        case, shorter = extended_case(folder, case)
        if shorter is None:
            case.check_continues(folder / "case.toml")


def _how_to_continue(case: str, folder: Path, overrides: list[str], allow_code: bool) -> str:
    from shlex import join

    changes = [part for text in overrides for part in ("--set", text)]
    command = join(
        [
            "articulon",
            "run",
            case,
            *changes,
            "--out",
            str(folder),
            "--resume",
            *(["--allow-code"] if allow_code else []),
        ]
    )
    checkpoint = folder / "checkpoint.npz"
    if checkpoint.exists():
        return f"the checkpoint is {checkpoint}; continue with\n  {command}"
    return f"no checkpoint was written to {folder} yet"


def _print_summary(summary: Any) -> None:
    """Print the scalar figures of a summary, one per line, and what moved if joints locked or released."""
    plain = {key: value for key, value in summary.items() if isinstance(value, str | int | float) and value != ""}
    if not summary.get("core_drag"):
        plain.pop("core_drag", None)
    width = max(map(len, plain), default=0)
    units = dict.fromkeys(OF_ENERGY, plain.pop("energy_unit", ""))
    for key, value in plain.items():
        shown = f"{value:.6g} {units.get(key, '')}".rstrip() if isinstance(value, float) else value
        echo(f"{key.replace('_', ' '):<{width}}  {shown}")
    for kind, found in (summary.get("temperatures_of_freedoms") or {}).items():
        if found["temperature"] is not None:
            error = "" if found["error"] is None else f" ± {found['error']:.2g}"
            echo(f"{'temperature':<{width}}  {found['temperature']:.4g}{error} K of {found['freedoms']:.6g} of {kind}")
    if summary.get("adaptive"):
        from articulon.report.activity_figure import activity_words

        echo(f"{'what moved':<{width}}  {activity_words(summary['adaptive'])}")
    if summary.get("molecules"):
        from articulon.report.molecule_words import molecule_words

        echo(f"{'molecules':<{width}}  {molecule_words(summary['molecules'])}")


def _print_checks(checks: list[Any]) -> list[str]:
    """Print each check with its result, one per line, and return those that failed."""
    lines = {}
    for check in checks:
        value = "not a number" if check["value"] is None else f"{check['value']:.3g}"
        found = f"{value}, allowed {check['bound']:.3g} {check['unit']}".rstrip()
        if check.get("measured") is not None:
            found = f"{check['measured']:.12g}, should be {check['reference']:.12g}, error {found}"
        lines[f"{check['what']}: {found}"] = check["passed"]
    for line, passed in lines.items():
        echo(f"{'passed' if passed else 'FAILED'}  {line}")
    return [line for line, passed in lines.items() if not passed]
