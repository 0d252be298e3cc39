"""The command that plays a run in a browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from articulon.cli.commands import AllowCode, app
from articulon.cli.output import echo
from articulon.errors import ArticulonError

if TYPE_CHECKING:
    from articulon.studio.run_frames import RunFrames


@app.command()
def view(
    what: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE",
            help="The folder of a run, which may still be in progress; or a file of another program: particles in a "
            ".gsd file, or atoms in a .pdb or .cif file, whose models are frames.",
        ),
    ],
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=1, max=65535, help="Port; by default 8080, or the next free one."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Write an .html page that plays the run without a server, and exit."
        ),
    ] = None,
    allow_code: AllowCode = False,
    opens: Annotated[bool, typer.Option("--open/--no-open", help="Whether to open the page in a browser.")] = True,
) -> None:
    """Play a run, or a GSD, PDB or mmCIF file, in three dimensions, in a browser on this machine. Stop with Ctrl-C."""
    from articulon.inputs import is_file
    from articulon.simulation.results import check_run
    from articulon.studio.page_server import address, check_port, server_at
    from articulon.studio.shown_files import KINDS, file_frames

    is_folder = not is_file(what)
    if is_folder:
        if what.suffix and not what.is_dir():
            raise ArticulonError(f"{what}: there is no such file; give {KINDS}")
        check_run(what)
    if save is not None and save.suffix != ".html":
        raise ArticulonError(f"{save}: expected a name that ends in .html")
    check_port(port)

    from articulon.studio.replay import replay_of
    from articulon.studio.viewer import Viewer

    # A model may take long to build, so the server starts only when there is something to show.
    frames = _frames_of_run(what, allow_code) if is_folder else file_frames(what)
    if save is not None:
        replay = replay_of(frames)
        replay.save(save)
        some = "" if len(replay.frames) == len(frames) else f", with {len(replay.frames)} of {len(frames)} frames"
        echo(f"{save}{some}")
        return
    viewer = Viewer(frames, server_at(port))
    echo(f"{what} is shown at {address(viewer.server)} until Ctrl-C")
    if opens:
        import webbrowser

        webbrowser.open(address(viewer.server))
    try:
        viewer.run()
    except KeyboardInterrupt:
        echo()
    finally:
        viewer.close()


def _frames_of_run(folder: Path, allow_code: bool) -> RunFrames:
    from articulon.runs.entry import open_run
    from articulon.studio.run_frames import RunFrames

    opened = partial(open_run, folder, allow_code=allow_code)
    return RunFrames(opened(), opened)
