"""Models of the particles of GSD files: what HOOMD-blue's numbers mean, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.errors import ArticulonError
from articulon.model.array_rotations import matrices, quaternion_product
from articulon.runs.gsd_export import write_gsd

gsd = pytest.importorskip("gsd.hoomd")

CASE = """
[case]
units = "kg-m-s"

[model]
builder = "gsd"
file = "particles.gsd"

[integrator]
rule = "rk4"
step = 0.01

[run]
duration = 0.1
"""
COUNT = 5
RNG = np.random.default_rng(3)
TURNS = RNG.normal(size=(COUNT, 4))
TURNS /= np.linalg.norm(TURNS, axis=1)[:, None]
SPINS = RNG.normal(size=(COUNT, 3))
"""Angular momenta in the frames of the particles."""
INERTIA = np.array([[0.4, 0.5, 0.6], [0.4, 0.4, 0.4], [0.0, 0.0, 0.0], [1.0, 2.0, 2.5], [0.1, 0.1, 0.1]])


def particles() -> Any:
    """A frame of turning bodies and a point that does not turn."""
    frame = gsd.Frame()
    p = frame.particles
    p.N, p.types, p.typeid = COUNT, ["A", "B"], [0, 1, 0, 1, 1]
    p.position, p.velocity = RNG.uniform(-1.0, 1.0, (COUNT, 3)), RNG.normal(size=(COUNT, 3))
    p.mass, p.moment_inertia, p.charge = np.arange(1.0, COUNT + 1), INERTIA, [0, 1, -1, 0, 2]
    p.orientation, p.diameter = TURNS, [0.1, 0.2, 0.3, 0.4, 0.5]
    p.angmom = 2.0 * quaternion_product(TURNS, np.column_stack([np.zeros(COUNT), SPINS]))
    frame.configuration.box, frame.configuration.dimensions = [4.0, 5.0, 6.0, 0.1, 0.2, -0.3], 3
    return frame


def written(folder: Path, *frames: Any, text: str = CASE) -> Path:
    """A case beside a file with some frames."""
    with gsd.open(str(folder / "particles.gsd"), "w") as out:
        for frame in frames:
            out.append(frame)
    (folder / "case.toml").write_text(text)
    return folder / "case.toml"


def test_particles_have_the_momenta_and_places_of_the_file(tmp_path: Path) -> None:
    """To single precision, in which the file has them: P, and L with S = q* p / 2 of each in its own frame."""
    frame = particles()
    model = ar.load_case(written(tmp_path, frame)).build_model()
    p = frame.particles
    assert [joint.nq for joint in model.joints] == [7, 7, 3, 7, 7]
    assert model.names == ("A-0", "B-1", "A-2", "B-3", "B-4") and model.inferred == ()
    positions, rotations = ar.body_poses(model, model.q0)
    np.testing.assert_allclose(positions, p.position, rtol=1e-6)
    held = INERTIA.any(axis=1)
    np.testing.assert_allclose(matrices(rotations)[held], matrices(TURNS)[held], atol=1e-6)
    found = momentum(model, model.q0, model.u0)
    linear = p.mass[:, None] * p.velocity
    np.testing.assert_allclose(found[:3], linear.sum(axis=0), atol=1e-5)
    turned = np.einsum("kij,kj->ki", matrices(TURNS), SPINS)[held].sum(axis=0)
    np.testing.assert_allclose(found[3:6], np.cross(p.position, linear).sum(axis=0) + turned, atol=1e-5)
    np.testing.assert_allclose(model.sites.radius, 0.5 * np.array(p.diameter), rtol=1e-6)
    assert [model.sites.kinds[k] for k in model.sites.kind] == ["A", "B", "A", "B", "B"]
    assert model.sites.charge.tolist() == [0, 1, -1, 0, 2] and model.sites.body.tolist() == list(range(COUNT))


def test_the_box_is_that_of_the_file_about_its_middle(tmp_path: Path) -> None:
    text = CASE.replace('particles.gsd"', 'particles.gsd"\nboundaries = ["periodic", "open", "periodic"]')
    model = ar.load_case(written(tmp_path, particles(), text=text)).build_model()
    assert model.box is not None
    edges = [[4.0, 0.0, 0.0], [0.5, 5.0, 0.0], [1.2, -1.8, 6.0]]
    np.testing.assert_allclose(model.box.vectors, edges, rtol=1e-6)
    np.testing.assert_allclose(model.box.origin, -0.5 * np.sum(edges, axis=0), rtol=1e-6)
    assert model.box.boundaries == ("periodic", "open", "periodic")


def test_what_a_run_has_written_is_read_as_it_ended(tmp_path: Path) -> None:
    grains = """
