"""What a run leaves on the disk can be read at any moment, and nothing that was written is ever lost."""

from __future__ import annotations

import doctest
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from articulon.errors import ArticulonError, CheckpointError
from articulon.storage import frame_buffer, h5md_layout, topology, trajectory
from articulon.storage.checkpoint import NEWEST, PREVIOUS, read_checkpoint, write_checkpoint
from articulon.storage.topology import short_name, write_topology
from articulon.storage.trajectory import Frame, TrajectoryLayout, TrajectoryReader, TrajectoryWriter

N = 3


def layout(**changes) -> TrajectoryLayout:
    """Three bodies in a case in micrometres and microseconds, written in nm and ns."""
    values = {
        "body_names": ("core", "arm", "hånd"),
        "masses": np.array([3.0, 2.0, 1.0]),
        "mass_unit": "fg",
        "nq": 2,
        "nu": 1,
        "coordinate_names": ("core.x", "arm.angle"),
        "coordinate_units": ("um", "rad"),
        "speed_names": ("arm.rate",),
        "speed_units": ("rad/us",),
        "observables": {"work_damping": "fg um^2/us^2", "kinetic_energy": "fg um^2/us^2", "factor": ""},
        "length_unit": "nm",
        "time_unit": "ns",
        "length_factor": 1e3,
        "time_factor": 1e3,
        "author": "a tester",
        "creator_version": "1.2.3",
    }
    return TrajectoryLayout(**{**values, **changes})


def frame(index: int) -> Frame:
    """A frame that follows from its index alone."""
    values = np.random.default_rng(index).normal(size=40)
    return Frame(
        step=10 * index,
        time=0.1 * index,
        positions=values[:9].reshape(N, 3),
        rotations=values[9:21].reshape(N, 4),
        q=values[21:23],
        u=values[23:24],
        observables={"kinetic_energy": values[24], "work_damping": values[25], "factor": values[26]},
    )


def write(path: Path, frames: range, **changes) -> None:
    writer = TrajectoryWriter(path, layout(**changes), interval=np.inf)
    for index in frames:
        writer.append(frame(index))
    writer.finish()


