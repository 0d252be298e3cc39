"""A molecule from a structure file or a sequence, divided into rigid bodies connected by torsions."""

import math
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import PrivateAttr, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Dimension, Flag, Number, Quantity, Whole, marked, marked_path
from articulon.errors import CaseError, ModelError
from articulon.forces.sites.openmm_force import OpenMM, Precision
from articulon.forces.sites.openmm_system import check_platform, openmm_package, system_of
from articulon.inputs import is_file
from articulon.molecules.articulation import Articulation, Level
from articulon.molecules.force_field import of_system
from articulon.molecules.force_field_files import WATERS, ForceFieldName, Solvent
from articulon.molecules.hydrogen_mass import heavier_hydrogens
from articulon.molecules.molecular_model import UNITS, populate, stokes_drag
from articulon.molecules.peptides import peptide
from articulon.molecules.perception import perceive
from articulon.molecules.solvation import NEGATIVE, POSITIVE, BoxShape, solvate
from articulon.molecules.structure import Structure
from articulon.molecules.structure_faults import FAULTS
from articulon.molecules.structure_reading import read_structure
from articulon.molecules.system_making import openmm_system
from articulon.molecules.system_sites import sites_of
from articulon.molecules.water_geometry import as_water_model
from articulon.units import UnitSystem


