"""Spheres in the files of a run: radii in the trajectory and the topology, and GSD files that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon.analysis import contacts
from articulon.cli import app
from articulon.errors import ArticulonError
from articulon.runs.gsd_export import write_gsd

gsd_hoomd = pytest.importorskip("gsd.hoomd")

CASE = """
[case]
units = "kg-m-s"
[model]
builder = "grains"
[[model.grains]]
name = "small"
radius = 0.1
mass = 1.0
position = [0.2, 0.5, 0.5]
velocity = [-1.0, 0.25, 0.0]
spin = [0.0, 0.0, 3.0]
[[model.bodies]]
name = "dumbbell"
joint = "free"
mass = 2.0
inertia = [0.1, 0.2, 0.3]
q = [0.5, 1.5, 0.5, 1.0, 0.0, 0.0, 0.0]
u = [0.0, 0.5, 0.0, 0.0, 0.0, 2.0]
[[model.sites]]
body = "dumbbell"
position = [0.2, 0.0, 0.0]
radius = 0.15
[[model.sites]]
body = "dumbbell"
position = [-0.2, 0.0, 0.0]
radius = 0.2
kind = "big"
[[model.sites]]
body = "dumbbell"
[box]
lengths = [1.0, 4.0, 1.0]
boundaries = ["periodic", "open", "periodic"]
[[forces]]
kind = "gravity"
acceleration = [0, 0, -1]
[integrator]
rule = "rk4"
step = 0.01
[run]
duration = 1.0
frames = 4
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ar.Run:
    folder = tmp_path_factory.mktemp("spheres")
    (folder / "case.toml").write_text(CASE, encoding="utf-8")
    return ar.run(ar.load_case(folder / "case.toml"), folder / "run", report=False)


def test_radii_are_in_the_trajectory_and_the_topology(run: ar.Run) -> None:
    with h5py.File(run.folder / "trajectory.h5") as file:
        # Bodies that are written out come before grains.
        np.testing.assert_array_equal(file["particles/bodies/radius"][:], [0.2, 0.1])
        assert file["particles/bodies/radius"].attrs["unit"] == "m"
        spheres = file["articulon/spheres"]
        np.testing.assert_array_equal(spheres["body"][:], [0, 0, 1])
        np.testing.assert_array_equal(spheres["radius"][:], [0.15, 0.2, 0.1])
        np.testing.assert_array_equal(spheres["position"][:], [[0.2, 0, 0], [-0.2, 0, 0], [0, 0, 0]])
    atoms = [line for line in (run.folder / "topology.pdb").read_text().splitlines() if line.startswith("HETATM")]
    drawn = np.array([float(line[60:66]) for line in atoms])
    places = np.array([[float(line[30 + 8 * k : 38 + 8 * k]) for k in range(3)] for line in atoms])
    # Two decimals of a radius that is drawn in the scale of the coordinates.
    scale = (places[0, 1] - places[1, 1]) / 1.0
    np.testing.assert_allclose(drawn, scale * np.array([0.2, 0.1]), atol=0.006)


def test_gsd_file_holds_what_the_run_does(run: ar.Run) -> None:
    result = CliRunner().invoke(app, ["export", str(run.folder), "--gsd"])
    assert result.exit_code == 0 and result.stdout.strip().endswith("spheres.gsd")
    with gsd_hoomd.open(str(run.folder / "spheres.gsd")) as frames:
        assert len(frames) == 5
        first, last = frames[0], frames[-1]
        read: Any = last.particles
        np.testing.assert_allclose(read.diameter, [0.3, 0.4, 0.2], rtol=1e-6)
        np.testing.assert_array_equal(read.body, [0, 0, 1])
        assert [read.types[k] for k in read.typeid] == ["site", "big", "grain"]
        np.testing.assert_allclose(read.mass, [2, 2, 1])
        np.testing.assert_allclose(read.moment_inertia[0], [0.1, 0.2, 0.3], rtol=1e-6)
        # Periodic directions are centred, the open one is as it was.
        edges = np.array([first.configuration.box[0], 0.0, first.configuration.box[2]])
        np.testing.assert_allclose(edges, [1.0, 0.0, 1.0])
        place = read.position + read.image * edges + [0.5, 0.0, 0.5]
        spin = 2.0
        arm = np.array([np.cos(spin), np.sin(spin), 0.0])
        centre = np.array([0.5, 2.0, 0.0])
        grain = np.array([-0.8, 0.75, 0.0])
        np.testing.assert_allclose(place, [centre + 0.2 * arm, centre - 0.2 * arm, grain], atol=2e-6)
        assert (np.abs(read.position[:, [0, 2]]) <= 0.5 + 1e-6).all()
        across = np.array([-np.sin(spin), np.cos(spin), 0.0])
        fall = np.array([0.0, 0.5, -1.0])
        np.testing.assert_allclose(
            read.velocity, [fall + 0.4 * across, fall - 0.4 * across, [-1.0, 0.25, -1.0]], atol=2e-6
        )
        np.testing.assert_allclose(read.orientation[0], [np.cos(1.0), 0, 0, np.sin(1.0)], atol=2e-6)
        np.testing.assert_allclose([frame.log["time"][0] for frame in frames], run.times)
        # The dumbbell's moment of inertia about z is 0.3: P = 2 q S, about the axis of q.
        np.testing.assert_allclose(read.angmom[0], 2.0 * 0.6 * np.array([-np.sin(1.0), 0, 0, np.cos(1.0)]), atol=2e-6)
        np.testing.assert_allclose(last.log["particles/angular_velocity"], [[0, 0, 2], [0, 0, 2], [0, 0, 3]], atol=1e-6)