def in_child(action: Callable[[], object]) -> int:
    """Run in a forked process that ends without any cleaning up; its exit status, 1 after an exception."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            action()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def exit_at_call(number: int) -> None:
    """From now on, the process dies just before the given call that changes names or syncs (0 is the first)."""
    calls = iter(range(1_000_000))
    for name in ("fsync", "replace", "link", "unlink"):
        original = getattr(os, name)

        def dying(*arguments, original=original, **keywords):
            if next(calls) == number:
                os._exit(77)
            return original(*arguments, **keywords)

        setattr(os, name, dying)


def open_with_mdanalysis(folder: Path, **keywords):
    import MDAnalysis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bodies have no chemical elements
        return MDAnalysis.Universe(
            str(folder / "topology.pdb"), str(folder / "trajectory.h5"), format="H5MD", **keywords
        )


# --- trajectory ---------------------------------------------------------------------------------------------------


def test_a_trajectory_is_read_back_in_the_units_of_the_case(tmp_path):
    write(tmp_path / "t.h5", range(5))
    frames = [frame(index) for index in range(5)]
    with TrajectoryReader(tmp_path / "t.h5") as reader:
        assert len(reader) == 5
        assert reader.steps.tolist() == [0, 10, 20, 30, 40]
        # Multiplied and divided by a factor: two roundings.
        np.testing.assert_array_max_ulp(reader.times, np.array([f.time for f in frames]), maxulp=2)
        np.testing.assert_array_max_ulp(reader.positions, np.array([f.positions for f in frames]), maxulp=2)
        np.testing.assert_array_equal(reader.rotations, [f.rotations for f in frames])
        np.testing.assert_array_equal(reader.coordinates, [f.q for f in frames])
        np.testing.assert_array_equal(reader.speeds, [f.u for f in frames])
        assert reader.observables.keys() == {"work_damping", "kinetic_energy", "factor"}
        np.testing.assert_array_equal(reader.observables["factor"], [f.observables["factor"] for f in frames])
        assert reader.layout.difference(layout()) is None
        assert reader.layout.author == "a tester"


@pytest.mark.parametrize("box", [None, np.diag([4.0, 5.0, 6.0])])
def test_the_file_is_laid_out_as_h5md_1_1(tmp_path, box):
    write(tmp_path / "t.h5", range(3), box_edges=box)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["h5md"].attrs["version"].tolist() == [1, 1]
        assert file["h5md/author"].attrs["name"] == "a tester"
        assert dict(file["h5md/creator"].attrs) == {"name": "articulon", "version": "1.2.3"}
        assert list(file["particles"]) == ["bodies"]
        bodies = file["particles/bodies"]
        assert bodies["box"].attrs["dimension"] == 3
        assert bodies["box"].attrs["boundary"].tolist() == [b"none" if box is None else b"periodic"] * 3
        elements = [bodies["orientation"], file["articulon/coordinates"], file["articulon/speeds"]]
        elements += file["observables"].values()
        if box is None:
            assert "edges" not in bodies["box"]
        else:
            np.testing.assert_array_equal(bodies["box/edges/value"][:], [1e3 * box] * 3)
            elements.append(bodies["box/edges"])
        for element in elements:
            for shared in ("step", "time"):
                assert element[shared] == bodies["position"][shared]  # one object, linked
            assert len(element["value"]) == 3
        assert bodies["position/value"].dtype == np.float64
        assert bodies["position/value"].attrs["unit"] == "nm"
        assert bodies["position/time"].attrs["unit"] == "ns"
        assert file["observables/kinetic_energy/value"].attrs["unit"] == "fg um^2/us^2"
        assert "unit" not in file["observables/factor/value"].attrs
        assert [name.decode() for name in bodies["name"][:]] == ["core", "arm", "hånd"]
        assert file["articulon/speeds/value"].attrs["unit"] == "rad/us"


@pytest.mark.parametrize(
    "box, dimensions",
    [
        (None, None),
        (np.diag([4.0, 5.0, 6.0]), [4e4, 5e4, 6e4, 90, 90, 90]),
        (np.array([[4.0, 0, 0], [0, 5, 0], [3, 0, 3]]), [4e4, 5e4, np.sqrt(18) * 1e4, 90, 45, 90]),
    ],
)
def test_mdanalysis_reads_frames_times_positions_and_box(tmp_path, box, dimensions):
    write(tmp_path / "trajectory.h5", range(4), box_edges=box)
    write_topology(tmp_path / "topology.pdb", layout().body_names, np.zeros((N, 3)), [0, 0, 1], [(0, 1)])
    universe = open_with_mdanalysis(tmp_path)
    assert universe.trajectory.n_frames == 4
    for index, moment in enumerate(universe.trajectory):
        assert moment.time == pytest.approx(1e6 * 0.1 * index)  # us to ps
        # MDAnalysis holds positions in float32.
        np.testing.assert_allclose(moment.positions, 1e4 * frame(index).positions, rtol=1e-6)  # um to Angstrom
        assert moment.data["kinetic_energy"] == frame(index).observables["kinetic_energy"]
        if dimensions is None:
            assert moment.dimensions is None
        else:
            np.testing.assert_allclose(moment.dimensions, dimensions, rtol=1e-6)
    universe.trajectory.close()


def test_reduced_units_are_written_without_unit_attributes(tmp_path):
    reduced = {"length_unit": None, "time_unit": None, "length_factor": 1.0, "time_factor": 1.0}
    write(tmp_path / "trajectory.h5", range(2), **reduced)
    write_topology(tmp_path / "topology.pdb", ["a", "b", "c"], np.zeros((N, 3)), [0, 1, 2], [], length_unit=None)
    universe = open_with_mdanalysis(tmp_path, convert_units=False)
    assert universe.trajectory[1].time == 0.1
    universe.trajectory.close()
    with h5py.File(tmp_path / "trajectory.h5") as file:
        assert not file["particles/bodies/position/value"].attrs
        assert not file["particles/bodies/position/time"].attrs


def test_a_model_without_coordinates_or_observables_is_written(tmp_path):
    path = tmp_path / "t.h5"
    empty = TrajectoryLayout(body_names=("wall",), masses=np.ones(1), nq=0, nu=0)
    writer = TrajectoryWriter(path, empty)
    writer.append(
        Frame(step=0, time=0.0, positions=np.zeros((1, 3)), rotations=np.eye(4)[:1], q=np.empty(0), u=np.empty(0))
    )
    writer.finish()
    with TrajectoryReader(path) as reader:
        assert reader.coordinates.shape == reader.speeds.shape == (1, 0)
        assert reader.observables == {}


@pytest.mark.slow
@pytest.mark.parametrize("memory, box", [(frame_buffer.MEMORY, None), (1000, np.eye(3)), (1, None)])
def test_the_bytes_depend_on_the_frames_and_not_on_the_history_of_writing(tmp_path, monkeypatch, memory, box):
    write(tmp_path / "unbroken.h5", range(30), box_edges=box)
    expected = (tmp_path / "unbroken.h5").read_bytes()
    monkeypatch.setattr(frame_buffer, "MEMORY", memory)  # small: frames spill to the disk and are copied one by one
    random = np.random.default_rng(memory)
    for history in range(2):
        path = tmp_path / f"{history}.h5"
        writer, index = TrajectoryWriter(path, layout(box_edges=box), interval=np.inf), 0
        while index < 30:
            writer.append(frame(index))
            index += 1
            assert writer.frames == index
            if random.random() < 0.2:
                writer.flush()
                assert writer.frames_on_disk == index
            if random.random() < 0.1:  # killed, and resumed from a checkpoint some frames ago
                index = random.integers(0, writer.frames_on_disk + 1)
                writer = TrajectoryWriter(path, layout(box_edges=box), keep_frames=index, interval=np.inf)
                assert writer.frames == index
        writer.finish()
        assert path.read_bytes() == expected
        assert sorted(entry.name for entry in tmp_path.glob(f"{history}*")) == [path.name]


@pytest.mark.slow
def test_the_time_of_writing_leaves_no_trace(tmp_path):
    write(tmp_path / "a.h5", range(3))
    time.sleep(1.1)  # HDF5 counts modification times in seconds
    write(tmp_path / "b.h5", range(3))
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_the_first_frame_is_in_the_file_at_once_and_later_ones_when_due(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(trajectory.time, "monotonic", lambda: clock[0])
    writer = TrajectoryWriter(tmp_path / "t.h5", layout(), interval=2.0)
    writer.append(frame(0))
    assert writer.frames_on_disk == 1
    for index, (seconds, on_disk) in enumerate([(1.0, 1), (1.9, 1), (2.0, 4), (3.9, 4), (4.0, 6)], start=1):
        clock[0] = 100.0 + seconds
        writer.append(frame(index))
        assert writer.frames_on_disk == on_disk
    writer._flush_duration = 1.0  # a long trajectory: a second to copy, so fifty until the next time
    assert writer.flush_cheap  # there is nothing to write
    clock[0] = 153.9
    writer.append(frame(6))
    assert writer.frames_on_disk == 6 and not writer.flush_due and not writer.flush_cheap
    clock[0] = 154.0
    assert writer.flush_due and writer.flush_cheap


def test_resuming_drops_the_frames_after_the_checkpoint_before_anything_is_appended(tmp_path):
    path = tmp_path / "t.h5"
    write(path, range(9))
    TrajectoryWriter(path, layout(), keep_frames=4)
    write(tmp_path / "four.h5", range(4))
    assert path.read_bytes() == (tmp_path / "four.h5").read_bytes()
    with pytest.raises(CheckpointError, match="holds 4 frames, but the checkpoint was taken after 5"):
        TrajectoryWriter(path, layout(), keep_frames=5)
    resumed = TrajectoryWriter(path, layout(), keep_frames=4)
    with pytest.raises(ValueError, match="frame of step 30 appended after that of step 30"):
        resumed.append(frame(3))


def test_resuming_from_the_start_replaces_the_file_even_if_no_frame_follows(tmp_path):
    path = tmp_path / "t.h5"
    write(path, range(3))
    TrajectoryWriter(path, layout(), keep_frames=0).finish()
    with TrajectoryReader(path) as reader:
        assert len(reader) == 0


def test_a_trajectory_of_another_run_is_neither_replaced_nor_continued(tmp_path):
    path = tmp_path / "t.h5"
    write(path, range(3))
    before = path.read_bytes()
    with pytest.raises(ArticulonError, match=r"t\.h5 already exists"):
        TrajectoryWriter(path, layout())
    for changes, name in [
        ({"body_names": ("core", "arm", "hand")}, "body_names"),
        ({"masses": np.ones(3)}, "masses"),
        ({"observables": {"factor": ""}}, "observables"),
        ({"box_edges": np.eye(3)}, "box_edges"),
        ({"time_factor": 1.0}, "time_factor"),
    ]:
        with pytest.raises(ArticulonError, match=rf"t\.h5 cannot be continued.*\({name} differs\)"):
            TrajectoryWriter(path, layout(**changes), keep_frames=2)
    TrajectoryWriter(path, layout(author="someone else", creator_version="9"), keep_frames=3)
    assert path.read_bytes() == before


def test_a_frame_that_does_not_fit_is_refused(tmp_path):
    writer = TrajectoryWriter(tmp_path / "t.h5", layout())
    good = frame(1)
    with pytest.raises(ValueError, match=r"frame of step 10: .*position.* must have shape \(3, 3\), got \(2, 3\)"):
        writer.append(Frame(**{**good.__dict__, "positions": np.zeros((2, 3))}))
    with pytest.raises(ValueError, match=r"not in the layout: \['factor', 'heat'\]"):
        writer.append(Frame(**{**good.__dict__, "observables": {"kinetic_energy": 1, "work_damping": 1, "heat": 1}}))
    assert writer.frames == 0


def test_what_is_not_a_trajectory_is_refused_by_name(tmp_path):
    with pytest.raises(ArticulonError, match=r"there is no trajectory .*none\.h5"):
        TrajectoryReader(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("not HDF5")
    with pytest.raises(ArticulonError, match=r"text\.h5 cannot be opened as an HDF5 file"):
        TrajectoryReader(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["data"] = 1.0
    with pytest.raises(ArticulonError, match=r"other\.h5 is an HDF5 file but not an H5MD trajectory"):
        TrajectoryReader(tmp_path / "other.h5")
    with h5py.File(tmp_path / "foreign.h5", "w") as file:
        file.create_group("h5md").attrs["version"] = [1, 1]
    with pytest.raises(ArticulonError, match=r"foreign\.h5 is an H5MD file but was not written by articulon"):
        TrajectoryReader(tmp_path / "foreign.h5")
    write(tmp_path / "t.h5", range(3))
    (tmp_path / "cut.h5").write_bytes((tmp_path / "t.h5").read_bytes()[:-1])
    with pytest.raises(ArticulonError, match=r"cut\.h5 cannot be opened"):
        TrajectoryReader(tmp_path / "cut.h5")


# --- checkpoint ---------------------------------------------------------------------------------------------------


def state(index: int) -> dict[str, np.ndarray]:
    """A checkpoint that follows from its index alone."""
    random = np.random.default_rng(index)
    return {
        "q": random.normal(size=7),
        "frames": np.array(index),
        "works": random.normal(size=(2, 3)),
        "empty": np.empty((0, 3)),
        "flags": np.array([True, False]),
        "digest": np.array("0a1b"),
    }


def assert_state(arrays: dict[str, np.ndarray], index: int) -> None:
    expected = state(index)
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        np.testing.assert_array_equal(arrays[name], array)


def test_a_checkpoint_is_read_back_and_the_one_before_is_kept(tmp_path):
    for index in range(4):
        write_checkpoint(tmp_path, state(index))
        arrays, note = read_checkpoint(tmp_path)
        assert_state(arrays, index)
        assert note is None
    assert sorted(os.listdir(tmp_path)) == [NEWEST, PREVIOUS]
    (tmp_path / NEWEST).unlink()
    arrays, note = read_checkpoint(tmp_path)
    assert_state(arrays, 2)
    assert NEWEST in note
    assert "is missing" in note
    assert PREVIOUS in note


def test_equal_arrays_give_equal_bytes(tmp_path):
    arrays = state(5)
    same = {name: np.asfortranarray(arrays[name]) if arrays[name].ndim > 1 else arrays[name] for name in sorted(arrays)}
    same["q"] = same["q"].astype(">f8")
    for name, content in (("a", arrays), ("b", same)):
        (tmp_path / name).mkdir()
        write_checkpoint(tmp_path / name, content)
    assert (tmp_path / "a" / NEWEST).read_bytes() == (tmp_path / "b" / NEWEST).read_bytes()


def test_a_checkpoint_holds_no_python_objects(tmp_path):
    with pytest.raises(CheckpointError, match="the array 'things' of a checkpoint holds Python objects"):
        write_checkpoint(tmp_path, {"things": np.array([object()])})
    np.savez(tmp_path / NEWEST, things=np.array([print], dtype=object))  # pickled: must not be loaded
    with pytest.raises(CheckpointError, match=r"checkpoint\.npz is damaged"):
        read_checkpoint(tmp_path)


def test_a_checkpoint_cut_off_anywhere_gives_the_one_before(tmp_path):
    write_checkpoint(tmp_path, state(1))
    write_checkpoint(tmp_path, state(2))
    whole = (tmp_path / NEWEST).read_bytes()
    for length in {*range(0, len(whole), 7), *range(len(whole) - 30, len(whole))}:
        (tmp_path / NEWEST).write_bytes(whole[:length])
        arrays, note = read_checkpoint(tmp_path)
        assert_state(arrays, 1)
        assert note is not None
        assert "continuing from the previous checkpoint" in note


@pytest.mark.slow
def test_a_changed_byte_never_gives_a_wrong_state(tmp_path):
    write_checkpoint(tmp_path, state(1))
    write_checkpoint(tmp_path, state(2))
    whole = (tmp_path / NEWEST).read_bytes()
    fallen_back = 0
    for position in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        (tmp_path / NEWEST).write_bytes(damaged)
        arrays, note = read_checkpoint(tmp_path)
        # A byte that carries no content (a date in the archive, say) may change unnoticed.
        assert_state(arrays, 2 if note is None else 1)
        fallen_back += note is not None
    assert fallen_back > sum(array.nbytes for array in state(2).values()) / 3


def test_a_consistent_archive_with_other_values_is_recognised(tmp_path):
    write_checkpoint(tmp_path, state(1))
    with np.load(tmp_path / NEWEST) as archive:
        arrays = dict(archive)
    arrays["q"] = arrays["q"] + 1e-15
    np.savez(tmp_path / NEWEST, **arrays)
    with pytest.raises(CheckpointError, match="its content does not match its digest"):
        read_checkpoint(tmp_path)


def test_without_a_readable_checkpoint_the_error_names_both_files(tmp_path):
    with pytest.raises(CheckpointError, match=r"checkpoint\.npz is missing, and checkpoint_prev\.npz is missing"):
        read_checkpoint(tmp_path)
    (tmp_path / NEWEST).write_bytes(b"PK")
    (tmp_path / PREVIOUS).write_bytes(b"")
    both = r"checkpoint\.npz is damaged.*checkpoint_prev\.npz is damaged.*start the run again"
    with pytest.raises(CheckpointError, match=both):
        read_checkpoint(tmp_path)


def test_a_damaged_checkpoint_does_not_replace_a_good_one_before_it(tmp_path):
    write_checkpoint(tmp_path, state(1))
    write_checkpoint(tmp_path, state(2))
    (tmp_path / NEWEST).write_bytes(b"damaged")
    write_checkpoint(tmp_path, state(3))
    assert_state(read_checkpoint(tmp_path)[0], 3)
    (tmp_path / NEWEST).unlink()
    assert_state(read_checkpoint(tmp_path)[0], 1)


# --- kills --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hard_links", [True, False])
@pytest.mark.parametrize("damaged", [True, False])
def test_a_kill_at_any_call_leaves_a_whole_checkpoint(tmp_path, hard_links, damaged):
    for call in range(100):
        folder = tmp_path / str(call)
        folder.mkdir()
        write_checkpoint(folder, state(1))
        write_checkpoint(folder, state(2))
        if damaged:
            (folder / NEWEST).write_bytes(b"damaged")

        def killed(call=call, folder=folder):
            if not hard_links:

                def refuse(*_):
                    raise OSError(errno.EPERM, "no hard links here")

                os.link = refuse
            exit_at_call(call)
            write_checkpoint(folder, state(3))

        status = in_child(killed)
        arrays, _ = read_checkpoint(folder)
        found = int(arrays["frames"])
        assert_state(arrays, found)
        assert found in ((1, 3) if damaged else (2, 3))
        write_checkpoint(folder, state(4))  # whatever the kill left behind is in nobody's way
        write_checkpoint(folder, state(5))
        assert_state(read_checkpoint(folder)[0], 5)
        assert sorted(os.listdir(folder)) == [NEWEST, PREVIOUS]
        (folder / NEWEST).unlink()
        assert_state(read_checkpoint(folder)[0], 4)
        if status == 0:
            break
        assert status == 77
    assert found == 3
    assert call >= 4  # two syncs and at least a rename came before


@pytest.mark.slow
def test_a_kill_at_any_call_leaves_a_whole_trajectory(tmp_path):
    path = tmp_path / "t.h5"
    for call in range(100):
        path.unlink(missing_ok=True)
        write(path, range(5))

        def killed(call=call):
            exit_at_call(call)
            writer = TrajectoryWriter(path, layout(), keep_frames=4, interval=np.inf)
            for index in range(4, 8):
                writer.append(frame(index))
            writer.finish()

        status = in_child(killed)
        with TrajectoryReader(path) as reader:
            assert len(reader) in (5, 4, 8)
            np.testing.assert_array_equal(reader.rotations, [frame(i).rotations for i in range(len(reader))])
        if status == 0:
            break
        assert status == 77
    assert status == 0
    assert call >= 6  # two files, each with two syncs and a rename


_ENDLESS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_storage import Frame, TrajectoryWriter, frame, layout, read_checkpoint, state, write_checkpoint
folder, last = Path(sys.argv[2]), int(sys.argv[3])
started = (folder / "checkpoint.npz").exists()
first = int(read_checkpoint(folder)[0]["frames"]) if started else 0
writer = TrajectoryWriter(folder / "trajectory.h5", layout(), keep_frames=first, interval=0.001)
print("ready", flush=True)
for index in range(first, last):
    writer.append(frame(index))
    if index % 3 == 2:
        writer.flush()
        write_checkpoint(folder, state(writer.frames))
writer.finish()
write_checkpoint(folder, state(writer.frames))
"""


