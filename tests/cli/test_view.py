"""The page that plays a run: what it is told, what its buttons do, and what the command refuses."""

from __future__ import annotations

import base64
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard
from matplotlib.image import imread
from typer.testing import CliRunner
from websockets.exceptions import InvalidStatus

import articulon as ar
from articulon.cli import app
from articulon.model.array_rotations import matrices
from articulon.studio.page_server import address, server_at
from articulon.studio.replay import GRAIN
from articulon.studio.run_frames import RunFrames
from articulon.studio.scene import scene_of
from articulon.studio.stage import stage_of
from articulon.studio.viewer import Viewer
from tests.support.browser import chromium, needs_browser, opened, picture
from tests.support.page_client import PageClient, with_arrays


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of the double pendulum."""
    where = tmp_path_factory.mktemp("view") / "run"
    ar.run("double-pendulum", where, overrides={"run.duration": "0.5 s", "run.frames": 10, "checks": []})
    return where


@pytest.fixture
def viewer(folder: Path) -> Iterator[Viewer]:
    """Its page, kept up to date as the command does."""
    made = Viewer(RunFrames(ar.open_run(folder)), server_at(None))
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.close()
    thread.join()


def rods(page: PageClient) -> np.ndarray:
    """Middles of the rods on a page, shape (rods, 3)."""
    return np.asarray(page.nodes["/rods"]["batched_positions"]).reshape(-1, 3)


def expected(viewer: Viewer, frame: int) -> np.ndarray:
    """Where they are by the poses of the bodies in a frame."""
    shown, solids, stage = viewer.frames[frame], viewer.scene.scene.rods, viewer.scene.stage
    places, _ = solids.placed(shown.positions, shown.rotations)
    return stage.factor * (places - stage.middle)


def test_every_page_is_shown_the_frame_that_one_of_them_asks_for(viewer: Viewer) -> None:
    port = viewer.server.get_port()
    pages = [PageClient(port, origin) for origin in (None, f"http://127.0.0.1:{port}")]
    for page in pages:
        page.listen(lambda page: "/rods" in page.nodes and bool(page.controls))
        assert rods(page) == pytest.approx(expected(viewer, 0), abs=1e-5)
    assert np.abs(expected(viewer, 7) - expected(viewer, 0)).max() > 0.1
    slider, _ = pages[0].control("GuiSliderMessage")
    pages[0].change(slider, 7)
    for page in pages:
        page.listen(lambda page: np.allclose(rods(page), expected(viewer, 7), atol=1e-5))
    words = "350\u00a0ms of 500\u00a0ms"
    pages[1].listen(lambda page: words in page.control("GuiHtmlMessage")[1]["content"])


def test_energies_are_drawn_with_a_mark_at_the_frame_shown(viewer: Viewer) -> None:
    page = PageClient(viewer.server.get_port())
    page.listen(lambda page: bool(page.controls) and "/rods" in page.nodes)
    slider, _ = page.control("GuiSliderMessage")
    page.change(slider, 7)
    page.listen(lambda page: np.isfinite(page.control("GuiUplotMessage")[1]["data"][4][7]))
    times, kinetic, potential, total, mark = page.control("GuiUplotMessage")[1]["data"]
    run = viewer.frames.run
    assert times == pytest.approx(1e3 * run.times)
    assert kinetic == pytest.approx(run.kinetic_energy)
    # From rest, what falls gains: the sum stays zero.
    assert potential.min() < -1.0 and total == pytest.approx(0.0, abs=1e-6)
    assert np.flatnonzero(np.isfinite(mark)).tolist() == [7]


def test_arrows_of_forces_are_drawn_when_they_are_asked_for(viewer: Viewer) -> None:
    """The weight of both rods, downwards from their middles and equally long."""
    page = PageClient(viewer.server.get_port())
    page.listen(lambda page: "/rods" in page.nodes and bool(page.controls))
    assert "/forces" not in page.nodes
    box, _ = page.control("GuiCheckboxMessage", "forces")
    page.change(box, True)
    page.listen(lambda page: "/forces" in page.nodes)
    arrows = np.asarray(page.nodes["/forces"]["points"]).reshape(-1, 2, 3)
    run, stage = viewer.frames, viewer.scene.stage
    turns = matrices(run[0].rotations)
    centres = run[0].positions + np.einsum("kij,kj->ki", turns, run.model.centres)
    np.testing.assert_allclose(arrows[:, 0], stage.places(centres), atol=1e-5)
    along = arrows[:, 1] - arrows[:, 0]
    np.testing.assert_allclose(along / np.linalg.norm(along[0]), [[0, 0, -1], [0, 0, -1]], atol=1e-5)
    page.change(box, False)
    page.listen(lambda page: "/forces" not in page.nodes)


def test_play_goes_to_the_end_and_stops(viewer: Viewer) -> None:
    viewer.player.speed = 20.0
    page = PageClient(viewer.server.get_port())
    page.listen(lambda page: bool(page.controls) and "/rods" in page.nodes)
    button, _ = page.control("GuiButtonMessage", "Play")
    page.change(button, True)
    page.listen(lambda page: page.controls[button]["label"] == "Pause")
    page.listen(lambda page: np.allclose(rods(page), expected(viewer, 10), atol=1e-5))
    page.listen(lambda page: page.controls[button]["label"] == "Play")


def test_frames_that_come_later_are_found(folder: Path) -> None:
    """As a run goes on, its folder is opened again; here with fewer frames at first, and the status of such a run."""
    part, whole = ar.open_run(folder), ar.open_run(folder)
    part.observables = {name: values[:4] for name, values in part.observables.items()}
    part._poses = (part.positions[:4], part.rotations[:4])
    part.summary = {**part.summary, "status": "running"}
    for name in ("positions", "rotations"):
        part.__dict__.pop(name, None)
    frames = RunFrames(part, lambda: whole)
    assert len(frames) == 4 and frames.going
    viewer = Viewer(frames, server_at(None))
    try:
        viewer._looked -= 10.0
        viewer.update(0.0)
        assert len(frames) == 11 and not frames.going
        viewer.player.step(100)
        viewer.update(0.0)
        page = PageClient(viewer.server.get_port())
        page.listen(lambda page: bool(page.controls) and "/rods" in page.nodes)
        assert page.control("GuiSliderMessage")[1]["max"] == 10
        assert rods(page) == pytest.approx(expected(viewer, 10), abs=1e-5)
    finally:
        viewer.close()


def test_pages_of_other_sites_are_told_nothing(viewer: Viewer) -> None:
    with pytest.raises(InvalidStatus, match="HTTP 403"):
        PageClient(viewer.server.get_port(), "https://example.com")


def test_the_server_listens_on_this_machine_alone(viewer: Viewer) -> None:
    assert viewer.server.get_host() == "127.0.0.1"


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["view", str(tmp_path), "--no-open"])
    assert result.exit_code == 2
    assert "holds no run" in result.stderr


def test_a_port_that_is_taken_is_refused(folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = CliRunner().invoke(app, ["view", str(folder), "--no-open", "--port", str(port)])
    assert result.exit_code == 2
    assert f"port {port} is in use by another program; give another one (--port N)" in result.stderr


def test_without_viser_the_command_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    result = CliRunner().invoke(app, ["view", str(folder), "--no-open"])
    assert result.exit_code == 2
    assert "pip install 'articulon[studio]'" in result.stderr


def recorded(page: str) -> dict[str, Any]:
    """What a replay holds."""
    found = re.search(r'window\.__VISER_EMBED_DATA__="([^"]+)"', page)
    assert found is not None
    packed = base64.b64decode(found[1])
    content = zstandard.ZstdDecompressor().decompress(packed[8:])
    size = int.from_bytes(content[:8], "little")
    return with_arrays(msgspec.msgpack.decode(content[8 : 8 + size]), content, 8 + size)


def test_a_replay_holds_the_places_of_every_frame_and_needs_no_network(folder: Path, tmp_path: Path) -> None:
    run = ar.open_run(folder)
    replay = run.animate()
    assert replay.frames.tolist() == list(range(11))
    record = recorded(replay.html)
    assert record["durationSeconds"] == pytest.approx(10.0)
    updates = [message for _, message in record["messages"] if message.get("name") == "/rods"]
    told = [message for message in updates if "batched_positions" in message.get("updates", {})]
    # The first frame is what the replay begins with.
    assert len(told) == 10
    frames = RunFrames(run)
    scene = scene_of(frames.model, frames[0].positions, frames[0].rotations)
    stage = stage_of(scene, frames.some())
    for number, message in enumerate(told, 1):
        places, _ = scene.rods.placed(frames[number].positions, frames[number].rotations)
        found = message["updates"]["batched_positions"].reshape(-1, 3)
        assert found == pytest.approx(stage.factor * (places - stage.middle), abs=GRAIN)
    assert len(replay.html) < 5_000_000
    assert "Apache License" in replay.html
    assert "<iframe srcdoc=" in replay._repr_html_()
    assert not re.search(r"""<(script|link|img)[^>]+(src|href)=["']?(https?:)?//""", replay.html)
    assert replay.save(tmp_path / "replay.html").read_text(encoding="utf-8") == replay.html


