"""A molecule from a structure file or a sequence, cut into rigid bodies on torsions."""

import math
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import PrivateAttr, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Dimension, Flag, Quantity, Whole, marked
from articulon.errors import CaseError, ModelError
from articulon.forces.sites.openmm_force import OpenMM, Precision
from articulon.forces.sites.openmm_system import check_platform, openmm_package
from articulon.molecules.articulation import Articulation, Level
from articulon.molecules.force_field import force_field, of_system
from articulon.molecules.force_field_files import ForceFieldName, Solvent
from articulon.molecules.hydrogen_mass import heavier_hydrogens
from articulon.molecules.molecular_model import UNITS, populate, stokes_drag
from articulon.molecules.peptides import peptide
from articulon.molecules.perception import perceive
from articulon.molecules.structure import Structure
from articulon.molecules.structure_faults import FAULTS
from articulon.molecules.structure_reading import read_structure
from articulon.molecules.system_making import openmm_system
from articulon.units import UnitSystem


class Molecule(BaseBuilder):
    """Everything in a PDB or mmCIF file, or some of it, or a peptide, as rigid clusters of atoms on torsions.

    Bodies are called by chain, residue and bond, ``A:LYS12:CA-CB``; sites are the atoms, in the order of the file; the
    coordinates of joints are dihedral angles.
    """

    error_class: ClassVar = ModelError

    builder: Literal["molecule"] = "molecule"
    structure: str | None = None
    """The file: a path beside the case, ``.pdb`` or ``.cif``, also with ``.gz``."""
    sequence: str | tuple[str, ...] | None = None
    """Instead of a file, a peptide of standard geometry: letters, or names of residues and caps, such as
    ``["ACE", "ALA", "NME"]``."""
    phi: Annotated[Quantity, Dimension("angle")] = "-57 deg"
    """φ of every residue of that peptide [rad]; an α-helix by default."""
    psi: Annotated[Quantity, Dimension("angle")] = "-47 deg"
    """ψ likewise [rad]."""
    sha256: str | None = None
    """Of the file, so that a run does not go on with another; found when the case is read."""
    level: Level = "all-atom-torsion"
    """What is rigid: only rings and double bonds; each backbone too (``side-chains``); each side chain
    (``rigid-side-chains``); each ``residue``; or the given domains (``domain``)."""
    omega: Literal["rigid", "free"] = "rigid"
    """Whether peptide bonds turn."""
    disulfides: Literal["loops", "welds"] = "loops"
    """Whether the three torsions of each bridge turn, or it is one rigid piece."""
    domains: tuple[str, ...] = ()
    """Chains and ranges of residue numbers, such as ``"A:1-29,68-117"``."""
    rings: Literal["refuse", "rigid", "loops"] = "refuse"
    """What is done with a ring of more than eight atoms that would have to be cut."""
    locked: tuple[str, ...] = ()
    """What does not turn in this run: ``"side-chains"``, ``"backbone"``, a chain ``"A"``, residues ``"A:10-20"``,
    ``"residue LIG"``, or ``"domain A:1-29,60-117"`` as one rigid body."""
    model_number: Whole | None = None
    """The model to take, where the file has several."""
    altloc: str | None = None
    """The alternative location to take, or ``"highest"``."""
    chains: tuple[str, ...] | None = None
    """The chains to take; all by default."""
    leave_out: tuple[str, ...] = ()
    """Names of residues to leave out."""
    add_missing: Flag = False
    """Whether OpenMM's modeller adds hydrogens, and last residues get their second oxygen."""
    accept: tuple[str, ...] = ()
    """Kinds of faults of the structure to go on with."""
    force_field: ForceFieldName | None = None
    """By which atoms act on each other, its parameters chosen by OpenMM; none by default."""
    solvent: Solvent = "vacuum"
    """``obc2`` for an implicit solvent."""
    cutoff: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Of the forces between atoms that are not bonded; none by default [length]."""
    evaluate: Literal["articulon", "openmm"] = "articulon"
    """What evaluates the force field: our own forces, or OpenMM, as the force ``openmm``."""
    platform: str | None = None
    """OpenMM's platform, such as ``"CUDA"``, where it evaluates the force field; by default the fastest that works."""
    precision: Precision | None = None
    """Of the platforms CUDA, OpenCL and HIP."""
    hydrogen_mass: Annotated[Quantity | None, Dimension("mass", minimum=0, exclusive=True)] = None
    """Of hydrogens, taken from the heavier atoms that they are bonded to, for longer steps; ``"3 Da"`` say. By default
    each atom has its own [mass]."""
    viscosity: Annotated[Quantity | None, Dimension("viscosity", minimum=0, exclusive=True)] = None
    """Of a medium whose Stokes drag acts on each body as on a sphere of its size; none by default
    [mass/(length time)]."""

    _inferred: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.structure is None) == (self.sequence is None):
            raise ValueError("give either a structure, a file, or a sequence of residues")
        given = {key: getattr(self, key) for key in ("sha256", "model_number", "altloc", "chains")}
        given |= {"leave_out": self.leave_out or None, "add_missing": self.add_missing or None}
        unused = [key for key, value in given.items() if value is not None]
        if self.sequence is not None and unused:
            raise ValueError(f"{unused[0]} says what to read of a structure, and there is a sequence; leave it out")
        if (self.level == "domain") != bool(self.domains):
            raise ValueError("the level 'domain' needs domains, and no other level takes them")
        wrong = [word for word in self.accept if word not in FAULTS]
        if wrong:
            raise ValueError(f"accept: unknown word {wrong[0]!r} (known: {', '.join(FAULTS)})")
        if self.force_field is None and (self.solvent != "vacuum" or self.cutoff is not None):
            raise ValueError("solvent and cutoff are of a force_field: choose one, 'amber14' or 'charmm36'")
        if self.force_field is None and self.evaluate == "openmm":
            raise ValueError("evaluate = 'openmm' is of a force_field: choose one, 'amber14' or 'charmm36'")
        if self.evaluate != "openmm" and (self.platform is not None or self.precision is not None):
            raise ValueError("platform and precision are OpenMM's: give evaluate = 'openmm' too, or leave them out")
        return self

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """A copy in the given units; raises CaseError where these are not those of molecules."""
        if units.name != UNITS:
            raise CaseError(f"{where}.builder: molecules are built in the units '{UNITS}'; write this in case.units")
        return super().resolved(units, where)

    def beside(self, source: str) -> "Molecule":
        """A copy with the file found beside a case file and its contents marked; raises CaseError for one that is not
        there or has changed."""
        return self if self.structure is None else marked(self, "structure", source, "model")

    def read(self) -> tuple[Structure, Articulation]:
        """The structure and how it is cut; raises ModelError for each thing that must be decided first."""
        if self.structure is None:
            assert self.sequence is not None
            phi, psi = (math.degrees(float(angle)) for angle in (self.phi, self.psi))
            structure = peptide(self.sequence, phi=phi, psi=psi, accept=self.accept)
        else:
            structure = read_structure(
                self.structure,
                model=self.model_number,
                altloc=self.altloc,
                chains=self.chains,
                leave_out=self.leave_out,
                add_missing=self.add_missing,
                accept=self.accept,
            )
        if self.hydrogen_mass is not None:
            structure = heavier_hydrogens(structure, float(self.hydrogen_mass))
        articulation = perceive(
            structure,
            level=self.level,
            omega=self.omega,
            disulfides=self.disulfides,
            domains=self.domains,
            rings=self.rings,
            locked=self.locked,
        )
        return structure, articulation

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, sites, force field and drag; quantities are in the builder's units."""
        structure, articulation = self.read()
        self._inferred = articulation.inferred
        charges: Any = 0.0
        kinds = None
        cutoff = None if self.cutoff is None else float(self.cutoff)
        if self.force_field is not None and self.evaluate == "openmm":
            openmm_package("model.evaluate")
            check_platform(self.platform, self.precision, {}, "model")
            system = openmm_system(structure, self.force_field, solvent=self.solvent, cutoff=cutoff)
            builder.add_force(OpenMM(system=system, platform=self.platform, precision=self.precision))
        elif self.force_field is not None:
            found = force_field(
                structure, self.force_field, solvent=self.solvent, cutoff=cutoff, articulation=articulation
            )
            charges, kinds = found.charges, found.kinds
            for force in found.forces:
                builder.add_force(force)
            self._inferred += found.left_out
        populate(builder, structure, articulation, charges=charges, kinds=kinds)
        if self.viscosity is not None:
            builder.add_force(stokes_drag(structure, articulation, self.viscosity))

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was inferred when the model was last populated, a line each."""
        return self._inferred
