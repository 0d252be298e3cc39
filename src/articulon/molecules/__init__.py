"""Molecules: structure files, rigid clusters, torsions, and the models built from them."""

from articulon.forces.sites.site_positions import site_positions
from articulon.molecules.articulation import Articulation, Torsion
from articulon.molecules.force_field import ForceField, force_field, from_system
from articulon.molecules.hydrogen_mass import heavier_hydrogens
from articulon.molecules.ligand_parameters import write_ligand_parameters
from articulon.molecules.locked_parts import locked_bodies
from articulon.molecules.molecular_model import populate, stokes_drag
from articulon.molecules.openmm_exchange import from_openmm, to_openmm
from articulon.molecules.peptides import peptide
from articulon.molecules.perception import perceive
from articulon.molecules.solvation import solvate
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.structure_reading import read_structure
from articulon.molecules.structure_writing import write_structure
from articulon.molecules.system_making import openmm_system
from articulon.molecules.system_models import model_from_system
from articulon.molecules.water_geometry import as_water_model
from articulon.molecules.whole_models import build, force_field_model

__all__ = [
    "Articulation",
    "ForceField",
    "Residue",
    "Structure",
    "Torsion",
    "as_water_model",
    "build",
    "force_field",
    "force_field_model",
    "from_openmm",
    "from_system",
    "heavier_hydrogens",
    "locked_bodies",
    "model_from_system",
    "openmm_system",
    "peptide",
    "perceive",
    "populate",
    "read_structure",
    "site_positions",
    "solvate",
    "stokes_drag",
    "to_openmm",
    "write_ligand_parameters",
    "write_structure",
]