def test_a_run_in_memory_is_animated() -> None:
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("top", mass=1.0, inertia=(0.1, 0.2, 0.3), joint=ar.Free(), u=(0, 0, 0, 1.0, 0.5, 2.0))
    replay = ar.simulate(b.build(), 1.0, frames=4).animate()
    assert repr(replay).startswith("Replay(5 frames")
    (box,) = [m for _, m in recorded(replay.html)["messages"] if m.get("name") == "/boxes" and "props" in m]
    # Edges by l_x² = 6 (I_y + I_z − I_x)/m, the longest of which is a part of the ten units of the page.
    edges = np.sort(box["props"]["batched_scales"])
    assert edges / edges[-1] == pytest.approx(np.sqrt([0.0049, 0.5, 1.0]), abs=1e-6)


def test_the_command_writes_a_replay(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "replay.html"
    result = CliRunner().invoke(app, ["view", str(folder), "--save", str(file)])
    assert result.exit_code == 0 and result.stdout == f"{file}\n"
    assert recorded(file.read_text(encoding="utf-8"))["durationSeconds"] == pytest.approx(10.0)
    wrong = CliRunner().invoke(app, ["view", str(folder), "--save", "replay.mp4"])
    assert wrong.exit_code == 2 and "expected a name that ends in .html" in wrong.stderr


@pytest.mark.slow
def test_ctrl_c_ends_the_command(folder: Path) -> None:
    """A process of its own, which loads what it draws with."""
    command = [sys.executable, "-m", "articulon", "view", str(folder), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith(f"{folder} is shown at http://127.0.0.1:")
        port = int(line.split("127.0.0.1:")[1].split()[0])
        page = PageClient(port)
        page.listen(lambda page: "/rods" in page.nodes)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""


@pytest.mark.slow
@needs_browser
def test_a_browser_draws_the_run_and_plays_it(viewer: Viewer, tmp_path: Path) -> None:
    """Software draws some frames a second."""
    viewer.player.speed = 4.0
    with chromium() as browser:
        page = opened(browser, address(viewer.server), "t = 0")
        page.locator("canvas").first.wait_for()
        page.get_by_role("button", name="Play", exact=True).click()
        page.get_by_text("t = 500\u00a0ms of 500\u00a0ms").wait_for()
        page.wait_for_timeout(1000.0)
        drawn = imread(picture(page, tmp_path / "page.png"))
    # Below what is written on the page: the colours of the two rods, blue and orange, on white.
    red, green, blue = np.moveaxis(drawn[250:, :, :3], -1, 0)
    assert np.count_nonzero((blue > red + 0.3) & (green < blue)) > 500
    assert np.count_nonzero((red > blue + 0.3) & (green < red)) > 500
