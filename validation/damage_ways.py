"""Ways to damage the folder of a run: what lies on a disk too long, and what somebody who means harm would do."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from articulon.simulation.case_run import TRAJECTORY
from articulon.storage import seals
from articulon.storage.checkpoint import NEWEST, PREVIOUS, read_checkpoint, write_checkpoint

Way = Callable[[Path, np.random.Generator, Path], str]
"""Takes the folder, the random numbers and the folder of a run of another seed, and says what it has done."""


# Damage to any file


def _flip(file: str) -> Way:
    def flip(folder: Path, random: np.random.Generator, _: Path) -> str:
        content = bytearray((folder / file).read_bytes())
        bits = random.choice(8 * len(content), int(random.integers(1, 4)), replace=False)
        for bit in bits.tolist():
            content[bit // 8] ^= 1 << bit % 8
        (folder / file).write_bytes(content)
        return f"bits {sorted(bits.tolist())} flipped"

    return flip


def _cut(file: str) -> Way:
    def cut(folder: Path, random: np.random.Generator, _: Path) -> str:
        content = (folder / file).read_bytes()
        length = int(random.integers(len(content)))
        (folder / file).write_bytes(content[:length])
        return f"cut off after {length} of {len(content)} bytes"

    return cut


def _overwrite(file: str) -> Way:
    def overwrite(folder: Path, random: np.random.Generator, _: Path) -> str:
        whole = (folder / file).read_bytes()
        content, what = bytearray(whole), ""
        while content == whole:  # zeros over zeros are no damage
            start, length = int(random.integers(len(content))), int(random.integers(1, 600))
            kind = str(random.choice(["zeros", "noise", "another part"]))
            other = int(random.integers(len(content)))
            pieces = {
                "zeros": bytes(length),
                "noise": random.bytes(length),
                "another part": whole[other : other + length],
            }
            piece = pieces[kind][: len(content) - start]
            content[start : start + len(piece)] = piece
            what = f"{kind} over {len(piece)} bytes from {start}"
        (folder / file).write_bytes(content)
        return what

    return overwrite


def _append(file: str) -> Way:
    def append(folder: Path, random: np.random.Generator, _: Path) -> str:
        length = int(random.integers(1, 2000))
        with (folder / file).open("ab") as stream:
            stream.write(random.bytes(length))
        return f"{length} bytes appended"

    return append


def _replace(file: str) -> Way:
    def replace(folder: Path, random: np.random.Generator, _: Path) -> str:
        (folder / file).unlink()
        what = str(random.choice(["nothing", "a folder", "a pipe", "a link to nowhere", "an empty file"]))
        if what == "a folder":
            (folder / file).mkdir()
        elif what == "a pipe":
            os.mkfifo(folder / file)
        elif what == "a link to nowhere":
            (folder / file).symlink_to(folder / "nowhere")
        elif what == "an empty file":
            (folder / file).touch()
        return f"{what} in its place"

    return replace


def _of_another_seed(file: str) -> Way:
    def of_another_seed(folder: Path, _: np.random.Generator, other: Path) -> str:
        shutil.copyfile(other / file, folder / file)
        return "that of another seed"

    return of_another_seed


# Damage to a checkpoint


def _rewritten(folder: Path, change: Callable[[dict[str, np.ndarray]], str]) -> str:
    """Writes the checkpoint with other arrays and a digest that is right for them; it is the only one then."""
    arrays = read_checkpoint(folder)[0]
    what = change(arrays)
    for name in (NEWEST, PREVIOUS):
        (folder / name).unlink()
    write_checkpoint(folder, arrays)
    return what


def _without_an_array(folder: Path, random: np.random.Generator, _: Path) -> str:
    def change(arrays: dict[str, np.ndarray]) -> str:
        name = str(random.choice(sorted(arrays)))
        del arrays[name]
        return f"without the array {name}"

    return _rewritten(folder, change)


def _of_another_shape(folder: Path, random: np.random.Generator, _: Path) -> str:
    def change(arrays: dict[str, np.ndarray]) -> str:
        name = str(random.choice(sorted(arrays)))
        array, sizes = arrays[name], [0, 1, 2, 7, 1000]
        shape = tuple(int(random.choice(sizes)) for _ in range(random.integers(1, 4)))
        if shape == array.shape:
            shape = (*shape, 2)
        arrays[name] = np.resize(array, shape) if array.size else np.zeros(shape, dtype=array.dtype)
        return f"the array {name} of the shape {shape} for {array.shape}"

    return _rewritten(folder, change)


def _of_another_type(folder: Path, random: np.random.Generator, _: Path) -> str:
    def change(arrays: dict[str, np.ndarray]) -> str:
        name = str(random.choice(sorted(arrays)))
        kinds = [kind for kind in ("<f4", "<f8", "<i8", "|u1", "<c16", "<U3") if np.dtype(kind) != arrays[name].dtype]
        kind = str(random.choice(kinds))
        with np.errstate(invalid="ignore"):
            arrays[name] = arrays[name].astype(kind)
        return f"the array {name} of the type {kind}"

    return _rewritten(folder, change)


def _not_finite(folder: Path, random: np.random.Generator, _: Path) -> str:
    def change(arrays: dict[str, np.ndarray]) -> str:
        names = [n for n in sorted(arrays) if n.startswith("state_") and arrays[n].dtype.kind == "f" and arrays[n].size]
        name, value = str(random.choice(names)), float(random.choice([np.nan, np.inf, -np.inf]))
        arrays[name].flat[int(random.integers(arrays[name].size))] = value
        return f"{value} in the array {name}"

    return _rewritten(folder, change)


def _another_array(folder: Path, random: np.random.Generator, _: Path) -> str:
    def change(arrays: dict[str, np.ndarray]) -> str:
        arrays[str(random.choice(["state_more", "x", "state_q2"]))] = np.zeros(int(random.integers(5)))
        return "with another array"

    return _rewritten(folder, change)


def _bomb(folder: Path, random: np.random.Generator, _: Path) -> str:
    """An archive that unpacks to far more than it is, or whose arrays say that they are larger."""
    size = int(10 ** random.uniform(5, 12))
    with (
        zipfile.ZipFile(folder / NEWEST, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("state_q.npy", "w") as out,
    ):
        header = {"descr": "<f8", "fortran_order": False, "shape": (size,)}
        np.lib.format.write_array_header_1_0(out, header)
        out.write(bytes(min(8 * size, 2**22)))
    return f"an array that says it has {size} numbers"


def _text(folder: Path, random: np.random.Generator, _: Path) -> str:
    """Python objects, which must not be unpickled."""
    np.savez(folder / NEWEST, state_q=np.array([{"a": 1}], dtype=object), case=np.zeros(32, dtype=np.uint8))
    return "with Python objects"


CHECKPOINT: list[Way] = [
    *(make(NEWEST) for make in (_flip, _cut, _overwrite, _append, _replace, _of_another_seed)),
    *(_without_an_array, _of_another_shape, _of_another_type, _not_finite, _another_array, _bomb, _text),
]
"""Ways to damage the checkpoint."""


# Damage to a trajectory


def _values(folder: Path, random: np.random.Generator, _: Path) -> str:
    """Values changed through HDF5, whose checksums are right for them then."""
    with h5py.File(folder / TRAJECTORY, "r+") as file:
        name = str(random.choice(["particles/bodies/position/value", "articulon/speeds/value"]))
        frame = int(random.integers(len(file[name])))
        file[name][frame] = float(random.choice([0.0, np.nan, 1e300]))
    return f"other values in frame {frame} of {name}"


def _structure(folder: Path, random: np.random.Generator, _: Path) -> str:
    """Datasets that are missing, of another shape, or lead elsewhere, under a seal that is made anew."""
    name = str(
        random.choice(
            [
                "particles/bodies/position/value",
                "articulon/speeds/value",
                "articulon/coordinates",
                "h5md",
                "observables",
            ]
        )
    )
    what = str(random.choice(["missing", "a link", "a link to another file", "of another shape", "in another file"]))
    with h5py.File(folder / TRAJECTORY, "r+") as file:
        del file[name]
        if what == "a link":
            file[name] = h5py.SoftLink("/particles/bodies/position/time")
        elif what == "a link to another file":
            file[name] = h5py.ExternalLink(str(folder / "case.toml"), "/")
        elif what == "of another shape":
            file.create_dataset(name, data=np.zeros(tuple(random.integers(0, 5, size=3).tolist())))
        elif what == "in another file":
            file.create_dataset(name, (3, 2), "<f8", external=[("/etc/passwd", 0, 48)])
    with (folder / TRAJECTORY).open("r+b") as stream:
        seals.write_seal(stream)
    return f"{name} {what}"


TRAJECTORIES: list[Way] = [
    *(make(TRAJECTORY) for make in (_flip, _cut, _overwrite, _append, _replace, _of_another_seed)),
    *(_values, _structure),
]
"""Ways to damage the trajectory."""
