"""The atoms of a run: in its trajectory and topology, in files of other programs, and by name."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import molecules
from articulon.cases import load_case
from articulon.cli import app
from articulon.errors import ArticulonError, CaseError
from articulon.model.atoms import Atoms
from articulon.storage.atom_topology import write_atom_topology
from tests.support.run_cases import goes_on_after_kills, universe

mda = pytest.importorskip("MDAnalysis")

CASE = """
[case]
units = "Da-nm-ps"
[model]
builder = "molecule"
sequence = ["ACE", "SER", "TRP", "NME"]
[thermostat]
kind = "langevin"
temperature = "300 K"
friction = "5 1/ps"
[integrator]
rule = "friction-implicit"
step = "5 fs"
[run]
duration = "0.6 ps"
frames = 12
speeds = "thermal"
"""
FRAMES = 13
SINGLE = 2.0**-24
"""Relative rounding of single precision."""
ARM = 0.08
"""The shortest distance of an atom from the axis of a torsion of these residues [nm]: that of a hydrogen."""


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    path = tmp_path_factory.mktemp("case") / "peptide.toml"
    path.write_text(CASE)
    return path


@pytest.fixture(scope="module")
def run(case):
    return ar.run(case, case.parent / "run", report=False)


def angle_bound(rounding: float) -> float:
    """How far a dihedral angle can be off where each coordinate is off by a rounding [nm]: the two atoms at the ends
    are off by √3 of it over their arms, and those of the bond tilt it by no more; [rad]."""
    return 4.0 * np.sqrt(3.0) * rounding / ARM


def largest_error(run, opened, frames, names=None) -> float:
    """How far torsions that MDAnalysis measures are from our coordinates, the largest [rad]."""
    from MDAnalysis.lib.distances import calc_dihedrals

    atoms, worst = run.model.atoms, 0.0
    assert opened.trajectory.n_frames == len(frames)
    for k, _ in zip(frames, opened.trajectory, strict=True):
        x = opened.atoms.positions.astype(float)
        for body, four in atoms.dihedrals.items():
            here = calc_dihedrals(*(x[[a]] for a in four))[0]
            away = here - run.coordinate(atoms.torsions[body])[k]
            worst = max(worst, abs(np.angle(np.exp(1j * away))))
    return worst


def open_file(*paths):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mda.Universe(*map(str, paths))


def test_a_trajectory_holds_the_atoms_of_the_molecule(run):
    opened, atoms = universe(run.folder), run.model.atoms
    assert opened.select_atoms("protein").n_atoms == len(atoms)
    assert list(opened.atoms.names) == list(atoms.names)
    assert list(opened.residues.resnames) == list(atoms.residue_names)
    assert list(opened.residues.resids) == list(atoms.residue_numbers)
    assert set(opened.atoms.chainIDs) == {"A"}
    assert list(opened.atoms.elements) == [element.upper() for element in atoms.elements]
    size = np.abs(run.atom_positions).max()
    for k, ts in enumerate(opened.trajectory):
        # Rounded in nm, then in ångström.
        assert np.abs(ts.positions - 10.0 * run.atom_positions[k]).max() <= 10.0 * size * 2.0 * SINGLE
        assert ts.time == pytest.approx(run.times[k], rel=1e-12)
    assert largest_error(run, opened, range(FRAMES)) <= min(angle_bound(2.0 * SINGLE * size), np.radians(1e-4))
    with h5py.File(run.folder / "trajectory.h5") as file:
        assert list(file["particles"]) == ["atoms"]
        group = file["particles/atoms"]
        assert group["position/value"].dtype == np.float32 and group["position/value"].attrs["unit"] == "nm"
        np.testing.assert_array_equal(group["mass"], atoms.masses)
        assert [{1: "H", 6: "C", 7: "N", 8: "O"}[z] for z in group["species"]] == list(atoms.elements)
        assert group["residue_number"][-1] == 4 and group["residue_name"][-1] == b"NME"
        assert "charge" not in group  # the model has no force field
        assert group["position/step"] == file["articulon/coordinates/step"]


def test_bodies_follow_from_the_coordinates(run):
    assert run.positions.shape == (FRAMES, run.model.bodies, 3)
    np.testing.assert_array_equal(run.positions[3], molecules_poses(run, 3))
    again = ar.open_run(run.folder)
    np.testing.assert_array_equal(again.rotations, run.rotations)
    np.testing.assert_array_equal(again.atom_positions[5], again.atoms_at(5))


def molecules_poses(run, frame):
    from articulon.dynamics import body_poses

    return body_poses(run.model, run.q[frame])[0]


def test_a_selection_at_its_own_interval(run, case, tmp_path):
    some = ar.run(
        case, tmp_path / "some", overrides={"run.atoms": "name CA or resname TRP", "run.atoms_every": 5}, report=False
    )
    opened = universe(some.folder)
    np.testing.assert_array_equal(some.q, run.q)
    ids = [
        k for k in range(len(run.model.atoms)) if run.model.atoms.names[k] == "CA" or run.model.atoms.residue[k] == 2
    ]
    assert opened.atoms.n_atoms == len(ids) and opened.trajectory.n_frames == 3
    for row, ts in enumerate(opened.trajectory):
        assert ts.time == pytest.approx(run.times[5 * row], rel=1e-12)
        assert np.abs(ts.positions - 10.0 * run.atom_positions[5 * row][ids]).max() < 1e-5
    with h5py.File(some.folder / "trajectory.h5") as file:
        assert list(file["particles/atoms/id"]) == ids
        assert list(file["particles/atoms/position/step"]) == [0, 50, 100]
        assert file["articulon/coordinates/step"].shape == (FRAMES,)
    # What is exported does not depend on what is kept.
    some.export(tmp_path / "all.dcd", align="none")
    assert open_file(tmp_path / "all.pdb", tmp_path / "all.dcd").trajectory.n_frames == FRAMES


def test_bodies_in_place_of_atoms(run, case, tmp_path):
    bodies = ar.run(case, tmp_path / "bodies", overrides={"run.atoms": "none"}, report=False)
    with h5py.File(bodies.folder / "trajectory.h5") as file:
        assert list(file["particles"]) == ["bodies"]
    np.testing.assert_array_equal(bodies.positions, run.positions)
    np.testing.assert_array_equal(bodies.rotations, run.rotations)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run.atoms": "resname LYS"}, r"run\.atoms: 'resname LYS' selects nothing among the model's \d+ atoms"),
        ({"run.atoms": "name CA and ("}, r"run\.atoms: cannot understand the selection"),
        ({"run.atoms": ""}, r"run\.atoms: '' selects nothing"),
        ({"run.atoms_every": 0}, r"run\.atoms_every"),
    ],
)
def test_wrong_choices_are_refused_before_anything_runs(case, tmp_path, changes, message):
    with pytest.raises(CaseError, match=message):
        ar.run(case, tmp_path / "refused", overrides=changes, report=False)
    assert not (tmp_path / "refused" / "case.toml").exists()


def test_a_model_without_atoms_has_none_to_keep(tmp_path):
    with pytest.raises(CaseError, match=r"run\.atoms: the model has no atoms; leave it out"):
        ar.run("double-pendulum", tmp_path / "one", overrides={"run.atoms": "all"}, report=False)
    plain = ar.run("double-pendulum", tmp_path / "two", overrides={"run.duration": "0.1 s"}, report=False)
    with pytest.raises(ArticulonError, match=r"the model has no atoms"):
        plain.export(tmp_path / "no.xtc")
    with pytest.raises(ArticulonError, match=r"the model has no atoms"):
        _ = plain.atom_positions


@pytest.mark.slow
def test_a_run_that_is_killed_and_resumed_has_the_same_bytes(tmp_path):
    text = CASE.replace('duration = "0.6 ps"\nframes = 12', 'duration = "40 ps"\nframes = 400')
    text += "atoms_every = 7\ncheckpoint_interval = 0.05\n"
    whole = goes_on_after_kills(tmp_path, text, [0.5])
    assert universe(whole.folder).trajectory.n_frames == 58


@pytest.mark.parametrize("ending", ["xtc", "dcd", "pdb"])
def test_exported_files_are_read_by_two_programs(run, tmp_path, ending):
    mdtraj = pytest.importorskip("mdtraj")
    path, names = run.export(tmp_path / f"atoms.{ending}"), tmp_path / "atoms.pdb"
    opened = open_file(names, path)
    size = np.abs(run.atom_positions).max()
    # In nm: XTC and PDB round to a digit, DCD to single precision.
    rounding = {"xtc": 0.5e-3, "pdb": 0.5e-4, "dcd": 2.0 * SINGLE * size}[ending]
    allowed = angle_bound(rounding)
    assert largest_error(run, opened, range(FRAMES)) <= (min(allowed, np.radians(1e-4)) if ending == "dcd" else allowed)
    other = mdtraj.load(str(path), top=str(names)) if ending != "pdb" else mdtraj.load(str(path))
    assert other.n_frames == FRAMES and other.n_atoms == len(run.model.atoms)
    for k, ts in enumerate(opened.trajectory):
        assert np.abs(10.0 * other.xyz[k] - ts.positions).max() <= 10.0 * (2.0 * SINGLE * size + 1e-9)
    if ending == "xtc":
        np.testing.assert_allclose(other.time, run.times, rtol=1e-6)
    if ending == "dcd":
        np.testing.assert_allclose([ts.time for ts in opened.trajectory], run.times, rtol=1e-5, atol=1e-9)
    assert [atom.name for atom in other.topology.atoms][:5] == list(run.model.atoms.names[:5])
    phi = [four for body, four in run.model.atoms.dihedrals.items() if run.model.atoms.torsions[body] == "phi:A:TRP3"]
    theirs = mdtraj.compute_dihedrals(other, np.array(phi), periodic=False)[:, 0]
    # mdtraj calculates in single precision: some ten roundings.
    assert np.abs(np.angle(np.exp(1j * (theirs - run.coordinate("phi:A:TRP3"))))).max() <= allowed + 100.0 * SINGLE


def test_frames_are_aligned_by_the_backbone(run, tmp_path):
    run.export(tmp_path / "aligned.dcd", frames="3:12:4")
    opened = open_file(tmp_path / "aligned.pdb", tmp_path / "aligned.dcd")
    assert opened.trajectory.n_frames == 3
    backbone = opened.select_atoms("name N CA C and resname SER TRP")
    from MDAnalysis.analysis.rms import rmsd

    first = backbone.positions.copy()
    assert np.abs(first.mean(axis=0)).max() < 1e-5
    for _ in opened.trajectory:
        # No other rotation brings them nearer.
        here = rmsd(backbone.positions, first)
        assert here <= rmsd(backbone.positions, first, superposition=True) + 1e-4
    x = run.atoms_at(3) - run.atoms_at(7)
    assert np.abs(x).max() > 0.01  # there was something to align


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": "name XX"}, r"export, select: 'name XX' selects nothing"),
        ({"frames": "10:200:5"}, r"export, frames: there is no frame 199; there are 13, from 0 to 12"),
        ({"frames": [3, 13]}, r"export, frames: there is no frame 13"),
        ({"frames": "5:5"}, r"export, frames: no frame is selected"),
        ({"frames": "a:b"}, r"export, frames: expected 'first:end:interval'"),
        ({"wrapped": True}, r"export, wrapped: the box is not periodic"),
        ({"align": "sideways"}, r"export: unknown align"),
        ({"precision": 9}, r"export, precision: must be at least 1 and at most 6, got 9"),
    ],
)
def test_what_cannot_be_exported_is_refused(run, tmp_path, options, message):
    with pytest.raises(ArticulonError, match=message):
        run.export(tmp_path / "no.xtc", **options)
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(run, tmp_path):
    (tmp_path / "mine.pdb").write_text("mine")
    for name in ("mine.pdb", "mine.xtc"):  # beside an XTC file comes a PDB file
        with pytest.raises(ArticulonError, match=r"mine\.pdb exists and is not overwritten"):
            run.export(tmp_path / name)
    assert (tmp_path / "mine.pdb").read_text() == "mine" and os.listdir(tmp_path) == ["mine.pdb"]
    run.export(tmp_path / "one.xtc")
    run.export(tmp_path / "one.dcd")  # its names are the same
    with pytest.raises(ArticulonError, match=r"one\.pdb exists and is not overwritten"):
        run.export(tmp_path / "one.pdb")
    with pytest.raises(ArticulonError, match=r"expected a name that ends in \.xtc, \.dcd, \.pdb"):
        run.export(tmp_path / "atoms.trr")


def test_coordinates_by_name(run):
    assert {"phi:A:SER2", "psi:A:SER2", "chi2:A:TRP3"} <= set(run.coordinate_names)
    place = run.coordinate_names.index("phi:A:TRP3")
    np.testing.assert_array_equal(run.coordinate("phi:A:TRP3"), run.q[:, place])
    turns = run.q.copy()
    turns[:, place] = np.linspace(-12.0, 12.0, FRAMES)
    other = ar.open_run(run.folder)
    other.__dict__["q"] = turns
    wrapped = other.coordinate("phi:A:TRP3", wrapped=True)
    assert ((-np.pi < wrapped) & (wrapped <= np.pi)).all()
    np.testing.assert_allclose(np.exp(1j * wrapped), np.exp(1j * turns[:, place]), atol=1e-14)
    np.testing.assert_allclose(other.coordinate("phi:A:TRP3", degrees=True), np.degrees(turns[:, place]), rtol=1e-15)
    with pytest.raises(ArticulonError, match=r"no coordinate 'phi:A:TRP2'; did you mean 'phi:A:TRP3'"):
        run.coordinate("phi:A:TRP2")
    with pytest.raises(ArticulonError, match=r"is not an angle"):
        run.coordinate(run.coordinate_names[0], wrapped=True)


def test_the_command_exports(run, tmp_path):
    def call(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["export", str(run.folder), *words])
        return result.exit_code, result.output

    assert call("--xtc", str(tmp_path / "a.xtc"), "--select", "name CA", "--frames", "2:12:5")[0] == 0
    opened = open_file(tmp_path / "a.pdb", tmp_path / "a.xtc")
    assert opened.atoms.n_atoms == 2 and opened.trajectory.n_frames == 2
    assert call("--csv", "--out", str(tmp_path / "a.csv"), "--coordinates", "phi:*")[0] == 0
    table = np.genfromtxt(tmp_path / "a.csv", delimiter=",", skip_header=1)
    np.testing.assert_array_equal(table[:, 0], run.times)
    head = (tmp_path / "a.csv").read_text().splitlines()[0].split(",")
    assert sorted(head) == ["phi:A:SER2 (degrees)", "phi:A:TRP3 (degrees)", "time"]
    column = head.index("phi:A:TRP3 (degrees)")
    np.testing.assert_array_equal(table[:, column], run.coordinate("phi:A:TRP3", wrapped=True, degrees=True))
    for words, message in (
        (("--xtc", str(tmp_path / "a.xtc")), "exists and is not overwritten"),
        ((), "give a format"),
        (("--xtc", "--dcd"), "give a format"),
        (("--dcd", str(tmp_path / "a.xtc")), r"ends in .dcd"),
        (("--dcd", "--precision", "2"), "--precision applies to --xtc"),
        (("--xtc", "--wrapped", "--align", "backbone"), "leave out --align backbone"),
    ):
        code, output = call(*words)
        assert code == 2 and message in " ".join(output.split())


def test_a_run_in_memory_is_saved_with_its_atoms(tmp_path):
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    model = molecules.build(structure, molecules.perceive(structure))
    u = 2.0 * np.sin(np.arange(model.nu))
    memory = ar.simulate(model, 0.2, rule="rk4", step=0.01, frames=4, u=u)
    assert memory.coordinate_names[7:] == ("phi:A:ALA2", "psi:A:ALA2") or "phi:A:ALA2" in memory.coordinate_names
    memory.save(tmp_path / "saved", atoms="not element H", atoms_every=2)
    opened = ar.open_run(tmp_path / "saved")
    np.testing.assert_array_equal(opened.atom_positions, memory.atom_positions)
    assert opened.model.atoms.label(5) == model.atoms.label(5)
    assert opened.model.atoms.torsions == model.atoms.torsions and opened.model.atoms.dihedrals == model.atoms.dihedrals
    assert opened.coordinate_names == memory.coordinate_names
    kept = universe(tmp_path / "saved")
    assert kept.atoms.n_atoms == 10 and kept.trajectory.n_frames == 3
    with pytest.raises(CaseError, match=r"run\.save\.atoms: 'name XX' selects nothing"):
        memory.save(tmp_path / "none", atoms="name XX")
    opened.extend(0.2)
    longer = ar.simulate(model, 0.4, rule="rk4", step=0.01, frames=8, u=u)
    np.testing.assert_array_equal(opened.q, longer.q)


def water(count: int, box: ar.Box | None = None) -> ar.Model:
    """So many rigid molecules of water on free joints, each of a residue of its own."""
    h = 0.1 * np.array([[0.0, 0.0, 0.0], [0.9572, 0.0, 0.0], [-0.24, 0.9266, 0.0]])
    masses = np.array([15.999, 1.008, 1.008])
    centre = masses @ h / masses.sum()
    arms = h - centre
    inertia = float(masses @ (arms**2).sum(axis=1))
    builder = ar.ModelBuilder(units="Da-nm-ps", box=box)
    q = np.array([[0.4 * k, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] for k in range(count)])
    bodies = builder.add_bodies(count, mass=masses.sum(), inertia=inertia, joint=ar.Free(), q=q.ravel())
    for k in bodies:
        for arm in arms:
            builder.add_site(k, position=arm)
    builder.add_atoms(water_atoms(count))
    return builder.build()


def water_atoms(count: int) -> Atoms:
    return Atoms(
        site=np.arange(3 * count),
        names=("O", "H1", "H2") * count,
        elements=("O", "H", "H") * count,
        masses=np.tile([15.999, 1.008, 1.008], count),
        residue=np.repeat(np.arange(count), 3),
        residue_names=("HOH",) * count,
        residue_numbers=tuple(range(1, count + 1)),
        insertions=("",) * count,
        chains=("W",) * count,
        residue_kinds=("water",) * count,
        bonds=np.array([(3 * k, 3 * k + m) for k in range(count) for m in (1, 2)]),
    )


def test_a_box_is_in_the_files_and_molecules_are_whole_in_it(tmp_path):
    box = ar.Box(lengths=(1.0, 1.2, 1.5), tilts=(0.2, 0.0, 0.1))
    model = water(4, box)
    u = np.zeros(model.nu)
    u[0::6], u[3::6] = 7.0, 5.0  # they leave the box
    run = ar.simulate(model, 0.4, rule="rk4", step=0.01, frames=4, u=u)
    run.save(tmp_path / "wet")
    opened = universe(tmp_path / "wet")
    edges = box_as_lengths_and_angles(box.vectors)
    for k, ts in enumerate(opened.trajectory):
        np.testing.assert_allclose(ts.dimensions, edges, rtol=1e-6)
        assert np.abs(ts.positions - 10.0 * run.atom_positions[k]).max() < 1e-5
    with h5py.File(tmp_path / "wet" / "trajectory.h5") as file:
        assert [name.decode() for name in file["particles/atoms/box"].attrs["boundary"]] == ["periodic"] * 3
    run.export(tmp_path / "wrapped.dcd", wrapped=True)
    wrapped = open_file(tmp_path / "wrapped.pdb", tmp_path / "wrapped.dcd")
    moved = 0
    for k, ts in enumerate(wrapped.trajectory):
        np.testing.assert_allclose(ts.dimensions, edges, rtol=1e-5)
        shift = (ts.positions / 10.0 - run.atom_positions[k]) @ np.linalg.inv(box.vectors)
        np.testing.assert_allclose(shift, np.rint(shift), atol=1e-5)  # whole edges
        assert np.abs(shift.reshape(4, 3, 3) - shift.reshape(4, 3, 3)[:, :1]).max() < 1e-5  # of whole molecules
        centres = np.array([residue.atoms.center_of_mass() for residue in wrapped.residues]) / 10.0
        inside = centres @ np.linalg.inv(box.vectors)
        assert (inside > -1e-6).all() and (inside < 1.0 + 1e-6).all()
        moved += int(np.abs(np.rint(shift)).sum())
    assert moved
    run.export(tmp_path / "still.xtc", align="none", select="element O")
    still = open_file(tmp_path / "still.pdb", tmp_path / "still.xtc")
    assert still.atoms.n_atoms == 4
    np.testing.assert_allclose(still.dimensions, edges, atol=1e-2)  # XTC keeps edges in single precision, PDB by digits


def box_as_lengths_and_angles(vectors: np.ndarray) -> list[float]:
    from MDAnalysis.lib.mdamath import triclinic_box

    return triclinic_box(*(10.0 * vectors)).tolist()


def test_a_box_that_changes_is_in_every_frame(tmp_path):
    from articulon.storage.atom_columns import atom_columns
    from articulon.storage.model_layout import trajectory_layout, write_model_topology
    from articulon.storage.trajectory import Frame, TrajectoryReader, TrajectoryWriter

    model = water(2, ar.Box(lengths=(1.0, 1.0, 1.0)))
    columns = atom_columns(model, np.arange(6), every=2)
    write_model_topology(tmp_path / "topology.pdb", model, "water", columns)
    writer = TrajectoryWriter(tmp_path / "trajectory.h5", trajectory_layout(model, {}, "00", columns))
    none = np.zeros((0, 3))
    for k in range(5):
        frame = Frame(
            step=k,
            time=float(k),
            positions=none,
            rotations=none,
            q=model.q0,
            u=model.u0,
            atoms=np.full((6, 3), 0.1 * k) if k % 2 == 0 else None,
            box=(1.0 + 0.1 * k) * np.eye(3) if k else None,
        )
        writer.append(frame)
    writer.finish()
    with TrajectoryReader(tmp_path / "trajectory.h5") as reader:
        np.testing.assert_allclose(reader.boxes, [(1.0 + 0.1 * k) * np.eye(3) for k in range(5)], rtol=1e-14)
        assert reader.atom_positions.shape == (3, 6, 3)
    with h5py.File(tmp_path / "trajectory.h5") as file:
        assert list(file["particles/atoms/box/edges/step"]) == [0, 2, 4] == list(file["particles/atoms/position/step"])
        assert list(file["articulon/box/edges/step"]) == [0, 1, 2, 3, 4]
    opened = universe(tmp_path)
    assert [float(ts.dimensions[0]) for ts in opened.trajectory] == pytest.approx([10.0, 12.0, 14.0])


@pytest.mark.parametrize("memory", [2**26, 700, 1])
def test_the_bytes_depend_on_the_frames_and_not_on_the_history_of_writing(tmp_path, monkeypatch, memory):
    """Atoms are in every third frame; a small memory lets frames spill to the disk and be copied one by one."""
    from articulon.storage import frame_buffer
    from articulon.storage.atom_columns import atom_columns
    from articulon.storage.model_layout import trajectory_layout
    from articulon.storage.trajectory import Frame, TrajectoryReader, TrajectoryWriter

    model = water(2, ar.Box(lengths=(1.0, 1.0, 1.0)))
    made, none = (
        trajectory_layout(model, {"a": "energy"}, "00", atom_columns(model, np.arange(1, 6), every=3)),
        np.zeros((0, 3)),
    )

    def frame(k: int) -> Frame:
        random = np.random.default_rng(k)
        return Frame(
            step=2 * k,
            time=0.1 * k,
            positions=none,
            rotations=none,
            q=random.normal(size=model.nq),
            u=random.normal(size=model.nu),
            observables={"a": random.normal()},
            atoms=random.normal(size=(5, 3)) if k % 3 == 0 else None,
            box=(1.0 + 0.01 * k) * np.eye(3),
        )

    whole = TrajectoryWriter(tmp_path / "whole.h5", made, interval=np.inf)
    for k in range(32):
        whole.append(frame(k))
    whole.finish()
    with TrajectoryReader(tmp_path / "whole.h5") as reader:
        np.testing.assert_allclose(reader.atom_positions, [frame(k).atoms for k in range(0, 32, 3)], rtol=1e-6)
        np.testing.assert_array_equal(reader.coordinates, [frame(k).q for k in range(32)])
    monkeypatch.setattr(frame_buffer, "MEMORY", memory)
    random = np.random.default_rng(memory)
    for history in range(2):
        path, k = tmp_path / f"{history}.h5", 0
        writer = TrajectoryWriter(path, made, interval=np.inf)
        while k < 32:
            writer.append(frame(k))
            k += 1
            if random.random() < 0.2:
                writer.flush()
            if random.random() < 0.1:  # killed, and resumed from a checkpoint some frames ago
                k = int(random.integers(1, writer.frames_on_disk + 1))
                writer = TrajectoryWriter(path, made, k, interval=np.inf)
        writer.finish()
        assert path.read_bytes() == (tmp_path / "whole.h5").read_bytes()


@pytest.mark.slow
def test_more_atoms_and_residues_than_columns_hold(tmp_path):
    count, few = 33_400, water(1)
    many = replace(few, atoms=water_atoms(count))
    write_atom_topology(tmp_path / "many.pdb", many, np.arange(3 * count), np.zeros((3 * count, 3)))
    opened = open_file(tmp_path / "many.pdb")
    assert opened.atoms.n_atoms == 3 * count and len(opened.residues) == count
    assert opened.residues.resids[-1] == count


def test_bonds_that_no_template_tells_are_in_the_topology(tmp_path):
    structure = molecules.peptide(["ACE", "CYS", "GLY", "GLY", "CYS", "NME"])
    model = molecules.build(structure, molecules.perceive(structure))
    sulfurs = [k for k, name in enumerate(structure.names) if name == "SG"]
    atoms = replace(model.atoms, bonds=np.vstack([model.atoms.bonds, sulfurs]), chains=("AB",) * 6)
    some = np.array([k for k in range(len(atoms)) if atoms.elements[k] != "H"])
    write_atom_topology(tmp_path / "bridge.pdb", replace(model, atoms=atoms), some, structure.positions[some])
    opened = open_file(tmp_path / "bridge.pdb")
    assert set(opened.segments.segids) == {"AB"}
    bonds = [[opened.atoms[i].name for i in bond] for bond in opened.bonds.indices]
    assert bonds == [["SG", "SG"]]
    np.testing.assert_allclose(opened.atoms.positions, 10.0 * structure.positions[some], atol=6e-4)


def test_a_case_can_write_out_its_atoms(tmp_path):
    structure = molecules.peptide(["ACE", "GLY", "NME"])
    model = molecules.build(structure, molecules.perceive(structure))
    ar.simulate(model, 0.01, rule="rk4", step=0.01).save(tmp_path / "one")
    text = (tmp_path / "one" / "case.toml").read_text()
    for old, new, message in (
        (r"\nnames = \[", '\\g<0>"X", ', r"model\.atoms\.names: expected \d+ entries"),
        (r"\nbonds = \[", "\\g<0>[0, 100], ", r"model\.atoms\.bonds: there is no atom 100"),
        (r"(\[model\.atoms\]\nsites = \[\s*)0", "\\g<1>400", r"model\.atoms\.sites: there is no site 400"),
        (r"(\nresidues = \[\s*)0", "\\g<1>9", r"model\.atoms\.residues: expected rows"),
        (r'(torsions\]\]\nbody = ")', "\\g<1>X", r"model\.atoms\.torsions: there is no body 'XA:"),
    ):
        bad, count = re.subn(old, new, text, count=1)
        assert count == 1
        (tmp_path / "bad.toml").write_text(bad)
        with pytest.raises(CaseError, match=message):
            load_case(tmp_path / "bad.toml").build_model()
