"""The named builders of models: what ``[model] builder = "..."`` may say.

A builder is a Declaration with ``builder: Literal["its-name"] = "its-name"``, its parameters, and a method
``populate(builder: ModelBuilder) -> None`` that adds bodies and sites; by then its quantities are floats in the case's
units. A new one is a file and its name in ``AnyModel``.
"""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.cases.adenylate_kinase import AdenylateKinase
from articulon.cases.conjugated_nanoparticle import ConjugatedNanoparticle
from articulon.cases.filament import Filament
from articulon.cases.four_bars import FourBars
from articulon.cases.grain_models import Grains
from articulon.cases.lattice import Lattice
from articulon.cases.link_chain import LinkChain
from articulon.cases.molecule import Molecule
from articulon.cases.molten_salt import MoltenSalt
from articulon.cases.particle_models import Particles
from articulon.cases.receptor_site import ReceptorSite
from articulon.cases.satellite import SatelliteWithBooms
from articulon.cases.written_model import ExplicitModel

AnyModel: TypeAlias = (
    ExplicitModel
    | AdenylateKinase
    | ConjugatedNanoparticle
    | LinkChain
    | Filament
    | FourBars
    | SatelliteWithBooms
    | Grains
    | Particles
    | Lattice
    | MoltenSalt
    | Molecule
    | ReceptorSite
)
ModelDeclaration: TypeAlias = Annotated[AnyModel, Field(discriminator="builder")]
"""Any declared model, chosen by its ``builder``."""
