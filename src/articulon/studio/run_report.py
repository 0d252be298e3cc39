"""The report of a run, with a three-dimensional replay."""

from __future__ import annotations

from html import escape
from importlib.util import find_spec
from pathlib import Path

from articulon.cases.case import Case
from articulon.errors import ArticulonError, ModelError
from articulon.report.html import FILE, report
from articulon.report.view import View
from articulon.simulation.results import CASE, Run
from articulon.storage.atomic_writing import write_text
from articulon.studio.replay import fits, replay_of
from articulon.studio.run_frames import RunFrames

CAPTION = "Drag to rotate, use the mouse wheel to zoom, and move the slider to change the time."


def write_report(folder: Path, reference: Path | None = None) -> Path:
    """Write the report of a run into its folder. The run may also be unfinished or killed.

    Parameters
    ----------
    folder
        The folder of a run.
    reference
        A PDB or mmCIF file with which the molecules of the run are compared; by default the run's first frame.

    Returns
    -------
    Path
        The file ``report.html``. It contains figures, key numbers and notes, and a three-dimensional replay if viser is
        installed. It can be read without a network.

    Raises
    ------
    ArticulonError
        If the folder does not contain a readable run, if the reference lacks atoms of the run, or if a reference is
        given for a run without molecules.
    """
    folder = Path(folder)
    run = Run(folder, Case.read(folder / CASE))
    view = View.of(run, reference)
    if reference is not None and view.conformations is None:
        raise ArticulonError(f"{folder}: this run has no molecules to compare with {reference}; leave it out")
    write_text(folder / FILE, report(view, replay_part(run, view)))
    return folder / FILE


def write_report_of(run: Run, file: Path) -> Path:
    """Write the report of a run that is already open, without reading its case or building its model again.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    file
        File to write.

    Raises
    ------
    ArticulonError
        For results that cannot be read, and for a file that cannot be written.
    """
    view = View.of(run)
    write_text(file, report(view, replay_part(run, view)))
    return file


def replay_part(run: Run, view: View) -> str:
    """Return the replay of a run as a part of a page. It is empty if viser is not installed, if there is no motion to
    show, or if the replay would be too large."""
    if find_spec("viser") is None or view.times.size < 2:
        return ""
    if run.known_model is None:
        run.model = view.model
    frames = RunFrames(run)
    try:
        if not fits(frames):
            return ""
        page = replay_of(frames).html
    except OSError:  # viser needs a port, and this machine does not allow one
        return ""
    except ModelError as error:  # for example, a mesh file is missing
        return f"<p>Not shown in three dimensions: {escape(str(error))}</p>"
    inside = escape(page, quote=True)
    return (
        f'<div id="replay" class="replay">\n<iframe title="The run in motion" loading="lazy" srcdoc="{inside}">'
        f"</iframe>\n<p>{CAPTION}</p>\n</div>"
    )
