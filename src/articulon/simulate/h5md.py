"""The layout of `trajectory.h5`: an H5MD 1.1 file (de Buyl, Colberg, Höfling 2014), written in one canonical way.

Every dataset is contiguous and has its place in the file before any frame is written, so the bytes of a file depend on
its layout and its frames alone, not on the clock and not on how often or in what pieces it was written.

    /h5md                                            version, author, creator
    /particles/bodies/position/{step,time,value}     body origins, world frame
    /particles/bodies/orientation/{step,time,value}  quaternions, scalar first, body to world frame
    /particles/bodies/box                            dimension, boundary; edges/{step,time,value} if periodic
    /particles/bodies/{mass,name}                    constant
    /observables/<name>/{step,time,value}            in the units of the case
    /articulon/coordinates/{step,time,value}         joint coordinates q, in the units of the case; names, units
    /articulon/speeds/{step,time,value}              joint speeds u, likewise
    /particles/bodies/radius                         constant, where bodies carry spheres: that of the largest, or 0
    /articulon/spheres/{body,position,radius}        constant, where there are spheres: in their bodies' frames

All elements share one `step` and one `time` dataset through hard links.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import h5py
import numpy as np

from articulon.errors import ArticulonError

BODIES = "particles/bodies"
STEP = f"{BODIES}/position/step"
TIME = f"{BODIES}/position/time"
POSITION = f"{BODIES}/position/value"
ORIENTATION = f"{BODIES}/orientation/value"
BOX = f"{BODIES}/box"
EDGES = f"{BOX}/edges/value"
SPHERES = "articulon/spheres"
COORDINATES = "articulon/coordinates/value"
SPEEDS = "articulon/speeds/value"

# One file format whatever the version of the HDF5 library, and one that every HDF5 since 2008 reads.
_FORMAT = ("v108", "v108")


def observable_path(name: str) -> str:
    """Path of an observable's values in the file."""
    return f"observables/{name}/value"


