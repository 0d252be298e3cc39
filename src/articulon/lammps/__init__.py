"""LAMMPS: reading and writing its data files, and computing forces with it."""

from importlib import import_module
from typing import Any

from articulon.lammps.data_file import Coefficients, DataFile, Terms
from articulon.lammps.data_models import data_of, inferred, read_data
from articulon.lammps.data_reading import read_data_file
from articulon.lammps.data_writing import write_data_file
from articulon.lammps.engine import through_lammps
from articulon.lammps.model_writing import write_data

__all__ = [
    "Coefficients",
    "Coupled",
    "DataFile",
    "Terms",
    "data_of",
    "inferred",
    "read_data",
    "read_data_file",
    "through_lammps",
    "write_data",
    "write_data_file",
]

_LATER = {"Coupled": "articulon.runs.coupled"}
"""Names that belong to this package but are defined in packages of higher layers, because they run models."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
