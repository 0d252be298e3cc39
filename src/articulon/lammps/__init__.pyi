# For type checkers: Coupled stands on a later floor than this package, and is loaded when it is first used.
from articulon.lammps.data_file import Coefficients as Coefficients
from articulon.lammps.data_file import DataFile as DataFile
from articulon.lammps.data_file import Terms as Terms
from articulon.lammps.data_models import data_of as data_of
from articulon.lammps.data_models import inferred as inferred
from articulon.lammps.data_models import read_data as read_data
from articulon.lammps.data_reading import read_data_file as read_data_file
from articulon.lammps.data_writing import write_data_file as write_data_file
from articulon.lammps.engine import through_lammps as through_lammps
from articulon.lammps.model_writing import write_data as write_data
from articulon.runs.coupled import Coupled as Coupled
