"""Reading of `trajectory.h5`, which may be damaged or malicious.

Only the contents of the file itself are read: symbolic links, links to other files, externally stored values and
virtual datasets are rejected. A file that would unpack to far more than its size is rejected too. Every error of h5py
is converted to an error that names the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from articulon.array_files import FREE, RATIO
from articulon.errors import ArticulonError
from articulon.storage.atom_columns import AtomColumns
from articulon.storage.h5md_layout import (
    ATOM_POSITION,
    ATOMS,
    BODIES,
    COORDINATES,
    POSITION,
    SPEEDS,
    TrajectoryLayout,
    all_columns,
    observable_path,
)

REMEDY = "Put a good copy of it back, or run the case again in another folder"
"""Advice for a damaged file."""


class TrajectoryFile:
    """An H5MD file that is open for reading.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ArticulonError
        Here and in the methods: if the file is missing, damaged or not a trajectory of articulon, or if it refers to
        other files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._size = path.stat().st_size
            self._file = h5py.File(path, "r")
            self._known: dict[str, Any] = {}
        except Exception as failure:
            raise ArticulonError(
                f"{path} cannot be opened as an HDF5 file: it is damaged or has another format ({_said(failure)})"
            ) from failure

    def close(self) -> None:
        """Close the file. Arrays that were read stay usable."""
        self._known.clear()
        self._file.close()

    def dataset(self, name: str) -> h5py.Dataset:
        """Return the dataset at a path; raise KeyError if it does not exist."""
        found = self._found(name)
        if not isinstance(found, h5py.Dataset):
            raise ArticulonError(f"{self.path} is damaged: '{name}' is not a dataset. {REMEDY}")
        stored = found.id.get_create_plist()
        if found.is_virtual or stored.get_external_count():
            raise ArticulonError(
                f"{self.path}: the values of '{name}' are stored in another file, and were not read; articulon writes "
                f"no such file. {REMEDY}"
            )
        if found.dtype.kind not in "iufS":
            raise ArticulonError(f"{self.path} is damaged: '{name}' holds no numbers. {REMEDY}")
        size = math.prod(found.shape) * found.dtype.itemsize
        if size > max(FREE, RATIO * self._size):
            raise ArticulonError(
                f"{self.path}: '{name}' would unpack to {size} bytes from a file of {self._size}, and was not read. "
                f"{REMEDY}"
            )
        return found

    def values(self, name: str, rows: slice = slice(None)) -> np.ndarray:
        """Return the values of a dataset, or some rows of them."""
        with self.reading(name):
            return self.dataset(name)[rows]

    def has(self, name: str) -> bool:
        """Whether there is a group or dataset at a path."""
        try:
            self._found(name)
        except KeyError:
            return False
        return True

    def attributes(self, name: str) -> h5py.AttributeManager:
        """Return the attributes of a group or dataset; raise KeyError if the group or dataset does not exist."""
        return self._found(name).attrs

    def names(self, group: str) -> list[str]:
        """Return the names in a group; an empty list if there is no such group."""
        return list(self._found(group)) if self.has(group) else []

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Convert every error of h5py to an ArticulonError that names the file."""
        try:
            yield
        except (ArticulonError, KeyError):
            raise
        except Exception as failure:
            raise ArticulonError(
                f"{self.path} is damaged: {what} cannot be read ({_said(failure)}). {REMEDY}"
            ) from failure

    def _found(self, name: str) -> Any:
        if name in self._known:
            return self._known[name]
        above, _, part = name.rpartition("/")
        here = self._found(above) if above else self._file
        links = getattr(here.id, "links", None)
        if links is None or not links.exists(part.encode()):
            raise KeyError(name)
        # Check the type of the link before following it.
        if links.get_info(part.encode()).type != h5py.h5l.TYPE_HARD:
            raise ArticulonError(
                f"{self.path}: '{name}' is a link to another place or file, and was not followed; articulon writes no "
                f"such file. {REMEDY}"
            )
        self._known[name] = here[part]
        return self._known[name]


def read_layout(file: TrajectoryFile) -> TrajectoryLayout:
    """Read the layout of an open trajectory.

    Raises
    ------
    ArticulonError
        If the file is not an H5MD file, was not written by articulon, or is damaged.
    """
    path = file.path
    try:
        with file.reading("its layout"):
            if not file.has("h5md") or "version" not in file.attributes("h5md"):
                raise ArticulonError(
                    f"{path} is an HDF5 file but not an H5MD trajectory; give the trajectory.h5 of a run"
                )
            layout = _layout(file)
            _check_shapes(file, layout)
            return layout
    except KeyError as failure:
        raise ArticulonError(
            f"{path} is an H5MD file but was not written by articulon ({failure.args[0]}); "
            "give the trajectory.h5 of a run"
        ) from None


def _layout(file: TrajectoryFile) -> TrajectoryLayout:
    own = file.attributes("articulon")
    factors = [float(own[name]) for name in ("length_factor", "time_factor")]
    if not all(0.0 < factor < math.inf for factor in factors):
        raise ValueError(f"factors of units are {factors}")
    atoms = _atoms(file) if file.has(ATOMS) else None
    bodies = BODIES if atoms is None else "articulon/bodies"
    coordinates = COORDINATES.rpartition("/")[0]
    return TrajectoryLayout(
        body_names=_strings(file, f"{bodies}/name"),
        masses=file.values(f"{bodies}/mass"),
        nq=_columns(file, COORDINATES),
        nu=_columns(file, SPEEDS),
        mass_unit=_unit(file, f"{bodies}/mass"),
        coordinate_names=_strings(file, "articulon/coordinates/names"),
        coordinate_units=_strings(file, "articulon/coordinates/units"),
        speed_names=_strings(file, "articulon/speeds/names"),
        speed_units=_strings(file, "articulon/speeds/units"),
        observables={name: _unit(file, observable_path(name)) or "" for name in file.names("observables")},
        length_unit=_unit(file, POSITION if atoms is None else ATOM_POSITION),
        time_unit=_unit(file, f"{coordinates}/time"),
        length_factor=factors[0],
        time_factor=factors[1],
        box_edges=own.get("box_edges"),
        boundaries=_boundaries(file, bodies if atoms is None else ATOMS, "box_edges" in own),
        atoms=atoms,
        **_spheres(file, factors[0]),
        author=_text(file.attributes("h5md/author")["name"]),
        creator=_text(file.attributes("h5md/creator")["name"]),
        creator_version=_text(file.attributes("h5md/creator")["version"]),
        case=_text(own.get("case", "")),
    )


def _check_shapes(file: TrajectoryFile, layout: TrajectoryLayout) -> None:
    """Raise ArticulonError if values of frames are missing or have a wrong type."""
    frames = file.dataset(layout.step).shape[0]
    for name, (column, apart) in all_columns(layout).items():
        found, shape = file.dataset(name), (-(-frames // apart), *column.shape)
        if found.shape != shape or found.dtype != column.base:
            raise ArticulonError(
                f"{file.path} is damaged: '{name}' has the shape {found.shape} and type {found.dtype}, expected "
                f"{shape} and {column.base}. {REMEDY}"
            )


def _atoms(file: TrajectoryFile) -> AtomColumns:
    every = int(file.attributes("articulon")["atoms_every"])
    if every < 1:
        raise ValueError(f"the interval of frames with atoms is {every}")
    found = AtomColumns(
        atom=file.values(f"{ATOMS}/id"),
        names=_strings(file, f"{ATOMS}/name"),
        species=file.values(f"{ATOMS}/species"),
        masses=file.values(f"{ATOMS}/mass"),
        residue_names=_strings(file, f"{ATOMS}/residue_name"),
        residue_numbers=file.values(f"{ATOMS}/residue_number"),
        chains=_strings(file, f"{ATOMS}/chain"),
        charges=file.values(f"{ATOMS}/charge") if file.has(f"{ATOMS}/charge") else None,
        every=every,
    )
    texts = (found.names, found.residue_names, found.chains)
    numbers = (found.atom, found.species, found.masses, found.residue_numbers)
    shapes = {(len(column),) for column in texts} | {column.shape for column in numbers}
    if len(shapes | ({found.charges.shape} if found.charges is not None else set())) > 1:
        raise ValueError("the columns of atoms have different shapes")
    return found


def _boundaries(file: TrajectoryFile, particles: str, boxed: bool) -> tuple[str, str, str]:
    """Return the boundaries of the box along its edges, or the default if there is no box."""
    if not boxed:
        return "periodic", "periodic", "periodic"
    x, y, z = (_text(name) for name in file.attributes(f"{particles}/box")["boundary"].tolist())
    return x, y, z


def _columns(file: TrajectoryFile, name: str) -> int:
    shape: Sequence[int] = file.dataset(name).shape
    if len(shape) != 2:
        raise ValueError(f"'{name}' has the shape {shape}")
    return shape[1]


def _spheres(file: TrajectoryFile, factor: float) -> dict[str, Any]:
    if not file.has("articulon/spheres"):
        return {}
    return {
        "sphere_bodies": file.values("articulon/spheres/body"),
        "sphere_positions": file.values("articulon/spheres/position") / factor,
        "sphere_radii": file.values("articulon/spheres/radius") / factor,
    }


def _strings(file: TrajectoryFile, name: str) -> tuple[str, ...]:
    return tuple(string.decode() for string in file.values(name).tolist()) if file.has(name) else ()


def _unit(file: TrajectoryFile, name: str) -> str | None:
    unit = file.attributes(name).get("unit")
    return None if unit is None else _text(unit)


def _text(value: Any) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    return text


def _said(failure: Exception) -> str:
    return " ".join(str(failure).split()) or type(failure).__name__
