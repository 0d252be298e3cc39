"""A molecule from a structure file or a sequence, cut into rigid bodies on torsions."""

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
    """Whether PDBFixer adds the heavy atoms that residues lack, OpenMM's modeller hydrogens, and last residues get the
    oxygen of their end."""
    protonation: dict[str, str] = {}
    """States of protonation, such as ``{"A:HIS12" = "HID"}``; by pH 7 and metals nearby otherwise."""
    ligands: dict[str, str] = {}
    """SMILES by the name of the residue, for the hydrogens of ligands and modified residues."""
    accept: tuple[str, ...] = ()
    """Kinds of faults of the structure to go on with."""
    force_field: ForceFieldName | None = None
    """By which atoms act on each other, its parameters chosen by OpenMM; none by default."""
    force_field_files: tuple[str, ...] = ()
    """Force fields of ligands and modified residues in OpenMM's XML: paths beside the case, or names of files that come
    with OpenMM."""
    force_field_sha256: tuple[str, ...] | None = None
    """Of these files, empty for OpenMM's; found when the case is read."""
    system: str | None = None
    """Instead of a force field, any System of OpenMM of these atoms, by its XML beside the case."""
    system_sha256: str | None = None
    """Of that file; found when the case is read."""
    solvent: Solvent = "vacuum"
    """``obc2`` for an implicit solvent, or the model of water, such as ``tip3p``."""
    padding: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Fills a periodic box with water, in which the solute and its images are so far apart [length]."""
    box: Literal["file"] | Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] | None = None
    """Instead of a padding, the lengths of that box [length]; or ``"file"`` for the box of a structure that is solvated
    already."""
    box_shape: BoxShape = "cube"
    """With a padding: ``cube``, ``octahedron`` or ``dodecahedron``."""
    ionic_strength: Number = 0.0
    """Of pairs of ions beside those that neutralise [mol/l]."""
    neutralise: Flag = True
    """Whether ions are added until the box has no charge."""
    positive_ion: str = "Na+"
    """Which is added."""
    negative_ion: str = "Cl-"
    """And of those with a negative charge."""
    ion_seed: Whole = 1
    """Chooses which molecules of water become ions."""
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
        given |= {key: getattr(self, key) or None for key in ("leave_out", "add_missing", "protonation", "ligands")}
        unused = [key for key, value in given.items() if value is not None]
        if self.sequence is not None and unused:
            raise ValueError(f"{unused[0]} says what to read of a structure, and there is a sequence; leave it out")
        if (self.level == "domain") != bool(self.domains):
            raise ValueError("the level 'domain' needs domains, and no other level takes them")
        wrong = [word for word in self.accept if word not in FAULTS]
        if wrong:
            raise ValueError(f"accept: unknown word {wrong[0]!r} (known: {', '.join(FAULTS)})")
        self._check_force_field()
        self._check_solvent()
        if self.evaluate != "openmm" and (self.platform is not None or self.precision is not None):
            raise ValueError("platform and precision are OpenMM's: give evaluate = 'openmm' too, or leave them out")
        return self

    def _check_force_field(self) -> None:
        if self.system is not None:
            for key in ("force_field", "cutoff", "force_field_files"):
                if getattr(self, key):
                    raise ValueError(
                        f"{key} chooses parameters, and there is a system, which has its own; leave it out"
                    )
            return
        if self.force_field is None:
            if self.solvent != "vacuum" or self.cutoff is not None:
                raise ValueError("solvent and cutoff are of a force_field: choose one, 'amber14' or 'charmm36'")
            if self.force_field_files:
                raise ValueError("force_field_files are added to a force_field: choose one, 'amber14' or 'charmm36'")
            if self.evaluate == "openmm":
                raise ValueError("evaluate = 'openmm' is of a force_field: choose one, 'amber14' or 'charmm36'")

    def _check_solvent(self) -> None:
        fills = self.padding is not None or (self.box is not None and self.box != "file")
        if self.padding is not None and self.box is not None:
            raise ValueError("padding and box both say how large the box is; leave one out")
        if fills and self.solvent not in WATERS:
            raise ValueError(
                f"solvent: padding and box are filled with water, and '{self.solvent}' is none; choose one of "
                f"{', '.join(WATERS)}"
            )
        if self.box == "file" and self.structure is None:
            raise ValueError("box = 'file' is of a structure, a file; give padding, or three lengths")
        if self.box_shape != "cube" and self.padding is None:
            raise ValueError("box_shape is of a padding; a box that is given has its own shape; leave it out")
        defaults = type(self).model_fields
        for key in ("ionic_strength", "neutralise", "positive_ion", "negative_ion", "ion_seed"):
            if not fills and getattr(self, key) != defaults[key].default:
                raise ValueError(f"{key} is of water that is filled in: give padding or a box too, or leave it out")
        for key, known in (("positive_ion", POSITIVE), ("negative_ion", NEGATIVE)):
            if getattr(self, key) not in known:
                raise ValueError(f"{key}: unknown word {getattr(self, key)!r} (known: {', '.join(known)})")

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """A copy in the given units; raises CaseError where these are not those of molecules."""
        if units.name != UNITS:
            raise CaseError(f"{where}.builder: molecules are built in the units '{UNITS}'; write this in case.units")
        return super().resolved(units, where)

    def beside(self, source: str) -> "Molecule":
        """A copy with the file found beside a case file and its contents marked; raises CaseError for one that is not
        there or has changed."""
        found = self if self.structure is None else marked(self, "structure", source, "model")
        if self.system is not None:
            found = marked(found, "system", source, "model", "system_sha256")
        return found if not self.force_field_files else _marked_files(found, source)

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
                raise ModelError("box: the structure has a box of its own, and there is a section [box]; leave one out")
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
        """The structure in the water and the box that are asked for."""
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
        """OpenMM's system of the structure, made or given."""
        if self.system is not None:
            return system_of(self.system, self.system_sha256, "model.system")
        assert self.force_field is not None
        cutoff = None if self.cutoff is None else float(self.cutoff)
        options: dict[str, Any] = {"solvent": self.solvent, "cutoff": cutoff, "files": self.force_field_files}
        return openmm_system(structure, self.force_field, **options)

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was inferred when the model was last populated, a line each."""
        return self._inferred


def _marked_files(declaration: Molecule, source: str) -> Molecule:
    """A copy with each force field file found beside a case file and its contents marked."""
    marks = declaration.force_field_sha256
    if marks is not None and len(marks) != len(declaration.force_field_files):
        raise CaseError(f"{source}: model.force_field_sha256: one for each of force_field_files; leave that key out")
    paths, found = [], []
    for k, file in enumerate(declaration.force_field_files):
        where = f"force_field_files[{k}]"
        if not is_file(Path(source).parent / file) and not is_file(file):
            # One of OpenMM's own, by its name; whether there is one is said when the force field is read.
            paths.append(file)
            found.append("")
            continue
        mark = marks[k] if marks and marks[k] else None
        path, digest = marked_path(file, mark, source, f"model.{where}", f"model.force_field_sha256[{k}]")
        paths.append(path)
        found.append(digest)
    return declaration.model_copy(update={"force_field_files": tuple(paths), "force_field_sha256": tuple(found)})
