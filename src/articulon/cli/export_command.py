"""The command that writes runs for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from articulon.cli.commands import app
from articulon.cli.output import echo
from articulon.errors import ArticulonError

DEFAULTS = {
    "xtc": "atoms.xtc",
    "dcd": "atoms.dcd",
    "pdb": "frames.pdb",
    "csv": "coordinates.csv",
    "gsd": "spheres.gsd",
    "video": "run.mp4",
}
"""What the file of each format is called by default, in the folder of the run."""
OF_ATOMS = ("xtc", "dcd", "pdb")
"""Formats that hold atoms."""


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The file; by default atoms.xtc and so on in the folder.")
    ] = None,
    xtc: Annotated[bool, typer.Option("--xtc", help="Atoms, as GROMACS keeps them.")] = False,
    dcd: Annotated[bool, typer.Option("--dcd", help="Atoms, as CHARMM and NAMD keep them.")] = False,
    pdb: Annotated[bool, typer.Option("--pdb", help="Atoms, a model for each frame.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Joint coordinates, angles in degrees.")] = False,
    gsd: Annotated[bool, typer.Option("--gsd", help="The contact spheres, for OVITO, freud and HOOMD-blue.")] = False,
    video: Annotated[bool, typer.Option("--video", help="A film, MP4 or GIF by the ending of FILE.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The file, as FILE.")] = None,
    select: Annotated[
        str | None, typer.Option("--select", metavar="WORDS", help="Which atoms, in MDAnalysis's language: 'name CA'.")
    ] = None,
    frames: Annotated[
        str | None,
        typer.Option("--frames", metavar="FIRST:END:INTERVAL", help="Which frames; all by default."),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            "--align",
            metavar="backbone|none",
            help="Move each frame onto the first by its backbone (the default), which leaves out the box, or leave all "
            "where it is.",
        ),
    ] = None,
    wrapped: Annotated[
        bool,
        typer.Option(
            "--wrapped/--whole",
            help="Move each molecule into the box, not aligned, or leave it where it has gone to (the default). "
            "Molecules are whole in both.",
        ),
    ] = False,
    precision: Annotated[
        int | None,
        typer.Option("--precision", metavar="DIGITS", help="Digits of nm that XTC keeps; 3 by default."),
    ] = None,
    coordinates: Annotated[
        str | None,
        typer.Option("--coordinates", metavar="A,B", help="For --csv: phi:A:TRP2,psi:* and so on; all by default."),
    ] = None,
) -> None:
    """Write the results of a run in a format of other programs."""
    from articulon.simulation.results import check_run

    check_run(folder)
    formats = [name for name, wanted in zip(DEFAULTS, (xtc, dcd, pdb, csv, gsd, video), strict=True) if wanted]
    if len(formats) != 1:
        raise ArticulonError(f"say which format: one of {', '.join(f'--{name}' for name in DEFAULTS)}")
    if file is not None and out is not None:
        raise ArticulonError("give the file once, as FILE or by --out FILE")
    chosen = formats[0]
    _check_options(chosen, select, align, wrapped, precision, coordinates, frames)
    target = file or out or folder / DEFAULTS[chosen]
    if chosen == "gsd":
        from articulon.runs.gsd_export import write_gsd

        echo(write_gsd(folder, target))
        return
    if chosen == "video":
        echo(_write_film(folder, target, frames))
        return
    if target.suffix.lower() != f".{chosen}":
        raise ArticulonError(f"{target}: expected a name that ends in .{chosen}")

    from articulon.runs.entry import open_run

    run = open_run(folder)
    if chosen in OF_ATOMS and align is None and not wrapped and run.boxes is not None:
        echo("note    frames are aligned, and the box, which cannot turn with them, is left out; --align none keeps it")
    echo(
        run.export(
            target,
            select="all" if select is None else select,
            frames=frames,
            align="backbone" if align is None else align,  # type: ignore[arg-type]
            wrapped=wrapped,
            precision=3 if precision is None else precision,
            coordinates="*" if coordinates is None else [name.strip() for name in coordinates.split(",")],
        )
    )


def _write_film(folder: Path, target: Path, frames: str | None) -> Path:
    """Write a film, with a bar where someone is looking."""
    from rich.progress import Progress

    from articulon.runs.entry import open_run
    from articulon.runs.film_export import write_film
    from articulon.terminal import standard_error

    console = standard_error()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("drawing", total=None)
        return write_film(
            open_run(folder), target, frames, lambda count, total: bar.update(task, completed=count, total=total)
        )


def _check_options(
    chosen: str,
    select: str | None,
    align: str | None,
    wrapped: bool,
    precision: int | None,
    coordinates: str | None,
    frames: str | None,
) -> None:
    """Raises ArticulonError for an option that does not go with the format."""
    given = {
        "--select": (select is not None, OF_ATOMS),
        "--align": (align is not None, OF_ATOMS),
        "--wrapped": (wrapped, OF_ATOMS),
        "--precision": (precision is not None, ("xtc",)),
        "--coordinates": (coordinates is not None, ("csv",)),
        "--frames": (frames is not None, (*OF_ATOMS, "csv", "video")),
    }
    for option, (is_given, formats) in given.items():
        if is_given and chosen not in formats:
            raise ArticulonError(f"{option} goes with {' and '.join(f'--{name}' for name in formats)}; leave it out")
    if wrapped and align == "backbone":
        raise ArticulonError("--wrapped moves molecules into the box, which cannot turn; leave out --align backbone")
