"""A trajectory that is damaged, of another run, or meant to do harm is refused by its name."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError, CheckpointError
from articulon.storage import frame_buffer, h5md_layout, h5md_writing, seals
from articulon.storage.h5md_writing import FrameSink
from articulon.storage.trajectory import Frame, TrajectoryReader, TrajectoryWriter
from tests.support.run_cases import CHAIN, Shown, bits, case_of
from tests.support.small_trajectories import NEVER, flipped, frame, layout, write

FRAMES = 12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a whole trajectory."""
    write(tmp_path / "trajectory.h5", FRAMES)
    return tmp_path / "trajectory.h5"


def everything(path: Path) -> dict[str, Any]:
    """All that can be read of a trajectory."""
    names = ("steps", "times", "positions", "rotations", "coordinates", "speeds")
    with TrajectoryReader(path) as reader:
        return {**{name: getattr(reader, name) for name in names}, **reader.observables}


def reseal(path: Path) -> None:
    """What somebody who means harm would do."""
    with path.open("r+b") as stream:
        seals.write_seal(stream)


def chunks(file: h5py.File) -> Iterator[tuple[str, int, int]]:
    """Name, place in the file and size of every chunk of values."""
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    content = Path(file.filename).read_bytes()
    for name in found:
        dataset = file[name].id
        for k in range(dataset.get_num_chunks()):
            info = dataset.get_chunk_info(k)
            _, stored = dataset.read_direct_chunk(info.chunk_offset)
            # Some versions of HDF5 count from the end of the user block.
            start = (
                info.byte_offset if content[info.byte_offset :].startswith(stored) else info.byte_offset + seals.SIZE
            )
            assert content[start : start + info.size] == stored
            yield name, start, info.size


# One bit


def test_no_flipped_bit_goes_unnoticed_at_resume(path: Path) -> None:
    """In values, in what HDF5 writes about them, and in what is of no use."""
    whole = path.read_bytes()
    some = np.random.default_rng(21).choice(8 * len(whole), 300, replace=False)
    for bit in some.tolist():
        path.write_bytes(flipped(whole, bit))
        with pytest.raises(ArticulonError, match=r"trajectory\.h5 cannot be (opened|continued)"):
            TrajectoryWriter(path, layout(), keep_frames=FRAMES)
    path.write_bytes(whole)
    TrajectoryWriter(path, layout(), keep_frames=FRAMES)


def test_no_flipped_bit_of_a_value_is_read_unnoticed_by_any_program(path: Path) -> None:
    whole = path.read_bytes()
    random = np.random.default_rng(3)
    with h5py.File(path) as file:
        places = list(chunks(file))
    # Step and time are found by the first of their names.
    assert len({start for _, start, _ in places}) == len(places) > len(h5md_layout.record(layout()).names)
    for name, start, size in places:
        path.write_bytes(flipped(whole, 8 * start + int(random.integers(8 * size))))
        with h5py.File(path) as file, pytest.raises(OSError, match=r"[Ff]letcher32|checksum|filter"):
            file[name][:]
        with pytest.raises(ArticulonError, match=r"trajectory\.h5 cannot be opened: it is damaged.*Put a good copy"):
            everything(path)
        # The digest made anew: there are the checksums still.
        reseal(path)
        with pytest.raises(ArticulonError, match=r"trajectory\.h5 is damaged: .*Put a good copy"):
            everything(path)


def test_whatever_is_damaged_is_read_rightly_or_refused_in_words(path: Path) -> None:
    whole, right = path.read_bytes(), everything(path)
    random = np.random.default_rng(8)
    refused = 0
    for attempt in range(150):
        damaged = bytearray(whole)
        if attempt % 3 == 0:
            damaged = damaged[: random.integers(len(whole))]
        elif attempt % 3 == 1:
            start = int(random.integers(len(whole)))
            damaged[start : start + 64] = bytes(len(damaged[start : start + 64]))
        else:
            damaged = bytearray(flipped(whole, int(random.integers(8 * len(whole)))))
        path.write_bytes(damaged)
        try:
            found = everything(path)
        except ArticulonError as error:
            assert "trajectory.h5" in str(error)  # noqa: PT017 - some damage is where nothing is
            refused += 1
            continue
        for name, values in right.items():
            np.testing.assert_array_equal(found[name], values)
    assert refused > 50