@dataclass(frozen=True, eq=False, kw_only=True)
class TrajectoryLayout:
    """What all frames of a trajectory have in common.

    Lengths, times and masses are in the units of the case; the file's positions, box edges and times are these
    multiplied by `length_factor` and `time_factor`.
    """

    body_names: tuple[str, ...]
    """Names of the bodies, in the order of the model, length n."""
    masses: np.ndarray
    """Masses of the bodies [mass unit of the case], shape (n,)."""
    nq: int
    """Number of joint coordinates."""
    nu: int
    """Number of joint speeds."""
    mass_unit: str | None = None
    """Label of the case's mass unit, such as "fg"; None in reduced units."""
    coordinate_names: tuple[str, ...] = ()
    """Names of the joint coordinates, length nq, or empty."""
    coordinate_units: tuple[str, ...] = ()
    """Labels of the units of the joint coordinates ("" if dimensionless), length nq, or empty."""
    speed_names: tuple[str, ...] = ()
    """Names of the joint speeds, length nu, or empty."""
    speed_units: tuple[str, ...] = ()
    """Labels of the units of the joint speeds, length nu, or empty."""
    observables: Mapping[str, str] = field(default_factory=dict)
    """Label of the case's unit for every observable by name ("" if dimensionless or in reduced units)."""
    length_unit: str | None = None
    """Unit of the lengths in the file: "nm" where MDAnalysis is to read it; None in reduced units."""
    time_unit: str | None = None
    """Unit of the times in the file: "ns" or "ps" where MDAnalysis is to read it; None in reduced units."""
    length_factor: float = 1.0
    """Multiplies a length of the case to give the one in the file."""
    time_factor: float = 1.0
    """Multiplies a time of the case to give the one in the file."""
    box_edges: np.ndarray | None = None
    """Edge vectors of the periodic box as rows [length unit of the case], shape (3, 3); None if space is open."""
    sphere_bodies: np.ndarray | None = None
    """Body of each contact sphere, −1 for the ground, shape (spheres,); None if there are none."""
    sphere_positions: np.ndarray | None = None
    """Centres in the bodies' frames [length unit of the case], shape (spheres, 3)."""
    sphere_radii: np.ndarray | None = None
    """[length unit of the case], shape (spheres,)."""
    author: str = "unknown"
    """Who ran it."""
    creator: str = "articulon"
    """The program that wrote the file."""
    creator_version: str = ""
    """Version of that program."""

    def __post_init__(self) -> None:
        for name in ("body_names", "coordinate_names", "coordinate_units", "speed_names", "speed_units"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        n = len(self.body_names)
        object.__setattr__(self, "masses", np.asarray(self.masses, dtype="<f8"))
        if self.masses.shape != (n,):
            raise ValueError(f"masses must have shape ({n},) for {n} bodies, got {self.masses.shape}")
        if self.box_edges is not None:
            object.__setattr__(self, "box_edges", np.asarray(self.box_edges, dtype="<f8"))
            if self.box_edges.shape != (3, 3):
                raise ValueError(f"box_edges must have shape (3, 3), got {self.box_edges.shape}")
        for label, count in (("coordinate", self.nq), ("speed", self.nu)):
            for what in ("names", "units"):
                given = len(getattr(self, f"{label}_{what}"))
                if given not in (0, count):
                    raise ValueError(f"{label}_{what} must have {count} entries or none, got {given}")
        for name in self.observables:
            if not name or "/" in name or name.startswith("."):
                raise ValueError(f"'{name}' cannot be the name of an observable in an HDF5 file")

    def difference(self, other: TrajectoryLayout) -> str | None:
        """Name of the first field that differs (the program's version aside), or None if frames of both can mix."""
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            if entry.name in ("author", "creator", "creator_version"):
                continue
            if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
                same = mine is not None and theirs is not None and np.array_equal(mine, theirs)
            elif isinstance(mine, Mapping):
                same = dict(mine) == dict(theirs)
            else:
                same = mine == theirs
            if not same:
                return entry.name
        return None


def record(layout: TrajectoryLayout) -> np.dtype:
    """One frame as a record whose fields bear the paths of the datasets, in the units of the file."""
    n = len(layout.body_names)
    columns: list[tuple] = [
        (STEP, "<i8"),
        (TIME, "<f8"),
        (POSITION, "<f8", (n, 3)),
        (ORIENTATION, "<f8", (n, 4)),
        (COORDINATES, "<f8", (layout.nq,)),
        (SPEEDS, "<f8", (layout.nu,)),
    ]
    if layout.box_edges is not None:
        # Constant, yet an element of every frame, as MDAnalysis requires.
        columns.append((EDGES, "<f8", (3, 3)))
    columns.extend((observable_path(name), "<f8") for name in sorted(layout.observables))
    return np.dtype(columns)


def create(path: Path, layout: TrajectoryLayout, frames: int) -> dict[str, int]:
    """Write the file with room for `frames` frames and everything but their values.

    Returns
    -------
    dict
        Byte offset in the file of every field of `record(layout)`; fields without a value are left out.

    Raises
    ------
    OSError
        When the operating system refuses.
    """
    try:
        with h5py.File(path, "w", libver=_FORMAT) as file:
            return _create(file, layout, frames)
    except RuntimeError as failure:  # h5py reports some failures of writing so, the errno in the text
        code = errno.ENOSPC if f"errno = {errno.ENOSPC}," in str(failure) else errno.EIO
        raise OSError(code, str(failure)) from failure


def _create(file: h5py.File, layout: TrajectoryLayout, frames: int) -> dict[str, int]:
    root = file.create_group("h5md")
    root.attrs["version"] = np.array([1, 1], dtype="<i4")
    root.create_group("author").attrs["name"] = layout.author
    creator = root.create_group("creator")
    creator.attrs["name"] = layout.creator
    creator.attrs["version"] = layout.creator_version

    # Space is given to a dataset when it is created and never filled: the values are written to it once, as bytes.
    place = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    place.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    place.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    offsets = {}
    columns = record(layout)
    for name in columns.names or ():
        column = columns[name]
        dataset = file.create_dataset(name, (frames, *column.shape), dtype=column.base, dcpl=place)
        offset = dataset.id.get_offset()
        if offset is not None:
            offsets[name] = offset
        element = dataset.parent
        if element.name != f"/{BODIES}/position":
            element["step"] = file[STEP]
            element["time"] = file[TIME]

    bodies = file[BODIES]
    bodies.create_dataset("mass", data=layout.masses)
    _label(bodies["mass"], layout.mass_unit)
    bodies.create_dataset("name", data=_fixed_strings(layout.body_names))
    _create_spheres(file, layout)
    box = file.require_group(BOX)
    box.attrs["dimension"] = 3
    box.attrs["boundary"] = np.array([b"none" if layout.box_edges is None else b"periodic"] * 3)

    _label(file[TIME], layout.time_unit)
    _label(file[POSITION], layout.length_unit)
    if layout.box_edges is not None:
        _label(file[EDGES], layout.length_unit)
    for name, unit in layout.observables.items():
        _label(file[observable_path(name)], unit)

    own = file["articulon"]
    own.attrs["length_factor"] = layout.length_factor
    own.attrs["time_factor"] = layout.time_factor
    if layout.box_edges is not None:
        own.attrs["box_edges"] = layout.box_edges
    for element, names, units in (
        (own["coordinates"], layout.coordinate_names, layout.coordinate_units),
        (own["speeds"], layout.speed_names, layout.speed_units),
    ):
        if names:
            element.create_dataset("names", data=_fixed_strings(names))
        if units:
            element.create_dataset("units", data=_fixed_strings(units))
            if len(set(units)) == 1:
                _label(element["value"], units[0])
    return offsets


def _create_spheres(file: h5py.File, layout: TrajectoryLayout) -> None:
    if layout.sphere_bodies is None or layout.sphere_positions is None or layout.sphere_radii is None:
        return
    largest = np.zeros(layout.masses.size + 1)
    np.maximum.at(largest, layout.sphere_bodies, layout.sphere_radii)
    spheres = file.create_group(SPHERES)
    spheres.create_dataset("body", data=layout.sphere_bodies.astype("<i8"))
    for dataset in (
        file[BODIES].create_dataset("radius", data=layout.length_factor * largest[:-1]),
        spheres.create_dataset("position", data=layout.length_factor * layout.sphere_positions),
        spheres.create_dataset("radius", data=layout.length_factor * layout.sphere_radii),
    ):
        _label(dataset, layout.length_unit)


def read_layout(file: h5py.File, path: Path) -> TrajectoryLayout:
    """The layout of an open trajectory.

    Raises
    ------
    ArticulonError
        When the file is not an H5MD file, or not one of ours.
    """
    if "h5md" not in file or "version" not in file["h5md"].attrs:
        raise ArticulonError(f"{path} is an HDF5 file but not an H5MD trajectory; give the trajectory.h5 of a run")
    try:
        bodies, own = file[BODIES], file["articulon"]
        return TrajectoryLayout(
            body_names=_strings(bodies, "name"),
            masses=bodies["mass"][:],
            nq=file[COORDINATES].shape[1],
            nu=file[SPEEDS].shape[1],
            mass_unit=bodies["mass"].attrs.get("unit"),
            coordinate_names=_strings(own["coordinates"], "names"),
            coordinate_units=_strings(own["coordinates"], "units"),
            speed_names=_strings(own["speeds"], "names"),
            speed_units=_strings(own["speeds"], "units"),
            observables={
                name: element["value"].attrs.get("unit", "") for name, element in file.get("observables", {}).items()
            },
            length_unit=file[POSITION].attrs.get("unit"),
            time_unit=file[TIME].attrs.get("unit"),
            length_factor=float(own.attrs["length_factor"]),
            time_factor=float(own.attrs["time_factor"]),
            box_edges=own.attrs.get("box_edges"),
            **_spheres(own),
            author=file["h5md/author"].attrs["name"],
            creator=file["h5md/creator"].attrs["name"],
            creator_version=file["h5md/creator"].attrs["version"],
        )
    except KeyError as failure:
        raise ArticulonError(
            f"{path} is an H5MD file but was not written by articulon ({failure.args[0]}); "
            "give the trajectory.h5 of a run"
        ) from None


def _spheres(own: h5py.Group) -> dict[str, np.ndarray]:
    if "spheres" not in own:
        return {}
    factor, group = float(own.attrs["length_factor"]), own["spheres"]
    return {
        "sphere_bodies": group["body"][:],
        "sphere_positions": group["position"][:] / factor,
        "sphere_radii": group["radius"][:] / factor,
    }


def _label(dataset: h5py.Dataset, unit: str | None) -> None:
    if unit:
        dataset.attrs["unit"] = unit


def _fixed_strings(strings: tuple[str, ...]) -> np.ndarray:
    """UTF-8 strings of one length: no heap in the file, so that its bytes follow from the strings alone."""
    encoded = [string.encode() for string in strings]
    length = max((len(string) for string in encoded), default=0)
    return np.array(encoded, dtype=h5py.string_dtype("utf-8", max(length, 1)))


def _strings(group: h5py.Group, name: str) -> tuple[str, ...]:
    return tuple(string.decode() for string in group[name][:].tolist()) if name in group else ()
