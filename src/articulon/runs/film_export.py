"""A run as a film."""

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
    """Write a film of a run, drawn as on its page.

    Parameters
    ----------
    run
        The run.
    file
        A new file, ``.mp4`` or ``.gif``.
    frames
        Which frames; all by default.
    shown
        Told how many pictures are drawn, and of how many.

    Raises
    ------
    ArticulonError
        For a file that is there already or ends otherwise, frames that there are not, and where pyvista is not
        installed (``pip install 'articulon[video]'``).
    """
    check_new(file)
    model_of(run)
    given = RunFrames(run)
    film.write_film(given, file, chosen_frames(frames, len(given), "export, frames"), shown)
    return file
