"""Files of other programs on the page that plays runs: what is drawn of particles and atoms, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from articulon.cli import app
from articulon.errors import ArticulonError
from articulon.studio import colours, file_frames
from articulon.studio.file_frames import FileFrames
from articulon.studio.page_server import server_at
from articulon.studio.shown_files import file_frames as opened
from articulon.studio.stage import stage_of
from articulon.studio.viewer import Viewer
from tests.support.page_client import PageClient

gsd = pytest.importorskip("gsd.hoomd")
pytest.importorskip("gemmi")

COUNT = 6
RNG = np.random.default_rng(11)
PLACES = RNG.uniform(-1.0, 1.0, (4, COUNT, 3)).astype(np.float32)
"""Places in four frames."""
BOXES = [[4.0, 5.0, 6.0, 0.1, 0.2, -0.3]] * 3 + [[4.4, 5.5, 6.6, 0.1, 0.2, -0.3]]
DIAMETERS = [0.2, 0.2, 0.2, 0.5, 0.5, 0.5]


def frame(number: int, **log: Any) -> Any:
    """A frame of small and large particles; the first two are bonded."""
    one = gsd.Frame()
    p = one.particles
    p.N, p.types, p.typeid = COUNT, ["small", "large"], [0, 0, 0, 1, 1, 1]
    p.position, p.diameter = PLACES[number], DIAMETERS
    one.configuration.box, one.configuration.step = BOXES[number], 1_000 * number
    one.bonds.N, one.bonds.types, one.bonds.typeid, one.bonds.group = 1, ["b"], [0], [[0, 1]]
    one.log = log
    return one


def written(file: Path, *frames: Any) -> Path:
    """A GSD file of some frames."""
    with gsd.open(str(file), "w") as out:
        for one in frames:
            out.append(one)
    return file


def test_particles_are_balls_of_their_diameters_coloured_by_type(tmp_path: Path) -> None:
    shown = opened(written(tmp_path / "mix.gsd", *map(frame, range(4))))
    balls, first = shown.scene.balls, shown[0]
    assert len(shown) == 4 and shown.title == "mix.gsd"
    assert np.allclose(balls.size, 0.5 * np.array(DIAMETERS)[:, None])
    assert np.array_equal(balls.colour, colours.cycled([0, 0, 0, 1, 1, 1]))
    assert np.allclose(balls.centres(first.positions, first.rotations), PLACES[0])
    assert shown.scene.springs.body.tolist() == [[0, 1]]
    assert [shown.words(k) for k in (0, 3)] == ["step 0 (1 of 4)", "step 3,000 (4 of 4)"]
    assert shown.times.tolist() == [0.0, 1.0, 2.0, 3.0] and shown.state == "6 particles"


def test_the_box_is_that_of_each_frame_with_the_particles_inside(tmp_path: Path) -> None:
    """Edges a = (lx, 0, 0), b = (xy ly, ly, 0), c = (xz lz, yz lz, lz). The file's box is centred; here its lower
    corner stays where it is in the first frame, and the particles keep their places in the box."""
    shown = opened(written(tmp_path / "mix.gsd", *map(frame, range(4))))
    for number, (lx, ly, lz, xy, xz, yz) in enumerate(BOXES):
        edges = shown[number].edges
        assert edges == pytest.approx(np.array([[lx, 0, 0], [xy * ly, ly, 0], [xz * lz, yz * lz, lz]]))
        assert edges is not None and shown.model.box is not None
        corner = np.array([float(x) for x in shown.model.box.origin])
        in_box = (shown[number].positions - corner) @ np.linalg.inv(edges)
        assert np.allclose(in_box, PLACES[number] @ np.linalg.inv(edges) + 0.5, atol=1e-6)


def test_times_are_those_of_the_file_where_every_frame_has_one(tmp_path: Path) -> None:
    some = [frame(k, time=np.array([0.25 * k])) for k in range(4)]
    assert opened(written(tmp_path / "timed.gsd", *some)).times.tolist() == [0.0, 0.25, 0.5, 0.75]


def test_shapes_of_types_are_drawn_in_their_orientations(tmp_path: Path) -> None:
    one = frame(0)
    one.particles.type_shapes = [
        {"type": "Sphere", "diameter": 0.2},
        {"type": "Ellipsoid", "a": 0.3, "b": 0.2, "c": 0.1},
    ]
    one.particles.orientation = np.tile([0.0, 2.0, 0.0, 0.0], (COUNT, 1))
    shown = opened(written(tmp_path / "shapes.gsd", one))
    balls = shown.scene.balls
    by_size = {tuple(np.round(size, 6).tolist()) for size in balls.size}
    assert by_size == {(0.1, 0.1, 0.1), (0.3, 0.2, 0.1)} and balls.number == COUNT
    _, turns = balls.placed(shown[0].positions, shown[0].rotations)
    assert np.allclose(np.abs(turns), [0.0, 1.0, 0.0, 0.0])


def test_of_a_long_file_equally_spaced_frames_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_frames, "MOST_FRAMES", 2)
    shown = opened(written(tmp_path / "mix.gsd", *map(frame, range(4))))
    assert shown.times.tolist() == [0.0, 3.0] and shown.state == "6 particles; 2 of its 4 frames"


HELIX = [(0.23 * np.cos(np.radians(100 * k)), 0.23 * np.sin(np.radians(100 * k)), 0.15 * k) for k in range(6)]
"""CA atoms of a helix [nm]."""


def record(serial: int, name: str, residue: str, chain: str, number: int, place: Any) -> str:
    x, y, z = (10.0 * float(value) for value in place)
    element = name[0]
    return (
        f"ATOM  {serial:5d}  {name:<3s} {residue:3s} {chain}{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
        f"          {element:>2s}"
    )


def helix(file: Path, *shifts: float, ends: int = 6) -> Path:
    """A PDB file of CA atoms in two chains with a CB each, once for each model, which is moved along x."""
    lines = []
    for model, shift in enumerate(shifts, 1):
        lines.append(f"MODEL     {model:4d}")
        serial = 0
        for chain, aside in (("A", 0.0), ("B", 2.0)):
            for k, (x, y, z) in enumerate(HELIX[: ends if model > 1 else 6]):
                serial += 2
                place = np.array([x + aside + shift, y, z])
                lines.append(record(serial - 1, "CA", "ALA", chain, k + 1, place))
                lines.append(record(serial, "CB", "ALA", chain, k + 1, place + [0.0, 0.0, 0.153]))
        lines.append("ENDMDL")
    file.write_text("\n".join([*lines, "END", ""]))
    return file


def check_bonds_and_traces(shown: FileFrames) -> None:
    """Five lines from CA to CA in each chain, each chain in its colour."""
    trace = shown.scene.traces[-1]
    ends = trace.placed(shown[0].positions, shown[0].rotations, None)
    assert ends.shape == (10, 2, 3)
    assert np.allclose(ends[0], HELIX[:2], atol=1e-4) and np.allclose(ends[9, 1] - [2.0, 0, 0], HELIX[5], atol=1e-4)
    assert np.array_equal(trace.colour, colours.cycled([0] * 5 + [1] * 5))


def test_atoms_are_balls_by_element_with_half_a_stick_at_each_end_of_a_bond(tmp_path: Path) -> None:
    shown = opened(helix(tmp_path / "helix.pdb", 0.0))
    scene = shown.scene
    assert len(shown) == 1 and shown.state == "24 atoms in 12 residues" and shown.words(0) == "model 1 (1 of 1)"
    assert np.array_equal(scene.balls.colour, colours.of_elements(["C"] * 24))
    # CA and CB of each residue are bonded: 0.153 nm are below twice the radius of carbon.
    assert scene.rods.number == 2 * 12 and np.allclose(scene.rods.size[:, 2], 0.5 * 0.153, atol=1e-4)
    check_bonds_and_traces(shown)


def test_models_are_frames(tmp_path: Path) -> None:
    shown = opened(helix(tmp_path / "helix.pdb", 0.0, 0.5, 1.5))
    assert len(shown) == 3 and shown.words(2) == "model 3 (3 of 3)"
    bonds, _ = shown.scene.traces
    for one, shift in zip(shown.shown, (0.0, 0.5, 1.5), strict=True):
        places = shown.scene.balls.centres(one.positions, one.rotations)
        assert np.allclose(places[0], np.array(HELIX[0]) + [shift, 0, 0], atol=1e-4)
        ends = bonds.placed(one.positions, one.rotations, None)
        assert np.allclose(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), 0.153, atol=1e-4)
    check_bonds_and_traces(shown)


def test_a_page_of_a_file_has_a_slider_over_its_frames(tmp_path: Path) -> None:
    frames = opened(written(tmp_path / "mix.gsd", *map(frame, range(4))))
    viewer = Viewer(frames, server_at(None))
    try:
        viewer.player.step(2)
        viewer.update(0.0)
        page = PageClient(viewer.server.get_port())
        page.listen(lambda page: "/balls" in page.nodes and bool(page.controls))
        places = np.asarray(page.nodes["/balls"]["batched_positions"]).reshape(-1, 3)
        assert np.allclose(places, stage_of(frames.scene, frames.some()).places(frames[2].positions), atol=1e-5)
        slider = page.control("GuiSliderMessage")[1]
        assert (slider["max"], slider["value"]) == (3, 2)
        assert "step 2,000 (3 of 4)" in page.text_of("GuiHtmlMessage")
        # There are no energies and no forces.
        kinds = {control["type"] for control in page.controls.values()}
        assert not kinds & {"GuiUplotMessage", "GuiCheckboxMessage"}
    finally:
        viewer.close()


def test_the_command_writes_a_replay_of_a_file(tmp_path: Path) -> None:
    file = written(tmp_path / "mix.gsd", *map(frame, range(4)))
    result = CliRunner().invoke(app, ["view", str(file), "--save", str(tmp_path / "mix.html")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "mix.html").stat().st_size > 100_000


def fewer(number: int) -> Any:
    """A frame with one particle less."""
    one = gsd.Frame()
    one.particles.N, one.particles.position = COUNT - 1, PLACES[number][1:]
    one.configuration.box = BOXES[number]
    return one


def nobody() -> Any:
    """A frame without particles."""
    one = gsd.Frame()
    one.configuration.step = 5
    return one


def not_a_number() -> Any:
    """A frame with a particle nowhere."""
    one = frame(1)
    one.particles.position = np.where(np.arange(COUNT)[:, None] == 4, np.nan, PLACES[1])
    return one


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ((), "there is no frame in it yet; look again"),
        ((nobody(),), "there are no particles in its first frame"),
        ((frame(0), fewer(1)), "frame 1 has 5 particles and frame 0 has 6"),
        ((frame(0), not_a_number()), "frame 1: particle 4 has a place or an orientation that is not a number"),
    ],
    ids=["empty", "nobody", "fewer", "nowhere"],
)
def test_files_of_particles_that_cannot_be_shown_are_refused(tmp_path: Path, frames: Any, said: str) -> None:
    file = written(tmp_path / "wrong.gsd", *frames)
    with pytest.raises(ArticulonError, match=said) as failure:
        opened(file)
    assert str(file) in str(failure.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no particles")
    (tmp_path / "broken.gsd").write_text("no particles")
    (tmp_path / "broken.pdb").write_text("no atoms\n")
    helix(tmp_path / "models.pdb", 0.0, 0.5, ends=5)
    for name, said in {
        "notes.txt": "give the folder of a run, or a .gsd, .pdb or .cif file",
        "absent.pdb": "there is no such file; give the folder of a run, or",
        "broken.gsd": "cannot be read as a GSD file",
        "broken.pdb": "contains no atoms",
        "models.pdb": "the atoms of model 2 differ from those of model 1",
    }.items():
        result = CliRunner().invoke(app, ["view", str(tmp_path / name), "--no-open"], env={"COLUMNS": "1000"})
        text = " ".join(result.stderr.split())
        assert result.exit_code == 2 and said in text and name in text, text
