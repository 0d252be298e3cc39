"""Forces, one per file; ``base.py`` describes the contract. Every force class in this package is found
automatically; the names below are listed for type checkers and editors only."""

from typing import Annotated, TypeAlias

from articulon.declaration import Declaration
from articulon.families import Family
from articulon.forces.base import Force
from articulon.forces.brownian import Brownian
from articulon.forces.contact.materials import Contact, Material, MaterialPair
from articulon.forces.contact.walls import WALLS, BoxWalls, Cylinder, Mesh, Plane
from articulon.forces.fixman import Fixman
from articulon.forces.gravity import Gravity
from articulon.forces.impacts.impacts import ImpactPair, Impacts
from articulon.forces.impacts.joint_limits import JointLimits
from articulon.forces.joint_actuation import JointActuation
from articulon.forces.joint_drive import JointDrive
from articulon.forces.joint_friction import JointDamping, JointFriction
from articulon.forces.point_springs import PointSpring
from articulon.forces.position_restraints import PositionRestraint
from articulon.forces.site_pairs import PairLaw, SitePairs
from articulon.forces.sites.angles import CosineAngles, HarmonicAngles
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.forces.sites.constant_energy import ConstantEnergy
from articulon.forces.sites.correction_maps import CorrectionMaps
from articulon.forces.sites.dihedrals import HarmonicDihedrals, PeriodicDihedrals
from articulon.forces.sites.ewald import Ewald
from articulon.forces.sites.exclusions import Exclusions
from articulon.forces.sites.fast_multipole import FastMultipole
from articulon.forces.sites.generalized_born import GeneralizedBorn
from articulon.forces.sites.lammps_force import Lammps
from articulon.forces.sites.laws.coulomb import Coulomb
from articulon.forces.sites.laws.lennard_jones import LennardJones
from articulon.forces.sites.laws.morse import Morse
from articulon.forces.sites.laws.twelve_six import TwelveSix
from articulon.forces.sites.laws.user_pair import UserPair
from articulon.forces.sites.laws.weeks_chandler_andersen import WeeksChandlerAndersen
from articulon.forces.sites.listed_pairs import ListedPairs
from articulon.forces.sites.openmm_force import OpenMM
from articulon.forces.sites.particle_mesh_ewald import ParticleMeshEwald
from articulon.forces.sites.restraints import DihedralRestraint, DistanceRestraint
from articulon.forces.sites.site_walls import LennardJonesWall
from articulon.forces.stokes_drag import StokesDrag
from articulon.forces.torsional_springs import TorsionalSprings
from articulon.forces.user_force import UserForce

FORCES = Family(
    "force",
    "kind",
    lambda member: hasattr(member, "is_force") or hasattr(member, "site_terms"),
)
"""All forces by their ``kind``: every class of this package that has one."""
FORCES.discover(__name__, __path__, besides=("mesh_waves",))
AnyForce: TypeAlias = Annotated[Declaration, FORCES]
"""Any declared force, selected by its ``kind``."""
globals().update({member.__name__: member for member in (*FORCES, *WALLS)})

__all__ = [
    "FORCES",
    "AnyForce",
    "BoxWalls",
    "Brownian",
    "ConstantEnergy",
    "CosineAngles",
    "Contact",
    "Cylinder",
    "CorrectionMaps",
    "Coulomb",
    "DihedralRestraint",
    "DistanceRestraint",
    "Exclusions",
    "FastMultipole",
    "FeneBonds",
    "Ewald",
    "Fixman",
    "Force",
    "GeneralizedBorn",
    "Gravity",
    "HarmonicAngles",
    "HarmonicBonds",
    "HarmonicDihedrals",
    "ImpactPair",
    "Impacts",
    "JointActuation",
    "JointDamping",
    "JointDrive",
    "JointFriction",
    "JointLimits",
    "Lammps",
    "LennardJones",
    "LennardJonesWall",
    "ListedPairs",
    "Material",
    "MaterialPair",
    "Mesh",
    "Morse",
    "OpenMM",
    "PairLaw",
    "ParticleMeshEwald",
    "PeriodicDihedrals",
    "Plane",
    "PointSpring",
    "PositionRestraint",
    "SitePairs",
    "StokesDrag",
    "TorsionalSprings",
    "TwelveSix",
    "UserForce",
    "UserPair",
    "WeeksChandlerAndersen",
]