def test_many_bodies_are_cut_into_chunks_that_fit_a_cache_and_read_back(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(h5md_writing, "CHUNK", 4096)
    many = 1000
    changes: dict[str, Any] = {"body_names": tuple(f"b{k}" for k in range(many)), "masses": np.ones(many)}
    write(tmp_path / "trajectory.h5", 5, **changes)
    with h5py.File(tmp_path / "trajectory.h5") as file:
        for name, _, size in chunks(file):
            assert size <= 4096 + 4, name
            assert file[name].fletcher32
    found = everything(tmp_path / "trajectory.h5")
    np.testing.assert_array_equal(found["rotations"], [frame(k, many).rotations for k in range(5)])


def test_long_trajectories_of_many_bodies_are_written_in_little_memory(tmp_path: Path, monkeypatch: Any) -> None:
    """What waits for the chunk of a small column to be full holds no frames."""
    monkeypatch.setattr(frame_buffer, "MEMORY", 2**20)
    many, frames = 3000, 70
    changes: dict[str, Any] = {"body_names": tuple(f"b{k}" for k in range(many)), "masses": np.ones(many)}
    made, one = layout(**changes), frame(0, many)
    writer = TrajectoryWriter(tmp_path / "trajectory.h5", made, interval=NEVER)
    for index in range(frames):
        writer.append(Frame(**{**one.__dict__, "step": index}))
    tracemalloc.start()
    writer.finish()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "trajectory.h5").stat().st_size > 11 * 2**20
    assert peak < 6 * 2**20


def test_a_file_with_fewer_frames_than_it_has_room_for_is_never_finished(tmp_path: Path) -> None:
    def short() -> None:
        with FrameSink(tmp_path / "trajectory.h5", layout(), 3) as sink:
            records = np.zeros(2, dtype=h5md_layout.record(layout()))
            sink.append(2, {name: records[name] for name in records.dtype.names})

    with pytest.raises(ValueError, match="2 frames were given, but the file is made for 3"):
        short()


def test_a_file_that_was_changed_and_closed_again_is_not_continued(path: Path) -> None:
    """By another program, which leaves it whole."""
    with h5py.File(path, "r+") as file:
        file[h5md_layout.SPEEDS][3] = 0.0
    with pytest.raises(ArticulonError, match=r"trajectory\.h5 cannot be opened.*changed by another program"):
        TrajectoryWriter(path, layout(), keep_frames=FRAMES)


def test_a_trajectory_without_a_digest_is_read_and_not_continued(path: Path) -> None:
    """As of an earlier version."""
    right = everything(path)
    path.write_bytes(path.read_bytes()[seals.SIZE :])
    for name, values in everything(path).items():
        np.testing.assert_array_equal(values, right[name])
    with pytest.raises(ArticulonError, match=r"trajectory\.h5 cannot be continued: .*an earlier version"):
        TrajectoryWriter(path, layout(), keep_frames=FRAMES)


def test_damage_while_a_run_goes_on_is_noticed_when_frames_are_copied(path: Path) -> None:
    writer = TrajectoryWriter(path, layout(), keep_frames=FRAMES, interval=NEVER)
    with h5py.File(path) as file:
        start = next(place for name, place, _ in chunks(file) if name == h5md_layout.ORIENTATION)
    damaged = flipped(path.read_bytes(), 8 * start + 3)
    path.write_bytes(damaged)
    writer.append(frame(FRAMES))
    with pytest.raises(ArticulonError, match=r"trajectory\.h5 is damaged: particles/bodies/orientation/value"):
        writer.finish()
    assert path.read_bytes() == damaged
    assert os.listdir(path.parent) == ["trajectory.h5"]


# Of another run


@pytest.mark.slow
def test_the_trajectory_of_another_seed_is_neither_continued_nor_replaced(tmp_path: Path) -> None:
    case = case_of(tmp_path, CHAIN, {"run.frames": 4})
    ar.run(case, tmp_path / "one", report=False)
    ar.run(case, tmp_path / "two", overrides={"run.seed": 2}, report=False)
    other = (tmp_path / "two" / "trajectory.h5").read_bytes()
    (tmp_path / "one" / "trajectory.h5").write_bytes(other)
    before = bits(tmp_path / "one")
    with pytest.raises(ArticulonError, match=r"one/trajectory\.h5 cannot be continued: .*another case or seed"):
        ar.run(case, tmp_path / "one", resume=True, report=False)
    assert bits(tmp_path / "one") == before


@pytest.mark.slow
def test_frames_without_their_checkpoint_are_kept(tmp_path: Path) -> None:
    """To begin again would lose them."""
    case = case_of(tmp_path, CHAIN, {"run.frames": 4})
    ar.run(case, tmp_path / "run", report=False)
    content = (tmp_path / "run" / "trajectory.h5").read_bytes()
    for name in ("checkpoint.npz", "checkpoint_prev.npz"):
        (tmp_path / "run" / name).unlink()
    with pytest.raises(CheckpointError, match=r"trajectory\.h5 holds 5 frames, and there is no checkpoint"):
        ar.run(case, tmp_path / "run", resume=True, report=False)
    assert (tmp_path / "run" / "trajectory.h5").read_bytes() == content


