"""Pictures of five scenes in a browser: what is drawn stands where the poses say, in its colour, and nowhere else."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imsave

import articulon as ar
from articulon.studio import replay
from articulon.studio.replay import replay_of
from articulon.studio.run_frames import RunFrames
from articulon.studio.scene import Scene, scene_of
from articulon.studio.stage import FIELD, Stage, shown_places, stage_of
from tests.support.browser import KEEP_PICTURES, SELDOM, canvas_picture, chromium, needs_browser

SCENES = {
    "mechanism": ("n-four-bar", {}),
    "docking": ("nanoparticle-docking", {}),
    "protein": ("trp-zipper", {}),
    "melt": ("lj-melt", {"model.cells": 5}),
    "grains": ("stack", {}),
}
"""Case and what is changed of it, by what it shows."""
SHADE = 30
"""By how much a pixel that shows something differs from white, in one colour at least."""
NEARLY_WHITE = 60
"""What differs less from white, as hydrogens do, may be lit until it is white."""
TIME = 0.85
"""The part of a picture's height below which the time of the frame is written."""
SIZES = {"docking": {"width": 1600, "height": 1200}}
"""Of the page [pixels], where small parts are to be seen beside large ones."""


def frames_of(case: str, overrides: dict[str, Any]) -> RunFrames:
    """Two frames of a model at rest: nothing has to be computed for a picture."""
    model = ar.load_case(case, overrides).build_model()
    poses = ar.body_poses(model, model.q0)
    twice = [np.stack([pose, pose]) for pose in poses]
    still = SimpleNamespace(
        model=model, times=np.array([0.0, 1.0]), positions=twice[0], rotations=twice[1], boxes=None, observables={},
        q=np.stack([model.q0, model.q0]), in_memory=True,
    )  # fmt: skip
    return RunFrames(still)  # type: ignore[arg-type]


def on_picture(stage: Stage, places: np.ndarray, width: float, height: float) -> np.ndarray:
    """Where places of the world are in a picture [pixels], and how far from the camera, shape (n, 3)."""
    forward = -stage.camera / np.linalg.norm(stage.camera)
    right = np.cross(forward, stage.up)
    right /= np.linalg.norm(right)
    away = stage.places(places).astype(float) - stage.camera
    depth = away @ forward
    focal = 0.5 * height / np.tan(0.5 * FIELD)
    across, above = away @ right, away @ np.cross(right, forward)
    return np.stack([0.5 * width + focal * across / depth, 0.5 * height - focal * above / depth, depth], axis=1)


def pictured(page: Any) -> np.ndarray:
    """What the page draws once it has faded in and stays as it is, shape (height, width, 3), 0 to 255."""
    before, until = np.zeros(0), time.monotonic() + 120.0
    while time.monotonic() < until:
        picture = canvas_picture(page)
        above = picture[: int(TIME * len(picture))]
        drawn = (255 - above).max(axis=2) > SHADE
        if above.shape == before.shape and drawn.sum() > 500 and np.abs(above - before).mean() < 0.1:
            return picture
        before = above
        time.sleep(0.5)
    raise AssertionError("nothing that stays is drawn")


def solids_of(scene: Scene, frames: RunFrames) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Middles of balls and rods in the world, the largest half of their extents, and their colours."""
    frame = frames[0]
    middles, halves, painted = [], [], []
    for solids, part in ((scene.balls, 1.0), (scene.rods, np.array([1.0, 1.0, 0.5]))):
        middles.append(solids.placed(shown_places(scene, frame), frame.rotations)[0])
        halves.append((part * solids.size).max(axis=1))
        painted.append(solids.colour)
    return np.concatenate(middles), np.concatenate(halves), np.concatenate(painted)


# A browser that draws by software takes seconds for each.
@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_a_scene_shows_what_is_there_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A replay that begins again loads all meshes anew, which takes many times as long as a picture.
    monkeypatch.setattr(replay, "LENGTH", 1000.0)
    frames = frames_of(*SCENES[name])
    file = replay_of(frames).save(tmp_path / "page.html")
    with chromium() as browser:
        page = browser.new_page(viewport=SIZES.get(name, {"width": 600, "height": 450}))  # type: ignore[arg-type]
        page.add_init_script(SELDOM)
        page.add_init_script(KEEP_PICTURES)
        page.goto(file.as_uri())
        picture = pictured(page)
    imsave(tmp_path / "picture.png", picture.astype(np.uint8))
    height, width = picture.shape[:2]
    scene = scene_of(frames.model, frames[0].positions, frames[0].rotations)
    stage = stage_of(scene, frames.some())
    middles, halves, painted = solids_of(scene, frames)
    seen = on_picture(stage, middles, width, height)
    radius = halves * stage.factor * 0.5 * height / np.tan(0.5 * FIELD) / seen[:, 2]
    drawn = (255 - picture).max(axis=2) > SHADE
    columns, rows = (np.clip(np.round(seen[:, k]).astype(int), 0, size - 1) for k, size in ((0, width), (1, height)))
    # A ball of less than a pixel may lie between them.
    visible = (radius > 1.0) & ((255 - painted.astype(int)).max(axis=1) > NEARLY_WHITE)
    assert visible.sum() > 0.5 * len(seen)
    assert drawn[rows[visible], columns[visible]].mean() > 0.97
    # The nearest with a colour that no pin of a joint hides has that colour, darker or lighter.
    vivid = np.ptp(painted.astype(int), axis=1) > 60
    apart = np.hypot(*(seen[:, None, k] - seen[None, ~vivid, k] for k in range(2))) - radius[~vivid]
    coloured = np.flatnonzero(vivid & (apart.min(axis=1, initial=np.inf) > 0.0))
    nearest = coloured[np.argmin(seen[coloured, 2])]
    assert np.argmax(picture[rows[nearest], columns[nearest]]) == np.argmax(painted[nearest])
    # Far from all that is there, the picture is empty but for edges of boxes, walls and the time.
    if name in ("docking", "protein", "mechanism"):
        y, x = np.nonzero(drawn[: int(TIME * height)])
        gaps = np.min(np.hypot(x[:, None] - seen[:, 0], y[:, None] - seen[:, 1]) - radius, axis=1)
        assert (gaps > 12.0).mean() < 0.01
