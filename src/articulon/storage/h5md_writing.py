"""Canonical writing of `trajectory.h5`, with a checksum for every chunk; see `h5md_layout` for the contents."""

from __future__ import annotations

import errno
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from articulon.storage import seals
from articulon.storage.h5md_layout import (
    ATOM_POSITION,
    ATOMS,
    POSITION,
    SPHERES,
    TrajectoryLayout,
    all_columns,
    observable_path,
)

# A fixed file format, so that files do not depend on the version of the HDF5 library. It is the first format with
# checksums on all metadata of chunks, and every HDF5 version since 2016 can read it.
_FORMAT = ("v110", "v110")

CHUNK = 2**18
"""Largest size of a chunk [bytes]. Several chunks fit into the cache of any program that reads frame by frame."""
_OVERHEAD = 64  # largest size of a chunk without its values [bytes]
_METADATA = 4096  # largest size of a dataset or group without its chunks [bytes]


def room(layout: TrajectoryLayout, frames: int) -> int:
    """Return the largest possible size on the disk of a file with a given number of frames [bytes]."""
    columns = all_columns(layout)
    total = _METADATA * (32 + len(columns))
    spheres = 0 if layout.sphere_radii is None else 40 * layout.sphere_radii.size
    for texts in (layout.body_names, layout.coordinate_names, layout.coordinate_units, layout.speed_names):
        total += len(texts) * (4 * max(map(len, texts), default=0) + 1)
    for column, apart in columns.values():
        shape = (-(-frames // apart), *column.shape)
        if 0 not in shape:
            chunk = _chunk(shape, column.base)
            count = math.prod(-(-a // b) for a, b in zip(shape, chunk, strict=True))
            total += count * (math.prod(chunk) * column.base.itemsize + _OVERHEAD)
    if layout.atoms is not None:
        for texts in (layout.atoms.names, layout.atoms.residue_names, layout.atoms.chains):
            total += len(texts) * (4 * max(map(len, texts), default=0) + 1)
        total += 10 * layout.atoms.masses.nbytes
    return int(1.01 * (total + spheres + 2 * layout.masses.nbytes))


class FrameSink:
    """Writes a new file from frames in order. Exactly the announced number of frames must be added.

    Parameters
    ----------
    path
        The file; an existing file is replaced.
    layout
        Properties that all frames share.
    frames
        Number of frames.

    Raises
    ------
    OSError
        Here and in the methods: if the operating system refuses to write.
    """

    def __init__(self, path: Path, layout: TrajectoryLayout, frames: int) -> None:
        self._frames, self._taken = frames, 0
        self._apart = {name: apart for name, (_, apart) in all_columns(layout).items()}
        self._pending: dict[str, list[np.ndarray]] = {name: [] for name in self._apart}
        with _as_os_errors():
            # Write chunks directly, without HDF5's cache, because the cache would write them in another order.
            self._file = h5py.File(
                path, "w", libver=_FORMAT, userblock_size=seals.SIZE, rdcc_nbytes=0, rdcc_nslots=1, locking=False
            )
            try:
                self._datasets = _create(self._file, layout, frames)
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> FrameSink:
        return self

    def __exit__(self, kind: type | None, *exception: object) -> None:
        if kind is not None:
            with suppress(Exception):  # an error here must not hide the first error
                self._file.close()
            return
        if self._taken != self._frames:
            self._file.close()
            raise ValueError(f"{self._taken} frames were given, but the file is made for {self._frames}")
        with _as_os_errors():
            self._write(self._taken, last=True)
            self._file.close()

    def append(self, count: int, columns: Mapping[str, np.ndarray]) -> None:
        """Add frames, by the paths of `all_columns`; complete chunks are written."""
        for name, blocks in self._pending.items():
            blocks.append(columns[name])
        self._taken += count
        with _as_os_errors():
            self._write(self._taken)

    def _write(self, taken: int, last: bool = False) -> None:
        """Write complete chunks, in the order in which they would be complete if frames came one by one."""
        due: list[tuple[int, int, str, int, int]] = []
        for place, (name, blocks) in enumerate(self._pending.items()):
            dataset, apart = self._datasets[name], self._apart[name]
            given = -(-taken // apart)
            rows = dataset.chunks[0] if dataset.chunks else max(1, given)
            waiting = sum(map(len, blocks))
            for start in range(given - waiting, given - rows + 1, rows):
                complete_with = (start + rows - 1) * apart + 1  # in frames
                due.append((complete_with, place, name, start, start + rows))
            if last and waiting % rows:
                due.append((taken, place, name, given - waiting % rows, given))
        for _, _, name, start, end in sorted(due):
            blocks = self._pending[name]
            values = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
            count = end - start
            if values.size:
                self._datasets[name][start:end] = values[:count]
            self._pending[name] = [values[count:]]


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Convert RuntimeErrors of h5py to OSErrors: for some write failures, h5py gives the errno only in the text of a
    RuntimeError."""
    try:
        yield
    except RuntimeError as failure:
        code = errno.ENOSPC if f"errno = {errno.ENOSPC}," in str(failure) else errno.EIO
        raise OSError(code, str(failure)) from failure


def _chunk(shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, ...]:
    """Return the shape of the chunks of a dataset that has no zero dimensions. Chunks have equal numbers of whole rows,
    so that the last chunk is nearly full. A row that is too long for a chunk is divided into equal parts."""
    row = math.prod(shape[1:]) * dtype.itemsize
    if row <= CHUNK or len(shape) == 1:
        return (_equal_part(shape[0], max(1, CHUNK // row)), *shape[1:])
    return (1, _equal_part(shape[1], max(1, CHUNK * shape[1] // row)), *shape[2:])


def _equal_part(whole: int, most: int) -> int:
    """Divide ``whole`` into the smallest number of equal parts of size ``most`` or less; return the size of a part."""
    parts = -(-whole // most)
    return -(-whole // parts)


def _dataset(group: h5py.Group, name: str, shape: tuple[int, ...], dtype: np.dtype, data: Any = None) -> h5py.Dataset:
    """Create a dataset; if it has values, these have checksums."""
    chunked = {} if 0 in shape else {"chunks": _chunk(shape, dtype), "fletcher32": True}
    return group.create_dataset(name, shape, dtype=dtype, data=data, **chunked)


def _constant(group: h5py.Group, name: str, values: np.ndarray) -> h5py.Dataset:
    return _dataset(group, name, values.shape, values.dtype, values)


def _create(file: h5py.File, layout: TrajectoryLayout, frames: int) -> dict[str, h5py.Dataset]:
    """Create all groups and datasets, without the values of frames; return the datasets for these values."""
    root = file.create_group("h5md")
    root.attrs["version"] = np.array([1, 1], dtype="<i4")
    root.create_group("author").attrs["name"] = layout.author
    creator = root.create_group("creator")
    creator.attrs["name"] = layout.creator
    creator.attrs["version"] = layout.creator_version

    datasets: dict[str, h5py.Dataset] = {}
    shared = layout.step.rpartition("/")[0]
    for name, (column, apart) in all_columns(layout).items():
        datasets[name] = _dataset(file, name, (-(-frames // apart), *column.shape), column.base)
        element = file[name.rpartition("/")[0]]
        if not name.endswith("/value") or element.name == f"/{shared}":
            continue
        own = apart > 1
        if own and name == ATOM_POSITION:
            continue
        element["step"] = datasets[layout.atom_step if own else layout.step]
        element["time"] = datasets[layout.atom_time if own else layout.time]

    file.require_group(layout.about_bodies)
    _label(_constant(file[layout.about_bodies], "mass", layout.masses), layout.mass_unit)
    _constant(file[layout.about_bodies], "name", _fixed_strings(layout.body_names))
    _create_atoms(file, layout)
    _create_spheres(file, layout)
    box = file.require_group(f"{layout.particles}/box")
    box.attrs["dimension"] = 3
    boundaries = ("none",) * 3 if layout.box_edges is None else layout.boundaries
    box.attrs["boundary"] = np.array([name.encode() for name in boundaries])

    for time in sorted({layout.time, layout.atom_time} & datasets.keys()):
        _label(datasets[time], layout.time_unit)
    _label(datasets[POSITION if layout.atoms is None else ATOM_POSITION], layout.length_unit)
    if layout.box_edges is not None:
        for edges in sorted({layout.edges, layout.frame_edges}):
            _label(datasets[edges], layout.length_unit)
    for name, unit in layout.observables.items():
        _label(datasets[observable_path(name)], unit)

    own = file["articulon"]
    own.attrs["length_factor"] = layout.length_factor
    own.attrs["time_factor"] = layout.time_factor
    if layout.case:
        own.attrs["case"] = np.bytes_(layout.case)
    if layout.box_edges is not None:
        own.attrs["box_edges"] = layout.box_edges
    for element, names, units in (
        (own["coordinates"], layout.coordinate_names, layout.coordinate_units),
        (own["speeds"], layout.speed_names, layout.speed_units),
    ):
        if names:
            _constant(element, "names", _fixed_strings(names))
        if units:
            _constant(element, "units", _fixed_strings(units))
            if len(set(units)) == 1:
                _label(element["value"], units[0])
    return datasets


def _create_atoms(file: h5py.File, layout: TrajectoryLayout) -> None:
    """Write the constant properties of atoms."""
    atoms = layout.atoms
    if atoms is None:
        return
    group = file[ATOMS]
    _constant(group, "id", atoms.atom.astype("<i8"))
    _constant(group, "species", atoms.species.astype("<i8"))
    _label(_constant(group, "mass", atoms.masses.astype("<f8")), layout.mass_unit)
    if atoms.charges is not None:
        _label(_constant(group, "charge", atoms.charges.astype("<f8")), "e")
    _constant(group, "residue_number", atoms.residue_numbers.astype("<i8"))
    for name, texts in (("name", atoms.names), ("residue_name", atoms.residue_names), ("chain", atoms.chains)):
        _constant(group, name, _fixed_strings(texts))
    file["articulon"].attrs["atoms_every"] = atoms.every


def _create_spheres(file: h5py.File, layout: TrajectoryLayout) -> None:
    if layout.sphere_bodies is None or layout.sphere_positions is None or layout.sphere_radii is None:
        return
    largest = np.zeros(layout.masses.size + 1)
    np.maximum.at(largest, layout.sphere_bodies, layout.sphere_radii)
    spheres = file.create_group(SPHERES)
    _constant(spheres, "body", layout.sphere_bodies.astype("<i8"))
    for dataset in (
        _constant(file[layout.about_bodies], "radius", layout.length_factor * largest[:-1]),
        _constant(spheres, "position", layout.length_factor * layout.sphere_positions),
        _constant(spheres, "radius", layout.length_factor * layout.sphere_radii),
    ):
        _label(dataset, layout.length_unit)


def _label(dataset: h5py.Dataset, unit: str | None) -> None:
    if unit:
        dataset.attrs["unit"] = unit


def _fixed_strings(strings: tuple[str, ...]) -> np.ndarray:
    """Return UTF-8 strings of fixed length. With them, the file needs no heap, and its bytes depend only on the
    strings."""
    encoded = [string.encode() for string in strings]
    length = max((len(string) for string in encoded), default=0)
    return np.array(encoded, dtype=h5py.string_dtype("utf-8", max(length, 1)))
