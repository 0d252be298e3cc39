"""Films of runs: pictures that show where bodies are, in files that other programs read."""

from __future__ import annotations

from pathlib import Path

import imageio.v3
import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon.cli import app
from articulon.studio.film import spread
from articulon.studio.picture import PictureScene
from articulon.studio.run_frames import RunFrames
from articulon.studio.scene import scene_of
from articulon.studio.stage import FIELD, stage_of

SIZE = (320, 180)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ar.Run:
    """A ball that flies along x, and one that stays."""
    builder = ar.ModelBuilder(units="kg-m-s")
    for name, place, speed in (("flying", (-2.0, 0.0, 1.0), 4.0), ("resting", (0.0, 0.0, -1.0), 0.0)):
        body = builder.add_body(name, mass=1.0, inertia=0.1, joint=ar.Free(), position=place, u=(speed, 0, 0, 0, 0, 0))
        builder.add_site(body, radius=0.3, kind=name)
    return ar.simulate(builder.build(), 1.0, frames=8, step=0.125, rule="rk4")


def seen(run: ar.Run, frame: int) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """The picture of a frame, and where its two balls ought to be, from the middle [pixels]: x to the right, y up."""
    frames = RunFrames(run)
    scene = scene_of(frames.model, frames[0].positions, frames[0].rotations)
    stage = stage_of(scene, frames.some())
    drawn = PictureScene(scene, stage, frames[0], SIZE)
    picture = drawn.show(frames[frame])
    drawn.close()
    forward = -stage.camera / np.linalg.norm(stage.camera)
    right = np.cross(forward, stage.up)
    right /= np.linalg.norm(right)
    high = np.cross(right, forward)
    focal = 0.5 * SIZE[1] / np.tan(0.5 * FIELD)
    where = []
    for place in stage.places(frames[frame].positions):
        away = place - stage.camera
        where.append((focal * (away @ right) / (away @ forward), focal * (away @ high) / (away @ forward)))
    return picture, where


@pytest.mark.parametrize("frame", [0, 8])
def test_balls_are_where_the_bodies_are(run: ar.Run, frame: int) -> None:
    picture, expected = seen(run, frame)
    assert picture.shape == (SIZE[1], SIZE[0], 3)
    high, wide = np.nonzero(np.ptp(picture.astype(int), axis=2) > 40)
    x, y = wide + 0.5 - SIZE[0] / 2, SIZE[1] / 2 - high - 0.5
    for along, above in expected:
        near = np.hypot(x - along, y - above) < 20.0
        # The perspective makes ellipses of balls, whose middles are off by less than a pixel.
        assert near.sum() > 100
        assert (x[near].mean(), y[near].mean()) == pytest.approx((along, above), abs=1.0)
    assert not (
        (np.hypot(x - expected[0][0], y - expected[0][1]) > 20.0)
        & (np.hypot(x - expected[1][0], y - expected[1][1]) > 20.0)
    ).any()


def test_time_is_written_below(run: ar.Run) -> None:
    frames = RunFrames(run)
    scene = scene_of(frames.model, frames[0].positions, frames[0].rotations)
    drawn = PictureScene(scene, stage_of(scene, frames.some()), frames[0], SIZE)
    below = [drawn.show(frames[0], words)[-SIZE[1] // 8 :].min() for words in ("t = 1 s", "")]
    drawn.close()
    assert below[0] < 120
    assert below[1] == 255


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_a_film_is_read_by_others(run: ar.Run, ending: str, tmp_path: Path) -> None:
    file = run.export(tmp_path / f"film.{ending}", frames="0:9:4")
    film = imageio.v3.imread(file, **({"plugin": "FFMPEG"} if ending == "mp4" else {"index": None}))
    assert len(film) == 3
    assert film.shape[1:] == ((720, 1280, 3) if ending == "mp4" else (360, 640, 3))
    assert np.abs(film[0].astype(int) - film[2]).max() > 100
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


def test_frames_are_chosen_at_equal_intervals_of_time() -> None:
    times = np.array([0.0, 1.0, 2.0, 3.0, 9.0, 10.0])
    assert spread(times, [0, 1, 2, 3, 4, 5], 6) == [0, 1, 2, 3, 4, 5]
    assert spread(times, [0, 1, 2, 3, 4, 5], 3) == [0, 3, 5]
    assert spread(times, [3, 4, 5], 2) == [3, 5]


def test_what_cannot_be_a_film_is_refused(run: ar.Run, tmp_path: Path) -> None:
    (tmp_path / "there.gif").write_bytes(b"mine")
    with pytest.raises(ar.ArticulonError, match="exists and is not overwritten"):
        run.export(tmp_path / "there.gif")
    assert (tmp_path / "there.gif").read_bytes() == b"mine"
    with pytest.raises(ar.ArticulonError, match="there is no frame 12"):
        run.export(tmp_path / "film.gif", frames=[12])
    run.save(tmp_path / "run")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "run"), str(tmp_path / "film.avi"), "--video"])
    assert done.exit_code == 2
    assert "ends in .mp4 or .gif" in done.output
    assert not (tmp_path / "film.avi").exists()