@pytest.mark.slow
def test_a_run_that_was_killed_after_its_first_frame_begins_again(tmp_path: Path, monkeypatch: Any) -> None:
    from articulon.simulation import loop

    case = case_of(tmp_path, CHAIN, {"run.frames": 4})
    ar.run(case, tmp_path / "whole", report=False)
    monkeypatch.setattr(loop, "write_checkpoint", lambda *_: {}["killed"])
    with pytest.raises(KeyError, match="killed"):
        ar.run(case, tmp_path / "run", report=False)
    monkeypatch.undo()
    assert (tmp_path / "run" / "trajectory.h5").exists()
    shown = Shown()
    ar.run(case, tmp_path / "run", resume=True, progress=shown, report=False)
    assert "starts from t = 0" in shown.messages[0]
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")


# Meant to do harm


def elsewhere(folder: Path) -> Path:
    """Another HDF5 file, with secrets."""
    other = folder / "secret.h5"
    with h5py.File(other, "w") as file:
        file["values"] = np.full((FRAMES, 1), 42.0)
    return other


def external_link(file: h5py.File, folder: Path) -> None:
    file["articulon/speeds/value"] = h5py.ExternalLink(str(elsewhere(folder)), "values")


def soft_link(file: h5py.File, folder: Path) -> None:
    file["articulon/speeds/value"] = h5py.SoftLink("/articulon/coordinates/value")


def raw_storage(file: h5py.File, folder: Path) -> None:
    (folder / "secret").write_bytes(bytes(8 * FRAMES))
    file.create_dataset(
        "articulon/speeds/value", (FRAMES, 1), "<f8", external=[(str(folder / "secret"), 0, 8 * FRAMES)]
    )


def virtual(file: h5py.File, folder: Path) -> None:
    made = h5py.VirtualLayout((FRAMES, 1), "<f8")
    made[:] = h5py.VirtualSource(str(elsewhere(folder)), "values", (FRAMES, 1))
    file.create_virtual_dataset("articulon/speeds/value", made)


def texts(file: h5py.File, folder: Path) -> None:
    file.create_dataset("articulon/speeds/value", (FRAMES, 1), h5py.string_dtype())


@pytest.mark.parametrize(
    "harm, said",
    [
        (external_link, "is a link to another place or file"),
        (soft_link, "is a link to another place or file"),
        (raw_storage, "are stored in another file"),
        (virtual, "are stored in another file"),
        (texts, "holds no numbers"),
    ],
)
def test_nothing_outside_of_the_file_is_read(path: Path, harm: Callable[[h5py.File, Path], None], said: str) -> None:
    with h5py.File(path, "r+") as file:
        del file["articulon/speeds/value"]
        harm(file, path.parent)
    reseal(path)
    with pytest.raises(ArticulonError, match=rf"trajectory\.h5.*'articulon/speeds/value'.*{said}"):
        everything(path)


def test_a_group_that_is_a_link_is_refused_too(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["observables"]
        file["observables"] = h5py.ExternalLink(str(elsewhere(path.parent)), "/")
    reseal(path)
    with pytest.raises(ArticulonError, match="'observables' is a link to another place or file"):
        everything(path)


def test_a_small_file_of_large_arrays_is_refused_before_it_is_unpacked(path: Path) -> None:
    frames = 2**28
    with h5py.File(path, "r+") as file:
        for name in (h5md_layout.STEP, h5md_layout.TIME):
            kind = file[name].dtype
            del file[name]
            file.create_dataset(name, (frames,), kind, chunks=(2**16,), compression="gzip")
    reseal(path)
    tracemalloc.start()
    with pytest.raises(ArticulonError, match=r"trajectory\.h5.*would unpack to 2147483648 bytes"):
        everything(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


@pytest.mark.parametrize(
    "name, shape, kind",
    [
        (h5md_layout.POSITION, (FRAMES, 2, 3), "<f8"),
        (h5md_layout.STEP, (FRAMES + 1,), "<i8"),
        (h5md_layout.SPEEDS, (FRAMES, 1), "<f4"),
    ],
)
def test_values_of_another_shape_or_type_are_refused(path: Path, name: str, shape: Any, kind: str) -> None:
    with h5py.File(path, "r+") as file:
        del file[name]
        file.create_dataset(name, data=np.zeros(shape, dtype=kind))
    reseal(path)
    with pytest.raises(ArticulonError, match=r"trajectory\.h5 is damaged: .* has the shape .* expected"):
        everything(path)


@pytest.mark.parametrize("what", ["pipe", "folder", "broken link"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, what: str) -> None:
    """A pipe would make it wait for ever."""
    path = tmp_path / "trajectory.h5"
    {"pipe": lambda: os.mkfifo(path), "folder": path.mkdir, "broken link": lambda: path.symlink_to("nowhere")}[what]()
    with pytest.raises(ArticulonError, match=r"there is no trajectory .*trajectory\.h5"):
        TrajectoryReader(path)
    with pytest.raises(ArticulonError, match=r"trajectory\.h5"):
        TrajectoryWriter(path, layout(), keep_frames=1)
    with pytest.raises(ArticulonError, match=r"trajectory\.h5 already exists"):
        TrajectoryWriter(path, layout())
