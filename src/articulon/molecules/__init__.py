"""Molecules: structure files, rigid clusters and torsions, and the models made of them."""

from articulon.forces.sites.site_positions import site_positions
from articulon.molecules.articulation import Articulation, Torsion
from articulon.molecules.force_field import ForceField, force_field, from_system, openmm_system
from articulon.molecules.hydrogen_mass import heavier_hydrogens
from articulon.molecules.molecular_model import populate, stokes_drag
from articulon.molecules.openmm_exchange import from_openmm, to_openmm
from articulon.molecules.peptides import peptide
from articulon.molecules.perception import perceive
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.structure_reading import read_structure
from articulon.molecules.structure_writing import write_structure
from articulon.molecules.system_models import model_from_system
from articulon.molecules.whole_models import build, force_field_model

__all__ = [
    "Articulation",
    "ForceField",
    "Residue",
    "Structure",
    "Torsion",
    "build",
    "force_field",
    "force_field_model",
    "from_openmm",
    "from_system",
    "heavier_hydrogens",
    "model_from_system",
    "openmm_system",
    "peptide",
    "perceive",
    "populate",
    "read_structure",
    "site_positions",
    "stokes_drag",
    "to_openmm",
    "write_structure",
]
