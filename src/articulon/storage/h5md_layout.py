"""Layout of `trajectory.h5`: an H5MD 1.1 file (de Buyl, Colberg, Höfling 2014), written in a canonical order.

Values are written in a fixed order. So the bytes of a file depend only on its layout and its frames, and not on the
clock or on the number of writes.

Damage is always detected. Every dataset is divided into chunks, each with a checksum (HDF5's fletcher32) that any
program verifies that reads through HDF5. HDF5's own metadata have checksums in this version of the format, except unit
labels and the names of author and creator. In addition, the file begins with a digest of its content (`seal`), which
articulon verifies before reading.

    /h5md                                            version, author, creator
    /particles/bodies/position/{step,time,value}     body origins, world frame
    /particles/bodies/orientation/{step,time,value}  quaternions, scalar first, body to world frame
    /particles/bodies/box                            dimension, boundary; edges/{step,time,value} if periodic
    /particles/bodies/{mass,name}                    constant
    /observables/<name>/{step,time,value}            in the units of the case
    /articulon/coordinates/{step,time,value}         joint coordinates q, in the units of the case; names, units
    /articulon/speeds/{step,time,value}              joint speeds u, in the units of the case; names, units
    /articulon/@case                                 digest of the case that was run
    /particles/bodies/radius                         constant; largest sphere radius of a body, or 0
    /articulon/spheres/{body,position,radius}        constant, if there are spheres; in their bodies' frames

The file of a molecular model holds atoms in place of bodies; the poses of the bodies follow from q:

    /particles/atoms/position/{step,time,value}      single precision, world frame; molecules are whole
    /particles/atoms/box                             dimension, boundary; edges/{step,time,value} if periodic
    /particles/atoms/{id,name,species,mass,charge}   constant; id counts the model's atoms from 0, species is the atomic
                                                     number, charge exists if the model has charges
    /particles/atoms/{residue_name,residue_number,chain}    constant, of each atom
    /articulon/bodies/{mass,name,radius}             as above
    /articulon/box/edges/{step,time,value}           of every frame, if periodic

All elements share one `step` and one `time` dataset through hard links. Atoms that are stored in fewer frames have
`step` and `time` datasets of their own. The box edges are stored for each frame, because a barostat changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from articulon.storage.atom_columns import AtomColumns

BODIES = "particles/bodies"
ATOMS = "particles/atoms"
ATOM_POSITION = f"{ATOMS}/position/value"
STEP = f"{BODIES}/position/step"
TIME = f"{BODIES}/position/time"
POSITION = f"{BODIES}/position/value"
ORIENTATION = f"{BODIES}/orientation/value"
SPHERES = "articulon/spheres"
COORDINATES = "articulon/coordinates/value"
SPEEDS = "articulon/speeds/value"


def observable_path(name: str) -> str:
    """Return the path of an observable's values in the file."""
    return f"observables/{name}/value"