@pytest.mark.slow
def test_a_run_killed_six_times_at_random_opens_each_time_and_ends_with_the_same_bytes(tmp_path):
    write_topology(tmp_path / "topology.pdb", layout().body_names, np.zeros((N, 3)), [0, 0, 1], [(0, 1)])
    random = np.random.default_rng(20)
    reached = []
    for _ in range(6):
        arguments = [sys.executable, "-c", _ENDLESS, str(Path(__file__).parent), str(tmp_path), "1000000"]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(random.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        if not (tmp_path / "trajectory.h5").exists():
            continue
        universe = open_with_mdanalysis(tmp_path)
        found = universe.trajectory.n_frames
        np.testing.assert_allclose(universe.trajectory[-1].positions, 1e4 * frame(found - 1).positions, rtol=1e-6)
        universe.trajectory.close()
        with h5py.File(tmp_path / "trajectory.h5") as file:
            np.testing.assert_array_equal(file[h5md_layout.ORIENTATION][:], [frame(i).rotations for i in range(found)])
        reached.append(found)
        if (tmp_path / NEWEST).exists():
            arrays, note = read_checkpoint(tmp_path)
            assert note is None
            assert_state(arrays, int(arrays["frames"]))
            assert arrays["frames"] <= found
    assert len(reached) >= 3
    last = max(reached) + 5
    for folder in (tmp_path, tmp_path / "unbroken"):
        folder.mkdir(exist_ok=True)
        subprocess.run(
            [sys.executable, "-c", _ENDLESS, str(Path(__file__).parent), str(folder), str(last)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    for name in ("trajectory.h5", NEWEST):
        assert (tmp_path / name).read_bytes() == (tmp_path / "unbroken" / name).read_bytes()
    assert not list(tmp_path.glob("*.tmp"))


# --- a full disk --------------------------------------------------------------------------------------------------


def limit_file_size(size: int) -> None:
    """Let writing beyond `size` bytes of a file fail as on a full disk; negative for no limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size < 0 else size, hard))


def no_space(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
def test_a_full_disk_leaves_the_checkpoints_and_says_so(tmp_path, share):
    write_checkpoint(tmp_path, state(1))
    write_checkpoint(tmp_path, state(2))
    before = {name: (tmp_path / name).read_bytes() for name in (NEWEST, PREVIOUS)}

    def fill():
        limit_file_size(int(share * len(before[NEWEST])))
        with pytest.raises(
            CheckpointError, match=r"could not write .*checkpoint\.npz: File too large.*Free some space"
        ):
            write_checkpoint(tmp_path, state(3))

    assert in_child(fill) == 0
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before
    write_checkpoint(tmp_path, state(3))
    assert_state(read_checkpoint(tmp_path)[0], 3)


@pytest.mark.parametrize("call", ["fsync", "link", "replace"])
def test_no_space_for_a_sync_or_a_name_leaves_the_checkpoints(tmp_path, monkeypatch, call):
    write_checkpoint(tmp_path, state(1))
    write_checkpoint(tmp_path, state(2))
    before = {name: (tmp_path / name).read_bytes() for name in (NEWEST, PREVIOUS)}
    with monkeypatch.context() as patch:
        patch.setattr(os, call, no_space)
        with pytest.raises(CheckpointError, match="No space left on device"):
            write_checkpoint(tmp_path, state(3))
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.99])
def test_a_full_disk_leaves_the_trajectory_and_no_frame_is_lost(tmp_path, share):
    path = tmp_path / "t.h5"
    write(tmp_path / "whole.h5", range(40))
    whole = (tmp_path / "whole.h5").read_bytes()
    write(path, range(3))
    before = path.read_bytes()

    def fill():
        writer = TrajectoryWriter(path, layout(), keep_frames=3, interval=np.inf)
        for index in range(3, 40):
            writer.append(frame(index))
        limit_file_size(int(share * len(whole)))
        for _ in range(2):
            with pytest.raises(ArticulonError, match=r"could not write .*t\.h5: .*Files written before are complete"):
                writer.flush()
            assert path.read_bytes() == before
            assert not list(tmp_path.glob("*.tmp"))
        limit_file_size(-1)
        writer.finish()

    assert in_child(fill) == 0
    assert path.read_bytes() == whole


def test_a_disk_without_room_for_the_trajectory_is_noticed_beforehand(tmp_path, monkeypatch):
    writer = TrajectoryWriter(tmp_path / "t.h5", layout())
    usage = shutil.disk_usage(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(trajectory, "disk_usage", lambda _: usage._replace(free=1000))
        with pytest.raises(ArticulonError, match="No space left on device"):
            writer.append(frame(0))
    assert not list(tmp_path.iterdir())
    writer.append(frame(1))
    assert writer.frames_on_disk == 2


def test_a_full_disk_while_frames_spill_loses_none(tmp_path, monkeypatch):
    path = tmp_path / "t.h5"
    write(tmp_path / "whole.h5", range(10))
    monkeypatch.setattr(frame_buffer, "MEMORY", 1000)
    writer = TrajectoryWriter(path, layout(), interval=np.inf)
    failures = 0
    for index in range(10):
        with monkeypatch.context() as patch:
            if index in (5, 6):
                patch.setattr(frame_buffer.tempfile, "TemporaryFile", no_space)
            try:
                writer.append(frame(index))
            except ArticulonError as failure:
                assert "No space left on device" in str(failure)  # noqa: PT017 - only some of the appends spill
                failures += 1
    assert failures == 2  # the first frame is written at once, the fifth after it is the first beyond 1000 bytes
    writer.finish()
    assert path.read_bytes() == (tmp_path / "whole.h5").read_bytes()


# --- topology -----------------------------------------------------------------------------------------------------


def read_pdb(path: Path):
    import MDAnalysis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bodies have no chemical elements
        return MDAnalysis.Universe(str(path))


def test_the_topology_shows_bodies_trees_and_joints(tmp_path):
    path = tmp_path / "topology.pdb"
    positions = np.array([[0.0, 1, 2], [-9.5, 4, 5], [6, 7, 8], [1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4]])
    names = ["core", "nanoparticle", "ligand12-body4", "β", "e", "f", "g"]
    bonds = [(0, 1), (0, 2), (0, 4), (0, 5), (0, 6)]
    write_topology(path, names, positions, [0, 0, 0, 1, 0, 0, 0], bonds, title="A case")
    universe = read_pdb(path)
    np.testing.assert_allclose(universe.atoms.positions, 10 * positions, rtol=1e-6)
    assert universe.atoms.names.tolist() == ["core", "nano", "l124", "X", "e", "f", "g"]
    assert universe.atoms.resids.tolist() == [1, 1, 1, 2, 1, 1, 1]
    assert sorted(tuple(bond.indices) for bond in universe.bonds) == bonds
    text = path.read_text(encoding="ascii")
    assert "ATOM     2 nano IS nanoparticle" in text
    assert "ATOM     4 X    IS \\u03b2" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    "positions, unit, drawn",
    [
        ([[0.0, 0, 0], [999.9, 0, 0]], "nm", [[0, 0, 0], [9999, 0, 0]]),
        ([[5e5, 0, 0], [5e5 + 900, 0, 1]], "nm", [[0, 0, 0], [9000, 0, 10]]),
        ([[-200.0, 0, 0], [0, 0, 0]], "nm", [[0, 0, 0], [2000, 0, 0]]),
        ([[0.0, 0, 0], [2e5, 0, 1e5]], "nm", [[0, 0, 0], [200, 0, 100]]),
        ([[0.0, 0, 0], [2e-3, 0, 1e-3]], "m", [[0, 0, 0], [200, 0, 100]]),
        ([[0.0, 0, 0], [8, 0, 0]], None, [[0, 0, 0], [8, 0, 0]]),
        ([[1e9, 0, 0]], None, [[0, 0, 0]]),
    ],
)
def test_coordinates_that_do_not_fit_the_columns_are_shifted_and_scaled(tmp_path, positions, unit, drawn):
    names = ["a", "b"][: len(positions)]
    write_topology(tmp_path / "t.pdb", names, np.array(positions), [0] * len(names), [], length_unit=unit)
    # The columns hold three decimals.
    np.testing.assert_allclose(read_pdb(tmp_path / "t.pdb").atoms.positions, drawn, rtol=1e-6, atol=5e-4)
    changed = not np.allclose(drawn, np.array(positions) * (10 if unit == "nm" else 1), atol=5e-4)
    assert ("SHIFTED TO THE ORIGIN" in (tmp_path / "t.pdb").read_text()) == changed


@pytest.mark.slow
def test_more_bodies_than_five_digits_count_are_numbered_in_hybrid_36(tmp_path):
    n = 100_002
    write_topology(
        tmp_path / "t.pdb", ["bead"] * n, np.zeros((n, 3)), list(range(n)), [(i, i + 1) for i in range(n - 1)]
    )
    universe = read_pdb(tmp_path / "t.pdb")
    assert universe.atoms.ids.tolist() == list(range(1, n + 1))
    assert universe.atoms.resids.tolist() == list(range(1, n + 1))
    assert "NO CONECT RECORDS" in (tmp_path / "t.pdb").read_text()


def test_a_topology_that_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(ValueError, match="body 'b' is not finite"):
        write_topology(tmp_path / "t.pdb", ["a", "b"], np.array([[0, 0, 0], [0, np.nan, 0]]), [0, 0], [])
    with pytest.raises(ValueError, match="a bond names a body outside 0 to 1"):
        write_topology(tmp_path / "t.pdb", ["a", "b"], np.zeros((2, 3)), [0, 0], [(1, 2)])
    with pytest.raises(ValueError, match="do not match"):
        write_topology(tmp_path / "t.pdb", ["a", "b"], np.zeros((3, 3)), [0, 0], [])
    assert not list(tmp_path.iterdir())


def test_the_examples_in_the_topology_module_hold():
    assert doctest.testmod(topology).failed == 0
    assert doctest.testmod(topology).attempted >= 2
    assert short_name("12345") == "2345"
