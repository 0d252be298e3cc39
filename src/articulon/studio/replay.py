"""A replay of a run in one HTML file, which needs no server and no network."""

from __future__ import annotations

import html
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from articulon.storage.atomic_writing import write_text
from articulon.studio.drawing_choice import Drawing
from articulon.studio.file_frames import FileFrames
from articulon.studio.page_server import server_at, stop
from articulon.studio.player import LENGTH
from articulon.studio.run_frames import RunFrames
from articulon.studio.scene import Scene
from articulon.studio.stage import FIELD, stage_of
from articulon.studio.viser_scene import ViserScene

ROOM = 5_000_000
"""Size limit of all frames before compression [bytes]. Together with the drawing code, a page is then at most 5 MB."""
MOST_FRAMES = 300
"""Largest number of frames; a replay cannot show more frames in its duration."""
GRAIN = 2.0**-13
"""Grid to which positions are rounded, in units of the page; the scene is ten units wide. Numbers with fewer digits
compress better."""
NUMBER = 4
"""Size of a number in single precision [bytes]."""
LOW = 0.85
"""Distance of the displayed time below the centre, as a fraction of half the height of the picture."""
HEIGHT = 480
"""Height of a replay in a notebook [pixels]."""


class Replay:
    """A page that plays a run by itself. Notebooks show it; :meth:`save` writes it.

    Attributes
    ----------
    html
        HTML of the page.
    frames
        Numbers of the frames that the page contains.
    """

    def __init__(self, html: str, frames: np.ndarray) -> None:
        self.html, self.frames = html, frames

    def __repr__(self) -> str:
        return f"Replay({len(self.frames)} frames, {len(self.html) / 1e6:.1f} MB)"

    def _repr_html_(self) -> str:
        """Return the page in an HTML frame, for a notebook."""
        inside = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{inside}" width="100%" height="{HEIGHT}" style="border:1px solid #ddd"></iframe>'

    def save(self, file: str | Path) -> Path:
        """Write the page into a file, and return its path."""
        path = Path(file)
        write_text(path, self.html)
        return path


def fits(frames: RunFrames) -> bool:
    """Whether two frames of a run fit into a replay."""
    return 2 * _frame_size(frames.scene) <= ROOM


def _frame_size(scene: Scene) -> int:
    """Return the size of the positions of all moving objects in a frame [bytes]."""
    turning = scene.rods.number + scene.boxes.number + sum(part.solids.number for part in scene.meshes)
    return NUMBER * (3 * scene.balls.number + 7 * turning + 6 * scene.springs.number)


def replay_of(frames: RunFrames | FileFrames) -> Replay:
    """Return a replay of a run, or of a file of frames, with as many frames as fit into the page.

    Raises
    ------
    ArticulonError
        If viser is not installed.
    """
    scene = frames.scene
    count = int(np.clip(ROOM // max(_frame_size(scene), 1), 2, MOST_FRAMES))
    chosen = np.unique(np.linspace(0, len(frames) - 1, count).round().astype(int))
    server = server_at(None)
    try:
        stage = stage_of(scene, frames.some())
        shown = ViserScene(server, scene, stage, frames[0], grain=GRAIN, drawing=Drawing())
        # The time is displayed at the lower edge of the picture.
        below = -LOW * float(np.linalg.norm(stage.camera)) * np.tan(0.5 * FIELD) * stage.up
        clock = server.scene.add_label("/time", "", position=tuple(below))
        span = float(frames.times[-1] - frames.times[0])
        recording = server.get_scene_serializer()
        for number, following in zip(chosen, [*chosen[1:], chosen[-1]], strict=True):
            clock.text = frames.label(int(number))
            shown.show(frames[int(number)])
            passing = float(frames.times[following] - frames.times[number])
            recording.insert_sleep(LENGTH * passing / span if span > 0.0 else 1.0 / LENGTH)
        return Replay(_with_license(recording.as_html()), chosen)
    finally:
        stop(server)


def _with_license(page: str) -> str:
    """Return the page with the licence of viser's client, which the page contains; the licence requires this."""
    text = distribution("viser").read_text("licenses/LICENSE") or ""
    end = page.rindex("</body>")
    return f"{page[:end]}<!-- viser, which draws this page:\n{text.replace('--', '- -')}-->{page[end:]}"