@pytest.mark.slow
def test_gsd_file_and_analysis_hold_the_contact_forces_of_the_last_frame(tmp_path: Path) -> None:
    """Five balls on each other: each is carried with its weight, by contacts with that of all that is above."""
    run = ar.run("stack", tmp_path / "run", overrides={"run.gsd": True}, report=False)
    model = run.case.build_model()
    weight = 9.81 * float(model.masses[0])
    with gsd_hoomd.open(str(write_gsd(run.folder))) as frames:
        last = frames[-1]
        force = np.array(last.log["particles/contact_force"])
        np.testing.assert_allclose(force, np.tile([0.0, 0.0, weight], (5, 1)), rtol=1e-5, atol=1e-8)
        np.testing.assert_array_equal(last.log["particles/contacts"], [2, 2, 2, 2, 1])
        order = np.argsort(last.bonds.group.min(axis=1))
        assert last.bonds.types == ["contact"]
        np.testing.assert_array_equal(np.sort(last.bonds.group[order], axis=1), [[k, k + 1] for k in range(4)])
        np.testing.assert_allclose(last.log["bonds/normal_force"][order], weight * np.arange(4, 0, -1), rtol=1e-5)
        np.testing.assert_allclose(last.log["bonds/tangential_force"], 0.0, atol=1e-9)
        before = frames[-2]
        assert before.bonds.N == 0 and np.isnan(before.log["particles/contact_force"]).all()
    found = contacts(run)
    np.testing.assert_allclose(np.sort(found.normal_force), weight * np.arange(1, 6), rtol=1e-6)
    assert (found.second < 0).sum() == 1


def test_contacts_of_a_run_in_memory() -> None:
    case = ar.load_case("stack")
    model = case.build_model()
    run = ar.simulate(model, 0.002, rule="velocity-verlet", step=1e-5, frames=2)
    found = contacts(run)
    assert found.first.size == 5 and repr(run) == "Run(3 frames to 0.002 s, 5 bodies, complete, in memory)"
    with pytest.raises(ArticulonError, match="no contact spheres"):
        contacts(ar.simulate(ar.load_case("double-pendulum").build_model(), 0.01, frames=2))


def test_freud_reads_the_spheres(run: ar.Run) -> None:
    freud = pytest.importorskip("freud")
    file = write_gsd(run.folder, run.folder / "again.gsd")
    with gsd_hoomd.open(str(file)) as frames:
        query = freud.locality.AABBQuery.from_system(frames[0])
        found = query.query(frames[0].particles.position, {"r_max": 0.45, "exclude_ii": True}).toNeighborList()
    # The spheres of the dumbbell are 0.4 apart, and nothing else is near.
    assert sorted(map(tuple, found[:].tolist())) == [(0, 1), (1, 0)]


@pytest.mark.slow
def test_a_run_without_spheres_has_none_to_export(tmp_path: Path) -> None:
    run = ar.run("double-pendulum", tmp_path / "run", overrides={"run.duration": "0.1 s"}, report=False)
    with h5py.File(run.folder / "trajectory.h5") as file:
        assert "spheres" not in file["articulon"] and "radius" not in file["particles/bodies"]
    with pytest.raises(ArticulonError, match="no contact spheres"):
        write_gsd(run.folder)
    result = CliRunner().invoke(app, ["export", str(run.folder)])
    assert result.exit_code == 2
