"""LAMMPS: its data files read and written."""

from articulon.lammps.data_file import Coefficients, DataFile, Terms
from articulon.lammps.data_models import data_of, inferred, read_data
from articulon.lammps.data_reading import read_data_file
from articulon.lammps.data_writing import write_data_file
from articulon.lammps.model_writing import write_data

__all__ = [
    "Coefficients",
    "DataFile",
    "Terms",
    "data_of",
    "inferred",
    "read_data",
    "read_data_file",
    "write_data",
    "write_data_file",
]