[case]
units = "kg-m-s"
[model]
builder = "grains"
[[model.grains]]
name = "a"
radius = 0.1
mass = 1.0
position = [0.2, 0.5, 0.5]
velocity = [1.0, 0.25, 0.0]
spin = [0.0, 2.0, 3.0]
[[model.grains]]
name = "b"
kind = "big"
radius = 0.2
mass = 2.0
position = [1.2, 0.5, 0.5]
[box]
lengths = [2.0, 2.0, 2.0]
origin = [-1.0, -1.0, -1.0]
[integrator]
rule = "rk4"
step = 0.01
[run]
duration = 0.1
frames = 2
"""
    (tmp_path / "grains.toml").write_text(grains)
    run = ar.run(tmp_path / "grains.toml", tmp_path / "run", report=False)
    write_gsd(run, tmp_path / "particles.gsd")
    (tmp_path / "case.toml").write_text(CASE)
    model = ar.load_case(tmp_path / "case.toml").build_model()
    # Places are in the box, rounded to single precision.
    apart = model.q0.reshape(-1, 7) - run.q[-1].reshape(-1, 7)
    apart[:, :3] -= 2.0 * np.round(apart[:, :3] / 2.0)
    np.testing.assert_allclose(apart, 0.0, atol=1e-6)
    np.testing.assert_allclose(model.u0, run.u[-1], atol=1e-6)
    np.testing.assert_allclose(model.masses, run.model.masses, rtol=1e-6)
    np.testing.assert_allclose(model.inertias, run.model.inertias, atol=1e-8)
    np.testing.assert_allclose(model.sites.radius, run.model.sites.radius, rtol=1e-6)


def test_a_frame_is_chosen_and_shapes_are_kept(tmp_path: Path) -> None:
    early, late = particles(), particles()
    late.particles.mass = early.particles.mass * 2.0
    for frame in (early, late):
        frame.particles.type_shapes = [
            {"type": "Ellipsoid", "a": 0.1, "b": 0.2, "c": 0.3},
            {"type": "Sphere", "diameter": 1},
        ]
        frame.bonds.N, frame.bonds.types, frame.bonds.typeid, frame.bonds.group = 1, ["b"], [0], [[0, 1]]
    path = written(tmp_path, early, late)
    last, first = ar.load_case(path), ar.load_case(path, {"model.frame": 0, "model.spheres": False})
    np.testing.assert_allclose(last.build_model().masses, 2.0 * first.build_model().masses)
    model = first.build_model()
    assert [[shape.kind for shape in several] for several in model.shapes] == [["particle"], [], ["particle"], [], []]
    assert not model.sites.radius.any()
    assert model.inferred == (
        f"{tmp_path / 'particles.gsd'}: 1 bonds are left out: a GSD file does not contain their force laws",
    )
    assert ar.simulate(model, 0.02, rule="rk4", step=0.01).times.size


def wrong(**what: Any) -> Callable[[Any], None]:
    """Puts wrong values into a frame."""

    def change(frame: Any) -> None:
        for key, value in what.items():
            section, name = key.split("__")
            setattr(getattr(frame, section), name, value)

    return change


@pytest.mark.parametrize(
    ("change", "text", "message"),
    [
        (wrong(particles__body=[0, 0, -1, -1, -1]), CASE, "particles 0 and 1 are parts of one rigid body, 0"),
        (wrong(configuration__dimensions=2), CASE, "is two-dimensional"),
        (wrong(particles__orientation=[[2, 0, 0, 0]] * COUNT), CASE, "particle 0: its orientation has the norm 2"),
        (wrong(particles__mass=[0.0] * COUNT), CASE, "body 'A-0'.*mass"),
        (wrong(), CASE, None),
        (wrong(), CASE + "[box]\nlengths = [1, 1, 1]\n", "has its own box"),
        (wrong(), CASE.replace("particles.gsd", "case.toml"), "cannot be read as a GSD file"),
        (wrong(), CASE.replace("particles.gsd", "none.gsd"), "none.gsd"),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, change: Callable[[Any], None], text: str, message: str | None
) -> None:
    frame = particles()
    change(frame)
    path = written(tmp_path, frame, text=text)
    overrides = {"model.frame": 3} if message is None else {}
    with pytest.raises(ArticulonError, match=message or "has 1 frames, counted from 0; got 3"):
        ar.load_case(path, overrides).build_model()