class Molecule(BaseBuilder):
    """A molecule from a PDB or mmCIF file or a sequence, as rigid groups of atoms connected by torsions.

    Bodies are named by chain, residue and bond, ``A:LYS12:CA-CB``. Sites are the atoms in the order of the file. Joint
    coordinates are dihedral angles.
    """

    error_class: ClassVar = ModelError

    builder: Literal["molecule"] = "molecule"
    structure: str | None = None
    """Structure file: a path relative to the case, ``.pdb`` or ``.cif``, also with ``.gz``."""
    sequence: str | tuple[str, ...] | None = None
    """Sequence of a peptide in standard geometry, instead of a file: one-letter codes, or a list of names of residues
    and caps, such as ``["ACE", "ALA", "NME"]``."""
    phi: Annotated[Quantity, Dimension("angle")] = "-57 deg"
    """Dihedral φ of every residue of the peptide given by ``sequence`` [rad]; by default that of an α-helix."""
    psi: Annotated[Quantity, Dimension("angle")] = "-47 deg"
    """Dihedral ψ of every residue of the peptide given by ``sequence`` [rad]; by default that of an α-helix."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run does not continue with a different file; computed when the case is read."""
    level: Level = "all-atom-torsion"
    """Parts that are rigid. ``all-atom-torsion``: only rings and double bonds; ``side-chains``: also each backbone;
    ``rigid-side-chains``: rings, double bonds and each side chain; ``residue``: each residue; ``domain``: the given
    ``domains``."""
    omega: Literal["rigid", "free"] = "rigid"
    """Whether peptide bonds can rotate."""
    disulfides: Literal["loops", "welds"] = "loops"
    """Whether the three torsions of each disulfide bridge rotate, or the bridge is one rigid piece."""
    domains: tuple[str, ...] = ()
    """Rigid domains: chains and ranges of residue numbers, such as ``"A:1-29,68-117"``."""
    rings: Literal["refuse", "rigid", "loops"] = "refuse"
    """Treatment of a ring of more than eight atoms that would have to be cut."""
    locked: tuple[str, ...] = ()
    """Parts that do not rotate in this run: ``"side-chains"``, ``"backbone"``, a chain ``"A"``, residues ``"A:10-20"``,
    ``"residue LIG"``, or ``"domain A:1-29,60-117"`` as one rigid body."""
    model_number: Whole | None = None
    """Number of the model to use, if the file has several."""
    altloc: str | None = None
    """Alternative location to use, or ``"highest"`` for the highest occupancy."""
    chains: tuple[str, ...] | None = None
    """Chains to use; by default all."""
    leave_out: tuple[str, ...] = ()
    """Names of residues to leave out."""
    add_missing: Flag = False
    """Whether missing parts are added: heavy atoms by PDBFixer, hydrogens by OpenMM's Modeller, and the terminal oxygen
    of last residues."""
    protonation: dict[str, str] = {}
    """Protonation states, such as ``{"A:HIS12" = "HID"}``; by default those at pH 7, considering metals nearby."""
    ligands: dict[str, str] = {}
    """SMILES by residue name, for the hydrogens of ligands and modified residues."""
    accept: tuple[str, ...] = ()
    """Kinds of faults of the structure to accept."""
    force_field: ForceFieldName | None = None
    """Force field between the atoms; OpenMM assigns its parameters. None by default."""
    force_field_files: tuple[str, ...] = ()
    """Force fields of ligands and modified residues in OpenMM XML: paths relative to the case, or names of files that
    are distributed with OpenMM."""
    force_field_sha256: tuple[str, ...] | None = None
    """SHA-256 of the force field files, empty for files of OpenMM; computed when the case is read."""
    system: str | None = None
    """Path of the XML of an OpenMM System of these atoms, relative to the case; used instead of a force field."""
    system_sha256: str | None = None
    """SHA-256 of the file ``system``; computed when the case is read."""
    solvent: Solvent = "vacuum"
    """Solvent: ``vacuum``, ``obc2`` (implicit), or a water model such as ``tip3p``. Water molecules come from the
    structure or are added with ``padding`` or ``box``."""
    padding: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Minimum distance between the solute and its periodic images [length]; a box of this size is filled with water."""
    box: Literal["file"] | Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] | None = None
    """Lengths of the water box, instead of a padding [length], or ``"file"`` to use the box of a structure that is
    already solvated."""
    box_shape: BoxShape = "cube"
    """Shape of the box with a padding: ``cube``, ``octahedron`` or ``dodecahedron``."""
    ionic_strength: Number = 0.0
    """Concentration of ion pairs in addition to the neutralising ions [mol/l]."""
    neutralise: Flag = True
    """Whether ions are added until the box is neutral."""
    positive_ion: str = "Na+"
    """Positive ion that is added."""
    negative_ion: str = "Cl-"
    """Negative ion that is added."""
    ion_seed: Whole = 1
    """Seed for the choice of water molecules that become ions."""
    cutoff: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Cutoff of the forces between non-bonded atoms; none by default [length]."""
    evaluate: Literal["articulon", "openmm"] = "articulon"
    """Engine that evaluates the force field: articulon itself, or OpenMM, as the force ``openmm``."""
    platform: str | None = None
    """OpenMM platform, such as ``"CUDA"``, if OpenMM evaluates the force field; by default the fastest that works."""
    precision: Precision | None = None
    """Precision on the platforms CUDA, OpenCL and HIP."""
    hydrogen_mass: Annotated[Quantity | None, Dimension("mass", minimum=0, exclusive=True)] = None
    """Mass of hydrogens, taken from the heavy atoms that they are bonded to, for longer steps; for example ``"3 Da"``.
    By default each atom has its own mass [mass]."""
    viscosity: Annotated[Quantity | None, Dimension("viscosity", minimum=0, exclusive=True)] = None
    """Viscosity of a medium whose Stokes drag acts on each body as on a sphere of its size; none by default
    [mass/(length time)]."""

    _inferred: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.structure is None) == (self.sequence is None):
            raise ValueError("give either a structure file or a sequence of residues")
        given = {key: getattr(self, key) for key in ("sha256", "model_number", "altloc", "chains")}
        given |= {key: getattr(self, key) or None for key in ("leave_out", "add_missing", "protonation", "ligands")}
        unused = [key for key, value in given.items() if value is not None]
        if self.sequence is not None and unused:
            raise ValueError(f"{unused[0]} applies to a structure file, and a sequence is given; leave it out")
        if (self.level == "domain") != bool(self.domains):
            raise ValueError("domains are required for the level 'domain' and allowed only there")
        wrong = [word for word in self.accept if word not in FAULTS]
        if wrong:
            raise ValueError(f"accept: unknown word {wrong[0]!r} (known: {', '.join(FAULTS)})")
        self._check_force_field()
        self._check_solvent()
        if self.evaluate != "openmm" and (self.platform is not None or self.precision is not None):
            raise ValueError("platform and precision apply to OpenMM: give evaluate = 'openmm' too, or leave them out")
        return self

    def _check_force_field(self) -> None:
        if self.system is not None:
            for key in ("force_field", "cutoff", "force_field_files"):
                if getattr(self, key):
                    raise ValueError(f"{key} selects parameters, but system already has its own; leave it out")
            if self.solvent != "vacuum":
                raise ValueError("solvent selects parameters, but system already has its own; leave it out")
            return
        if self.force_field is None:
            if self.solvent != "vacuum" or self.cutoff is not None:
                raise ValueError("solvent and cutoff need a force_field: choose one, 'amber14' or 'charmm36'")
            if self.force_field_files:
                raise ValueError("force_field_files need a force_field: choose one, 'amber14' or 'charmm36'")
            if self.evaluate == "openmm":
                raise ValueError("evaluate = 'openmm' needs a force_field: choose one, 'amber14' or 'charmm36'")

    def _check_solvent(self) -> None:
        fills = self.padding is not None or (self.box is not None and self.box != "file")
        if self.padding is not None and self.box is not None:
            raise ValueError("padding and box both set the size of the box; leave one out")
        if fills and self.solvent not in WATERS:
            raise ValueError(
                f"solvent: padding and box need a water model, and '{self.solvent}' is not one; choose one of "
                f"{', '.join(WATERS)}"
            )
        if self.box == "file" and self.structure is None:
            raise ValueError("box = 'file' needs a structure file; give padding, or three lengths")
        if self.box_shape != "cube" and self.padding is None:
            raise ValueError("box_shape applies to a padding; a given box has its own shape; leave box_shape out")
        defaults = type(self).model_fields
        for key in ("ionic_strength", "neutralise", "positive_ion", "negative_ion", "ion_seed"):
            if not fills and getattr(self, key) != defaults[key].default:
                raise ValueError(f"{key} applies to added water: give padding or a box too, or leave it out")
        for key, known in (("positive_ion", POSITIVE), ("negative_ion", NEGATIVE)):
            if getattr(self, key) not in known:
                raise ValueError(f"{key}: unknown word {getattr(self, key)!r} (known: {', '.join(known)})")

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """Return a copy in the given units; raises CaseError if these are not the units of molecules."""
        if units.name != UNITS:
            raise CaseError(f"{where}.builder: molecules need the units '{UNITS}'; set case.units to this")
        return super().resolved(units, where)

    def beside(self, source: str) -> "Molecule":
        """Return a copy whose file is located beside a case file and recorded by a digest; raises CaseError if it is
        missing or has changed."""
        found = self if self.structure is None else marked(self, "structure", source, "model")
        if self.system is not None:
            found = marked(found, "system", source, "model", "system_sha256")
        return found if not self.force_field_files else _marked_files(found, source)

    def read(self) -> tuple[Structure, Articulation]:
        """Return the structure and its division into bodies; raises ModelError if the user must first decide something,
        such as how to treat missing atoms."""
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
                box="file" if self.box == "file" else None,
                protonation=self.protonation,
                ligands=self.ligands,
            )
        structure = self._solvated(structure)
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
        if structure.box is not None:
            if builder.box is not None:
                raise ModelError("box: the structure has its own box, and the case has a section [box]; leave one out")
            builder.box = structure.box
        charges: Any = 0.0
        kinds = sites = None
        if self.force_field is not None or self.system is not None:
            system = self._system(structure)
            if self.evaluate == "openmm":
                openmm_package("model.evaluate")
                check_platform(self.platform, self.precision, {}, "model")
                sites = sites_of(system, structure, articulation)
                builder.add_force(OpenMM(system=system, platform=self.platform, precision=self.precision))
            else:
                found = of_system(system, structure, articulation)
                charges, kinds, sites = found.charges, found.kinds, found.sites
                for force in found.forces:
                    builder.add_force(force)
                self._inferred += found.left_out
        populate(builder, structure, articulation, charges=charges, kinds=kinds, sites=sites)
        if self.viscosity is not None:
            builder.add_force(stokes_drag(structure, articulation, self.viscosity))

    def _solvated(self, structure: Structure) -> Structure:
        """Structure with the requested water and box."""
        if self.solvent not in WATERS or self.force_field is None:
            return structure
        if self.padding is None and self.box in (None, "file"):
            return as_water_model(structure, self.solvent, force_field=self.force_field)
        return solvate(
            structure,
            self.solvent,
            padding=self.padding,
            box=self.box,
            box_shape=self.box_shape,
            ionic_strength=self.ionic_strength,
            neutralise=self.neutralise,
            positive_ion=self.positive_ion,
            negative_ion=self.negative_ion,
            force_field=self.force_field,
            files=self.force_field_files,
            seed=self.ion_seed,
        )

    def _system(self, structure: Structure) -> Any:
        """OpenMM System of the structure, created or given."""
        if self.system is not None:
            return system_of(self.system, self.system_sha256, "model.system")
        assert self.force_field is not None
        cutoff = None if self.cutoff is None else float(self.cutoff)
        options: dict[str, Any] = {"solvent": self.solvent, "cutoff": cutoff, "files": self.force_field_files}
        return openmm_system(structure, self.force_field, **options)

    @property
    def inferred(self) -> tuple[str, ...]:
        """Assumptions made when the model was last populated, one line each."""
        return self._inferred


def _marked_files(declaration: Molecule, source: str) -> Molecule:
    """Return a copy with each force field file located beside a case file and recorded by a digest."""
    marks = declaration.force_field_sha256
    if marks is not None and len(marks) != len(declaration.force_field_files):
        raise CaseError(f"{source}: model.force_field_sha256: expected one per force field file; leave the key out")
    paths, found = [], []
    for k, file in enumerate(declaration.force_field_files):
        where = f"force_field_files[{k}]"
        if not is_file(Path(source).parent / file) and not is_file(file):
            # The name refers to a file of OpenMM. Its existence is checked when the force field is read.
            paths.append(file)
            found.append("")
            continue
        mark = marks[k] if marks and marks[k] else None
        path, digest = marked_path(file, mark, source, f"model.{where}", f"model.force_field_sha256[{k}]")
        paths.append(path)
        found.append(digest)
    return declaration.model_copy(update={"force_field_files": tuple(paths), "force_field_sha256": tuple(found)})
