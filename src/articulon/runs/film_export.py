"""Export a run as a video."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from articulon.analysis.run_models import model_of
from articulon.runs.atom_export import check_new
from articulon.runs.frame_choice import chosen_frames
from articulon.simulation.results import Run
from articulon.studio import film
from articulon.studio.run_frames import RunFrames


def write_film(
    run: Run,
    file: Path,
    frames: str | slice | Sequence[int] | int | None = None,
    shown: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a video of a run, with the same drawing as on its 3D page.

    Parameters
    ----------
    run
        The run.
    file
        A new file, ``.mp4`` or ``.gif``.
    frames
        Selection of frames; all by default.
    shown
        Function that is called with the number of pictures drawn so far and their total number.

    Raises
    ------
    ArticulonError
        For an existing file or an unknown ending, frames that do not exist, and if pyvista is not installed
        (``pip install 'articulon[video]'``).
    """
    check_new(file)
    model_of(run)
    given = RunFrames(run)
    film.write_film(given, file, chosen_frames(frames, len(given), "export, frames"), shown)
    return file
