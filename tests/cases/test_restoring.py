"""What a checkpoint must hold before a run goes on from it: kernels trust the arrays that they are given."""

from __future__ import annotations

import shutil
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases import Case
from articulon.errors import CheckpointError
from articulon.model.state import ARRAYS
from articulon.storage import checkpoint
from articulon.storage.checkpoint import NEWEST, PREVIOUS, read_checkpoint, write_checkpoint
from tests.support.run_cases import CHAIN, bits, case_of

Arrays = dict[str, np.ndarray]

BEADS = """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "low"
mass = 1.0
inertia = 0.4
joint = "free"
[[model.bodies]]
name = "high"
mass = 1.0
inertia = 0.4
joint = "free"
position = [0, 0, 1.9999]
[[model.sites]]
body = "low"
radius = 1.0
kind = "steel"
[[model.sites]]
body = "high"
radius = 1.0
kind = "steel"
[[forces]]
kind = "contact"
[forces.materials.steel]
young = 1e7
poisson = 0.3
restitution = 0.8
static_friction = 0.3
[[forces.walls]]
shape = "plane"
kind = "steel"
point = [0, 0, -0.9999]
normal = [0, 0, 1]
[integrator]
rule = "velocity-verlet"
step = 1e-5
[run]
duration = 1e-3
frames = 4
"""
"""Two beads in touch with each other and with a floor."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Case, Path]]:
    """Runs that have ended, with their only checkpoint."""
    made = {}
    for name, text in (("chain", CHAIN), ("beads", BEADS)):
        folder = tmp_path_factory.mktemp(name)
        case = case_of(folder, text, {"run.frames": 4})
        ar.run(case, folder / "run", report=False)
        (folder / "run" / PREVIOUS).unlink()
        made[name] = case, folder / "run"
    return made


@pytest.fixture
def run(ended: dict[str, tuple[Case, Path]], tmp_path: Path) -> tuple[Case, Path]:
    """Of the chain, to be damaged."""
    case, out = ended["chain"]
    return case, Path(shutil.copytree(out, tmp_path / "run"))


def with_arrays(out: Path, change: Callable[[Arrays], Any]) -> None:
    """The checkpoint with other arrays, and a digest that is right for them."""
    arrays = read_checkpoint(out)[0]
    change(arrays)
    (out / NEWEST).unlink()
    write_checkpoint(out, arrays)


def refused(run: tuple[Case, Path], match: str) -> None:
    case, out = run
    before = bits(out)
    with pytest.raises(CheckpointError, match=rf"{NEWEST}.*{match}"):
        ar.run(case, out, resume=True, report=False)
    assert bits(out) == before


NAMES = [*(f"state_{name}" for name in ARRAYS), "frames", "last_step", "finished", "start_energy", "stop_time"]


@pytest.mark.parametrize("name", [*NAMES, "case", "threshold"])
def test_a_missing_array_is_named(run: tuple[Case, Path], name: str) -> None:
    with_arrays(run[1], lambda arrays: arrays.pop(name))
    refused(run, f"its array '{name}' is missing")


@pytest.mark.parametrize("name", NAMES)
def test_an_array_of_another_length_is_named(run: tuple[Case, Path], name: str) -> None:
    """Works of one number less once ended the process: free(): invalid pointer."""

    def longer(arrays: Arrays) -> None:
        array = arrays[name]
        arrays[name] = np.zeros((*array.shape[:-1], array.shape[-1] + 1) if array.ndim else (1,), dtype=array.dtype)

    with_arrays(run[1], longer)
    refused(run, f"its array '{name}' (has the shape|is of 0 contacts|is of 1 contacts)")


@pytest.mark.parametrize("name", NAMES)
def test_an_array_of_another_type_is_named(run: tuple[Case, Path], name: str) -> None:
    def other(arrays: Arrays) -> None:
        arrays[name] = arrays[name].astype(np.float32)

    with_arrays(run[1], other)
    refused(run, f"its array '{name}' has the shape .* and type float32, expected")


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["time", "q", "u", "work", "factor", "step", "rule.drift", "resolution.reservoir"])
def test_a_number_that_is_not_finite_is_named(run: tuple[Case, Path], name: str, value: float) -> None:
    with_arrays(run[1], lambda arrays: arrays[f"state_{name}"].flat.__setitem__(-1, value))
    refused(run, f"its array 'state_{name}' is not finite")


@pytest.mark.parametrize(
    "name, value",
    [
        ("frames", 0),
        ("frames", 6),
        ("last_step", -1),
        ("start_energy", np.nan),
        ("stop_time", np.inf),
        ("stop_time", -1.0),
        ("state_counters", -1),
        ("state_rule.dependent", 4),
        ("state_time", -1.0),
        ("threshold", [1.0, 8.0, 1.0, 1.0]),
        ("threshold", [1.0, np.nan, 1.0, 1.0]),
        ("threshold", [1.0]),
    ],
)
def test_a_value_that_cannot_be_is_named(run: tuple[Case, Path], name: str, value: Any) -> None:
    def change(arrays: Arrays) -> None:
        if name == "threshold":
            arrays[name] = np.array(value)
        elif arrays[name].ndim:
            arrays[name].flat[0] = value
        else:
            arrays[name] = np.array(value, dtype=arrays[name].dtype)

    with_arrays(run[1], change)
    refused(run, f"its array '{name}' ")


def test_an_array_that_no_run_writes_is_named(run: tuple[Case, Path]) -> None:
    with_arrays(run[1], lambda arrays: arrays.update(state_more=np.zeros(3)))
    refused(run, "its array 'state_more' belongs to no run of this case")


def without_a_contact(arrays: Arrays) -> None:
    arrays["state_contacts.memory"] = arrays["state_contacts.memory"][:-1]


@pytest.mark.parametrize(
    "change, said",
    [
        (without_a_contact, "'state_contacts.memory' has 1 contacts, but there are 2"),
        (lambda arrays: arrays["state_contacts.pairs"].__setitem__((0, 0), -1), "names spheres or walls"),
        (lambda arrays: arrays["state_contacts.pairs"].__setitem__((0, 1), 10**12), "names spheres or walls"),
        (lambda arrays: arrays["state_contacts.pairs"].__setitem__((0, 1), 3), "names spheres or walls"),
        (lambda arrays: arrays["state_contacts.pairs"].__setitem__(slice(None), [[0, 2], [0, 1]]), "is not sorted"),
        (lambda arrays: arrays["state_contacts.memory"].__setitem__((0, 5), np.nan), "is not finite"),
        (lambda arrays: arrays["state_contacts.times"].__setitem__(-1, 7.0), "'state_contacts.times' names a sphere"),
        (lambda arrays: arrays["state_contacts.rebuild"].__setitem__((0, 0), np.inf), "is not finite"),
    ],
)
def test_contacts_are_of_spheres_that_are_there(
    ended: dict[str, tuple[Case, Path]], tmp_path: Path, change: Callable[[Arrays], Any], said: str
) -> None:
    run = ended["beads"][0], Path(shutil.copytree(ended["beads"][1], tmp_path / "run"))
    assert read_checkpoint(run[1])[0]["state_contacts.pairs"].tolist() == [[0, 1], [0, 2]]
    with_arrays(run[1], change)
    refused(run, said)


def test_a_checkpoint_of_another_version_is_refused_and_says_of_which(run: tuple[Case, Path], monkeypatch: Any) -> None:
    case, out = run
    arrays = read_checkpoint(out)[0]
    for version, format_ in (("9.9.9", checkpoint.FORMAT), (ar.__version__, 1)):
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint, "__version__", version)
            patch.setattr(checkpoint, "FORMAT", format_)
            (out / NEWEST).unlink()
            write_checkpoint(out, arrays)
        said = f"was written by articulon {version}, format {format_}, but this is articulon {ar.__version__}, format"
        with pytest.raises(CheckpointError, match=said):
            ar.run(case, out, resume=True, report=False)


def test_a_checkpoint_that_says_no_version_is_of_an_earlier_one(run: tuple[Case, Path], monkeypatch: Any) -> None:
    case, out = run
    arrays = read_checkpoint(out)[0]
    (out / NEWEST).unlink()
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "_WRITER", "a_name_of_no_meaning")
        write_checkpoint(out, arrays)
    with pytest.raises(CheckpointError, match="was written by an earlier version of articulon"):
        ar.run(case, out, resume=True, report=False)


# Archives that unpack to more than they are


def test_a_small_checkpoint_of_large_arrays_is_refused_before_it_is_unpacked(run: tuple[Case, Path]) -> None:
    case, out = run
    np.savez_compressed(out / NEWEST, state_q=np.zeros(2**23))
    assert (out / NEWEST).stat().st_size < 2**17
    tracemalloc.start()
    with pytest.raises(CheckpointError, match=rf"{NEWEST} is damaged.*would unpack to 67108\d* bytes|would unpack"):
        ar.run(case, out, resume=True, report=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


def test_an_array_that_says_it_is_larger_than_its_entry_is_refused(run: tuple[Case, Path]) -> None:
    """By its shape it would take 8 TB."""
    case, out = run
    with zipfile.ZipFile(out / NEWEST, "w") as archive, archive.open("state_q.npy", "w") as stream:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(bytes(80))
    with pytest.raises(CheckpointError, match=r"'state_q\.npy' does not have the length of its shape"):
        ar.run(case, out, resume=True, report=False)


def test_entries_of_one_name_are_refused(run: tuple[Case, Path]) -> None:
    case, out = run
    content = zipfile.ZipFile(out / NEWEST).read("state_q.npy")
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(out / NEWEST, "a") as archive:
        archive.writestr("state_q.npy", content)
    with pytest.raises(CheckpointError, match="its entries are not one"):
        ar.run(case, out, resume=True, report=False)