@dataclass(frozen=True, eq=False, kw_only=True)
class TrajectoryLayout:
    """Properties that all frames of a trajectory share.

    Lengths, times and masses are in the units of the case. Positions and box edges in the file are multiplied by
    `length_factor`, and times by `time_factor`.
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
    """Unit of the lengths in the file, "nm" for MDAnalysis; None in reduced units."""
    time_unit: str | None = None
    """Unit of the times in the file, "ns" or "ps" for MDAnalysis; None in reduced units."""
    length_factor: float = 1.0
    """Factor that converts lengths of the case to lengths in the file."""
    time_factor: float = 1.0
    """Factor that converts times of the case to times in the file."""
    box_edges: np.ndarray | None = None
    """Edge vectors of the periodic box as rows [length unit of the case], shape (3, 3); None if space is open."""
    sphere_bodies: np.ndarray | None = None
    """Body of each contact sphere, −1 for the ground, shape (spheres,); None without contact spheres."""
    sphere_positions: np.ndarray | None = None
    """Centres of the contact spheres in their bodies' frames [length unit of the case], shape (spheres, 3)."""
    sphere_radii: np.ndarray | None = None
    """Radii of the contact spheres [length unit of the case], shape (spheres,)."""
    atoms: AtomColumns | None = None
    """Atoms in the file, which replace the bodies; None for a file of bodies."""
    boundaries: tuple[str, str, str] = ("periodic", "periodic", "periodic")
    """Boundary of the box along each edge, "periodic" or "none"; without meaning if there is no box."""
    author: str = "unknown"
    """Name of the user who ran the case."""
    creator: str = "articulon"
    """The program that wrote the file."""
    creator_version: str = ""
    """Version of the program that wrote the file."""
    case: str = ""
    """Digest of the case, which includes its seed."""

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
        """Return the name of the first field that differs; the version of the program is not compared. None if frames
        of both layouts may be in one file."""
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

    @property
    def particles(self) -> str:
        """Group of the particles in the file: atoms or bodies."""
        return BODIES if self.atoms is None else ATOMS

    @property
    def about_bodies(self) -> str:
        """Group of the constant properties of bodies."""
        return BODIES if self.atoms is None else "articulon/bodies"

    @property
    def step(self) -> str:
        """Path of the step numbers."""
        return STEP if self.atoms is None else "articulon/coordinates/step"

    @property
    def time(self) -> str:
        """Path of the times."""
        return TIME if self.atoms is None else "articulon/coordinates/time"

    @property
    def edges(self) -> str:
        """Path of the box edges."""
        return f"{self.particles}/box/edges/value"

    @property
    def frame_edges(self) -> str:
        """Path of the box edges at all frames, including frames without atoms."""
        return self.edges if self.atoms is None else "articulon/box/edges/value"

    @property
    def atom_step(self) -> str:
        """Path of the step numbers of frames with atoms."""
        return f"{ATOMS}/position/step"

    @property
    def atom_time(self) -> str:
        """Path of the times of frames with atoms."""
        return f"{ATOMS}/position/time"


def record(layout: TrajectoryLayout) -> np.dtype:
    """Return the record type of a frame without its atoms. The names of its fields are the paths of the datasets;
    values are in the units of the file."""
    n = len(layout.body_names)
    columns: list[tuple] = [(layout.step, "<i8"), (layout.time, "<f8")]
    if layout.atoms is None:
        columns += [(POSITION, "<f8", (n, 3)), (ORIENTATION, "<f8", (n, 4))]
    columns += [(COORDINATES, "<f8", (layout.nq,)), (SPEEDS, "<f8", (layout.nu,))]
    if layout.box_edges is not None:
        # MDAnalysis requires the edges at every frame, even if they are constant.
        columns.append((layout.frame_edges, "<f8", (3, 3)))
    columns.extend((observable_path(name), "<f8") for name in sorted(layout.observables))
    return np.dtype(columns)


def atom_record(layout: TrajectoryLayout) -> np.dtype | None:
    """Return the record type of the atoms of a frame; None if the file holds no atoms. The names of its fields are the
    paths of the datasets."""
    atoms = layout.atoms
    if atoms is None:
        return None
    columns: list[tuple] = []
    if atoms.every > 1:
        columns += [(layout.atom_step, "<i8"), (layout.atom_time, "<f8")]
    columns.append((ATOM_POSITION, "<f4", (len(atoms), 3)))
    if layout.box_edges is not None:
        columns.append((layout.edges, "<f8", (3, 3)))
    return np.dtype(columns)


def all_columns(layout: TrajectoryLayout) -> dict[str, tuple[np.dtype, int]]:
    """Return, for each dataset of frames by its path, the type of a row and the number of frames between rows."""
    found = {name: (column, 1) for name, (column, *_) in (record(layout).fields or {}).items()}
    atoms = atom_record(layout)
    if atoms is not None and layout.atoms is not None:
        found |= {name: (column, layout.atoms.every) for name, (column, *_) in (atoms.fields or {}).items()}
    return found
