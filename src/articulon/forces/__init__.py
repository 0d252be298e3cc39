"""Forces, one file per term: its declaration, its table and its kernel."""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.forces.brownian import Brownian
from articulon.forces.contact.declarations import Contact, Material, MaterialPair
from articulon.forces.contact.walls import BoxWalls, Cylinder, Mesh, Plane
from articulon.forces.fixman import Fixman
from articulon.forces.gravity import Gravity
from articulon.forces.joint_actuation import JointActuation
from articulon.forces.joint_friction import JointDamping, JointFriction
from articulon.forces.point_springs import PointSpring
from articulon.forces.site_pairs import PairLaw, SitePairs
from articulon.forces.sites.angles import HarmonicAngles
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.forces.sites.constant_energy import ConstantEnergy
from articulon.forces.sites.correction_maps import CorrectionMaps
from articulon.forces.sites.dihedrals import HarmonicDihedrals, PeriodicDihedrals
from articulon.forces.sites.ewald import Ewald
from articulon.forces.sites.exclusions import Exclusions
from articulon.forces.sites.fast_multipole import FastMultipole
from articulon.forces.sites.generalized_born import GeneralizedBorn
from articulon.forces.sites.laws.coulomb import Coulomb
from articulon.forces.sites.laws.lennard_jones import LennardJones
from articulon.forces.sites.laws.morse import Morse
from articulon.forces.sites.laws.twelve_six import TwelveSix
from articulon.forces.sites.laws.user_pair import UserPair
from articulon.forces.sites.laws.weeks_chandler_andersen import WeeksChandlerAndersen
from articulon.forces.sites.listed_pairs import ListedPairs
from articulon.forces.sites.walls import LennardJonesWall
from articulon.forces.stokes_drag import StokesDrag
from articulon.forces.torsional_springs import TorsionalSprings
from articulon.forces.user import UserForce

Force: TypeAlias = Annotated[
    SitePairs
    | LennardJones
    | TwelveSix
    | Coulomb
    | WeeksChandlerAndersen
    | Morse
    | UserPair
    | HarmonicBonds
    | FeneBonds
    | HarmonicAngles
    | PeriodicDihedrals
    | HarmonicDihedrals
    | CorrectionMaps
    | ListedPairs
    | ConstantEnergy
    | LennardJonesWall
    | Exclusions
    | Ewald
    | FastMultipole
    | GeneralizedBorn
    | Contact
    | TorsionalSprings
    | PointSpring
    | StokesDrag
    | Brownian
    | Fixman
    | Gravity
    | JointActuation
    | JointDamping
    | JointFriction
    | UserForce,
    Field(discriminator="kind"),
]
"""Any declared force, chosen by its ``kind``."""

__all__ = [
    "BoxWalls",
    "Brownian",
    "ConstantEnergy",
    "Contact",
    "Cylinder",
    "CorrectionMaps",
    "Coulomb",
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
    "JointActuation",
    "JointDamping",
    "JointFriction",
    "LennardJones",
    "LennardJonesWall",
    "ListedPairs",
    "Material",
    "MaterialPair",
    "Mesh",
    "Morse",
    "PairLaw",
    "PeriodicDihedrals",
    "Plane",
    "PointSpring",
    "SitePairs",
    "StokesDrag",
    "TorsionalSprings",
    "TwelveSix",
    "UserForce",
    "UserPair",
    "WeeksChandlerAndersen",
]
