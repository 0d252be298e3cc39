"""The command that exports runs for other programs."""

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
"""Default file name of each format, in the folder of the run."""
OF_ATOMS = ("xtc", "dcd", "pdb")
"""Formats that contain atoms."""


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The file; by default atoms.xtc and so on in the folder.")
    ] = None,
    xtc: Annotated[bool, typer.Option("--xtc", help="Atoms, in the format of GROMACS.")] = False,
    dcd: Annotated[bool, typer.Option("--dcd", help="Atoms, in the format of CHARMM and NAMD.")] = False,
    pdb: Annotated[bool, typer.Option("--pdb", help="Atoms, one model per frame.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Joint coordinates, angles in degrees.")] = False,
    gsd: Annotated[bool, typer.Option("--gsd", help="Contact spheres, for OVITO, freud and HOOMD-blue.")] = False,
    video: Annotated[bool, typer.Option("--video", help="Film, MP4 or GIF by the ending of FILE.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Output file, instead of FILE.")] = None,
    select: Annotated[
        str | None,
        typer.Option("--select", metavar="WORDS", help="Atoms to export, as an MDAnalysis selection: 'name CA'."),
    ] = None,
    frames: Annotated[
        str | None,
        typer.Option("--frames", metavar="FIRST:END:INTERVAL", help="Frames to export; by default all."),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            "--align",
            metavar="backbone|none",
            help="Align each frame to the first by its backbone (the default), which drops the box, or keep the "
            "positions.",
        ),
    ] = None,
    wrapped: Annotated[
        bool,
        typer.Option(
            "--wrapped/--whole",
            help="Move each molecule into the box (without alignment), or keep unwrapped positions (the default). "
            "Molecules are whole either way.",
        ),
    ] = False,
    precision: Annotated[
        int | None,
        typer.Option("--precision", metavar="DIGITS", help="Decimal digits of nm in XTC; by default 3."),
    ] = None,
    coordinates: Annotated[
        str | None,
        typer.Option(
            "--coordinates", metavar="A,B", help="Coordinates for --csv: phi:C:TRP2,psi:* and so on; by default all."
        ),
    ] = None,
) -> None:
    """Export the results of a run in the format of another program."""
    from articulon.simulation.results import check_run

    check_run(folder)
    formats = [name for name, wanted in zip(DEFAULTS, (xtc, dcd, pdb, csv, gsd, video), strict=True) if wanted]
    if len(formats) != 1:
        raise ArticulonError(f"give a format: one of {', '.join(f'--{name}' for name in DEFAULTS)}")
    if file is not None and out is not None:
        raise ArticulonError("give the file only once, as FILE or by --out FILE")
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
        echo("note    frames are aligned; the box cannot rotate with them and is left out; --align none keeps it")
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
    """Write a film, with a progress bar on a terminal."""
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
    """Raises ArticulonError for an option that does not apply to the format."""
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
            raise ArticulonError(f"{option} applies to {' and '.join(f'--{name}' for name in formats)}; leave it out")
    if wrapped and align == "backbone":
        raise ArticulonError("--wrapped moves molecules into the box, which cannot rotate; leave out --align backbone")
